"""Runs whose step is too big: each ends with the one sentence, and stands as a whole at its last good state."""

from __future__ import annotations

import numpy as np
import pytest

from dsgcore import Run, Spec
from dsgcore.diagnostics import ExactTwin
from dsgcore.experiments import SETTINGS, StopReason, default_spec
from dsgcore.kernels import Gaussian

STOCHASTIC = [name for name in SETTINGS if name != "multiclass"]


def diverging(setting, *, dtype="float64", step_size=1000.0, lam=1.0, n_iter=300, **solver):
    """A quick spec whose step is much too big."""
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 150, "n_labeled": 20}
    if plain["data"]["name"] == "digits":
        plain["data"] |= {"name": "two_moons", "noise": 0.2, "imbalance": 0.5}
    plain["solver"] |= {"n_features": 16, "batch_size": 8, "dtype": dtype} | solver
    plain["solver"] |= {"step_size": step_size, "lam": lam, "n_iter": n_iter}
    plain["diagnostics"]["n_probes"] = 20
    return Spec.from_dict(plain)


@pytest.mark.parametrize("setting", STOCHASTIC)
@pytest.mark.parametrize(("step_size", "lam"), [(1000.0, 1.0), (1e6, 1000.0), (3.0, 1.0)])
def test_in_double_precision_no_number_overflows_but_the_run_ends_as_diverged(setting, step_size, lam):
    run = Run(diverging(setting, step_size=step_size, lam=lam, n_iter=2000))
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED


def test_the_bound_of_weights_whose_square_is_too_large_is_infinite():
    twin = ExactTwin(Gaussian(), np.zeros((1, 2)))
    with np.errstate(over="ignore"):
        twin.advance(np.zeros((1, 2)), np.array([1e200]), 1.0, 1.0)
        assert twin.bound() == np.inf
