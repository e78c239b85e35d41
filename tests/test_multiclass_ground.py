"""The graph of PS3VT: made once, in the background if it takes long, with a weight that the step allows."""

import re

import numpy as np
import pytest
from job_functions import prepare_without_end
from live_page import has_run
from opened_pages import bench_of, click_like_a_browser, open_page, run_of, shown
from test_multiclass_run import finished, small

from dsgcore import Run, Spec
from dsgcore.experiments import LiveRun, long_work
from dsgcore.jobs import JobState, shared_queue
from dsgcore.multiclass import graph_cache as graphs


@pytest.fixture
def graphs_made(monkeypatch):
    """Record the arguments of every graph that is made."""
    made = []

    def counted(X, **options):
        made.append((len(X), options["n_neighbors"]))
        return laplacian(X, **options)

    laplacian = graphs.laplacian
    monkeypatch.setattr(graphs, "laplacian", counted)
    return made


def test_the_graph_was_built_three_times_for_run_twin_and_links(graphs_made):
    live = LiveRun(small())
    live.advance(2)
    assert len(live.run.engine.links(100)) > 0
    live.run.change("tau_I", 0.01)
    assert graphs_made == [(112, 10)]


def test_a_run_on_the_same_data_takes_the_graph_of_the_one_before(graphs_made):
    live = LiveRun(small())
    again = LiveRun(small(step_size=0.5), live)
    LiveRun(small(sigma=3.0), again)
    assert len(graphs_made) == 1
    LiveRun(small(n_neighbors=5), again)
    assert graphs_made[1:] == [(112, 5)]


def test_the_graph_of_other_data_is_another_one(graphs_made):
    live = LiveRun(small())
    LiveRun(small(seed=1), live)
    assert len(graphs_made) == 2


def test_a_run_without_weight_on_the_graph_makes_none(graphs_made):
    run = Run(small(tau_I=0.0))
    run.advance(2)
    assert graphs_made == []
    run.change("tau_I", 0.01)
    assert len(graphs_made) == 1


def test_neighbours_found_piece_by_piece_are_those_found_at_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:40] = X[0]  # more twins than neighbours are listed
    whole, told = graphs.laplacian(X), []
    monkeypatch.setattr("dsgcore.multiclass.graph.ROWS_AT_A_TIME", 77)
    pieces = graphs.laplacian(X, report=told.append)
    np.testing.assert_array_equal(pieces.toarray() == 0, whole.toarray() == 0)
    np.testing.assert_allclose(pieces.toarray(), whole.toarray(), rtol=1e-12)
    assert told == [77 / 300, 154 / 300, 231 / 300, 1.0]


def in_many_dimensions(n, folder):
    """Four clusters in 30 dimensions, where the graph's pull grows with the number of points."""
    y = np.arange(n) % 4
    X = np.random.default_rng(0).normal(size=(n, 30)) + 3.0 * np.eye(30)[y]
    np.savez(folder / "points.npz", X=X, y=y)
    plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
    plain["data"] = {"name": "file", "path": str(folder / "points.npz"), "n_labeled": 40}
    plain["kernel"]["sigma"] = 0.5
    plain["solver"] |= {"n_iter": 40}
    return Spec.from_dict(plain)


@pytest.mark.parametrize("n", [200, 6000])
def test_the_default_weight_of_the_graph_overshot_on_many_points(n, tmp_path):
    run = finished(in_many_dimensions(n, tmp_path))
    row, largest = run.history.last(), np.linalg.eigvalsh(run.engine.task.M)[-1]
    assert row["tau_I"] == pytest.approx(min(1e-3, 0.1 / (row["step_size"] * largest)))
    assert run.history.column("term: graph").max() < 1.0  # 110, all that the ball allows, where it overshoots
    assert row["objective"] < 1.5


def test_left_open_the_weight_is_a_thousandth_where_the_step_bears_it():
    open_one, given = finished(small()), finished(small(tau_I=1e-3))
    assert small().problem.tau_I is None
    assert open_one.model.W.tobytes() == given.model.W.tobytes()


def test_a_smaller_step_bears_more():
    def weight(step_size):
        return Run(small(step_size=step_size, features="linear", n=10_000)).engine.automatic_tau_I

    assert weight(5000.0) == pytest.approx(weight(1000.0) / 5)


def test_a_weight_that_the_step_does_not_bear_is_said_before_the_run_begins():
    largest = Run(small(tau_I=1e-3)).engine.largest_step * 1e-3  # of step times weight
    step = Run(small(tau_I=1e-3)).engine.step_at(1)
    assert "swing" in Run(small(tau_I=1.1 * largest / step)).engine.caution
    assert Run(small(tau_I=0.9 * largest / step)).engine.caution == ""
    assert Run(small()).engine.caution == ""


def test_the_page_says_that_the_step_does_not_bear_the_weight():
    app = open_page("multiclass", mc_n="200", mc_n_iter="20", mc_tau_I="1", mc_step_size="5")
    (said,) = [shown(box.value) for box in app.warning if "τ_I" in shown(box.value)]
    assert re.match(r"The graph's weight τ_I = 1 is too large for a step of 5, which allows at most [\d.e-]+: ", said)


@pytest.fixture
def waits_for_all(monkeypatch):
    monkeypatch.setattr("dsgcore.multiclass.engine.MIN_POINTS_TO_WAIT_FOR", 10)


class QueueWithoutEnd:
    """The queue of the pages, in which preparations wait until they are cancelled."""

    def submit(self, function, *arguments, **options):
        return shared_queue().submit(prepare_without_end, *arguments, **options)


@pytest.fixture
def prepares_without_end():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pages.session.preparing.shared_queue", QueueWithoutEnd)
        yield patch


def test_long_work_is_there_until_it_has_been_done(waits_for_all):
    spec, told = small(), []
    split = Run(small(tau_I=0.0)).split
    work = long_work(spec, split)
    work.keep(work.function(*work.arguments, report=told.append))
    assert long_work(spec, split) is None
    assert long_work(small(tau_I=0.0), split) is None
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert "neighbours of 112 points" in told[0][0]
    assert Run(spec, split).engine.model.W.shape[0] == 48
    assert long_work(small(sigma=3.0), split).arguments[1] is not None  # the graph, with other features


def test_a_run_whose_graph_was_made_elsewhere_is_the_same_run(waits_for_all):
    split = Run(small(tau_I=0.0)).split
    work = long_work(small(), split)
    work.keep(work.function(*work.arguments, report=print))
    run = Run(small(), split)
    run.advance()
    assert run.model.W.tobytes() == finished(small()).model.W.tobytes()


@pytest.mark.compiled
def test_a_large_set_greyed_the_page_until_its_graph_was_there(waits_for_all):
    app = open_page("multiclass", mc_n="200", mc_n_iter="20")
    bench = bench_of(app, "multiclass")
    assert not app.exception
    assert bench.live is None
    assert len(app.get("progress")) == 1
    job = bench.preparation.job
    assert job.wait(300)
    assert job.state is JobState.DONE
    app.run()
    assert bench.preparation is None
    assert bench.live.run.engine.task.M is not None
    assert has_run(app)


@pytest.mark.compiled
def test_other_data_give_up_what_is_being_prepared(waits_for_all, prepares_without_end):
    app = open_page("multiclass", mc_n_iter="20")
    first = bench_of(app, "multiclass").preparation
    prepares_without_end.undo()
    app.selectbox(key="mc_data").select("Blobs").run()
    assert first.job.wait(60)
    assert first.job.state is JobState.CANCELLED
    second = bench_of(app, "multiclass").preparation
    assert second.spec.data.name == "blobs"
    assert second.job.wait(300)
    app.run()
    assert run_of(app, "multiclass").spec.data.name == "blobs"
    assert not app.exception


@pytest.mark.compiled
def test_cancelling_what_is_being_prepared_leaves_a_page_that_says_so_and_can_begin_again(
    waits_for_all, prepares_without_end
):
    app = open_page("multiclass", mc_n_iter="20", mc_at="7")
    prepares_without_end.undo()
    app.button(key="preparing-cancel").click().run()
    assert bench_of(app, "multiclass").preparation.job.wait(60)
    app.run()
    assert any("cancelled" in warning.value for warning in app.warning)
    app = click_like_a_browser(app, "try-again")
    assert app.selectbox(key="mc_data"), "the whole page is drawn again, and ticks"
    assert bench_of(app, "multiclass").preparation.job.wait(300)
    app.run()
    assert run_of(app, "multiclass").t == 7
    assert not app.exception


@pytest.mark.compiled
def test_the_weight_is_steered_from_auto_and_the_link_says_so():
    app = open_page("multiclass", mc_n_iter="20", mc_tau_I="0.01", mc_changes="0:tau_I=auto,4:tau_I=0.01", mc_at="7")
    spec = run_of(app, "multiclass").spec
    assert spec.problem.tau_I is None
    assert [(change.t, change.value) for change in spec.changes] == [(4, 0.01)]
    assert app.warning == []
    app.session_state["mc_tau_I"] = None
    app.run()  # nothing can be found in the middle of a run: it begins again
    assert run_of(app, "multiclass").spec.changes == ()
    assert not app.exception
