"""Conversions of a set for one kind of task to another kind."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from dsgcore import Run, Spec, SpecError
from dsgcore.data import DataError, Dataset, convert, digits_even_odd, equal_frequency_bins, load
from dsgcore.data.datasets import AS_IS, BINS, EVEN_ODD, HALVES, IN_ORDER, ONE_REST, conversions_for
from dsgcore.experiments.loading import load_split


def with_classes(k: int, y=None) -> Dataset:
    y = np.arange(4 * k) % k if y is None else np.asarray(y)
    X = np.zeros((len(y), 1), dtype=np.float32)
    return Dataset("made", X, y, ("x1",), tuple("abcdefgh"[:k]), "test", "none")


@each(
    "name, positive, k, positives, names",
    [
        (ONE_REST, None, 3, {0}, ("not a", "a")),
        (ONE_REST, 2, 3, {2}, ("not c", "c")),
        (EVEN_ODD, None, 4, {0, 2}, ("b, d", "a, c")),
        (EVEN_ODD, None, 5, {0, 2, 4}, ("b, d", "a, c, e")),
        (HALVES, None, 4, {2, 3}, ("a to b", "c to d")),
        (HALVES, None, 5, {3, 4}, ("a to c", "d to e")),
        (HALVES, None, 3, {2}, ("a to b", "c")),
        (HALVES, None, 2, {1}, ("a", "b")),
    ],
)
def test_two_classes_are_made_of_several(name, positive, k, positives, names):
    data = with_classes(k)
    made = convert(data, name, positive)
    np.testing.assert_array_equal(made.y, np.isin(data.y, list(positives)))
    assert made.y.dtype == np.int64
    assert made.class_names == names
    assert made.X is data.X


def test_other_conversions_read_the_same_classes_and_rows_without_a_label_stay_without_one():
    data = with_classes(4)
    assert all(convert(data, name) is data for name in (AS_IS, IN_ORDER, BINS))
    for name in (ONE_REST, EVEN_ODD, HALVES):
        made = convert(with_classes(4, [0, 1, -1, 2, 3, -1]), name)
        assert made.y.tolist()[2] == made.y.tolist()[5] == -1
        assert set(made.y.tolist()) == {-1, 0, 1}


def test_what_cannot_be_made_is_refused_with_one_sentence():
    for name, positive in (("rot", None), (ONE_REST, 3), (ONE_REST, -1)):
        with pytest.raises(DataError, match=r"^[^\n]*must be (one of|the number of a class)[^\n]*$"):
            convert(with_classes(3), name, positive)


def test_ten_digits_even_against_odd_are_the_binary_digits():
    made, binary = convert(load("ten_digits"), EVEN_ODD), digits_even_odd()
    np.testing.assert_array_equal(made.y, binary.y)
    np.testing.assert_array_equal(made.X, binary.X)


def test_what_each_kind_can_be_made_into():
    assert conversions_for("binary", "pairs") == (AS_IS,)
    assert conversions_for("classes", "binary", 3) == (ONE_REST,)
    assert conversions_for("classes", "binary", 2) == (AS_IS,)
    assert conversions_for("classes", "binary", 10, (EVEN_ODD, IN_ORDER)) == (EVEN_ODD, ONE_REST)
    assert conversions_for("classes", "pairs", 10, (EVEN_ODD, IN_ORDER)) == (ONE_REST,)  # even and odd are half each
    assert conversions_for("classes", "ordinal", 10, (EVEN_ODD, IN_ORDER)) == (IN_ORDER,)
    assert conversions_for("classes", "ordinal", 3) == ()
    assert conversions_for("ordinal", "binary", 5) == (HALVES,)
    assert conversions_for("regression", "ordinal", 5) == conversions_for("regression", "classes", 5) == (BINS,)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=200), k=st.integers(2, 20))
def test_bins_are_as_equal_as_equal_values_let_them_be_and_keep_the_order(values, k):
    bins = equal_frequency_bins(np.array(values), k)
    assert sorted(set(bins)) == list(range(bins.max() + 1))
    most = np.unique(values, return_counts=True)[1].max()
    assert bins.max() + 1 == k if most == 1 else bins.max() < k
    assert np.bincount(bins).max() <= len(values) / k + 1 + 2 * (most - 1)
    highest = -np.inf
    for j in range(bins.max() + 1):
        own = np.array(values)[bins == j]
        assert highest < own.min()  # equal values are in one bin
        highest = own.max()


# In a spec


def spec(setting, **data):
    return Spec.from_dict({"setting": setting, "data": {"n_labeled": 20, **data}})


def test_a_spec_says_how_the_classes_are_read_even_where_it_was_not_given():
    assert spec("auc").data.convert == AS_IS
    assert spec("auc", name="iris").data.convert == ONE_REST
    assert spec("auc", name="iris").data.positive == 0
    assert spec("auc", name="ten_digits").data.convert == EVEN_ODD
    assert spec("ordinal", name="diabetes").data.convert == BINS
    given = spec("s3vm", name="ten_digits", convert=ONE_REST, positive=7)
    assert Spec.from_json(given.to_json()) == given
    assert load_split(given).class_names == ("not 7", "7")


def test_a_spec_cuts_as_many_ordered_classes_as_it_says():
    for name in ("ordinal_ramp", "ordinal_rings", "friedman", "diabetes"):
        assert len(load_split(spec("ordinal", name=name, n_classes=8)).class_names) == 8


@each(
    "setting, data, said",
    [
        ("ordinal", {"name": "iris"}, "no order"),
        ("ordinal", {"name": "two_moons"}, "two classes"),
        ("auc", {"name": "iris", "convert": EVEN_ODD}, "convert must be one of one against the rest"),
        ("auc", {"name": "two_moons", "convert": HALVES}, "convert must be one of as they are"),
        ("auc", {"name": "iris", "positive": 3}, "positive must be a whole number between 0 and 2, got 3"),
        ("auc", {"name": "diabetes", "positive": 1}, "positive goes with files and with convert"),
        ("auc", {"name": "two_moons", "n_classes": 3}, "has no option n_classes"),
        ("ordinal", {"name": "file", "path": "x.npz", "convert": HALVES}, "convert must be null"),
        ("auc", {"name": "file", "path": "x.npz", "convert": ONE_REST}, "convert must be lower against upper half or"),
    ],
)
def test_a_reading_that_does_not_suit_the_setting_gets_one_sentence(setting, data, said):
    with pytest.raises(SpecError, match=rf"^[^\n]*{said}[^\n]*$"):
        spec(setting, **data)


def test_a_files_ordered_classes_can_be_halved(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "ordered.npz", X=rng.normal(size=(80, 2)), y=np.arange(80) % 4)
    asked = spec("auc", name="file", path=str(tmp_path / "ordered.npz"), convert=HALVES)
    run = Run(asked)
    assert run.split.class_names == ("0 to 1", "2 to 3")
    assert np.mean(run.split.y_hidden) == pytest.approx(0.5, abs=0.02)
