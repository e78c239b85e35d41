"""Base class of methods that learn from similar pairs and unlabeled points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from dsgcore.baselines.base import Baseline
from dsgcore.baselines.parameters import CENTERS, FEATURES, LAM, Prior
from dsgcore.baselines.progress import Callback
from dsgcore.core.documented import SEED, described
from dsgcore.core.parameters import like, parameter_like
from dsgcore.estimators.classes import check_two_classes
from dsgcore.estimators.inputs import all_or_nothing
from dsgcore.estimators.kernel import KernelParameters
from dsgcore.estimators.pairs import drawn_members, points_and_labels, stacked
from dsgcore.estimators.scores import ScoredOnLabels
from dsgcore.estimators.similar_unlabeled import Y_HOLDS
from dsgcore.kernels.far_points import check_sizes
from dsgcore.prior import similar_class_prior
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.problem import UNLABELED, unlabeled_rows


@dataclass(eq=False, repr=False, kw_only=True)
class PairsBaseline(KernelParameters, ScoredOnLabels, Baseline):
    """Base class of methods that learn from similar pairs and unlabeled points.

    `_learn` gets points and their pair ids, with -1 for unlabeled points. If `centers` is None, the centres are the
    members of the pairs, followed by the unlabeled points.

    Parameters
    ----------
    random_state
        Seed for drawing the centres, pairs from classes, and mini-batches.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the second one positive. [0, 1] if `y` holds pairs.
    prior_ : float
        The share of positives that was used.
    model_ : dsgcore.baselines.basis.BasisModel
        The function f. Its `coef` has the bias last.
    """

    kernels = FEATURES

    y_holds: str = like(Y_HOLDS)
    prior: float | str = like(Prior(**vars(parameter_like(SimilarUnlabeled, "prior"))), "estimate")
    lam: float = like(LAM)
    centers: int | ArrayLike | None = like(CENTERS)
    random_state: int | np.random.RandomState | None = described(None, SEED)

    def __sklearn_tags__(self) -> Tags:
        """Declare that the method needs two classes, and cannot learn if both have the same share."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from similar pairs and unlabeled points.

        Parameters
        ----------
        X, y, pairs : array-like
            As in `dsgcore.TSGSU`, with the same errors.
        callback : callable, optional
            As in `dsgcore.baselines.SVOREX`.
        """
        holds_pairs = self._checked()["y_holds"] == "pairs"
        points, classes, codes = points_and_labels(self, X, y, pairs, holds_pairs=holds_pairs, dtype=np.float64)
        check_sizes(points)
        if classes is None:
            return self._learn_pairs(points, codes, np.array([0, 1]), callback)
        check_two_classes(classes)
        labeled, unlabeled = codes[codes != UNLABELED], points[unlabeled_rows(codes == UNLABELED)]
        members = points[drawn_members(codes, self._seed())]
        return self._learn_pairs(*stacked(members, unlabeled), classes, callback, share=float(np.mean(labeled)))

    def _learn_pairs(
        self, X: NDArray, ids: NDArray, classes: NDArray, callback: Callback | None, share: float | None = None
    ) -> Self:
        """Choose the prior, put similar points first, and learn; `share` is the second class's share of the labels."""
        similar, unlabeled = SimilarUnlabeled().rows(ids).values()
        prior = self._checked()["prior"]
        if prior == "estimate":
            prior = similar_class_prior(X[similar], X[unlabeled], seed=self._seed()) if share is None else share
        SimilarUnlabeled(prior=prior)  # raises an error for one half
        self.prior_ = prior
        order = np.concatenate([similar, unlabeled])
        self._run(X[order], ids[order], callback)
        self.classes_ = classes
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,). Larger values are more likely positive."""
        return self._values(X)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,): the second class if f(x) >= 0."""
        is_second = self.decision_function(X) >= 0
        return self.classes_[is_second.astype(int)]


def split_sources(X: NDArray, ids: NDArray) -> tuple[NDArray, NDArray]:
    """Return the members of the similar pairs, and the unlabeled points."""
    return X[ids != UNLABELED], X[ids == UNLABELED]
