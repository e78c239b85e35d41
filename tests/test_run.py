"""Runs and specs: what a run records, also a brief one, and a spec as plain data."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each
from small_specs import changed, finished
from small_specs import small as small_spec

from dsgcore import Run, Spec, SpecError
from dsgcore.core.errors import DSGError
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS, Health, LiveRun, StopReason, default_spec, load_split, summary
from dsgcore.experiments.settings import Setting, defaults_of
from dsgcore.experiments.spec import DATA_PARAMETERS, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS
from dsgcore.problems import PROBLEMS
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from dsgcore.solver.task import Change
from dsgcore.studies.runs import make_run


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = default_spec("auc").to_dict() | {"kernel": {"name": "gaussian", "sigma": 0.2}}
    plain["data"] |= {"name": "two_moons", "n": 120, "noise": 0.2, "imbalance": 0.5, "n_labeled": 20}
    plain["solver"] |= {"n_iter": 12, "n_features": 16, "batch_size": 8, "lam": 0.01}
    plain["diagnostics"]["n_probes"] = 20
    return changed(plain, **changes)


def read_csv(path):
    """The names of a history file's columns, and its values as `table` has them."""
    names = tuple(path.read_text(encoding="utf-8").splitlines()[0].split(","))
    return names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T


def table(run):
    return np.array([run.history.column(name) for name in run.history.names])


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


@pytest.mark.parametrize("setting", SETTINGS)
def test_patience_ends_a_run_that_no_longer_improves_and_its_last_row_has_the_average_of_its_end(setting):
    solver, stop = {"n_iter": 60, "average": "tail"}, {"patience": 3, "tolerance": 0.9}
    run = finished(small_spec(setting, solver=solver, stop=stop))
    assert run.stop_reason is StopReason.PLATEAU
    assert run.t < 60
    assert run.t % 16
    assert run.history.last()["score_average"] == summary(run)["score"]


@pytest.mark.parametrize("setting", SETTINGS)
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
    assert finished(small()).health is Health.GOOD
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
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_brief_run_records_the_same_numbers(setting, kind):
    spec = small_spec(setting, **KINDS[kind])
    run, brief = finished(spec), briefly(spec)
    assert brief.history.names == PLAIN + OF_AVERAGE * (spec.solver.average is not None)
    for name in brief.history.names:
        np.testing.assert_array_equal(brief.history.column(name), run.history.column(name))
    assert brief.last_row() == run.last_row() == run.history.last()
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


# --- specs


SPEC_PLAIN = default_spec("auc").to_dict()
SECTIONS = {
    "problem": PROBLEMS["auc"].parameters,
    "kernel": KERNELS["gaussian"].parameters,
    "data": DATA_PARAMETERS,
    "solver": SOLVER_PARAMETERS,
    "stop": StopSpec.parameters,
    "diagnostics": DiagnosticsSpec.parameters,
}


def refusal(given):
    """Return the one sentence that refuses plain data, or a text, as a spec."""
    with pytest.raises(SpecError) as caught:
        (Spec.from_json if isinstance(given, str) else Spec.from_dict)(given)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


@each("section", SECTIONS)
def test_every_bad_value_unknown_field_and_section_of_the_wrong_type_gets_one_sentence(section):
    for parameter in SECTIONS[section]:
        sentence = refusal(SPEC_PLAIN | {section: SPEC_PLAIN[section] | {parameter.name: ["abc\n"]}})
        assert parameter.name in sentence
        assert repr(["abc\n"]) in sentence
    assert "no field 'bogus'" in refusal(SPEC_PLAIN | {section: SPEC_PLAIN[section] | {"bogus": 1}})
    assert section in refusal(SPEC_PLAIN | {section: 3})
    assert section in refusal(SPEC_PLAIN | {section: [1]})


CHANGE = {"t": 1, "name": "step_size", "value": 1.0}
BAD_CHANGES = [3, "abc", [3], [{}], [{"t": 1, "name": "step_size"}], [CHANGE | {"t": 301}], [CHANGE | {"t": 1.5}]]
BAD_CHANGES += [[CHANGE | {"name": "n_features", "value": 0}], [CHANGE | {"name": "lam", "more": 2}]]
BAD_DATA = [{"name": "file"}, {"name": "digits", "path": "x.npz"}, {"name": "digits", "positive": 1}]
BAD_DATA += [{"name": "digits", "n": 5000}, {"name": "two_moons", "noise": 3.0}]
BAD_DATA += [{"name": "file", "path": "x.npz", "noise": 0.5}]
NO_SPECS = ["", "{", "[1, 2]", "null", "3", "[" * 100_000, '{"setting": "auc"} x']


@each(
    "given",
    [
        *(SPEC_PLAIN | {"changes": changes} for changes in BAD_CHANGES),
        *(SPEC_PLAIN | {"data": data} for data in BAD_DATA),
        *NO_SPECS,
    ],
)
def test_bad_changes_options_that_the_data_do_not_have_and_texts_that_are_no_spec_get_one_sentence(given):
    refusal(given)


def test_a_spec_has_one_text_whatever_the_order_form_and_missing_fields_and_it_is_read_back_exactly():
    shuffled = json.loads(json.dumps(dict(reversed(SPEC_PLAIN.items()))))
    shuffled["solver"]["n_iter"] = 300.0
    assert Spec.from_dict(shuffled).to_json() == default_spec("auc").to_json()
    assert Spec.from_dict({"setting": "auc"}) == default_spec("auc")
    assert "setting" in refusal({name: value for name, value in SPEC_PLAIN.items() if name != "setting"})
    for setting in SETTINGS:
        spec = small_spec(setting, solver={"step_size": 0.1 + 0.2, "lam": 1e-5 / 3}, seed=2**32 - 1)
        for indent in (None, 2):
            again = Spec.from_json(spec.to_json(indent=indent))
            assert (again, again.sha256, again.to_json()) == (spec, spec.sha256, spec.to_json())


@pytest.mark.parametrize("kind", ["binary", "pairs", "ordinal", "classes"])
def test_a_setting_without_words_begins_with_data_that_suit_it(kind):
    class Plain(Setting):
        name = "plain"
        labels = kind

    assert DATASETS[{"data": {"name": "digits"}, **defaults_of(Plain)}["data"]["name"]].suits(kind)
    said = profile_of(Plain)
    assert (said.short, said.prefix, said.card) == ("Plain", "plain_", "Learns from few labels.")
