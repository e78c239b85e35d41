"""A run of PS3VT on a spec's data: its records, and its graph, made once and in the background if it takes long."""

import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from live_page import has_run
from opened_pages import bench_of, click_like_a_browser, open_page, run_of, shown
from small_specs import changed, finished

from dsgcore import Run, Spec, load_model
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.experiments import LiveRun, StopReason, long_work
from dsgcore.jobs import Job, JobQueue, JobState
from dsgcore.multiclass import graph as graphs
from dsgcore.multiclass.features import FixedFeatures
from dsgcore.multiclass.graph import ScoredPoints
from dsgcore.multiclass.twin import KernelTwin


def small(**changes):
    """A quick spec; keywords go to the section that has them."""
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] |= {"n": 160, "n_labeled": 16}
    plain["solver"] |= {"n_iter": 20, "n_features": 24, "batch_size": 8}
    return changed(plain, **changes)


@each("own", [{"variant": "softmax"}, {"variant": "preconditioned softmax"}, {}, {"feature_map": "linear"}])
def test_a_start_and_a_tolerance_that_change_nothing_are_said_to(own):
    spec, objectives = small(average="tail", n_iter=250, **own), []
    for more in ({}, {"start": "exact"}, {"tol": 1.0}):
        run = finished(replace(spec, solver=replace(spec.solver, **more)))
        objectives.append(run.history.column("objective").tolist())
    idle = spec.problem.without_effect
    linear = small(feature_map="linear", loss="logistic", fit_intercept=True)
    assert not {"start", "tol"} & {*linear.problem.without_effect}
    assert ("start" in idle, "tol" in idle) == tuple(each == objectives[0] for each in objectives[1:])


# The estimator's values for the same numbers as in `small`.
SAME = {"lam": 1e-6, "tau_S": 0.05, "batch_size": 8, "sigma": 30.0, "n_features": 24, "is_orthogonal": False}
SAME |= {"loss": "hinge", "tol": None, "random_state": 0}
AUTOMATIC = {"step_size": "auto", "average": "tail", "fit_intercept": True, "n_iter": 30}
SHORT = {"solver.n_iter": "20"}


@each("features", ["linear", "fourier"])
@each("is_full", [False, True])
def test_the_run_is_the_estimators(features, is_full):
    run = finished(small(feature_map=features, is_full_gradient=is_full, radius=5.0))
    own = {"tau_I": 1e-3, "step_size": 1.0, "radius": 5.0, "n_iter": 20, "average": None, "fit_intercept": False}
    own |= SAME | {"feature_map": features, "batch_size": None if is_full else 8}
    estimator = PS3VT(**own).fit(run.split.X_train.astype(np.float64), run.split.y_train)
    np.testing.assert_array_equal(run.model.W, estimator.coef_.T)
    assert not [name for name in run.history.names if name.endswith("_average")]  # none was asked for
    if features == "linear":
        assert "error_mean" not in run.history.names
        with pytest.raises(ValueError, match="no exact-kernel twin"):
            run.exact_values(run.split.X_test)


@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_a_spec_can_ask_for_the_automatic_step_the_average_and_an_intercept(tmp_path, features):
    run = finished(small(**AUTOMATIC, feature_map=features, tau_I=0.0))
    estimator = PS3VT(**SAME, tau_I=0.0, radius=10.0, n_iter=30, feature_map=features)
    estimator.fit(run.split.X_train.astype(np.float64), run.split.y_train)
    assert run.engine.automatic_step == estimator.step_size_ == run.history.column("step_size")[0]
    W = run.result.W
    np.testing.assert_allclose(W[:-1], estimator.coef_.T, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(W[-1], estimator.intercept_, rtol=1e-10, atol=1e-14)
    values = run.result.evaluate(run.split.X_test)
    assert run.history.last()["score_average"] == run.problem.score(run.split.y_test, values)
    run.result.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").evaluate(run.split.X_test).tobytes() == values.tobytes()
    np.testing.assert_allclose(run.engine.average_at(30).W, W, rtol=1e-12)
    assert (run.engine.average_at(12).W == run.engine.model_at(12).W).all()


def test_the_twin_is_linear_mc_and_ignores_what_is_steered_of_graph_and_tail():
    live = LiveRun(small())
    live.advance(5)
    live.steer({"tau_I": 0.01, "tau_S": 0.5, "step_size": 0.5})
    live.advance()
    assert {change.name for change in live.run.spec.changes} == {"tau_I", "tau_S", "step_size"}
    assert {change.name for change in live.supervised.spec.changes} == {"step_size"}
    assert (live.supervised.history.column("tau_I") == 0).all()
    assert (live.supervised.history.column("term: graph") == 0).all()
    alone = finished(live.run.spec.baseline())
    assert (alone.history.column("objective") == live.supervised.history.column("objective")).all()


@each("changes", [{}, {"tau_I": 0.0}, {"is_full_gradient": True, "lam": 0.1}, AUTOMATIC])
def test_the_exact_twin_on_the_features_own_kernel_is_the_run_itself(changes, monkeypatch):
    monkeypatch.setattr(KernelTwin, "_kernel", lambda twin, Z: twin.features(Z) @ twin.features(twin.X).T)
    run = Run(small(**changes))
    run.advance(10)
    for name, value in (("tau_S", 0.2), ("lam", 0.05), ("tau_I", 0.002)):
        run.change(name, value)
    run.advance(5)
    np.testing.assert_allclose(run.engine.twin.values(), run.test_values[:256], atol=1e-10)
    np.testing.assert_allclose(run.exact_values(run.split.X_test[5:9]), run.test_values[5:9], atol=1e-10)
    assert "error_mean" in run.history.names


def test_scores_of_the_same_weights_are_computed_once_with_one_blas_thread_and_others_anew(monkeypatch):
    # The number of threads itself can be another test's, whose work goes on in the background.
    limited = []
    monkeypatch.setattr(graphs, "single_threaded_blas", lambda: limited.append(True) or nullcontext())
    points = ScoredPoints(np.random.default_rng(0).normal(size=(9, 3)), FixedFeatures("linear", 1.0, 1, 0))
    W, other = np.ones((3, 2)), np.ones((3, 2))
    first = points.scores(W)
    assert points.scores(W) is first
    assert limited == [True]
    assert points.scores(other) is not first
    np.testing.assert_array_equal(points.scores(2.0 * W), 2.0 * first)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


def test_large_samples_are_not_scored_whole(monkeypatch):
    whole = finished(small())
    monkeypatch.setattr("dsgcore.multiclass.engine.MAX_POINTS_FOR_WHOLE_SAMPLE", 10)
    monkeypatch.setattr("dsgcore.multiclass.graph.MAX_KEPT_FEATURES", 10)
    run = finished(small())
    assert run.training_values is None
    assert "score_unlabeled" in set(whole.history.names) - set(run.history.names)
    np.testing.assert_array_equal(run.history.column("score_test"), whole.history.column("score_test"))


def test_a_run_whose_numbers_overflow_stops_at_its_last_good_state():
    run = finished(small(feature_map="linear", radius=1e6, step_size=1e6, tau_I=1e3, lam=1e3, n_iter=200))
    assert run.stop_reason in (StopReason.FINISHED, StopReason.DIVERGED)
    assert np.isfinite(run.model.W).all()
    assert np.isfinite(run.history.column("objective")).all()


@each("features", ["linear", "fourier"])
def test_classes_without_a_label_have_scores_too(features):
    for seed in range(2):
        plain = small(feature_map=features, seed=seed, n_iter=4).to_dict()
        plain["data"] = {"name": "ten_digits", "n_labeled": 12, "stratified": False}
        live = LiveRun(Spec.from_dict(plain))
        live.advance()
        n_labeled = len(set(live.run.split.y_train.tolist()) - {-1})
        assert n_labeled < 10 == live.run.model.W.shape[1] == live.run.test_values.shape[1]
        assert np.isfinite(live.run.test_values).all()
        assert 0.0 <= live.run.history.last()["score_test"] <= 1.0


# The graph


def test_a_graph_is_made_once_for_the_same_points_and_neighbours_and_without_weight_on_it_none(monkeypatch):
    made, laplacian = [], graphs.laplacian

    def counted(X, *given, **more):
        made.append((len(X), given[0]))
        return laplacian(X, *given, **more)

    monkeypatch.setattr(graphs, "laplacian", counted)
    run = Run(small(tau_I=0.0))
    run.advance(5)
    assert made == []
    run.change("tau_I", 0.01)  # steered in later, it is the one of the start
    run.advance()
    assert made == [(112, 10)]
    assert run.history.column("term: graph")[4] == 0.0 < run.history.last()["term: graph"]
    assert (finished(run.spec).model.W == run.model.W).all()
    made.clear()
    live = LiveRun(small())
    live.advance(2)
    assert len(live.run.engine.links(100)) > 0  # run, twin and links have one
    live.run.change("tau_I", 0.01)
    again = LiveRun(small(step_size=0.5), live)
    LiveRun(small(sigma=3.0), again)
    assert made == [(112, 10)]
    LiveRun(small(n_neighbors=5), again)
    assert made[1:] == [(112, 5)]
    LiveRun(small(seed=1), live)  # other data
    assert len(made) == 3


def test_links_are_those_of_the_graph():
    run = Run(small())
    links, every = run.engine.links(50), run.engine.links(10**6)
    assert 0 < len(links) <= 50 < len(every)
    assert (every[:, 0] < every[:, 1]).all()
    X = run.split.X_train
    reach = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 10]
    length = np.linalg.norm(X[every[:, 0]] - X[every[:, 1]], axis=1)
    assert (length <= np.maximum(reach[every[:, 0]], reach[every[:, 1]]) + 1e-6).all()


def test_neighbours_found_piece_by_piece_are_those_found_at_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:40] = X[0]  # more twins than neighbours are listed
    whole, told = graphs.laplacian(X), []
    monkeypatch.setattr("dsgcore.multiclass.graph.ROWS_AT_A_TIME", 77)
    pieces = graphs.laplacian(X, report=told.append)
    np.testing.assert_array_equal(pieces.toarray() == 0, whole.toarray() == 0)
    np.testing.assert_allclose(pieces.toarray(), whole.toarray(), rtol=1e-12)
    assert told == [77 / 300, 154 / 300, 231 / 300, 1.0]


@pytest.mark.ci
@pytest.mark.parametrize("n", [200, 6000])
def test_the_default_weight_of_the_graph_overshot_on_many_points(n, tmp_path):
    # Four clusters in 30 dimensions, where the graph's pull grows with the number of points.
    y = np.arange(n) % 4
    np.savez(tmp_path / "points.npz", X=np.random.default_rng(0).normal(size=(n, 30)) + 3.0 * np.eye(30)[y], y=y)
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] = {"name": "file", "path": str(tmp_path / "points.npz"), "n_labeled": 40}
    run = finished(changed(plain, sigma=0.5, n_iter=40))
    row, largest = run.history.last(), np.linalg.eigvalsh(run.engine.task.M)[-1]
    assert row["tau_I"] == pytest.approx(min(1e-3, 0.1 / (row["step_size"] * largest)))
    assert run.history.column("term: graph").max() < 1.0  # 110, all that the ball allows, where it overshoots
    assert row["objective"] < 1.5


def test_left_open_the_weight_is_what_the_step_bears_at_most_a_thousandth_and_too_large_a_one_is_said():
    assert small().problem.tau_I is None
    assert finished(small()).model.W.tobytes() == finished(small(tau_I=1e-3)).model.W.tobytes()
    runs = (Run(small(step_size=step, feature_map="linear", n=10_000)) for step in (1000.0, 5000.0))
    weight, other = (run.engine.automatic_tau_I for run in runs)
    assert other == pytest.approx(weight / 5)
    engine = Run(small(tau_I=1e-3)).engine
    borne = engine.largest_step * 1e-3 / engine.step_at(1)
    assert "swing" in Run(small(tau_I=1.1 * borne)).engine.caution
    assert Run(small(tau_I=0.9 * borne)).engine.caution == Run(small()).engine.caution == ""
    app = open_page("multiclass", **SHORT, **{"data.n": "200", "problem.tau_I": "1", "solver.step_size": "5"})
    (said,) = [shown(box.value) for box in app.warning if "τ_I" in shown(box.value)]
    assert re.match(r"The graph's weight τ_I = 1 is too large for a step of 5, which allows at most [\d.e-]+: ", said)


def test_the_weight_is_steered_from_auto_and_the_link_says_so():
    changes = {"problem.tau_I": "0.01", "changes": "0:tau_I=auto,4:tau_I=0.01"}
    app = open_page("multiclass", **SHORT, **changes, at="7")
    spec = run_of(app, "multiclass").spec
    assert spec.problem.tau_I is None
    assert [(change.t, change.value) for change in spec.changes] == [(4, 0.01)]
    assert app.warning == []
    app.session_state["mc_tau_I"] = None
    app.run()  # nothing can be found in the middle of a run: it begins again
    assert run_of(app, "multiclass").spec.changes == ()
    assert not app.exception


# A graph that takes long to make


@pytest.fixture
def waits_for_all(monkeypatch):
    monkeypatch.setattr("dsgcore.multiclass.engine.MIN_POINTS_TO_WAIT_FOR", 10)


@pytest.fixture
def prepares_without_end(jobs_here):
    """Let preparations wait until they are cancelled; after `undo` they are done at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JobQueue, "submit", lambda *_, **__: Job())
        yield patch


def test_long_work_is_there_until_it_has_been_done_and_the_run_is_the_same(waits_for_all):
    spec, told = small(), []
    split = Run(small(tau_I=0.0)).split
    work = long_work(spec, split)
    work.keep(work.function(*work.arguments, report=told.append))
    assert long_work(spec, split) is None
    assert long_work(small(tau_I=0.0), split) is None
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert "neighbours of 112 points" in told[0][0]
    assert long_work(small(sigma=3.0), split).arguments[1] is not None  # the graph, with other features
    run = Run(spec, split)
    run.advance()
    assert run.model.W.tobytes() == finished(spec).model.W.tobytes()


def test_a_large_set_greyed_the_page_until_its_graph_was_there(waits_for_all):
    app = open_page("multiclass", **SHORT, **{"data.n": "200"})
    bench = bench_of(app, "multiclass")
    assert not app.exception
    assert bench.live is None
    assert len(app.get("progress")) == 1
    job = bench.jobs.preparation.job
    assert job.wait(300)
    assert job.state is JobState.DONE
    app.run()
    assert bench.jobs.preparation is None
    assert bench.live.run.engine.task.M is not None
    assert has_run(app)


def test_other_data_give_up_what_is_being_prepared(waits_for_all, prepares_without_end):
    app = open_page("multiclass", **SHORT)
    first = bench_of(app, "multiclass").jobs.preparation
    prepares_without_end.undo()
    app.selectbox(key="mc_data").select("Blobs").run()
    assert first.job.state is JobState.CANCELLED
    assert bench_of(app, "multiclass").jobs.preparation is None
    assert run_of(app, "multiclass").spec.data.name == "blobs"
    assert not app.exception


def test_cancelled_preparations_leave_a_page_that_says_so_and_can_begin_again(waits_for_all, prepares_without_end):
    app = open_page("multiclass", **SHORT, at="7")
    prepares_without_end.undo()
    app.button(key="preparing-cancel").click().run()
    app.run()
    assert any("cancelled" in warning.value for warning in app.warning)
    app = click_like_a_browser(app, "try-again")
    assert app.selectbox(key="mc_data"), "the whole page is drawn again, and ticks"
    assert run_of(app, "multiclass").t == 7
    assert not app.exception
