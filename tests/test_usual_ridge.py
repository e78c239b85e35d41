"""The ridge "auto": from the number of points, and for pairs from the share of positives."""

import numpy as np
import pytest
from cases import each
from sklearn.datasets import make_moons

from dsgcore import QSGS2AUC, TSGSU
from dsgcore.problems import SemiSupervisedAUC, SemiSupervisedOrdinal
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled

ROWS = {"similar": np.arange(200), "unlabeled": np.arange(500)}


def test_it_is_half_of_one_over_the_smallest_source():
    assert SemiSupervisedOrdinal().usual_ridge({"a": np.arange(20), "b": np.arange(50)}) == 0.025


@each(
    "positive, negative, ridge", [(20, 50, 0.075), (400, 5000, 0.01), (10_000, 10_000, 1e-3), (120_000, 100_000, 1e-4)]
)
def test_of_the_auc_it_is_more_and_shrinks_only_with_many_labels(positive, negative, ridge):
    rows = {"positive": np.arange(positive), "negative": np.arange(negative)}
    assert SemiSupervisedAUC().usual_ridge(rows) == pytest.approx(ridge)


def test_of_the_auc_with_pooled_spreads_all_labels_count():
    few, many = (
        {"positive": np.arange(5), "unlabeled": np.arange(900)},
        {"positive": np.arange(50), "unlabeled": np.arange(900)},
    )
    pooled = SemiSupervisedAUC(is_pooled=True)
    assert pooled.usual_ridge(few | {"negative": np.arange(95)}) == pytest.approx(0.03)
    assert pooled.usual_ridge(many | {"negative": np.arange(50)}) == pytest.approx(0.03)
    assert SemiSupervisedAUC().usual_ridge(many | {"negative": np.arange(50)}) == pytest.approx(0.03)


def test_pairs_divide_by_the_square_by_which_their_noise_is_magnified():
    assert SimilarUnlabeled(0.99).usual_ridge(ROWS) == pytest.approx(1 / 700 / 0.98**2)
    assert SimilarUnlabeled(0.3).usual_ridge(ROWS) == pytest.approx(SimilarUnlabeled(0.7).usual_ridge(ROWS))
    assert SimilarUnlabeled(0.502).usual_ridge(ROWS) == 1.0  # nothing can be learned: no more than this


@pytest.mark.parametrize("cls", [QSGS2AUC, TSGSU])
def test_an_estimator_says_which_it_used_and_keeps_it(cls):
    X, y = make_moons(200, noise=0.15, random_state=0)
    few = np.where(np.arange(200) < 40, y, -1)
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    small = {"n_iter": 8, "n_features": 8, "start": None, "random_state": 0, **of_classes}
    model = cls(**small).fit(X, few)
    said = cls(**small, lam=model.lam_).fit(X, few)
    np.testing.assert_array_equal(said.decision_function(X), model.decision_function(X))
    before = model.lam_
    assert model.partial_fit(X[10:], few[10:]).lam_ == before
