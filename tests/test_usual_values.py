"""On a real set a page begins as the estimator does with default arguments; lessons begin as they were made."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Run
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS
from dsgcore.experiments.loading import load_split
from pages.controls import controls

ESTIMATORS = {"auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "similar_unlabeled": TSGSU}
REAL = [
    (setting, entry.name)
    for setting in ESTIMATORS
    for entry in DATASETS.values()
    if not entry.is_generated and entry.suits(SETTINGS[setting].labels)
]
SEVERAL = [e.name for e in DATASETS.values() if not e.is_generated and e.suits(SETTINGS["multiclass"].labels)]
SHARED = ("n_iter", "n_features", "batch_size", "schedule", "average")


def spec_of(setting, dataset, *, for_lesson=False):
    problem = SETTINGS[setting]
    offered = controls.controls_for(problem, dataset, for_lesson=for_lesson)
    return controls.to_spec(problem, {n: c.parameter.default for n, c in offered.items()}, dataset, 0)


@each("setting, dataset", REAL)
def test_a_real_set_begins_with_the_estimators_values(setting, dataset):
    spec, usual = spec_of(setting, dataset), ESTIMATORS[setting]()
    assert spec.solver.step_size is None
    assert usual.step_size == "auto"
    for name in SHARED:
        assert getattr(spec.solver, name) == getattr(usual, name)
    for name in ("gamma", "pairing", "correction", "loss"):
        if hasattr(spec.problem, name):
            assert getattr(spec.problem, name) == getattr(usual, name)
    assert getattr(spec.problem, "is_pooled", True) == getattr(usual, "is_pooled", True)


@each("setting, dataset", REAL)
def test_its_ridge_or_weight_is_about_the_one_that_the_estimator_finds(setting, dataset):
    spec = spec_of(setting, dataset)
    split = load_split(spec)
    if setting == "s3vm":
        assert pytest.approx(5.0 * len(split.labeled), rel=0.05) == spec.problem.C
        assert spec.problem.C_star == pytest.approx(spec.problem.C / 10)
        return
    problem = spec.problem.bind(split.y_train)
    assert spec.solver.lam == pytest.approx(problem.usual_ridge(problem.rows(split.y_train)), rel=0.5)


@each("setting, dataset", REAL)
def test_a_lesson_keeps_its_own(setting, dataset):
    spec = spec_of(setting, dataset, for_lesson=True)
    assert spec.solver.step_size is not None
    assert spec.solver.average is None
    assert spec.solver.n_iter == 300


@each("dataset", SEVERAL)
def test_of_several_classes_a_real_set_begins_as_the_estimator_on_fourier_features(dataset):
    """Without the graph, which has almost no weight here, the page's run equals the estimator's fit."""
    begun = spec_of("multiclass", dataset)
    assert begun.solver.n_iter == 800
    assert begun.problem.tau_I > 0.0
    spec = replace(
        begun,
        problem=replace(begun.problem, tau_I=0.0),
        solver=replace(begun.solver, n_iter=20),
        diagnostics=replace(begun.diagnostics, n_probes=0),
    )
    run = Run(spec)
    run.advance()
    same = {
        "sigma": spec.kernel.sigma,
        "n_features": spec.solver.n_features,
        "n_iter": 20,
        "is_orthogonal": False,
        "tol": None,
    }
    model = PS3VT(features="fourier", random_state=0, **same)
    given = run.split.X_train.astype(np.float64), run.split.y_train
    assert model.fit(*given).problem_.lam == pytest.approx(spec.solver.lam, rel=0.05)
    model.set_params(lam=spec.solver.lam).fit(*given)
    np.testing.assert_allclose(run.result.W, np.vstack([model.coef_.T, model.intercept_]), rtol=1e-9, atol=1e-12)
