"""Convex problems solved by libsvm: support vector regression without a bias, and fits to a tolerance."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

CACHE = 200  # MB of kernel rows that libsvm caches (its own default)
# Two examples without features, at +epsilon and -epsilon. Their losses are both zero only at 0, which fixes libsvm's
# bias there.
HOLDERS = np.array([1.0, -1.0])
# Cost of these two examples, as a multiple of the cost of all others together.
HOLD = 10.0
# libsvm keeps kernel values in float32. It may cycle if the tolerance is finer than float32 allows. After this many
# iterations it is stopped, and a coarser tolerance is tried.
LEAST_ITERATIONS = 100_000
ITERATIONS_PER_EXAMPLE = 50
COARSER = (1.0, 10.0, 100.0)


def regress(G: NDArray, targets: NDArray, weights: NDArray, *, epsilon: float, tol: float) -> tuple[NDArray, bool]:
    """Minimise ||w||^2 / 2 + sum_i weight_i max(0, |w'phi_i - target_i| - epsilon), without a bias.

    Parameters
    ----------
    G : ndarray of shape (n + 2, n + 2)
        Kernel matrix, with two rows and columns of zeros at the end.
    targets, weights : ndarray of shape (n,)
    tol : float
        Largest violation of the optimality conditions, in units of w'phi_i.

    Returns
    -------
    dual : ndarray of shape (n,)
        w = sum_i dual_i phi_i.
    is_accurate : bool
        As in `fit_to_tolerance`.
    """
    of_all = np.concatenate([weights, np.full(len(HOLDERS), HOLD * weights.sum())])
    svr = SVR(kernel="precomputed", C=1.0, epsilon=epsilon, cache_size=CACHE)
    is_accurate = fit_to_tolerance(svr, G, np.concatenate([targets, epsilon * HOLDERS]), of_all, tol)
    dual = np.zeros(len(G))
    dual[svr.support_] = svr.dual_coef_[0]
    return dual[: len(targets)], is_accurate


def fit_to_tolerance(machine: SVC | SVR, G: NDArray, y: NDArray, weights: NDArray, tol: float) -> bool:
    """Fit one of libsvm's machines, with C = 1 and a precomputed kernel, from G (n, n), y (n,) and weights (n,).

    If libsvm cannot reach the tolerance, it is fitted to a coarser one. Return True if it reached at least a hundred
    times the tolerance.
    """
    most = max(LEAST_ITERATIONS, ITERATIONS_PER_EXAMPLE * len(G))
    for times in COARSER:
        machine.set_params(tol=times * tol, max_iter=most)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            machine.fit(G, y, sample_weight=weights)
        if not any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
            return True
    return False
