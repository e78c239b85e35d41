"""Looking back: earlier steps of a run, in Python and by the slider."""

import numpy as np
import pytest
from cases import each, some
from live_page import figure, head, numbers, status
from opened_pages import bench_of, checked, left_in_browser, open_auc, open_page, run_of
from test_diagnostics import RUN
from test_run import small

from dsgcore.diagnostics import judgement
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec
from pages.live import map_view
from pages.live.judgement import look_at, watch_again
from pages.studies.links import link_to_run
from pages.workbench import page


def short(name, **solver):
    plain = default_spec(name).to_dict()
    return Spec.from_dict(plain | {"solver": plain["solver"] | {"n_iter": 60, "average": "tail"} | solver})


@each("name", some(SETTINGS, 3, 6))
def test_an_earlier_iteration_is_a_run_that_was_stopped_there(name):
    run, stopped = Run(short(name)), Run(short(name))
    run.advance(55)
    before = run.test_values.copy()
    for t in (1, 29):
        stopped.advance(t - stopped.t)
        seen = run.at(t)
        assert seen.t == seen.model_t == t
        for values in ("training_values", "test_values", "labeled_values"):
            np.testing.assert_array_equal(getattr(seen, values), getattr(stopped, values))
        np.testing.assert_array_equal(seen.engine.test_average, stopped.engine.test_average)
        Z = run.split.X_test[:9]
        np.testing.assert_array_equal(seen.model.evaluate(Z), stopped.model.evaluate(Z))
        assert seen.history.last() == stopped.history.last()
        assert judgement(seen) == judgement(stopped)
    # The run itself continues as if it had not been viewed.
    np.testing.assert_array_equal(run.test_values, before)
    whole = Run(short(name))
    whole.advance()
    run.advance()
    np.testing.assert_array_equal(run.test_values, whole.test_values)


@each("name, step_size", [("auc", 50.0), ("s3vm", 100.0), ("ordinal", 100.0), ("similar_unlabeled", 1000.0)])
def test_a_run_that_diverged_can_be_seen_up_to_its_last_finite_iteration(name, step_size):
    run, stopped = Run(short(name, step_size=step_size)), Run(short(name, step_size=step_size))
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    assert run.model_t < run.t
    for t in (1, max(1, run.t // 2), run.t):
        stopped.advance(t - stopped.t)
        seen = run.at(t)
        assert seen.t == seen.model_t == t
        np.testing.assert_array_equal(seen.test_values, stopped.test_values)
        Z = run.split.X_test[:9]
        np.testing.assert_array_equal(seen.model.evaluate(Z), stopped.model.evaluate(Z))
        np.testing.assert_array_equal(seen.exact_values(Z), stopped.exact_values(Z))
        assert seen.history.last() == stopped.history.last()
    with pytest.raises(ValueError, match="t must be between 1 and"):
        run.at(run.t + 1)


# --- the slider


def test_everything_is_as_it_was_at_the_step_that_is_looked_at():
    app, stopped = open_auc(**RUN), open_auc(**RUN | {"at": "24"})
    look_at(bench_of(checked(app)), 24)
    app = app.run()
    assert bench_of(checked(app)).back.t == 24
    assert numbers(app) == numbers(stopped)
    assert head(app)["judgement"] == head(stopped)["judgement"]
    assert figure(app, "chart-map")["data"][0]["z"] == figure(stopped, "chart-map")["data"][0]["z"]
    lines = [shape["x0"] for shape in figure(app, "chart-error")["layout"]["shapes"]]
    assert lines == [24]
    assert left_in_browser(app)["look"] == "24"
    assert bench_of(checked(app)).live.run.t == 60
    look_at(bench_of(checked(app)), 60)
    assert bench_of(checked(app.run())).back.t == 0


def test_a_moved_slider_steers_a_run_that_goes_on_and_begins_one_that_is_over_anew():
    for at, (is_steered, is_anew) in {"3": (True, False), "6": (False, True)}.items():
        app = open_auc(**{"solver.n_iter": "6"}, at=at)
        number = bench_of(app).number
        app = checked(app.select_slider(key="lam").set_value(0.1).run())
        assert (bool(run_of(app).spec.changes), bench_of(app).number > number) == (is_steered, is_anew)


def test_a_link_opens_where_it_was_looked_at():
    app = open_auc(**RUN | {"look": "24"})
    assert bench_of(checked(app)).back.t == 24
    assert head(app)["scrubber"]["shown"] == 24


def test_a_run_is_watched_again_from_its_start():
    app = open_auc(**RUN | {"at": "9"})  # one drawing of the page a step
    watch_again(bench_of(checked(app)))
    app.run()
    steps = [bench_of(checked(app)).back.t]
    while bench_of(checked(app)).back.is_moving:
        steps.append(bench_of(checked(app.run())).back.t)
    assert steps[0] == 1
    *shown, last = steps
    assert shown == list(range(1, 9))
    assert last == 0


# --- the page of a run that diverges: it says so, without a traceback


SHOWN = [
    *((one, "f") for one in some(["auc", "s3vm", "similar_unlabeled", "ordinal"], 1, 4)),
    ("auc", "h"),
    ("auc", "error"),
]


@pytest.mark.parametrize(("setting", "shown"), SHOWN)
def test_map_and_numbers_are_of_the_last_finite_step_and_it_is_said(setting, shown):
    link = {"view.speed": "instant", "solver.step_size": "1000", "view.map": shown}
    app = checked(open_page(setting, **link))
    live = run_of(app, setting)
    assert live.stop_reason is StopReason.DIVERGED
    # On a linear axis the last step before the end would be all there is.
    assert figure(app, "chart-objective")["layout"]["yaxis"]["type"] == "log"
    assert head(app)["judgement"]["tone"] == "red"
    assert live.model_t < live.t
    assert status(app) == f"step {live.t} of {live.n_iter} · diverged, last finite step shown"
    drawn = figure(app, "chart-map")
    assert drawn["layout"]["meta"]["note"] == map_view.step_note(live.t, live.n_iter)
    z = np.array(drawn["data"][0]["z"], dtype=float)
    assert np.isfinite(z).all()
    assert np.ptp(z) > 0  # not blank
    stopped = Run(live.spec, live.split)
    stopped.advance(live.t)
    said = numbers(app)["chart-objective"]["training data"]
    assert float(said) == pytest.approx(stopped.history.last()["objective"], rel=0.05)
    state = map_view._new_map(stopped, (None, None))
    assert z == pytest.approx(map_view._values(stopped, state, shown).reshape(z.shape), rel=1e-3)


# --- the pale curve of the run before: what of it is worth drawing beside the one that follows


def test_the_ghost_of_a_diverged_run_ends_where_it_grew():
    first = LiveRun(small(step_size=1000.0, n_iter=300, dtype="float64"))
    first.advance()
    assert first.run.stop_reason is StopReason.DIVERGED
    highest = first.run.history.column("objective").max()
    second = LiveRun(small(), first)
    limit = 10 * first.run.start_objective()
    assert highest > 1e6 * limit
    assert second.ghost is None or second.ghost.column("objective").max() <= limit
    assert second.previous is first.run.history  # the table of both still says what became of it


# --- what limits the run, on a setting's page: one sentence, and a remedy that one click sets on the controls


FEW = {
    "data.name": "digits",
    "data.n_labeled": "200",
    "kernel.sigma": "0.5",
    "solver.lam": "0.01",
    "solver.n_features": "4",
}


def test_one_click_on_a_remedy_sets_the_control_and_begins_again_with_the_run_before_as_its_ghost():
    app = open_auc(**FEW, **{"solver.n_iter": "128"}, at="100", **{"view.speed": "fast"})
    assert not app.exception
    assert head(app)["judgement"]["remedy"] == "More features: 4 → 16"
    page._apply(bench_of(app))  # as the browser's trigger does
    app = checked(app.run())
    bench = bench_of(app)
    assert app.session_state["n_features"] == 16
    assert bench.live.run.spec.solver.n_features == 16
    assert bench.live.ghost is not None
    while not bench.live.run.is_finished:
        app.run()
        bench = bench_of(app)
    said = head(app)["judgement"]["said"]
    assert f"Features: {bench.begun.tried.before} → " in said
    assert f"(expected {bench.begun.tried.expected})" in said


def test_the_step_slider_says_what_auto_is_and_where_runs_diverge():
    app = open_auc(at="3")
    run = run_of(app)
    said = next(caption.value for caption in app.caption if "diverges above" in caption.value)
    assert f"{run.engine.largest_step:.2g}" in said
    assert f"{run.engine.automatic_step:.2g}" in said


def test_the_page_does_not_say_that_nothing_limits_a_run_beside_worse_than_labels_only():
    worse = {"data": {"name": "diabetes", "n_labeled": 200}, "problem": {"unlabeled_weight": 10.0}}
    spec = Spec.from_dict({"setting": "s3vm", "solver": {"n_iter": 400}, **worse})
    app = open_page("s3vm", **link_to_run(spec), at="400")
    while not bench_of(app, "s3vm").live.is_finished:
        app.run()
    app.run()
    assert not app.exception
    judgement = head(app)["judgement"]
    assert "Nothing limits this run" not in judgement["said"]
    assert judgement["tone"] != "green"
