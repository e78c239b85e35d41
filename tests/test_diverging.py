"""Runs whose step is too big: each ends with the one sentence, and stands as a whole at its last good state."""

import numpy as np
import pytest
from cases import each

from dsgcore import Run, Spec, load_model
from dsgcore.experiments import SETTINGS, StopReason, default_spec, summary
from dsgcore.kernels import Gaussian
from dsgcore.solver.diagnostics import ExactTwin

# PS3VT's weights stay in a ball.
STOCHASTIC = [name for name in SETTINGS if name != "multiclass"]


def diverging(setting, *, dtype="float64", step_size=1000.0, lam=1.0, n_iter=200, **solver):
    """A quick spec whose step is much too big."""
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 150, "n_labeled": 20}
    if plain["data"]["name"] == "digits":
        plain["data"] |= {"name": "two_moons", "noise": 0.2, "imbalance": 0.5}
    plain["solver"] |= {"n_features": 16, "batch_size": 8, "dtype": dtype} | solver
    plain["solver"] |= {"step_size": step_size, "lam": lam, "n_iter": n_iter}
    plain["diagnostics"]["n_probes"] = 20
    return Spec.from_dict(plain)


@each("setting", STOCHASTIC)
@each("step_size, lam", [(1000.0, 1.0), (1e6, 1000.0), (3.0, 1.0)])
def test_in_double_precision_no_number_overflows_but_the_run_ends_as_diverged(setting, step_size, lam):
    run = Run(diverging(setting, step_size=step_size, lam=lam, n_iter=2000))
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED


def test_the_bound_of_weights_whose_square_is_too_large_is_infinite():
    twin = ExactTwin(Gaussian(), np.zeros((1, 2)))
    with np.errstate(over="ignore"):
        twin.advance(np.zeros((1, 2)), np.array([1e200]), 1.0, 1.0)
        assert twin.bound() == np.inf


def steered_too_far(setting):
    """A run that goes well for 21 iterations and diverges after its step is made too big, and its data."""
    run = Run(diverging(setting, **GOOD[setting]))
    run.advance(21)
    run.change(*TOO_FAR[setting])
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    return run


GOOD = {name: {"step_size": 0.1, "lam": 0.1} for name in STOCHASTIC}
TOO_FAR = {name: ("step_size", 1000.0) for name in STOCHASTIC}


def state(run):
    """All that a run holds at its present iteration, by name."""
    held = {name: getattr(run, f"{name}_values") for name in ("training", "test", "labeled")}
    held["model"], engine = run.model.evaluate(run.split.X_test), run.engine
    if held["training"] is None:
        del held["training"]
    if engine.twin is not None:
        held["exact"] = run.exact_values(run.split.X_test[:5].astype(float))
    held |= {"twin": engine.twin.h, "bound": engine.twin.bound(), "band": engine.probes.variance}
    return held | {"dual": engine.dual.values, "norm": engine.norm.value}


@pytest.mark.parametrize("is_large", [False, True], ids=["whole sample", "batches"])
@pytest.mark.parametrize("setting", STOCHASTIC)
def test_a_run_that_diverged_stands_as_a_whole_where_growth_set_in(setting, is_large, monkeypatch):
    if is_large:
        monkeypatch.setattr("dsgcore.experiments.running_state.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = steered_too_far(setting)
    objective, start = run.history.column("objective"), run.start_objective()
    assert 19 <= run.model_t < run.t == len(objective)
    measured = run.model_t + (run.training_values is None)
    assert objective[measured - 1] <= start < objective[measured:].min()
    again = Run(run.spec, run.split)
    again.advance(run.model_t)
    assert again.stop_reason is None
    for name, values in state(again).items():
        np.testing.assert_array_equal(state(run)[name], values, err_msg=name)
        assert np.isfinite(values).all(), name


def test_a_mini_batch_tells_of_the_function_before_its_step(monkeypatch):
    # Without a ridge, the objective that the first step too far is recorded with is still low.
    monkeypatch.setattr("dsgcore.experiments.running_state.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = Run(diverging("auc", step_size=0.1, lam=0.0))
    run.advance(21)
    run.change("step_size", 1000.0)
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    assert run.history.column("objective")[21] < run.start_objective()
    assert run.model_t == 21


@pytest.mark.parametrize("setting", STOCHASTIC)
def test_a_run_that_only_grew_stands_at_its_start(setting):
    run = Run(diverging(setting, step_size=1e6, lam=1000.0))
    run.advance()
    assert (run.model_t, len(run.model)) == (0, 0)
    for name, values in state(run).items():
        assert not np.any(values), name


@pytest.mark.parametrize("setting", STOCHASTIC)
def test_what_was_recorded_of_a_run_that_diverged_can_still_be_looked_at(setting, tmp_path):
    run = steered_too_far(setting)
    whole = Run(run.spec, run.split)
    whole.advance(run.t)
    X = run.split.X_test
    for t in (1, run.model_t, run.t):
        np.testing.assert_array_equal(run.snapshot(t).model.evaluate(X), whole.snapshot(t).model.evaluate(X))
    run.model.save(tmp_path / "model.npz")
    saved = load_model(tmp_path / "model.npz").evaluate(X)
    np.testing.assert_array_equal(saved, run.snapshot(run.model_t).model.evaluate(X))
    np.testing.assert_array_equal(saved, Run.replay(run.spec, run.tried).model.evaluate(X))
    assert summary(run)["model_iterations"] == run.model_t
    with pytest.raises(ValueError, match="has diverged"):
        run.extend(1000)
