"""The pale curve of the run before: what of it is worth drawing beside the one that follows."""

from test_run import small

from dsgcore.experiments import LiveRun, StopReason
from pages.live import curves
from pages.session.view import View


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


def test_a_run_that_grew_late_leaves_what_was_before():
    first = LiveRun(small(n_iter=300, dtype="float64"))
    first.advance(20)
    calm = first.run.history.column("objective")
    first.steer({"step_size": 1000.0})
    first.advance()
    ghost = LiveRun(small(), first).ghost
    assert ghost is not None
    assert 20 <= len(ghost) < len(first.run.history)
    assert (ghost.column("objective")[:20] == calm).all()
    assert ghost.names == first.run.history.names


def test_a_run_on_other_data_has_no_ghost():
    first = LiveRun(small())
    first.advance(3)
    assert LiveRun(small(seed=1), first).ghost is first.run.history  # the same data, split again
    other = LiveRun(small(noise=0.1), first)
    assert other.ghost is None
    assert LiveRun(small(n=140), other).ghost is None


def test_the_ghost_has_its_name_in_the_legend():
    first = LiveRun(small())
    first.advance(5)
    live = LiveRun(small(step_size=0.1), first)
    for figure in (curves.objective_figure(live, View(), "0"), curves.error_figure(live, View(), "0")):
        (ghost,) = [trace for trace in figure["data"] if trace.get("name") == "previous run"]
        assert ghost["showlegend"]
        assert len(ghost["x"]) == 5
