"""Exact solutions near PS3VT's, for choices by held-out labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from dsgcore.multiclass.held_out import MOST_STEPS, TOLERANCE
from dsgcore.multiclass.task import MultiClassTask

# Smallest eigenvalue of the penalty, as a share of the largest one.
FLAT = 1e-9


def exact_values(task: MultiClassTask, rows: NDArray, y: NDArray) -> Callable[[NDArray, NDArray], NDArray]:
    """Return a function (train, held) that learns from some labels, and gives the scores at others.

    With the logistic loss and linear features it minimises the task's objective without the pull to low rank. The
    hinge loss has no fast exact solution, so the squared loss replaces it, and the graph does not count.

    Parameters
    ----------
    task : MultiClassTask
        Its weights must be settled.
    rows : ndarray of shape (n,)
        Rows among the labeled points; `train` and `held` are places in it.
    y : ndarray of shape (n,)
        Their classes, 0 .. K - 1. For two classes a score is the second class's less the first's.
    """
    phi, p = task.X[rows], task.problem
    if p.features == "linear" and p.loss == "logistic":
        return _logistic(_whitened(task, phi), y)
    return _squared(phi @ phi.T, y, 2.0 * len(task.y) * p.lam)


def _whitened(task: MultiClassTask, phi: NDArray) -> NDArray:
    """Return features in which the task's penalty is half of the squared weights, without the column of ones."""
    p, d = task.problem, phi.shape[1] - task.features.has_ones
    A = p.lam * np.eye(d) + (0.0 if task.M is None else p.tau_I * task.M[:d, :d])
    values, V = np.linalg.eigh(A)
    return phi[:, :d] @ (V / np.sqrt(2.0 * len(task.y) * np.maximum(values, FLAT * values[-1])))


def _logistic(X: NDArray, y: NDArray) -> Callable[[NDArray, NDArray], NDArray]:
    def scores(train: NDArray, held: NDArray) -> NDArray:
        model = LogisticRegression(tol=TOLERANCE, max_iter=MOST_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(X[train], y[train]).decision_function(X[held])

    return scores


def _squared(K: NDArray, y: NDArray, ridge: float) -> Callable[[NDArray, NDArray], NDArray]:
    codes = np.eye(int(y.max()) + 1)[y]

    def scores(train: NDArray, held: NDArray) -> NDArray:
        a = np.linalg.solve(K[np.ix_(train, train)] + ridge * np.eye(len(train)), codes[train])
        f = K[np.ix_(held, train)] @ a
        return f if f.shape[1] > 2 else f[:, 1] - f[:, 0]

    return scores
