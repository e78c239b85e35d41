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
from dsgcore.experiments.spec import SETTINGS, DataSpec, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import Change, Plan
from dsgcore.studies import Study

REAL, INTEGER = Real("lam", 0.5, low=0.0, high=2.0), Integer("n_iter", 5, low=1, high=10)
CHOICE = kinds.Choice("schedule", "constant", options=("constant", "theta/t"))


def is_number(value):
    is_one = isinstance(value, int | float | np.number) and not isinstance(value, bool | complex)
    return is_one and (abs(value) < 10**308 if isinstance(value, int) else math.isfinite(value))


# What each kind allows, and the type of what it returns.
ALLOWED = {
    REAL: (float, lambda value: is_number(value) and 0 <= value <= 2),
    Real("x", 0.0): (float, is_number),
    INTEGER: (int, lambda value: is_number(value) and 1 <= value <= 10 and value == int(value)),
    CHOICE: (str, lambda value: isinstance(value, str) and value in ("constant", "theta/t")),
    kinds.Flag("stratified", True): (bool, lambda value: isinstance(value, bool)),
    kinds.Text("path", "a"): (str, lambda value: isinstance(value, str) and value != ""),
}


def assert_allowed_or_refused(value):
    """Assert that each kind returns an allowed value in its own type, and refuses others in one sentence."""
    for parameter, (type_of, is_allowed) in ALLOWED.items():
        if is_allowed(value):
            checked = parameter.check(value)
            assert (type(checked), checked) == (type_of, type_of(value))
            assert json.loads(json.dumps(parameter.check(checked))) == checked
            continue
        with pytest.raises(ParameterError) as caught:
            parameter.check(value)
        assert str(caught.value) == f"{parameter.name} must be {parameter.allowed()}, got {quoted(value)}"
        assert "\n" not in str(caught.value)


@given(
    st.one_of(st.none(), st.booleans(), st.floats(), st.floats(0, 2), st.integers(), st.text(), st.lists(st.integers()))
)
def test_so_does_it_of_any_value(value):
    assert_allowed_or_refused(value)


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
