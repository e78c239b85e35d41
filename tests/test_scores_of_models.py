"""The score that a study compares: that of the spec's model, which may be the average of the iterates."""

from dataclasses import replace

import numpy as np
import pytest
from small_specs import small

from dsgcore.experiments import SETTINGS, Run, load_split, summary
from dsgcore.studies import Store, Study, StudyRuns, curves_of
from dsgcore.studies.processes import make_run


def averaged(setting, **stop):
    return small(setting, solver={"average": "tail", "n_iter": 45}, stop=stop)


def score_of(run):
    """The test score of the model itself, asked at the test points again."""
    values = np.asarray(run.result_test_values)
    return run.problem.score(run.split.y_test, values)


@pytest.mark.parametrize("stop", [{}, {"patience": 1, "tolerance": 0.5}], ids=["to the end", "stopped early"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_study_scores_the_average_if_that_is_the_model(tmp_path, setting, stop):
    spec = averaged(setting, **stop)
    run = Run(spec, load_split(spec))
    run.advance()
    store = Store(tmp_path / "runs.sqlite")
    stored = store.put(*make_run(spec.to_json()))
    assert stored.score == score_of(run)
    assert stored.objective == run.history.last()["objective_average"]
    assert stored.score == summary(run)["score"]
    if not stop:
        curves = curves_of(store, [spec.sha256])
        assert curves.values[0, -1] == stored.score
        study = Study(spec)
        made = StudyRuns(study)
        made.refresh(store)
        assert made.results("score").mean[0] == stored.score


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_study_scores_the_last_iterate_if_that_is_the_model(tmp_path, setting):
    spec = replace(averaged(setting), solver=replace(averaged(setting).solver, average=None))
    run = Run(spec, load_split(spec))
    run.advance()
    stored = Store(tmp_path / "runs.sqlite").put(*make_run(spec.to_json()))
    assert stored.score == run.history.last()["score_test"]
    assert stored.objective == run.history.last()["objective"]
