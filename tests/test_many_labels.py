"""Values of a fit that follow the number of labels: those of few labels stay, many give better scores in a bearable time."""

import runpy

import numpy as np
import pytest
from cases import each
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from dsgcore import DSG, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.experiments import Run, Spec, default_spec
from dsgcore.experiments.export import script_with_estimator
from dsgcore.problems import SemiSupervisedAUC, SimilarUnlabeled
from dsgcore.solver.task import by_labels, drawn_rows


@pytest.mark.parametrize(
    ("n_labeled", "n_iter", "batch_size", "n_unlabeled", "tol", "ridge", "step"),
    [
        (2, 800, 128, None, 1.0, 1.0, 1.0),
        (1024, 800, 128, None, 1.0, 1.0, 1.0),
        (1025, 800, 128, 4096, 1.0, 0.9988, 1.0),
        (4096, 1270, 512, 4096, 0.5, 0.1768, 1.41),
        (16_384, 2016, 1024, 16_384, 0.25, 1 / 32, 2.0),
        (10**6, 3200, 1024, 10**6, 0.25, 1.831e-4, 2.0),
    ],
)
def test_values_by_the_number_of_labels(n_labeled, n_iter, batch_size, n_unlabeled, tol, ridge, step):
    found = by_labels(n_labeled)
    assert (found.n_iter, found.batch_size, found.n_unlabeled) == (n_iter, batch_size, n_unlabeled)
    assert (found.tol, found.ridge, found.step) == pytest.approx((tol, ridge, step), rel=5e-3)


def labels_of(n_labeled, n_unlabeled):
    return np.concatenate([np.arange(n_labeled) % 2, np.full(n_unlabeled, -1)])


@pytest.mark.parametrize(
    ("n_labeled", "n_unlabeled", "drawn"), [(1024, 9000, 9000), (2000, 9000, 4096), (5000, 9000, 5000)]
)
def test_passes_visit_as_many_unlabeled_points_as_labels(n_labeled, n_unlabeled, drawn):
    y = labels_of(n_labeled, n_unlabeled)
    rows = drawn_rows(SemiSupervisedAUC(), y, "shuffled")["unlabeled"]
    assert len(rows) == len(np.unique(rows)) == drawn
    assert (rows[0], rows[-1]) == (n_labeled, n_labeled + n_unlabeled - 1)
    assert len(drawn_rows(SemiSupervisedAUC(), y, "independent")["unlabeled"]) == n_unlabeled
    y[:n_labeled] = np.arange(n_labeled) // 2  # pairs
    assert len(drawn_rows(SimilarUnlabeled(), y, "shuffled")["unlabeled"]) == n_unlabeled


def test_auto_is_the_number_of_iterations_that_a_fit_and_each_part_make():
    X, y = np.random.default_rng(0).normal(size=(1500, 2)), np.arange(1500) % 2
    n_iter = by_labels(1500).n_iter
    assert n_iter > 800
    for estimator in (QSGS2AUC, TSGS3VM, DSG):
        model = estimator(tol=None, n_features=2, random_state=0)
        assert model.most_iterations(y) == n_iter == model.fit(X, y).n_iter_
        assert model.partial_fit(X[:1000], y[:1000]).n_iter_ == n_iter + 800
    assert TSGSU().most_iterations(y) == 800
    assert QSGS2AUC(n_iter=7).most_iterations(y) == 7


@each("n_unlabeled, n_labeled", [(5000, 1100), (20_400, 40)])
def test_a_run_and_its_estimator_have_the_shift_of_the_same_unlabeled_points(
    n_unlabeled, n_labeled, tmp_path, monkeypatch
):
    plain = default_spec("s3vm").to_dict()
    plain["data"] |= {"n": (n_labeled + n_unlabeled) * 5 // 4, "n_labeled": n_labeled, "test_share": 0.2}
    plain["problem"]["is_balanced"] = True
    plain["solver"] |= {"n_iter": 20, "n_features": 8, "sampling": "shuffled", "average": "tail"}
    run = Run(Spec.from_dict(plain))
    run.advance()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.py").write_text(script_with_estimator(run))
    model = runpy.run_path("run.py")["model"]
    assert model.shift_ == pytest.approx(run.result_shift, rel=1e-4)
    f = run.result_test_values + run.result_shift
    np.testing.assert_array_equal(model.decision_function(run.split.X_test) > 0, f > 0)


@pytest.mark.ci
def test_with_20_000_labels_they_are_not_below_a_linear_machine_on_nystroem_features():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(40_000, 4))
    clean = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    y = (clean + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    few, (X_test, y_test) = np.where(np.arange(30_000) < 20_000, y[:30_000], -1), (X[30_000:], y[30_000:])
    theirs = make_pipeline(Nystroem(gamma=1 / (4 * X.var()), n_components=500, random_state=0), LinearSVC())
    theirs.fit(X[:20_000], y[:20_000])
    ranking = QSGS2AUC(random_state=0).fit(X[:30_000], few)
    machine = TSGS3VM(random_state=0).fit(X[:30_000], few)
    assert ranking.score(X_test, y_test) >= roc_auc_score(y_test, theirs.decision_function(X_test)) - 0.003
    assert machine.score(X_test, y_test) >= theirs.score(X_test, y_test) - 0.003
