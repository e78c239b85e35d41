"""PNU-AUC's own parameter search: five folds, and a risk that weighs pairs by their variance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from dsgcore.baselines.basis import choose_centers
from dsgcore.baselines.linear_system import IllPosedWarning
from dsgcore.baselines.pnu_auc import PNUAUC
from dsgcore.core.metrics import auc_of_samples
from dsgcore.core.problem import UNLABELED, unlabeled_rows
from dsgcore.data.reading.unlabeled import labels_given
from dsgcore.estimators.inputs import encode, seed_of


@dataclass(frozen=True)
class PNUAUCRisk:
    """Scorer of a fitted `PNUAUC`: minus its risk with the zero-one loss, on held-out points.

    The risk is (1 - |g|) R_PN + |g| R*, with the zero-one loss (ties 1/2). With p = prior,
    R* = (R_PU - p / 2) / (1 - p) for eta >= 0 and (R_UN - (1 - p) / 2) / p for eta < 0.

    The weight g is not eta. It minimises the variance of the sum: a / (a + b) with a = (1 - p)^2 (n_P - 1), b = p^2
    n_N for eta >= 0, and -b / (a + b) with a = (1 - p)^2 n_P, b = p^2 (n_N - 1) for eta < 0.

    Parameters
    ----------
    n_positive, n_negative : int
        Number of labeled points in all folds together.

    Notes
    -----
    Source: the authors' public program of T. Sakai, G. Niu and M. Sugiyama, Machine Learning, 2018.
    """

    n_positive: int
    n_negative: int

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike) -> float:
        """Return minus the risk on points X with labels y, -1 for unlabeled.

        If there are no unlabeled points, all points are used for them.
        """
        f = np.asarray(estimator.decision_function(X))
        _, codes = encode(y, estimator.classes_)
        P, N, U = f[codes == 1], f[codes == 0], f[unlabeled_rows(codes == UNLABELED)]
        p, weight = estimator.prior_, abs(self.weight(estimator.eta, estimator.prior_))
        if estimator.eta >= 0:
            semi = (1.0 - auc_of_samples(P, U) - p / 2.0) / (1.0 - p)
        else:
            semi = (1.0 - auc_of_samples(U, N) - (1.0 - p) / 2.0) / p
        return -float((1.0 - weight) * (1.0 - auc_of_samples(P, N)) + weight * semi)

    def weight(self, eta: float, prior: float) -> float:
        """Return g."""
        is_positive = eta >= 0
        a = (1.0 - prior) ** 2 * (self.n_positive - is_positive)
        b = prior**2 * (self.n_negative - (not is_positive))
        return a / (a + b) if is_positive else -b / (a + b)


@dataclass(frozen=True, eq=False)
class Selection:
    """Result of a search.

    Attributes
    ----------
    risks : ndarray of shape (n_sigma, n_lam, n_eta)
        Mean risk over the folds.
    place : tuple of int
        Indices of the lowest risk. If several are equal, the first counts, with sigma running fastest and eta slowest.
    parameters : dict
        sigma, lam and eta at that place.
    estimator : PNUAUC
        Fitted to all points with these parameters.
    """

    risks: NDArray
    place: tuple[int, int, int]
    parameters: dict[str, float]
    estimator: PNUAUC


def select_pnu_auc(
    estimator: PNUAUC,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sigma: Sequence[float],
    lam: Sequence[float],
    eta: Sequence[float],
    cv: Any = None,
) -> Selection:
    """Choose sigma, lam and eta by the risk on held-out folds, and fit the best to all points.

    Parameters
    ----------
    estimator : PNUAUC
        Estimator with the other parameters.
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Labels of two classes, and -1 for unlabeled points.
    sigma, lam, eta : sequence of float
        Values to try.
    cv : splitter of scikit-learn, optional
        Default: five folds that keep the shares of positives, negatives and unlabeled points.

    Returns
    -------
    Selection

    Notes
    -----
    The centres are chosen once from all points, as in the authors' program. So held-out points carry kernels too,
    which uses no label. Systems that are singular or indefinite are solved without a warning.
    """
    X, given = np.asarray(X, dtype=float), labels_given(y)
    _, codes = encode(given)
    seed = seed_of(estimator.random_state)
    fixed = clone(estimator).set_params(centers=choose_centers(X, estimator._checked()["centers"], seed))
    splitter = StratifiedKFold(5, shuffle=True, random_state=seed) if cv is None else cv
    folds = list(splitter.split(X, codes))
    score = PNUAUCRisk(int((codes == 1).sum()), int((codes == 0).sum()))
    grid = {"eta": list(eta), "lam": list(lam), "sigma": list(sigma)}  # sigma runs fastest
    search = GridSearchCV(fixed, grid, scoring=score, cv=folds, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllPosedWarning)
        search.fit(X, given.array())
    risks = -search.cv_results_["mean_test_score"].reshape(len(eta), len(lam), len(sigma)).transpose(2, 1, 0)
    s, l, e = (grid[name].index(search.best_params_[name]) for name in ("sigma", "lam", "eta"))
    return Selection(risks, (s, l, e), search.best_params_, search.best_estimator_)
