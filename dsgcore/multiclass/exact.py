"""Exact start of PS3VT: the minimiser of its objective without the pull to low rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.multiclass.task import MultiClassTask
from dsgcore.solver.logistic import logistic_weights

# Smallest eigenvalue of the penalty, as a share of the largest one.
FLAT = 1e-9
# Most labeled points from which a run starts.
MOST_OF_START = 4096


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


def _whitening(task: MultiClassTask) -> NDArray:
    p, d = task.problem, task.X.shape[1] - task.features.has_ones
    A = p.lam * np.eye(d) + (0.0 if task.M is None else p.tau_I * task.M[:d, :d])
    values, V = np.linalg.eigh(A)
    return V / np.sqrt(2.0 * len(task.y) * np.maximum(values, FLAT * values[-1]))
