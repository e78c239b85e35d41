"""The stability limit in studies: stored with each run, true for diverged runs, and drawn if the step is an axis."""

import numpy as np
import pytest
from test_studies import Here

from dsgcore.experiments import Run, Spec
from dsgcore.experiments.step_limit import step_limit
from dsgcore.studies import Store, Study, StudyRuns, carry_out
from dsgcore.studies.processes import make_run
from pages.studies import study_charts as charts
from pages.studies.axis_view import axis_of
from pages.studies.limit_line import NAME
from pages.studies.parallel_chart import parallel

SPEC = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 200, "n_labeled": 20},
    "solver": {"n_iter": 60, "n_features": 8, "batch_size": 16},
}
STEPS = {"name": "solver.step_size", "values": [0.1, 1.0, 10.0, 100.0]}
WIDTHS = {"name": "kernel.sigma", "values": [0.5, 5.0]}


def made(tmp_path, *axes, **solver):
    study = Study.from_dict({"spec": {**SPEC, "solver": SPEC["solver"] | solver}, "axes": list(axes), "seeds": [0, 1]})
    store, runs = Store(tmp_path / "runs.sqlite"), StudyRuns(study)
    carry_out(study, store, Here(), 1)
    runs.refresh(store)
    return runs.results("objective")


def views(results):
    return [axis_of(axis.name, axis.values, is_log=True) for axis in results.study.axes]


def line_of(figure):
    return [trace for trace in figure["data"] if trace.get("name") == NAME]


def test_above_the_limit_runs_grow_and_below_they_do_not():
    for seed in range(3):
        spec = Spec.from_dict({**SPEC, "seed": seed})
        limit = step_limit(Run(spec))
        ends = []
        for share in (0.5, 2.0):
            run = Run(Spec.from_dict({**SPEC, "seed": seed, "solver": SPEC["solver"] | {"step_size": share * limit}}))
            run.advance()
            ends.append(run.history.last()["objective"] / run.start_objective())
        assert ends[0] < 1.0 < ends[1]


def test_the_limit_does_not_depend_on_the_step_and_is_kept_with_the_run(tmp_path):
    results = made(tmp_path, STEPS)
    assert np.ptp(results.step_limit) == 0.0
    of_seeds = [step_limit(Run(Spec.from_dict({**SPEC, "seed": seed}))) for seed in (0, 1)]
    assert results.step_limit[0] == pytest.approx(np.mean(of_seeds))
    assert make_run(Spec.from_dict(SPEC).to_json())[1]["step_limit"] == of_seeds[0]


def test_steps_that_become_smaller_have_none(tmp_path):
    results = made(tmp_path, STEPS, schedule="theta/t")
    assert np.isnan(results.step_limit).all()
    assert line_of(charts.lines(results, views(results)[0], name="objective", chosen=None)) == []


def test_it_is_an_upright_line_where_the_step_is_the_only_axis(tmp_path):
    results = made(tmp_path, STEPS)
    (line,) = line_of(charts.lines(results, views(results)[0], name="objective", chosen=None))
    assert line["x"] == [results.step_limit[0]] * 2
    assert line["yaxis"] == "y2"
    low = made(tmp_path, {**STEPS, "values": [0.01, 0.1]})
    assert line_of(charts.lines(low, views(low)[0], name="objective", chosen=None)) == []  # it would stretch the axis


@pytest.mark.weekly
@pytest.mark.parametrize("is_across", [True, False])
def test_it_goes_through_the_cells_of_a_map(tmp_path, is_across):
    results = made(tmp_path, *((STEPS, WIDTHS) if is_across else (WIDTHS, STEPS)))
    (line,) = line_of(charts.heat_map(results, views(results), name="objective", chosen=None))
    along, beside = (line["x"], line["y"]) if is_across else (line["y"], line["x"])
    assert beside == [-0.5, 0.5, 0.5, 1.5]
    limits = [results.step_limit[[p[is_across] == width for p in results.points]].mean() for width in WIDTHS["values"]]
    expected = 1.0 + np.log10(limits)  # the steps are powers of ten from 0.1 on
    np.testing.assert_allclose([along[0], along[2]], expected)
    others = made(tmp_path, WIDTHS, {"name": "solver.lam", "values": [0.01, 0.1]})
    assert line_of(charts.heat_map(others, views(others), name="objective", chosen=None)) == []


def test_parallel_lines_that_are_not_selected_are_grey_and_the_selected_one_has_a_colour(tmp_path):
    results = made(tmp_path, STEPS | {"values": [0.01, 0.05, 0.1, 0.5]})
    best, n_drawn = results.ranking()[0], int(np.isfinite(results.mean).sum())
    traces = parallel(
        results, views(results), name="objective", is_kept=results.mean == results.mean[best], chosen=None
    )["data"]
    drawn = {
        trace["line"]["color"]: sum(x == 0 for x in trace["x"]) for trace in traces if trace["line"]["dash"] == "solid"
    }
    grey = drawn.pop(charts.DIVERGED_COLOR)
    assert (list(drawn.values()), grey) == ([1], n_drawn - 1)
