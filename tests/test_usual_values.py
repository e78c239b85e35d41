"""On a real set a page begins as the estimator does with default arguments; lessons begin as they were made."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS
from dsgcore.experiments.run import load_split
from pages.controls import controls

ESTIMATORS = {"auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "similar_unlabeled": TSGSU}
REAL = [
    (setting, entry.name)
    for setting in ESTIMATORS
    for entry in DATASETS.values()
    if not entry.is_generated and entry.suits(SETTINGS[setting].labels)
]
SHARED = ("n_iter", "n_features", "batch_size", "schedule", "average")


def spec_of(setting, dataset, *, for_lesson=False):
    problem = SETTINGS[setting]
    offered = controls.controls_for(problem, dataset, for_lesson=for_lesson)
    return controls.to_spec(problem, {n: c.parameter.default for n, c in offered.items()}, dataset, 0)


@pytest.mark.parametrize(("setting", "dataset"), REAL)
def test_a_real_set_begins_with_the_estimators_values(setting, dataset):
    spec, usual = spec_of(setting, dataset), ESTIMATORS[setting]()
    assert spec.solver.step_size is None
    assert usual.step_size == "auto"
    for name in SHARED:
        assert getattr(spec.solver, name) == getattr(usual, name)
    for name in ("gamma", "pairing", "correction", "loss"):
        if hasattr(spec.problem, name):
            assert getattr(spec.problem, name) == getattr(usual, name)
    assert getattr(spec.problem, "is_pooled", True) == getattr(usual, "pooled", True)


@pytest.mark.parametrize(("setting", "dataset"), REAL)
def test_its_ridge_or_weight_is_about_the_one_that_the_estimator_finds(setting, dataset):
    spec = spec_of(setting, dataset)
    split = load_split(spec)
    if setting == "s3vm":
        assert pytest.approx(5.0 * len(split.labeled), rel=0.05) == spec.problem.C
        assert spec.problem.C_star == pytest.approx(spec.problem.C / 10)
        return
    problem = spec.problem.bind(split.y_train)
    assert spec.solver.lam == pytest.approx(problem.usual_ridge(problem.rows(split.y_train)), rel=0.5)


@pytest.mark.parametrize(("setting", "dataset"), REAL)
def test_a_lesson_keeps_its_own(setting, dataset):
    spec = spec_of(setting, dataset, for_lesson=True)
    assert spec.solver.step_size is not None
    assert spec.solver.average is None
    assert spec.solver.n_iter == 300
