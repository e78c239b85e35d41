"""What each data set says of itself, and how it is loaded by its name."""

from __future__ import annotations

import numpy as np
import pytest
from data_makers import assert_well_formed

from dsgcore.data import DATASETS, OPTION_NAMES, DataError, load
from dsgcore.data.conversions import KINDS, LABELS


def made_for(labels):
    return [entry.name for entry in DATASETS.values() if entry.is_made_for(labels)]


def test_every_kind_of_labels_has_data_sets_that_are_made_for_it():
    binary = ["two_moons", "circles", "xor", "gaussian_mixture", "two_gaussians", "high_dimensional", "misleading_gap"]
    assert made_for("binary") == made_for("pairs") == [*binary, "digits", "breast_cancer"]
    assert made_for("ordinal") == ["ordinal_ramp", "ordinal_rings", "friedman", "diabetes"]
    assert made_for("classes") == ["spirals", "blobs", "ten_digits", "wine", "iris"]


@pytest.mark.parametrize("labels", LABELS)
def test_a_set_suits_a_setting_or_says_in_one_sentence_why_not(labels):
    for entry in DATASETS.values():
        reason = entry.why_not(labels)
        assert entry.suits(labels) == (reason == "")
        assert reason.count(".") == (not entry.suits(labels))
        assert entry.title in reason or entry.suits(labels)


def test_only_ranking_is_not_for_every_set():
    unsuited = [(e.name, labels) for e in DATASETS.values() for labels in LABELS if not e.suits(labels)]
    assert {labels for _, labels in unsuited} == {"ordinal"}
    assert {name for name, _ in unsuited} == {*made_for("binary"), "spirals", "blobs", "wine", "iris"}
    assert "two classes" in DATASETS["two_moons"].why_not("ordinal")
    assert "no order" in DATASETS["iris"].why_not("ordinal")


@pytest.mark.parametrize("name", list(DATASETS))
def test_entries_describe_what_they_load(name):
    entry, data = DATASETS[name], load(name)
    assert_well_formed(data)
    assert data.X.shape == (entry.n, entry.d)
    assert data.name == entry.name == name
    assert data.licence == entry.licence
    assert data.class_names == entry.class_names
    assert entry.target in KINDS
    assert entry.sentence.endswith(".")
    options = [option.name for option in entry.options]
    assert options == [option for option in OPTION_NAMES if option in options]
    assert ("imbalance" in options) == (entry.target == "binary")
    assert ("n_classes" in options) == (entry.target in ("ordinal", "regression"))
    assert data.source == entry.source


@pytest.mark.parametrize("name", list(DATASETS))
def test_the_ends_of_each_range_are_accepted(name):
    for option in DATASETS[name].options:
        for end in (option.low, min(option.high, 2000)):
            assert_well_formed(load(name, **{option.name: end}))


def test_pairs_get_unequal_shares_where_the_set_lets_them_be_chosen():
    for entry in DATASETS.values():
        assert entry.usual_options("binary") == {}
        share = np.mean(load(entry.name, **entry.usual_options("pairs")).y == 1)
        if entry.target == "binary":
            assert abs(share - 0.5) > 0.1


def test_load_refuses_with_one_sentence():
    with pytest.raises(DataError, match=r"^noise must be a number between 0 and 2, got 7$"):
        load("two_moons", noise=7)
    with pytest.raises(DataError, match=r"^n must be a whole number between 20 and 569 or null, got 570$"):
        load("breast_cancer", n=570)
    with pytest.raises(DataError, match=r"^the data set must be one of two_moons, .*, got 'spiral'$"):
        load("spiral")
    with pytest.raises(DataError, match=r"^the options of xor are n, noise, imbalance, seed, got 'gamma'$"):
        load("xor", gamma=1)
    with pytest.raises(DataError, match=r"^noise must be a number between 0 and 2, got None$"):
        load("xor", noise=None)
    with pytest.raises(DataError, match=r"^n_classes must be a whole number between 2 and 20, got 21$"):
        load("friedman", n_classes=21)
