import copy
import json

import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from dsgcore import Spec, SpecError
from dsgcore.data import DATASETS
from dsgcore.experiments import default_spec
from dsgcore.experiments.settings import Setting, defaults_of
from dsgcore.experiments.spec import DATA_PARAMETERS, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS
from dsgcore.problems import PROBLEMS
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from dsgcore.solver.plan import Change

PLAIN = Spec().to_dict()
SECTIONS = {
    "problem": PROBLEMS["auc"].parameters,
    "kernel": KERNELS["gaussian"].parameters,
    "data": DATA_PARAMETERS,
    "solver": SOLVER_PARAMETERS,
    "stop": StopSpec.parameters,
    "diagnostics": DiagnosticsSpec.parameters,
}


def refusal(plain):
    with pytest.raises(SpecError) as caught:
        Spec.from_dict(plain)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


@each("section, name", [(section, p.name) for section, parameters in SECTIONS.items() for p in parameters])
def test_every_field_with_a_bad_value_gets_one_sentence(section, name):
    plain = copy.deepcopy(PLAIN)
    plain[section][name] = ["abc\n"]
    sentence = refusal(plain)
    assert name in sentence
    assert repr(["abc\n"]) in sentence


@each("section", SECTIONS)
def test_unknown_fields_and_sections_of_the_wrong_type_get_one_sentence(section):
    assert "no field 'bogus'" in refusal(PLAIN | {section: PLAIN[section] | {"bogus": 1}})
    assert section in refusal(PLAIN | {section: 3})
    assert section in refusal(PLAIN | {section: [1]})


@each("name, value", [("seed", -1), ("version", 0), ("version", True), ("setting", "auk"), ("setting", None)])
def test_a_bad_seed_version_or_setting_gets_one_sentence(name, value):
    assert name in refusal(PLAIN | {name: value})


def test_a_missing_setting_gets_one_sentence_and_other_missing_fields_their_default():
    without = {name: value for name, value in PLAIN.items() if name != "setting"}
    assert "setting" in refusal(without)
    assert Spec.from_dict({"setting": "auc"}) == default_spec("auc")
    assert Spec.from_dict({"setting": "auc"}).stop == Spec().stop


@each(
    "changes",
    [
        3,
        "abc",
        [3],
        [{}],
        [{"t": 1, "name": "step_size"}],
        [{"t": 301, "name": "step_size", "value": 1.0}],
        [{"t": 1.5, "name": "step_size", "value": 1.0}],
        [{"t": 1, "name": "n_features", "value": 0}],
        [{"t": 1, "name": "lam", "value": 1.0, "more": 2}],
    ],
)
def test_bad_changes_get_one_sentence(changes):
    refusal(PLAIN | {"changes": changes})


@each("text", ["", "{", "[1, 2]", "null", "3", "[" * 100_000, '{"setting": "auc"} x'])
def test_text_that_is_no_spec_gets_one_sentence(text):
    with pytest.raises(SpecError) as caught:
        Spec.from_json(text)
    assert "\n" not in str(caught.value)


@each(
    "data",
    [
        {"name": "file"},
        {"name": "digits", "path": "x.npz"},
        {"name": "digits", "positive": 1},
        {"name": "two_moons", "noise": 3.0},
        {"name": "digits", "n": 5000},
        {"name": "file", "path": "x.npz", "noise": 0.5},
    ],
)
def test_options_that_the_data_do_not_have_get_one_sentence(data):
    refusal(PLAIN | {"data": data})


@given(
    seed=st.integers(0, 2**32 - 1),
    gamma=st.floats(0, 1),
    sigma=st.floats(1e-6, 1e6),
    step=st.floats(1e-6, 1e6),
    name=st.sampled_from(sorted(name for name in DATASETS if DATASETS[name].suits("binary"))),
)
def test_json_reads_back_exactly_and_names_the_spec(seed, gamma, sigma, step, name):
    plain = {
        "setting": "auc",
        "seed": seed,
        "problem": {"gamma": gamma},
        "kernel": {"sigma": sigma},
        "solver": {"step_size": step},
        "data": {"name": name},
    }
    spec = Spec.from_dict(plain)
    again = Spec.from_json(spec.to_json())
    assert again == spec
    assert again.sha256 == spec.sha256
    assert Spec.from_json(spec.to_json(indent=2)).to_json() == spec.to_json()


def test_canonical_json_does_not_depend_on_the_order_or_the_form_of_what_was_given():
    shuffled = json.loads(json.dumps(dict(reversed(PLAIN.items()))))
    shuffled["solver"]["n_iter"] = 300.0
    assert Spec.from_dict(shuffled).to_json() == Spec().to_json()


def test_different_specs_have_different_names():
    names = {Spec().sha256, Spec(seed=1).sha256, Spec().with_change(Change(3, "lam", 0.5)).sha256}
    assert len(names) == 3


def test_a_change_replaces_one_of_the_same_name_at_the_same_iteration():
    spec = Spec().with_change(Change(3, "lam", 0.5)).with_change(Change(3, "lam", 0.7))
    assert spec.changes == (Change(3, "lam", 0.7),)


@pytest.mark.parametrize("kind", ["binary", "pairs", "ordinal", "classes"])
def test_a_setting_without_words_begins_with_data_that_suit_it(kind):
    class Plain(Setting):
        name = "plain"
        labels = kind

    assert DATASETS[{"data": {"name": "digits"}, **defaults_of(Plain)}["data"]["name"]].suits(kind)
    said = profile_of(Plain)
    assert (said.short, said.prefix, said.card) == ("Plain", "plain_", "Learns from few labels.")
