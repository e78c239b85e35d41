"""Values for a spec within a time limit: the page's search, by runs without measurements, on visible labels alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import each, some
from clocks import use_steady_clock

from dsgcore.core.parameters import ParameterError
from dsgcore.experiments import SETTINGS, Run, Spec, begin_suggesting, load_split, suggest_values, with_values
from dsgcore.experiments.engine import ENGINES
from dsgcore.jobs import JobQueue, JobState
from dsgcore.model_selection import FoldError

SMALL = {"n_iter": 60, "n_features": 16, "batch_size": 8}
SETS = {"multiclass": "spirals", "ordinal": "ordinal_rings"}


def spec_of(setting, **more):
    data = {"name": SETS.get(setting, "two_moons"), "n": 300, "n_labeled": 60}
    return Spec.from_dict({"setting": setting, "data": data, "solver": SMALL | more.pop("solver", {}), **more})


@pytest.fixture
def steady_clock(monkeypatch):
    use_steady_clock(monkeypatch, 0.01)


@each("average", [None, "tail"])
@each("setting", SETTINGS)
def test_what_is_learned_without_measuring_is_what_a_run_learns(setting, average):
    spec = spec_of(setting, solver={"average": average})
    split = load_split(spec)
    run = Run(spec, split)
    run.advance()
    expected = run.result_test_values + run.result_shift
    learned = ENGINES[spec.problem.engine].learned(spec, split, lambda: False)
    np.testing.assert_allclose(learned, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("setting", some(SETTINGS, 2))
def test_every_setting_gets_values_that_its_spec_can_have(setting):
    spec = spec_of(setting)
    found = suggest_values(spec, load_split(spec), seconds=1.0)
    assert len(found.tried) > 1
    assert any(one.parameters == {} for one in found.tried)
    for one in found.tried:
        assert with_values(spec, one.parameters).data == spec.data
    assert np.isfinite(found.score)


@pytest.mark.usefixtures("steady_clock")
def test_a_bad_width_is_put_right_and_the_test_points_agree():
    spec = spec_of("auc", kernel={"sigma": 5000.0}, solver={"n_iter": 100})
    spec = replace(spec, data=replace(spec.data, n_labeled=150))
    split = load_split(spec)
    found = suggest_values(spec, split, seconds=400.0)
    assert found.gain.low > 0
    assert found.parameters["sigma"] < 5000.0
    scores = []
    for one in (spec, with_values(spec, found.parameters)):
        run = Run(one, split)
        run.advance()
        scores.append(run.history.last()["score_test"])
    assert scores[1] > scores[0] + 0.05


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("setting", SETTINGS)
def test_hidden_labels_and_test_points_change_nothing(setting):
    spec = spec_of(setting)
    split = load_split(spec)
    lied = replace(split, y_hidden=1 - split.y_hidden, y_test=1 - split.y_test, X_test=split.X_test + 1.0)
    tried = []
    for one in (split, lied):
        found = suggest_values(spec, one, seconds=2.0)
        tried.append({str(candidate.parameters): candidate.scores for candidate in found.tried})
    assert tried[0] == tried[1]


def test_in_the_background_it_is_the_same_search_and_its_time_is_kept():
    spec = spec_of("auc")
    with JobQueue(1) as queue:
        job = begin_suggesting(queue, spec, load_split(spec), 1.0)
        assert job.wait(60)
        assert job.state is JobState.DONE, job.error
    assert 0.0 < job.result.seconds < 60.0
    assert "round" in job.progress[1]


def test_a_search_that_is_given_up_ends_at_once():
    spec = spec_of("auc")
    with JobQueue(1) as queue:
        job = begin_suggesting(queue, spec, load_split(spec), 60.0)
        job.cancel()
        assert job.wait(10)
        assert job.state is JobState.CANCELLED


def test_too_few_labels_are_said_before_anything_begins():
    few = Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": 100, "n_labeled": 2}})
    with pytest.raises(FoldError, match="labeled points must be at least 5"):
        suggest_values(few, load_split(few))
    with pytest.raises(ParameterError, match="seconds must be"):
        suggest_values(spec_of("auc"), load_split(spec_of("auc")), seconds=0.0)


def test_more_points_than_are_looked_at_keep_all_labels():
    spec = Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": 40_000, "n_labeled": 100}})
    from dsgcore.experiments.suggesting import MOST_POINTS, _seen

    seen = _seen(load_split(spec))
    assert len(seen.X_train) == MOST_POINTS
    assert len(seen.labeled) == 100
    assert not len(seen.X_test)
    assert np.array_equal(seen.y_hidden, seen.y_train)
