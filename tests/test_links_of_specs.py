"""A spec becomes a link, and the link the same spec again: every field of every setting."""

import logging
from dataclasses import replace

import pytest
from cases import some
from link_values import each_changed, read_link
from own_tables import iris_csv, own_spec, sniff

from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS, Spec, SpecError, default_spec
from dsgcore.experiments.settings import kernel_names
from dsgcore.solver.plan import Change
from pages.controls.controls import read_also
from pages.studies.links import link_to_run

logging.getLogger("streamlit").setLevel(logging.ERROR)  # no page is being drawn


def lost(specs):
    """The fields of specs that are not the same after they have been a link."""
    return [
        what for what, spec in specs if read_link(type(spec.problem), link_to_run(spec)).to_json() != spec.to_json()
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_field_of_a_spec_is_the_same_after_it_has_been_a_link(setting):
    specs = list(each_changed(default_spec(setting)))
    assert {section for (section, _, _), _ in specs} == {"problem", "kernel", "data", "solver", "stop", "diagnostics"}
    assert lost(specs) == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_fields_of_every_data_set_are_the_same_after_they_have_been_a_link(setting):
    suiting = [name for name, entry in DATASETS.items() if entry.suits(SETTINGS[setting].labels)]
    for name in some(suiting, 4):
        base = Spec.from_dict({"setting": setting, "data": {"name": name}})
        few = list(each_changed(base, "data"))[::3]  # all values are tried on the setting's own data
        assert lost([(name, base), *few]) == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_parameters_of_every_kernel_are_the_same_after_they_have_been_a_link(setting):
    for name in kernel_names(SETTINGS[setting]):
        base = Spec.from_dict({"setting": setting, "kernel": {"name": name}, "seed": 2**32 - 1})
        assert lost([(name, base), *each_changed(base, "kernel")]) == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_fields_of_a_file_are_the_same_after_they_have_been_a_link(setting):
    content, labels = iris_csv(), SETTINGS[setting].labels
    spec, _ = own_spec(content, sniff(content, "a, b=c.csv", labels=labels), setting, "a, b=c.csv", n_labeled=10)
    assert lost([("itself", spec), *each_changed(spec, "data")]) == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_changes_of_a_run_are_the_same_after_they_have_been_a_link(setting):
    spec = default_spec(setting)
    for value in (0.1 + 0.2, None):
        steered = replace(
            spec, changes=(Change(3, "step_size", 0.25), Change(7, "lam", 1 / 3), Change(9, "step_size", value))
        )
        steered = Spec.from_dict(steered.to_dict())
        assert lost([(value, steered)]) == []


def test_fields_that_no_control_says_are_refused_in_a_sentence_when_they_are_not_allowed():
    for text, words in {
        "a=b,,": "also must name one of",
        "\x00": "also must be",
        "solver.dtype": "also must be a list like solver.dtype=float64",
        "solver.dtype=float16": "in also, dtype must be one of float32, float64, got 'float16'",
        "solver.bogus=1": "also must name one of problem.gamma",
        "data.path=/etc/passwd": "also must name one of problem.gamma",
        "stop.patience=NaN": "in also, patience must be a whole number",
    }.items():
        with pytest.raises(SpecError) as caught:
            read_also(SETTINGS["auc"], text)
        assert str(caught.value).startswith(words)
