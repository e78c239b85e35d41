"""Records check their parameters when they are made; scikit-learn's estimators do not, as is their rule."""

from dataclasses import fields, replace
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from cases import each

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer, Real, parameters_of
from dsgcore.experiments import Spec
from dsgcore.experiments.settings import SETTINGS, DataSpec, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS, Gaussian
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.plan import Change
from dsgcore.solver.stopping import Stopping
from dsgcore.studies import Study

RECORDS = [*KERNELS.values(), *SETTINGS.values(), SolverParameters, DataSpec, StopSpec, DiagnosticsSpec, Stopping]


@each("record", RECORDS)
def test_every_parameter_of_every_record_is_checked(record):
    for parameter in parameters_of(record):
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
                assert getattr(made(record, **{parameter.name: value}), parameter.name) == value


def made(record, **given):
    return record(**({"name": "two_moons"} if record is DataSpec else {}) | given)


@each("record", RECORDS)
def test_the_defaults_are_allowed_and_a_copy_is_the_same(record):
    one = record()
    assert replace(one) == one
    assert {f.name: getattr(one, f.name) for f in fields(one)} == {f.name: f.default for f in fields(one)}


def test_values_get_their_own_type():
    assert type(Gaussian(sigma=1).sigma) is float
    assert type(SolverParameters(n_iter=np.int64(40)).n_iter) is int
    assert SolverParameters(step_size="auto").step_size is None


@each("seed", [-3, 2**32, 0.5, "1", None, True])
def test_a_specs_and_a_studys_seeds_are_checked(seed):
    with pytest.raises(DSGError, match=r"^seed must be a whole number"):
        Spec(seed=seed)
    with pytest.raises(DSGError, match=r"^seed must be a whole number"):
        replace(Spec(), seed=seed)
    with pytest.raises(DSGError, match="seed"):
        Study(Spec(), seeds=(0, seed))


def test_so_are_the_rest_of_a_study_and_a_specs_changes():
    for given in ({"seconds": -1.0}, {"seeds": ()}, {"seeds": (1, 1)}, {"is_best_first": "yes"}):
        with pytest.raises(DSGError):
            Study(Spec(), **given)
    for change in (Change(0, "step_size", 1.0), Change(3, "step_size", -1.0), Change(3, "seed", 1.0)):
        with pytest.raises(DSGError):
            Spec(changes=(change,))
    assert Spec(changes=(Change(3, "step_size", 1.0),)).changes == (Change(3, "step_size", 1.0),)


def test_numbers_that_are_computed_may_leave_the_range():
    problem = SemiSupervisedSVM(C=1e6).bind(np.resize([0, 1, 1, 0, 1, -1], 60))
    assert problem.C_star == pytest.approx(5e6)
    X = np.random.default_rng(0).normal(size=(40, 2))
    TSGS3VM(C=1e5, n_iter=2, n_features=8, batch_size=4, random_state=0).fit(X, (X[:, 0] > 0).astype(int))


def test_an_estimator_takes_anything_until_it_is_fitted():
    model = QSGS2AUC(sigma=-1, n_iter=0, random_state="x")
    assert model.set_params(lam=-3).get_params()["lam"] == -3


@each("kind", [QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU, PS3VT])
def test_the_types_of_an_estimators_choices_are_their_options(kind):
    hints = get_type_hints(kind)
    for parameter in parameters_of(kind):
        words = parameter.options if isinstance(parameter, Choice) else getattr(parameter, "words", ())
        words += ("auto",) * (getattr(parameter, "automatic", None) is not None)
        parts = [hints[parameter.name], *get_args(hints[parameter.name])]
        literals = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
        assert set(literals) == set(words), parameter.name
