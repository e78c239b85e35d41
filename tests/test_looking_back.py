"""Looking back: earlier steps of a run, in Python and by the slider."""

import numpy as np
import pytest
from cases import each
from live_page import figure, head, numbers
from opened_pages import open_auc

from dsgcore.diagnostics import judgement
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, StopReason, default_spec
from pages.live.looking_back import look_at, watch_again

# Runs of every setting: without the compiler they take long, and nothing here depends on it.


def short(name, **solver):
    plain = default_spec(name).to_dict()
    return Spec.from_dict(plain | {"solver": plain["solver"] | {"n_iter": 60, "average": "tail"} | solver})


@each("name", SETTINGS)
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


def test_the_exact_twin_is_that_of_the_iteration_too():
    run, stopped = Run(short("auc")), Run(short("auc"))
    run.advance()
    stopped.advance(37)
    Z = run.split.X_test[:50]
    np.testing.assert_array_equal(run.at(37).exact_values(Z), stopped.exact_values(Z))


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


def test_the_labels_only_twin_is_looked_at_with_the_run():
    live = LiveRun(short("auc"))
    live.advance(40)
    stopped = LiveRun(short("auc"))
    stopped.advance(20)
    np.testing.assert_array_equal(live.at(20).supervised.test_values, stopped.supervised.test_values)


# --- the slider


RUN = {"data": "Two moons", "n": "200", "n_labeled": "40", "sigma": "10", "n_iter": "64", "at": "60"}


def bench(app):
    assert not app.exception
    return app.session_state["_bench_auc"]


def test_everything_is_as_it_was_at_the_step_that_is_looked_at():
    app, stopped = open_auc(**RUN), open_auc(**RUN | {"at": "24"})
    look_at(bench(app), 24)
    app = app.run()
    assert bench(app).look == 24
    assert numbers(app) == numbers(stopped)
    assert head(app)["judgement"] == head(stopped)["judgement"]
    assert figure(app, "chart-map")["data"][0]["z"] == figure(stopped, "chart-map")["data"][0]["z"]
    lines = [shape["x0"] for shape in figure(app, "chart-error")["layout"]["shapes"]]
    assert lines == [24]
    assert bench(app).link.texts["look"] == "24"
    assert bench(app).live.run.t == 60
    look_at(bench(app), 60)
    assert bench(app.run()).look == 0


def test_a_link_opens_where_it_was_looked_at():
    app = open_auc(**RUN | {"look": "24"})
    assert bench(app).look == 24
    assert head(app)["scrubber"]["shown"] == 24


def test_a_run_is_watched_again_from_its_start():
    app = open_auc(**RUN | {"at": "9"})  # one drawing of the page a step
    watch_again(bench(app))
    app.run()
    steps = [bench(app).look]
    while bench(app).is_showing:
        steps.append(bench(app.run()).look)
    assert steps[0] == 1
    *shown, last = steps
    assert shown == list(range(1, 9))
    assert last == 0
