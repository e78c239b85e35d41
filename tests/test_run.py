"""Runs and specs of every setting: what a run records, also a brief one, repeated, replayed and exported; a spec as plain data."""

import json
import re
import runpy
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from small_specs import changed, finished
from small_specs import small as small_spec

from dsgcore import Run, Spec, SpecError, load_model
from dsgcore.__main__ import main
from dsgcore.core.errors import DSGError
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS, Health, LiveRun, StopReason, default_spec, load_split, summary, theory_of
from dsgcore.experiments.export import estimator_of, script
from dsgcore.experiments.spec import DataSpec, Setting, defaults_of
from dsgcore.kernels import KERNELS
from dsgcore.settings import profile_of
from dsgcore.settings.theorems import NO_THEOREM
from dsgcore.solver.task import Change
from dsgcore.studies.runs import make_run

every_setting = pytest.mark.parametrize("setting", SETTINGS)
LABELS_ALONE = ("supervised", "toy_problem")  # settings without a twin; the second is added by test_toys


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = default_spec("auc").to_dict() | {"kernel": {"name": "gaussian", "sigma": 0.2}}
    plain["data"] |= {"name": "two_moons", "n": 120, "noise": 0.2, "imbalance": 0.5, "n_labeled": 20}
    plain["solver"] |= {"n_iter": 12, "n_features": 16, "batch_size": 8, "lam": 0.01}
    plain["diagnostics"]["n_probes"] = 20
    return changed(plain, **changes)


def table(run):
    return np.array([run.history.column(name) for name in run.history.names])


def assert_holds(path, run, rtol=0.0):
    """Fail unless a file holds the history of a run, with the names of its columns."""
    assert tuple(path.read_text(encoding="utf-8").splitlines()[0].split(",")) == run.history.names
    np.testing.assert_allclose(np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T, table(run), rtol=rtol, atol=0)


def test_a_run_records_one_row_an_iteration_with_the_errors_of_its_model_against_the_exact_twin():
    run = finished(small(dtype="float64"))
    assert len(run.history) == run.t == len(run.clock) == 12
    assert run.history.column("t").tolist() == list(range(1, 13))
    assert run.stop_reason is StopReason.FINISHED
    assert np.isfinite(table(run)).all()
    assert run.clock == sorted(run.clock)
    h = run.exact_values(run.engine.probes.X)
    np.testing.assert_allclose(run.engine.twin.h, h, rtol=1e-9, atol=1e-12)
    error = np.mean((run.model.evaluate(run.engine.probes.X) - h) ** 2)
    assert run.history.last()["error_mean"] == pytest.approx(error, rel=1e-9)


def test_a_change_that_is_not_allowed_loses_nothing():
    run = Run(small())
    run.advance(3)
    with pytest.raises(SpecError, match="n_features"):
        run.change("n_features", 0)
    with pytest.raises(SpecError, match="name"):
        run.change("sigma", 2.0)
    assert run.spec.changes == ()
    run.advance()
    assert (table(run) == table(finished(small()))).all()


@every_setting
def test_patience_ends_a_run_that_no_longer_improves_and_its_last_row_has_the_average_of_its_end(setting):
    solver, stop = {"n_iter": 60, "average": "tail"}, {"patience": 3, "tolerance": 0.9}
    run = finished(small_spec(setting, solver=solver, stop=stop))
    assert run.stop_reason is StopReason.PLATEAU
    assert run.t < 60
    assert run.t % 16
    assert run.history.last()["score_average"] == summary(run)["score"]


@every_setting
def test_averages_of_a_settled_run_are_of_the_iterations_made_also_where_it_looks_back_and_of_many_points(
    setting, monkeypatch
):
    def settled():
        run = Run(small_spec(setting, solver={"n_iter": 90, "average": "tail"}))
        run.engine.ends_at = 48
        run.advance()
        return run

    run = settled()
    assert run.stop_reason is StopReason.SETTLED
    scores = run.history.column("score_average")
    for t in (16, 32, 48):
        assert run.at(t).averaged_after == 24
        assert run.at(t).result_score == scores[t - 1]
    monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    of_many = settled()
    last, again = of_many.history.last(), of_many.engine.row(is_brief=True)
    assert again["objective_average"] == last["objective_average"]


def test_health_says_when_the_objective_is_above_its_start_and_large_samples_are_measured_by_batches(monkeypatch):
    run = Run(small(step_size=20.0, n_iter=100))
    assert run.health is Health.STARTING
    run.advance(4)
    assert run.health is Health.GROWING
    monkeypatch.setattr("dsgcore.experiments.stochastic.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    run = finished(small(n_iter=2))
    assert run.training_values is None
    assert (run.history.column("objective") == run.history.column("objective_batch")).all()
    whole = finished(small(n_iter=2, n=None))
    assert "score_unlabeled" not in whole.history.names


def test_a_live_run_takes_its_twin_along_and_keeps_the_one_before_as_a_ghost():
    first = LiveRun(small())
    first.advance(6)
    assert (first.supervised.t, first.supervised.problem.gamma) == (6, 1.0)
    first.steer({"step_size": 0.5, "lam": 0.2})
    assert first.run.spec.changes == first.supervised.spec.changes == (Change(7, "lam", 0.2),)
    second = LiveRun(small(step_size=0.1), first)
    assert second.ghost is first.run.history
    assert second.previous_spec == first.run.spec
    assert second.run.split is first.run.split
    assert LiveRun(small(seed=1), second).run.split is not second.run.split


def costing(clock, seconds, work):
    """Return the same work, which takes so long by a clock that moves only then."""

    def worked(*given, **how):
        clock.now += seconds
        return work(*given, **how)

    return worked


def stopped_clock(monkeypatch, *modules):
    """Return a clock that only work moves, for these modules."""
    clock = SimpleNamespace(now=0.0)
    for module in modules:
        monkeypatch.setattr(f"dsgcore.{module}.time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


@pytest.mark.parametrize(("cost", "made"), [(0.1, 1), (0.03, 2), (0.01, 4)])
def test_a_slice_of_time_is_overrun_by_one_iteration_at_most(cost, made, monkeypatch):
    live, clock = LiveRun(small()), stopped_clock(monkeypatch, "experiments.run", "experiments.live")
    for run in (live.run, live.supervised):
        monkeypatch.setattr(run.engine, "update", costing(clock, cost, run.engine.update))
    live.advance(seconds=0.08)
    assert (live.run.t, live.supervised.t) == (made, made)
    assert clock.now < 0.08 + 2 * cost


@pytest.mark.parametrize("setting", ["auc", "multiclass"])
def test_the_time_of_training_has_nothing_of_what_is_measured_in_it(setting, monkeypatch):
    modules = ("experiments.run", "experiments.stochastic", "multiclass.engine", "multiclass.graph")
    clock = stopped_clock(monkeypatch, *modules)
    run = Run(small_spec(setting, diagnostics={"n_probes": 20}))
    engine = run.engine
    if setting == "auc":
        of, training = engine._training, "advance"
        parts = [(engine.probes, "advance"), (engine.rest_of_test, "advance")]
        parts += [(engine, "row"), (engine, "_bring_forward")]
    else:
        of, training = engine, "_next"
        parts = [(engine.gauges, "advance"), (engine.twin, "advance")]
    for part, name, seconds in ((of, training, 1.0), *((part, name, 100.0) for part, name in parts)):
        monkeypatch.setattr(part, name, costing(clock, seconds, getattr(part, name)))
    run.advance(3)
    assert run.training_clock == [1.0, 2.0, 3.0]
    assert run.clock == [100.0 * len(parts) * t + t for t in (1, 2, 3)]


# --- brief runs


PLAIN, OF_AVERAGE = ("t", "objective", "score_test"), ("objective_average", "score_average")
KINDS = {
    "to the end": {},
    "average": {"solver": {"average": "tail", "n_iter": 45}},
    "stopped early": {"solver": {"average": "tail", "n_iter": 45}, "stop": {"patience": 1, "tolerance": 0.5}},
    "no probes": {"diagnostics": {"n_probes": 0}},
}


def briefly(spec):
    run = Run(spec, load_split(spec), measure="brief")
    run.advance()
    return run


def without_seconds(said):
    return {name: value for name, value in said.items() if name not in ("seconds", "step_limit")}


@pytest.mark.parametrize("kind", KINDS)
@every_setting
def test_a_brief_run_records_the_same_numbers(setting, kind):
    spec = small_spec(setting, **KINDS[kind])
    run, brief = finished(spec), briefly(spec)
    assert brief.history.names == PLAIN + OF_AVERAGE * (spec.solver.average is not None)
    for name in brief.history.names:
        np.testing.assert_array_equal(brief.history.column(name), run.history.column(name))
    assert brief.last_row() == run.last_row() == run.history.last()
    assert Run(spec, brief.split, measure="brief").last_row() == {}
    assert without_seconds(summary(brief)) == without_seconds(summary(run))


@pytest.mark.parametrize("setting", ["auc", "s3vm", "ordinal"])
def test_a_study_keeps_the_whole_run_if_it_diverges(setting):
    spec = small_spec(setting, solver={"step_size": 1000.0, "n_iter": 400})
    run = finished(spec)
    assert run.stop_reason is StopReason.DIVERGED
    with pytest.raises(DSGError, match="brief run that has diverged"):
        briefly(spec).last_row()
    _, said, columns = make_run(spec.to_json())
    assert without_seconds(said) == without_seconds(summary(run))
    assert set(columns) == set(run.history.names)
    np.testing.assert_array_equal(columns["objective"], run.history.column("objective"))


# --- every setting


def quick(setting, **solver):
    """The setting's default spec, made short."""
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {"n_iter": 12, "n_features": 32, **solver}
    plain["data"] |= {"n": 150 if plain["data"]["name"] != "ten_digits" else 300, "n_labeled": 20}
    plain["diagnostics"]["n_probes"] = 20
    return Spec.from_dict(plain)


@cache
def usual(setting):
    """The setting's short run, at its end."""
    return finished(quick(setting))


@every_setting
def test_same_spec_same_bits_however_it_is_advanced(setting):
    run = Run(quick(setting))
    run.advance(1)
    run.advance(4)
    while not run.is_finished:
        run.advance(seconds=0.0)
    assert run.stop_reason is StopReason.FINISHED
    assert (table(run) == table(usual(setting))).all()
    terms = sum(run.history.column(name) for name in run.history.names if name.startswith("term: "))
    np.testing.assert_allclose(run.history.column("objective"), terms, rtol=1e-12)


@every_setting
def test_changes_become_part_of_the_spec_and_are_replayed_exactly_and_the_twin_comes_along(setting):
    live = LiveRun(quick(setting))
    run = live.run
    live.advance(4)
    doubled = {name: 1e-3 if value is None else 2 * value for name, value in run.spec.values_at(0).items()}
    live.steer(doubled)
    live.advance()
    assert {change.t for change in run.spec.changes} == {5}
    assert run.spec.values_at(5) == doubled
    again = finished(Spec.from_json(run.spec.to_json()))
    assert (table(again) == table(run)).all()
    assert (table(run)[:, :4] == table(usual(setting))[:, :4]).all()
    assert (live.supervised is None) == (setting in LABELS_ALONE)
    if live.supervised is not None:
        assert live.supervised.t == 12
        assert live.supervised.problem.baseline() == live.supervised.problem


@every_setting
def test_the_exported_script_gives_the_history_of_the_run(setting, tmp_path, monkeypatch):
    run = Run(quick(setting))
    run.advance(5)
    run.change("step_size", 0.2)
    run.advance(4)
    assert script(run).startswith(f'"""Repeat one run of {profile_of(run.problem).paper}: ')  # its name in the app
    (tmp_path / "repeat_run.py").write_text(script(run), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("repeat_run.py", run_name="__main__")
    assert_holds(tmp_path / "history.csv", run, rtol=1e-12)
    X = run.split.X_test
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").evaluate(X), run.model.evaluate(X))


@every_setting
def test_the_script_of_a_finished_run_fits_the_estimator_with_its_score(setting, tmp_path, monkeypatch):
    run = finished(replace(quick(setting), seed=3))
    (tmp_path / "repeat_run.py").write_text(text := script(run), encoding="utf-8")
    if estimator_of(SETTINGS[setting]) is None:  # one that somebody adds
        assert ".fit(" not in text
        return
    assert "# If the function still moves at the end, fit says so in a ConvergenceWarning." in text
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path("repeat_run.py", run_name="__main__")
    assert names["model"].score(run.split.X_test, run.split.y_test) == pytest.approx(run.result_score, abs=1e-12)


@every_setting
def test_the_command_line_runs_a_spec(setting, tmp_path, capsys):
    spec, out = quick(setting), tmp_path / "out"
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="utf-8")
    assert main(["run", str(tmp_path / "spec.json"), "--out", str(out), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    run = usual(setting)
    assert_holds(out / "history.csv", run)
    assert load_model(out / "model.npz").evaluate(X := run.split.X_test).tobytes() == run.model.evaluate(X).tobytes()
    assert Spec.from_json((out / "spec.json").read_text(encoding="utf-8")) == spec
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert (result["spec_sha256"], result["stop_reason"], result["iterations"]) == (spec.sha256, "finished", 12)
    assert result["last"]["score_test"] == run.history.last()["score_test"]


# --- specs


@each("setting, section, values, words", [
    ("multiclass", "solver", {"dtype": "float32"}, "dtype must be one of float64, got 'float32'"),
    ("multiclass", "solver", {"sampling": "shuffled"}, "solver has no field 'sampling'; it has "),
    ("multiclass", "kernel", KERNELS["matern"](), "kernel name must be one of gaussian, got 'matern'"),
    ("auc", "data", {"name": "iris"}, "convert must be one of one against the rest, got 'as they are'"),
    ("auc", "data", {"name": "file"}, "path must be given if the data's name is 'file', got null"),
    ("ordinal", "data", {"name": "iris"}, "the data 'iris' do not suit this setting: "),
])  # fmt: skip
def test_what_a_spec_made_in_python_may_not_have_is_refused_as_in_its_text(setting, section, values, words):
    spec = default_spec(setting)
    part = replace(getattr(spec, section), **values) if isinstance(values, dict) else values
    with pytest.raises(SpecError, match="^" + re.escape(words)):
        replace(spec, **{section: part})


def test_data_that_a_spec_gets_in_python_have_the_options_of_their_set_as_in_its_text():
    spec = replace(default_spec("auc"), data=DataSpec(name="two_moons"))
    assert (spec.data.n, spec.data.noise, spec.data.convert) == (1000, 0.15, "as they are")
    assert Spec.from_json(spec.to_json()) == spec


def test_a_spec_has_one_text_whatever_the_order_form_and_missing_fields_and_it_is_read_back_exactly():
    shuffled = json.loads(json.dumps(dict(reversed(default_spec("auc").to_dict().items()))))
    shuffled["solver"]["n_iter"] = 300.0
    assert Spec.from_dict(shuffled).to_json() == default_spec("auc").to_json()
    assert Spec.from_dict({"setting": "auc"}) == default_spec("auc")
    for setting in SETTINGS:
        spec = small_spec(setting, solver={"step_size": 0.1 + 0.2, "lam": 1e-5 / 3}, seed=2**32 - 1)
        for indent in (None, 2):
            again = Spec.from_json(spec.to_json(indent=indent))
            assert (again, again.sha256, again.to_json()) == (spec, spec.sha256, spec.to_json())


@each("kind", ["binary", "pairs", "ordinal", "classes"])
def test_a_setting_without_words_begins_with_data_that_suit_it(kind):
    class Plain(Setting):
        name = "plain"
        labels = kind

    assert DATASETS[{"data": {"name": "digits"}, **defaults_of(Plain)}["data"]["name"]].suits(kind)
    said = profile_of(Plain)
    assert (said.short, said.prefix, said.card) == ("Plain", "plain_", "Learns from few labels.")


def test_a_run_is_shown_in_a_notebook_with_its_state_and_its_last_rows():
    run = finished(small_spec("auc"))
    html = run._repr_html_()
    assert html.startswith(f"<p>{run!r}</p><table")
    assert html.count("<tr") == 1 + 10


@every_setting
def test_the_theory_says_what_it_assumes(setting):
    said = theory_of(default_spec(setting))
    if profile_of(SETTINGS[setting]).theorem is NO_THEOREM:
        assert said.statement.startswith("DSG Lab knows no theorem")
        return
    assert "Theorem " in said.statement
    assert said.assumptions
