"""How much a kernel method's ridge is to count, as labels say that are held out: of exact solutions on the other labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.kernels import Kernel
from dsgcore.core.sampling import evenly_spread
from dsgcore.problems import Problem

# What the usual ridge may be multiplied by. Down to 0.1 was tried too: by it the stochastic solution won 2 points on one set
# (kin40k) and lost 0.8 on another (sgemm), where exact solutions win.
FACTORS = (1.0, 3.0, 10.0)
FOLDS = 4
# At so many labels at most it is looked at: solving for them takes milliseconds.
MOST_LABELS = 500


def held_out_factor(problem: Problem, kernel: Kernel, X: NDArray, y: NDArray) -> float:
    """Return the factor of the usual ridge with the best score at labels that were held out.

    It is 1 where a class has too few labels, and where the equations have no solution in float64 (huge kernel values).

    Parameters
    ----------
    problem : Problem
        Of a quadratic risk.
    kernel : Kernel
    X : ndarray of shape (n, d)
        Labeled points.
    y : ndarray of shape (n,)
        Their class codes.
    """
    rows = evenly_spread(len(y), MOST_LABELS)
    points, labels = np.asarray(X[rows], dtype=float), y[rows]
    if np.bincount(labels)[np.unique(y)].min() < FOLDS:
        return 1.0
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(points, labels)
    with single_threaded_blas():  # the same choice, whatever the number of threads
        K = kernel.matrix(points, points)
        try:
            scores = np.mean([_scores(problem.twin(), K, labels, train, held) for train, held in folds], axis=0)
        except np.linalg.LinAlgError:
            return 1.0
    return FACTORS[int(np.argmax(scores))]


def _scores(problem: Problem, K: NDArray, y: NDArray, train: NDArray, held: NDArray) -> list[float]:
    """Return each factor's score at the points held out, of the exact solutions on the others: (QK + lam) a = -l."""
    bound = problem.bind(y[train])
    rows = bound.rows(y[train])
    quadratic = bound.quadratic(rows, len(train))
    assert quadratic is not None
    M, usual = quadratic[0] @ K[np.ix_(train, train)], bound.usual_ridge(rows)
    solutions = (np.linalg.solve(M + factor * usual * np.eye(len(train)), -quadratic[1]) for factor in FACTORS)
    return [bound.score(y[held], K[np.ix_(held, train)] @ a) for a in solutions]
