"""Parameters: what each kind allows, the lists of all records, and the values of every iteration."""

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from dsgcore.core import parameters as kinds
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Integer, ParameterError, Real, check_all, grid, parameters_of, quoted
from dsgcore.experiments import default_spec
from dsgcore.experiments.settings import SETTINGS, DataSpec, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import Change, Plan
from dsgcore.studies import Study

REAL = Real("lam", 0.5, low=0.0, high=2.0)
ANY_REAL = Real("x", 0.0)
INTEGER = Integer("n_iter", 5, low=1, high=10)
CHOICE = kinds.Choice("schedule", "constant", options=("constant", "theta/t"))
FLAG = kinds.Flag("stratified", True)
TEXT = kinds.Text("path", "a")
NOT_NUMBERS = [None, True, False, np.True_, "1", "", b"1", [1], {}, 1j, math.nan, math.inf, -math.inf, object]
NOT_WORDS = [None, 0, 1.0, math.nan, "", []]
REFUSED = [
    *((parameter, value) for parameter in (REAL, ANY_REAL, INTEGER) for value in NOT_NUMBERS),
    *((REAL, value) for value in (-1e-9, 2.0000001, -5, 3, 1e308, 10**400, np.float32("nan"), np.float64("inf"))),
    *((ANY_REAL, value) for value in (10**400, -(10**400), np.float32("inf"))),
    *((INTEGER, value) for value in (0, 11, -1, 1.5, 0.0, 1e300, 10**400, np.int8(0), np.float64(2.5))),
    *((parameter, value) for parameter in (CHOICE, FLAG, TEXT) for value in NOT_WORDS),
    *((CHOICE, value) for value in (True, "Constant", "constant ", ["constant"])),
    *((FLAG, value) for value in (1, "true")),
    *((TEXT, value) for value in (True, b"a", ["a"])),
    *((kind("x", None), None) for kind in (Real, Integer, kinds.Text)),
]


def said(parameter, value):
    """Return a parameter's refusal of a value, one sentence, or None."""
    try:
        parameter.check(value)
    except ParameterError as error:
        message = str(error)
        assert message == f"{parameter.name} must be {parameter.allowed()}, got {quoted(value)}"
        assert "\n" not in message
        return message
    return None


@each("parameter, value", REFUSED)
def test_each_kind_refuses_what_it_does_not_allow_in_one_sentence(parameter, value):
    assert said(parameter, value)


def test_what_is_allowed_is_returned_in_the_parameters_own_type():
    for value in (0, 2.0, np.float32(0.5), np.int8(1)):
        assert (type(REAL.check(value)), REAL.check(value)) == (float, float(value))
    for value in (1, 10, 7.0, np.int8(7), np.int64(7), np.float64(7.0)):
        assert (type(INTEGER.check(value)), INTEGER.check(value)) == (int, int(value))
    assert (CHOICE.check("theta/t"), FLAG.check(False), TEXT.check("/data/x.npz")) == ("theta/t", False, "/data/x.npz")
    for kind in (Real, Integer, kinds.Text):
        parameter = kind("x", None, optional=True)
        assert parameter.check(None) is None
        assert parameter.allowed().endswith(" or null")


@given(
    st.one_of(st.none(), st.booleans(), st.floats(), st.floats(0, 2), st.integers(), st.text(), st.lists(st.integers()))
)
def test_every_kind_either_returns_a_value_that_it_accepts_again_or_refuses_in_one_sentence(value):
    for parameter in (REAL, ANY_REAL, INTEGER, CHOICE, FLAG, TEXT):
        if said(parameter, value) is None:
            checked = parameter.check(value)
            assert parameter.check(checked) == checked
            assert json.loads(json.dumps(checked)) == checked
            assert parameter is not REAL or 0.0 <= value <= 2.0


def test_check_all_fills_in_defaults_keeps_what_is_given_and_refuses_the_rest():
    checked = check_all((REAL, INTEGER, CHOICE), {"n_iter": 7.0}, "solver")
    assert list(checked.items()) == [("lam", 0.5), ("n_iter", 7), ("schedule", "constant")]
    for values, said in (
        ({"lam": 1.0, "lamda": 1.0}, "solver has no field 'lamda'; it has lam, n_iter"),
        ({"lam": 3}, "lam must be a number between 0 and 2, got 3"),
        ({"lam": None}, "lam must be a number between 0 and 2, got None"),
    ):
        with pytest.raises(ParameterError, match=f"^{said}$"):
            check_all((REAL, INTEGER), values, "solver")


def test_a_message_quotes_a_short_value_whole_and_a_long_one_in_part():
    assert quoted("abc") == "'abc'"
    assert quoted(10**30) == f"{10**30}"
    assert quoted("q" * 100_000) == "'" + "q" * 79 + " …"
    assert quoted([10**5000]) == "a number of too many digits"


# --- records check their parameters when they are made; scikit-learn's estimators do not, as is their rule


RECORDS = [*KERNELS.values(), *SETTINGS.values(), SolverParameters, DataSpec, StopSpec, DiagnosticsSpec, Stopping]


@each("record", RECORDS)
def test_every_parameter_of_every_record_is_checked_and_has_its_words_and_default(record):
    parameters, needed = parameters_of(record), {"name": "two_moons"} if record is DataSpec else {}
    assert check_all(parameters, {}, "it") == {p.name: p.default for p in parameters}
    for parameter in parameters:
        assert record is Stopping or (parameter.label and parameter.sentence.endswith(".")), parameter.name
        for bad in (object(), float("nan"), "no such word", -7, [], 10**400):
            try:
                parameter.check(bad)
            except DSGError as error:
                said = str(error)
            else:
                continue
            with pytest.raises(DSGError) as raised:
                record(**{parameter.name: bad})
            assert str(raised.value) == said
        if isinstance(parameter, Real | Integer):
            for value in (parameter.low, parameter.high):
                assert getattr(record(**needed, **{parameter.name: value}), parameter.name) == value


@each("record", [record for record in RECORDS if record is not Stopping])
def test_a_slider_offers_allowed_values_in_order_with_the_default_among_them(record):
    for parameter in parameters_of(record):
        if isinstance(parameter, Real | Integer) and parameter.name != "positive":  # a label, which has no slider
            values = grid(parameter)
            assert list(values) == sorted(set(values))
            assert [parameter.check(value) for value in values] == list(values)
            assert parameter.default is None or parameter.default in values
            assert 5 <= len(values) <= 60


SPEC = default_spec("auc")
WRONG_SEEDS = (-3, 2**32, 0.5, "1", None, True)
WRONG_CHANGES = (Change(0, "step_size", 1.0), Change(3, "step_size", -1.0), Change(3, "seed", 1.0))


@each(
    "make",
    [
        *(partial(replace, SPEC, seed=seed) for seed in WRONG_SEEDS),
        *(partial(replace, SPEC, changes=(change,)) for change in WRONG_CHANGES),
        *(partial(Study, SPEC, seeds=(0, seed)) for seed in WRONG_SEEDS),
        *(partial(Study, SPEC, seeds=seeds) for seeds in ((), (1, 1))),
        *(partial(Study, SPEC, **one) for one in ({"seconds": -1.0}, {"is_best_first": "yes"})),
    ],
)
def test_seeds_and_changes_of_a_spec_and_all_of_a_study_are_checked(make):
    with pytest.raises(DSGError) as raised:
        make()
    assert ("seed" in make.keywords or "seeds" in make.keywords) <= ("seed" in str(raised.value))


# --- the parameters of every iteration: schedules, and changes on the way


def test_steps_follow_their_schedule():
    steps = {"constant": 2.0, "theta/t": 2.0 / 4, "theta/sqrt(T)": 2.0 / 4, "theta/T^(3/4)": 2.0 / 8}
    for schedule, expected in steps.items():
        setting = Plan(schedule, step_size=2.0, lam=0.3, n_features=7, n_iter=16).at(4)
        assert setting.size == pytest.approx(expected, rel=1e-15)
        assert (setting.lam, setting.n_features) == (0.3, 7)
        assert setting.decay == pytest.approx(1 - expected * 0.3, rel=1e-15)


def test_a_change_holds_from_its_iteration_on_until_the_next():
    steps = [Change(3, "step_size", 1.0), Change(6, "step_size", 4.0)]
    changes = [steps[0], Change(5, "n_features", 9.0), Change(5, "lam", 0.5), steps[1]]
    plan = Plan("theta/t", step_size=2.0, lam=0.3, n_features=7, n_iter=16, changes=changes)
    settings = {t: (plan.at(t).size * t, plan.at(t).n_features, plan.at(t).lam) for t in (2, 3, 5, 6)}
    assert settings == {2: (2.0, 7, 0.3), 3: (1.0, 7, 0.3), 5: (1.0, 9, 0.5), 6: (4.0, 9, 0.5)}
    assert type(plan.at(6).n_features) is int
