"""Automatic parameters of PS3VT for the data's scale and the number of labels, and its exact start.

Both weights make a prior that counts as one labeled point:

- The ridge is (1/2) ||W||^2 v, with v the points' mean variance, as in a logistic regression with C = 1 on
  standardised columns.
- The graph weight is the same for the mean squared difference of the scores along the graph's links.

With many labels neither matters, and no graph is built. If the logistic loss is used on linear features, ridge
regressions choose a factor of the ridge by leaving labels out.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from dsgcore.core.sampling import evenly_spread
from dsgcore.multiclass.features import FixedFeatures, spread
from dsgcore.multiclass.graph import laplacian, largest_eigenvalue, smoothness
from dsgcore.multiclass.problem import CURVATURES, FREE, MultiClass, free_radius
from dsgcore.solver.problem import UNLABELED

# Ridge times n_l, for linear features of variance 1, and for Fourier features, which have norm 1. The logistic loss is
# never zero, and needs a smaller ridge if there are many features.
RIDGE = {
    ("linear", "hinge"): 0.5,
    ("linear", "logistic"): 0.5,
    ("fourier", "hinge"): 0.25,
    ("fourier", "logistic"): 0.01,
}
# Weight of the pull to low rank. For thousands of Fourier features, singular values would take most of an iteration's
# time.
TAIL = {"linear": 1e-3, "fourier": 0.0}
# With more labels the graph's automatic weight is 0. The graph is built over at most this many points.
MOST_LABELS, MOST_POINTS = 1000, 10_000
# Candidate factors of the usual ridge, about the square root of ten apart. So many labels, or numbers, choose one of them:
# with more labels the ridge matters less, and a few choose by chance.
RIDGE_FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# A regression's values, 1 for the class and -1 for others, times a number are scores of the loss.
LABELS_FOR_RIDGE, MOST_NUMBERS, FEWEST_TO_CHOOSE, SCORE_PER_VALUE = (200, 600), 200_000, 8, 3.0
# Weight of the regressions for two classes each, beside those of each class against all others, and their largest number.
SHARE_OF_PAIRS, MOST_PAIRS = 2.0, 50
# Smallest eigenvalue of the penalty of an exact start, as a share of the largest one, and the most labeled points.
FLAT, MOST_OF_START = 1e-9, 4096
# With at most so many weights, Newton's method with all second derivatives is faster.
MOST_EXACT = 100
# Iterations of the search for the largest curvature. They give it to within a few percent.
POWER_ITERATIONS = 30


def settle_weights(
    problem: MultiClass, features: FixedFeatures, X: NDArray, y: NDArray
) -> tuple[MultiClass, NDArray | None]:
    """Return the problem with its ridge and graph weight, and the graph's matrix if the graph has a weight.

    `X` (n, d) are all points, and `y` (n,) their classes, -1 for unlabeled points.
    """
    labeled = y != UNLABELED
    n_labeled = int(np.count_nonzero(labeled))
    if _is_open(problem, "lam"):
        ridge = RIDGE[problem.feature_map, problem.loss]  # times the number of labels
        if problem.feature_map == "linear":
            ridge *= spread(X) ** 2
            if problem.loss != "hinge":
                ridge *= left_out_factor(X[labeled], y[labeled], ridge)
        problem = replace(problem, lam=ridge / n_labeled)
    if _is_open(problem, "tau_S"):
        problem = replace(problem, tau_S=TAIL[features.kind])
    if not _is_open(problem, "tau_I"):
        L = laplacian(X, *problem.links) if problem.tau_I > 0.0 else None
        return problem, None if L is None else smoothness(features(X), L)
    # A product with the matrix of Fourier features would take longer than the rest of an iteration.
    if n_labeled > MOST_LABELS or features.kind == "fourier":
        return replace(problem, tau_I=0.0), None
    some = X[evenly_spread(len(X), MOST_POINTS)]
    L = laplacian(some, *problem.links)
    # The graph's term counts each link once, the degrees count it twice.
    weight = 2.0 / (n_labeled * max(L.diagonal().sum(), np.finfo(float).tiny))
    return replace(problem, tau_I=float(weight)), smoothness(features(some), L)


def left_out_factor(X: NDArray, y: NDArray, usual: float) -> float:
    """Return the factor of the usual ridge for which ridge regressions have the least logistic loss at points left out.

    Of the factors between it and 1, it is the one nearest to 1 whose loss is at most one standard error higher. X (n, d) are
    labeled points, y (n,) their classes. `usual` is the ridge times n, for an objective of the mean loss over n points.
    """
    rows = evenly_spread(len(y), int(np.clip(MOST_NUMBERS // X.shape[1], *LABELS_FOR_RIDGE)))
    points, (classes, own) = X[rows], np.unique(y[rows], return_inverse=True)
    if (K := len(classes)) < 2 or len(rows) < FEWEST_TO_CHOOSE:
        return 1.0
    # Curvature of the losses: that of K even chances, (1 - 1 / K) / K, against the squared loss's.
    ridges = 2.0 * usual * np.array(RIDGE_FACTORS)
    values = _left_out_values(points, np.where(own[:, None] == np.arange(K), 1.0, -1.0), ridges * K**2 / (K - 1))
    scores = SCORE_PER_VALUE * values
    losses = np.logaddexp.reduce(scores, axis=1) - np.take_along_axis(scores, own[:, None, None], axis=1)[:, 0]
    if K > 2:  # a class between two others is told from each of them, but not from both at once
        pairs, total, counts = list(combinations(range(K), 2)), np.zeros_like(losses), np.zeros((len(own), 1))
        for pair in (pairs[place] for place in evenly_spread(len(pairs), MOST_PAIRS)):
            of_pair = np.flatnonzero(np.isin(own, pair))
            side = np.where(own[of_pair] == pair[1], 1.0, -1.0)[:, None]
            if len(of_pair) - abs(side.sum()) >= 4.0:  # two of each
                margins = side * _left_out_values(points[of_pair], side, 4.0 * ridges)[:, 0]
                total[of_pair] += np.logaddexp(0.0, -SCORE_PER_VALUE * margins)
                counts[of_pair] += 1.0
        losses += SHARE_OF_PAIRS * (total / np.maximum(counts, 1.0))
    place, best = RIDGE_FACTORS.index(1.0), int(losses.mean(axis=0).argmin())
    while place != best:
        above = losses[:, place] - losses[:, best]
        if above.mean() <= above.std(ddof=1) / np.sqrt(len(above)):
            break
        place += 1 if best > place else -1
    return RIDGE_FACTORS[place]


def _left_out_values(X: NDArray, targets: NDArray, ridges: NDArray) -> NDArray:
    """Return ridge regressions' values (n, K, ridges) at each point (n, d) for the targets (n, K) of the other points.

    scikit-learn's RidgeClassifierCV gives the same, but scores each ridge, which would take as long as the rest of a fit.
    """
    centred = X - X.mean(axis=0)
    values, U = np.linalg.eigh(centred @ centred.T)
    shrunk = np.maximum(values, 0.0)[:, None] / (np.maximum(values, 0.0)[:, None] + ridges)
    fitted = np.einsum("ij,ja,jk->ika", U, shrunk, U.T @ targets, optimize=True) + targets.mean(axis=0)[:, None]
    leverage = (U**2 @ shrunk + 1.0 / len(X))[:, None]
    return (fitted - leverage * targets[:, :, None]) / (1.0 - leverage)


def _is_open(problem: MultiClass, name: str) -> bool:
    """Return True if a parameter is still automatic. Its type does not show this."""
    return getattr(problem, name) is None


def settle_step(problem: MultiClass, phi: NDArray, n_labeled: int, M: NDArray | None) -> MultiClass:
    """Return the problem with its step and ball, if the step is automatic: one over the curvature of mini-batches.

    The weights must be set already. `phi` (n_l, D) are features of the labeled points, or of some of them. `M` (D, D)
    is the graph's matrix, if any.
    """
    if not _is_open(problem, "step_size"):
        return problem
    size = problem.batch_size or n_labeled
    # E (x x')^2 of a mean over B points is at most (largest eigenvalue + mean ||x||^2 / B) times E x x'.
    v = phi.mean(axis=0) + np.sqrt(np.mean(phi**2, axis=0))
    for _ in range(POWER_ITERATIONS):  # to the largest eigenvalue of the features' mean x x'
        v = phi.T @ (phi @ (v / (np.linalg.norm(v) or 1.0))) / len(phi)
    curvature = CURVATURES[problem.loss] * (float(np.linalg.norm(v)) + np.vdot(phi, phi) / len(phi) / size)
    curvature += 2.0 * problem.lam
    if M is not None:
        curvature += 2.0 * problem.tau_I * largest_eigenvalue(M)
    radius = free_radius(problem.lam, problem.loss) if problem.radius is None else problem.radius
    return replace(problem, step_size=float(1.0 / max(curvature, 1.0 / FREE)), radius=radius)


def has_minimiser(problem: MultiClass) -> bool:
    """Return True if `smooth_minimiser` has a solution: for the logistic loss on linear features."""
    return problem.is_intercept_free and problem.lam > 0.0


def smooth_minimiser(problem: MultiClass, phi: NDArray, y: NDArray, K: int, M: NDArray | None) -> NDArray:
    """Return the weights (d, K) that minimise the objective without the pull to low rank, on some labeled points.

    `phi` (n_l, d) are features of the labeled points, a column of ones last, and `y` (n_l,) their classes, all those below
    `K`.
    """
    rows, d = np.union1d(evenly_spread(len(phi), MOST_OF_START), np.unique(y, return_index=True)[1]), phi.shape[1] - 1
    penalty = problem.lam * np.eye(d) + (0.0 if M is None else problem.tau_I * M[:d, :d])
    values, V = np.linalg.eigh(penalty)
    # In these directions the penalty is half of the squared weights, for the sum of the losses.
    unfold = V / np.sqrt(2.0 * len(y) * np.maximum(values, FLAT * values[-1]))
    # Two classes have one score, whose halves are theirs: their penalty is half of that for one column.
    ridge, points = (0.5 if K == 2 else 1.0) * len(rows) / len(y), phi[rows, :-1] @ unfold
    solver = "newton-cholesky" if (d + 1) * K <= MOST_EXACT else "lbfgs"
    machine = LogisticRegression(C=1.0 / ridge, solver=solver, tol=1e-4, max_iter=1000)
    with warnings.catch_warnings():
        # Iterations go on from there, and say so if they are too few.
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(points, y[rows])
    intercept = (machine.intercept_ - (machine.intercept_.mean() if K > 2 else 0.0)) / phi[0, -1]
    W = np.vstack([unfold @ machine.coef_.T, intercept])
    return W * [-0.5, 0.5] if K == 2 else W
