"""Start of a run: the exact solution for some of its points, on the random features of its first iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.parameters import Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.kernels import features
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Change
from dsgcore.solver.task import Task

START = Choice("start", None, options=("exact",), optional=True).called(
    "Start", "Where the run starts: the exact solution for some points, or 0."
)
# Times as many features as in another iteration, and points of all sources together.
MORE_FEATURES, POINTS = 8, 768
# The points are those that so many first iterations visit. So a run on files reads no others.
ITERATIONS = 12


def plan_start(task: Task, start: str | None) -> bool:
    """Give the first iteration more features, for `begin`; return False if the run starts at 0.

    It does if `start` is None, if neither the risk nor one near it is quadratic, or if the features are not cosines.
    """
    if start is None or task.kernel.feature_map is not features:
        return False
    nothing = dict.fromkeys(task.rows, np.zeros(1, dtype=int))
    if task.problem.near_quadratic(nothing, 1) is None:
        return False
    m = task.plan.n_features
    task.plan.changes += [Change(1, "n_features", MORE_FEATURES * m), Change(2, "n_features", m)]
    return True


def begin(task: Task, model: Expansion) -> None:
    """Append the first iteration to an empty model: the minimiser for some points, in the space of its features."""
    most = max(1, POINTS // len(task.rows))
    taken = {source: own[evenly_spread(len(own), most)] for source, own in _visited(task).items()}
    ends = np.cumsum([0, *map(len, taken.values())])
    rows = {source: np.arange(ends[i], ends[i + 1]) for i, source in enumerate(taken)}
    X = features.as_points(task.X[np.concatenate(list(taken.values()))], task.dtype)
    step = task.plan.at(1)
    W = model.frequencies(1, step.n_features)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        a = _exact(task, X, W, rows).astype(task.dtype)
        model.append(features.accumulate(X, a, W, -1.0), step.decay)


def _visited(task: Task) -> dict[str, NDArray]:
    """Return the rows of each source that the first iterations visit, in ascending order."""
    batches = [task.batch(t) for t in range(1, ITERATIONS + 1)]
    return {source: np.unique(np.concatenate([batch[source] for batch in batches])) for source in task.rows}


def _exact(task: Task, X: NDArray, W: NDArray, rows: dict[str, NDArray]) -> NDArray:
    """Return the points' weights a, with f = sum_i a_i phi(x_i)' phi: (Q K + lam) a = -l; zeros if that fails."""
    found = task.problem.near_quadratic(rows, len(X))
    assert found is not None
    phi = features.explicit(X, W)
    system = found[0] @ (phi @ phi.T).astype(float)
    system[np.diag_indices(len(X))] += task.plan.lam
    try:
        a = np.linalg.solve(system, -found[1])
    except np.linalg.LinAlgError:  # without a ridge
        return np.zeros(len(X))
    return a if np.isfinite(a).all() else np.zeros(len(X))
