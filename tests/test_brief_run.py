"""A brief run: what it records is what a run records, in every setting."""

import numpy as np
import pytest
from small_specs import finished, small

from dsgcore.core.errors import DSGError
from dsgcore.experiments import SETTINGS, Run, StopReason, load_split, running_state, summary
from dsgcore.experiments.brief_run import BriefRun
from dsgcore.studies.processes import make_run

PLAIN, OF_AVERAGE = ("t", "objective", "score_test"), ("objective_average", "score_average")
KINDS = {
    "to the end": {},
    "average": {"solver": {"average": "tail", "n_iter": 45}},
    "stopped early": {"solver": {"average": "tail", "n_iter": 45}, "stop": {"patience": 1, "tolerance": 0.5}},
    "no probes": {"diagnostics": {"n_probes": 0}},
}


def briefly(spec):
    run = BriefRun(spec, load_split(spec))
    run.advance()
    return run


def without_seconds(said):
    return {name: value for name, value in said.items() if name not in ("seconds", "step_limit")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_brief_run_records_the_same_numbers(setting, kind):
    spec = small(setting, **KINDS[kind])
    run, brief = finished(spec), briefly(spec)
    assert brief.history.names == PLAIN + OF_AVERAGE * (spec.solver.average is not None)
    for name in brief.history.names:
        np.testing.assert_array_equal(brief.history.column(name), run.history.column(name))
    assert brief.last_row() == run.last_row() == run.history.last()
    assert without_seconds(summary(brief)) == without_seconds(summary(run))


def test_a_brief_run_measures_many_points_as_a_run_does(monkeypatch):
    monkeypatch.setattr(running_state, "MAX_POINTS_FOR_WHOLE_SAMPLE", 50)
    spec = small("s3vm", solver={"batch_size": 8})
    run, brief = finished(spec), briefly(spec)
    assert run.engine.training_values is None
    np.testing.assert_array_equal(brief.history.column("objective"), run.history.column("objective"))
    assert brief.last_row() == run.last_row()


def test_a_brief_run_without_iterations_has_no_last_row():
    spec = small("auc")
    assert BriefRun(spec, load_split(spec)).last_row() == {}


@pytest.mark.parametrize("setting", ["auc", "s3vm", "ordinal"])
def test_a_study_keeps_the_whole_run_if_it_diverges(setting):
    spec = small(setting, solver={"step_size": 1000.0, "n_iter": 400})
    run = Run(spec, load_split(spec))
    run.advance()
    assert run.stop_reason is StopReason.DIVERGED
    with pytest.raises(DSGError, match="make a `Run`"):
        briefly(spec).last_row()
    _, said, columns = make_run(spec.to_json())
    assert without_seconds(said) == without_seconds(summary(run))
    assert set(columns) == set(run.history.names)
    np.testing.assert_array_equal(columns["objective"], run.history.column("objective"))
