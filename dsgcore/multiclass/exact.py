"""Exact solutions near PS3VT's, for choices by held-out labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.folds import Fold
from dsgcore.core.sampling import evenly_spread
from dsgcore.multiclass.task import MultiClassTask
from dsgcore.solver.logistic import held_out_scores, logistic_weights

# Smallest eigenvalue of the penalty, as a share of the largest one.
FLAT = 1e-9
# Most labeled points from which a run starts.
MOST_OF_START = 4096


def exact_values(task: MultiClassTask, rows: NDArray, y: NDArray) -> Callable[[Sequence[Fold]], list[NDArray]]:
    """Return a function of folds (train, held) that learns from each one's labels, and gives the scores at the others.

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
        points = _whitened(task, phi)
        return lambda folds: held_out_scores(points, y, folds, ridge=1.0)
    return _squared(phi @ phi.T, y, 2.0 * len(task.y) * p.lam)


def has_minimiser(task: MultiClassTask) -> bool:
    """Return True if `smooth_minimiser` has a solution: for the logistic loss on linear features."""
    p = task.problem
    return p.is_intercept_free and p.variant == "paper" and p.lam > 0.0


def smooth_minimiser(task: MultiClassTask) -> NDArray:
    """Return the weights (d, K) that minimise the objective without the pull to low rank, on some labeled points."""
    rows, two = evenly_spread(len(task.X), MOST_OF_START), task.n_classes == 2
    phi, y, unfold = task.X[rows], task.y[rows], _whitening(task)
    targets = y[:, None].astype(float) if two else np.eye(task.n_classes)[y]
    each = np.full((len(rows), 1), len(task.y) / len(rows))
    # Two classes have one score, whose halves are theirs: their penalty is half of that for one column.
    coef, intercept = logistic_weights(phi[:, :-1] @ unfold, targets[:, None], each, 0.5 if two else 1.0)
    W = np.vstack([unfold @ coef[:, 0], intercept / phi[0, -1]])
    return W * [-0.5, 0.5] if two else W


def _whitened(task: MultiClassTask, phi: NDArray) -> NDArray:
    """Return features in which the task's penalty is half of the squared weights, without the column of ones."""
    return phi[:, : phi.shape[1] - task.features.has_ones] @ _whitening(task)


def _whitening(task: MultiClassTask) -> NDArray:
    p, d = task.problem, task.X.shape[1] - task.features.has_ones
    A = p.lam * np.eye(d) + (0.0 if task.M is None else p.tau_I * task.M[:d, :d])
    values, V = np.linalg.eigh(A)
    return V / np.sqrt(2.0 * len(task.y) * np.maximum(values, FLAT * values[-1]))


def _squared(K: NDArray, y: NDArray, ridge: float) -> Callable[[Sequence[Fold]], list[NDArray]]:
    codes = np.eye(int(y.max()) + 1)[y]

    def scores(train: NDArray, held: NDArray) -> NDArray:
        a = np.linalg.solve(K[np.ix_(train, train)] + ridge * np.eye(len(train)), codes[train])
        f = K[np.ix_(held, train)] @ a
        return f if f.shape[1] > 2 else f[:, 1] - f[:, 0]

    return lambda folds: [scores(train, held) for train, held in folds]
