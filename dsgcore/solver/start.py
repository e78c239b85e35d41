"""Start of a run: the exact solution for some of its points, on the random features of its first iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.parameters import AUTOMATIC, Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.kernels import features
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Change
from dsgcore.solver.task import Task

EXACT = "exact"
START = Choice("start", None, options=(EXACT,), optional=True).called(
    "Start", "Where the run starts: the exact solution for some points, or 0."
)
# 'auto' is the exact solution if these parameters have their default values. With a small ridge and a narrow kernel, the
# exact solution on a few features is far from the kernel's, and a run would not forget it.
OF_AUTOMATIC_START = ("kernel", "sigma", "lam", "C")
AUTOMATIC_START = replace(START, default=AUTOMATIC, options=(AUTOMATIC, EXACT))
# Times as many features as in another iteration, but no more than MOST_FEATURES unless one iteration has them.
MORE_FEATURES, MOST_FEATURES = 8, 512
# Most points of all sources together. They are points that so many first iterations visit, so a run on files reads no
# others.
POINTS, ITERATIONS = 1536, 12


def plan_start(task: Task, start: str | None) -> bool:
    """Give the first iteration more features, for `begin`; return False if the run starts at 0.

    It does if `start` is None, if neither the risk nor one near it is quadratic, or if the features are not cosines.
    """
    if start is None or task.kernel.feature_map is not features:
        return False
    if task.problem.near_quadratic() is None:
        return False
    m = task.plan.n_features
    more = max(m, min(MORE_FEATURES * m, MOST_FEATURES))
    task.plan.changes += [Change(1, "n_features", more), Change(2, "n_features", m)]
    return True


def begin(task: Task, model: Expansion) -> None:
    """Append the first iteration to an empty model: the minimiser for some points, in the space of its features."""
    step = task.plan.at(1)
    W = model.frequencies(1, step.n_features)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        alpha = _exact(task, W).astype(task.dtype)
        model.append(features.block_of(alpha), step.decay)


def _points(task: Task) -> Iterator[NDArray]:
    """Yield points of each source that the first iterations visit."""
    batches = [task.batch(t) for t in range(1, ITERATIONS + 1)]
    for source in task.rows:
        visited = np.unique(np.concatenate([batch[source] for batch in batches]))
        rows = visited[evenly_spread(len(visited), max(1, POINTS // len(task.rows)))]
        yield features.as_points(task.X[rows], task.dtype)


def _exact(task: Task, W: NDArray) -> NDArray:
    """Return the coefficients of the features (2m,) that minimise the objective; zeros if there are none.

    With the features' means Psi (S, 2m) over the sources, and their second moments weighted by the spread's weights d,
    they solve (sum_s d_s mean_s phi phi' - Psi' B Psi + lam) alpha = -Psi' l.
    """
    found = task.problem.near_quadratic()
    assert found is not None
    parts, means = [], []
    for weight, X in zip(found.spread, _points(task), strict=True):
        phi = features.explicit(X, W)
        means.append(phi.mean(axis=0))
        if weight:
            parts.append(phi * task.dtype.type((weight / len(phi)) ** 0.5))
    Psi, phi = np.array(means, dtype=float), np.concatenate(parts)
    system = (phi.T @ phi).astype(float) - Psi.T @ found.between @ Psi
    system[np.diag_indices(len(system))] += task.plan.lam
    try:
        alpha = np.linalg.solve(system.astype(task.dtype), (-Psi.T @ found.linear).astype(task.dtype))
    except np.linalg.LinAlgError:  # without a ridge
        return np.zeros(len(system))
    return alpha if np.isfinite(alpha).all() else np.zeros(len(system))
