"""Convex problems that libsvm solves: support vector regression without a bias, and how accurate any machine gets."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

CACHE = 200  # MB of kernel rows that libsvm keeps, its own default
# Two examples without features, at +epsilon and -epsilon: their losses meet at 0 only, and hold libsvm's bias there.
HOLDERS = np.array([1.0, -1.0])
# How much more than all others together the two cost.
HOLD = 10.0
# libsvm keeps kernel values in float32 and may move in circles where the tolerance is finer than these allow. It is
# stopped after so many iterations, and takes a coarser one.
LEAST_ITERATIONS = 100_000
ITERATIONS_PER_EXAMPLE = 50
COARSER = (1.0, 10.0, 100.0)


def regress(G: NDArray, targets: NDArray, weights: NDArray, *, epsilon: float, tol: float) -> tuple[NDArray, bool]:
    """Minimise ||w||^2 / 2 + sum_i weight_i max(0, |w'phi_i - target_i| - epsilon), without a bias.

    Parameters
    ----------
    G : ndarray of shape (n + 2, n + 2)
        Kernel matrix, with two rows and columns of zeros in the end.
    targets, weights : ndarray of shape (n,)
    tol : float
        By how much w'phi_i may miss what the optimum asks for.

    Returns
    -------
    dual : ndarray of shape (n,)
        w = sum_i dual_i phi_i.
    is_accurate : bool
        As of `fit_to_tolerance`.
    """
    of_all = np.concatenate([weights, np.full(len(HOLDERS), HOLD * weights.sum())])
    svr = SVR(kernel="precomputed", C=1.0, epsilon=epsilon, cache_size=CACHE)
    is_accurate = fit_to_tolerance(svr, G, np.concatenate([targets, epsilon * HOLDERS]), of_all, tol)
    dual = np.zeros(len(G))
    dual[svr.support_] = svr.dual_coef_[0]
    return dual[: len(targets)], is_accurate


def fit_to_tolerance(machine: SVC | SVR, G: NDArray, y: NDArray, weights: NDArray, tol: float) -> bool:
    """Fit one of libsvm's machines, which has C = 1 and a precomputed kernel, from G (n, n), y (n,) and weights (n,).

    Where the tolerance is out of reach it is fitted to a coarser one. Return whether a hundred times it was reached at least.
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
