import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from small_specs import changed, finished

from dsgcore import Run, Spec
from dsgcore.core.parameters import ParameterError
from dsgcore.experiments import Health, History, LiveRun, StopReason, default_spec
from dsgcore.solver.plan import Change


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = Spec().to_dict()
    plain["data"] |= {"name": "two_moons", "n": 120, "noise": 0.2, "imbalance": 0.5, "n_labeled": 20}
    plain["solver"] |= {"n_iter": 12, "n_features": 16, "batch_size": 8}
    plain["diagnostics"]["n_probes"] = 20
    return changed(plain, **changes)


def read_csv(path):
    """The names of a history file's columns, and its values as `table` has them."""
    names = tuple(path.read_text(encoding="utf-8").splitlines()[0].split(","))
    return names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T


def table(run):
    return np.array([run.history.column(name) for name in run.history.names])


def test_a_run_records_one_row_an_iteration_and_says_why_it_ended():
    run = finished(small())
    assert len(run.history) == run.t == 12
    assert run.history.column("t").tolist() == list(range(1, 13))
    assert run.stop_reason is StopReason.FINISHED
    assert np.isfinite(table(run)).all()
    assert len(run.clock) == 12
    assert run.clock == sorted(run.clock)


def test_errors_are_those_of_the_model_and_its_exact_twin():  # test_settings.py has its scores
    run = finished(small(dtype="float64"))
    h = run.exact_values(run.engine.probes.X)
    np.testing.assert_allclose(run.engine.twin.h, h, rtol=1e-9, atol=1e-12)
    error = np.mean((run.model.evaluate(run.engine.probes.X) - h) ** 2)
    assert run.history.last()["error_mean"] == pytest.approx(error, rel=1e-9)


def test_a_change_that_is_not_allowed_loses_nothing():
    run = Run(small())
    run.advance(3)
    with pytest.raises(ParameterError, match="n_features"):
        run.change("n_features", 0)
    with pytest.raises(ParameterError, match="name"):
        run.change("sigma", 2.0)
    assert run.spec.changes == ()
    run.advance()
    assert (table(run) == table(finished(small()))).all()


def test_patience_ends_a_run_that_no_longer_improves():
    run = finished(small(n_iter=200, patience=5, tolerance=0.5))
    assert run.stop_reason is StopReason.PLATEAU
    assert run.t < 200


def test_health_says_when_the_objective_is_above_its_start():
    run = Run(small(step_size=20.0, n_iter=100))
    assert run.health is Health.STARTING
    run.advance(4)
    assert run.health is Health.GROWING
    assert finished(small()).health is Health.GOOD


def test_a_snapshot_out_of_range_gets_one_sentence():
    with pytest.raises(ValueError, match="between 1 and 12"):
        finished(small()).snapshot(13)


def test_an_empty_history_can_be_written():
    text = io.StringIO()
    History().write_csv(text)
    assert text.getvalue() == "\n"


def test_a_live_run_takes_its_twin_along_and_keeps_the_one_before_as_a_ghost():
    first = LiveRun(small())
    first.advance(6)
    assert first.supervised is not None
    assert first.supervised.t == 6
    assert first.supervised.problem.gamma == 1.0
    first.steer({"step_size": 0.5, "lam": 0.2})
    assert first.run.spec.changes == first.supervised.spec.changes == (Change(7, "lam", 0.2),)
    second = LiveRun(small(step_size=0.1), first)
    assert second.ghost is first.run.history
    assert second.previous_spec == first.run.spec
    assert second.run.split is first.run.split
    assert LiveRun(small(seed=1), second).run.split is not second.run.split


def test_in_a_rush_the_run_comes_first_and_its_twin_follows():
    live = LiveRun(small())
    live.rush(60.0)
    assert (live.run.t, live.supervised.t) == (12, 0)
    assert not live.is_finished
    live.rush(60.0)
    assert live.supervised.t == 12
    assert live.is_finished
    together = LiveRun(small())
    together.advance()
    assert together.is_finished
    assert (table(together.run) == table(live.run)).all()
    assert (table(together.supervised) == table(live.supervised)).all()


@pytest.mark.parametrize(("cost", "made"), [(0.1, 1), (0.03, 2), (0.01, 4)])
def test_a_slice_of_time_is_overrun_by_one_iteration_at_most(cost, made, monkeypatch):
    live, clock = LiveRun(small()), SimpleNamespace(now=0.0)
    for part in ("run", "live"):
        monkeypatch.setattr(f"dsgcore.experiments.{part}.time", SimpleNamespace(perf_counter=lambda: clock.now))

    def slowly(advance):
        def made_slowly():
            clock.now += cost
            return advance()

        return made_slowly

    for run in (live.run, live.supervised):
        monkeypatch.setattr(run.engine, "advance", slowly(run.engine.advance))
    live.advance(seconds=0.08)
    assert (live.run.t, live.supervised.t) == (made, made)
    assert clock.now < 0.08 + 2 * cost


def test_the_twin_is_left_out_where_it_would_be_the_same():
    assert LiveRun(small(gamma=1.0)).supervised is None


def test_large_samples_are_measured_by_batches(monkeypatch):
    monkeypatch.setattr("dsgcore.experiments.running_state.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = finished(small(n_iter=2))
    assert run.training_values is None
    assert (run.history.column("objective") == run.history.column("objective_batch")).all()
    whole = finished(small(n_iter=2, n=None))
    assert "score_unlabeled" not in whole.history.names


def test_runs_without_probes_measure_no_feature_error():
    run = finished(replace(small(), diagnostics=replace(small().diagnostics, n_probes=0)))
    assert "error_mean" not in run.history.names


def costing(clock, seconds, work):
    """Return the same work, which takes so long by a clock that moves only then."""

    def worked(*given):
        clock.now += seconds
        return work(*given)

    return worked


@pytest.mark.parametrize("setting", ["auc", "multiclass"])
def test_the_time_of_training_has_nothing_of_what_is_measured_in_it(setting, monkeypatch):
    clock = SimpleNamespace(now=0.0)
    still = SimpleNamespace(perf_counter=lambda: clock.now)
    parts = ("run", "running_state", "stochastic_engine")
    for part in (*(f"experiments.{name}" for name in parts), "multiclass.engine", "multiclass.cache"):
        monkeypatch.setattr(f"dsgcore.{part}.time", still)
    plain = default_spec(setting).to_dict()
    plain["data"] |= {"n": 200, "n_labeled": 20}
    plain["diagnostics"]["n_probes"] = 20
    run = Run(Spec.from_dict(plain))
    engine = run.engine
    measuring = [(engine, "_measure")]
    if setting == "auc":
        measuring += [(engine.probes, "advance"), (engine.rest_of_test, "advance"), (engine, "_bring_forward")]
        monkeypatch.setattr(engine._training, "advance", costing(clock, 1.0, engine._training.advance))
    else:
        measuring += [(engine.twin, "advance")]
        monkeypatch.setattr(engine, "_next", costing(clock, 1.0, engine._next))
    for of, name in measuring:
        monkeypatch.setattr(of, name, costing(clock, 100.0, getattr(of, name)))
    run.advance(3)
    assert run.training_clock == [1.0, 2.0, 3.0]
    assert run.clock == [100.0 * len(measuring) * t + t for t in (1, 2, 3)]


def test_runs_histories_and_results_show_themselves_in_a_line():
    spec = Spec.from_dict(
        {"setting": "auc", "data": {"name": "two_moons"}, "solver": {"n_iter": 12, "average": "tail"}}
    )
    run = Run(spec)
    assert repr(run.history) == "History(0 rows, 0 columns)"
    assert repr(run).startswith("Run(auc on two_moons: 0 of 12 iterations; History(0 rows")
    run.advance()
    frame = run.history.to_frame()
    assert list(frame.columns) == list(run.history.names)
    assert (frame["objective"].to_numpy() == run.history.column("objective")).all()
    assert repr(run).startswith("Run(auc on two_moons: 12 of 12 iterations, finished; History(12 rows")
    for shown in (run, run.history):
        assert len(repr(shown)) < 200
        assert "\n" not in repr(shown)
        assert shown._repr_html_().count("<tr") == 11
    assert len(repr(run.result)) < 200
