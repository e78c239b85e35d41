"""Start of a run: the exact solution for some of its points, on the random features of its first iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import AUTOMATIC, Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.kernels import features
from dsgcore.solver.near_risks import SourceHinge, SourceQuadratic
from dsgcore.solver.task import Task

EXACT = "exact"
START = Choice("start", None, options=(EXACT,), optional=True).called(
    "Start", "Where the run starts: the exact solution for some points, or 0."
)
# 'auto' is the exact solution if these parameters have their default values. With a small ridge and a narrow kernel, the
# exact solution on a few features is far from the kernel's, and a run would not forget it.
# The same holds for more labels than this, half of the features that the start usually has.
MOST_LABELS = 512
OF_AUTOMATIC_START = ("kernel", "sigma", "lam", "C")
AUTOMATIC_START = replace(START, default=AUTOMATIC, options=(AUTOMATIC, EXACT))
# The first iteration has so many times as many features as another one, or as one of so many.
TIMES, FEATURES = 16, 64
# Most points of all sources together. They are points that so many first iterations visit, so a run on files reads no
# others.
POINTS, ITERATIONS = 1536, 12
# Most unlabeled ones: the start needs their mean and their spread.
UNLABELED_POINTS = 128


def plan_start(task: Task, start: str | None) -> bool:
    """Give the first iteration more features than the others, for `solution`; return False if the run starts at 0.

    It does if `start` is None, if no risk near the problem's has a known minimiser, or if the features are not cosines.
    """
    if start is None or task.kernel.feature_map is not features:
        return False
    if task.problem.near_risk() is None:
        return False
    m = task.plan.n_features
    task.plan.first_features = max(m, TIMES * min(m, FEATURES))
    return True


@dataclass(frozen=True)
class Solution:
    """The minimiser f = sum_i weights_i k(x_i, .) for some points, on the random features of the first iteration."""

    rows: NDArray  # (n,), different ones of each source
    points: NDArray  # (n, d)
    weights: NDArray  # (n,), of the features' kernel
    block: NDArray  # the iteration's block of the model


def solution(task: Task, W: NDArray) -> Solution:
    """Return the minimiser for some points, in the space of the first iteration's features, with frequencies `W`.

    It is 0 if the equations have no solution, as without a ridge.
    """
    risk = task.problem.near_risk()
    assert risk is not None
    rows = _rows(task, risk)
    sizes = np.array([len(own) for own in rows])
    points = np.concatenate([features.as_points(task.X[own], task.dtype) for own in rows])
    phi = features.explicit(points, W)
    means = np.repeat(np.diag(1.0 / np.maximum(sizes, 1)), sizes, axis=0)
    try:
        weights = risk.solution(means, phi @ phi.T, task.plan.lam).astype(task.dtype)
    except np.linalg.LinAlgError:
        weights = np.zeros(len(phi), dtype=task.dtype)
    alpha = phi.T @ weights
    if not np.isfinite(alpha).all():
        alpha, weights = np.zeros_like(alpha), np.zeros_like(weights)
    return Solution(np.concatenate(rows), points, weights, features.block_of(alpha))


def _rows(task: Task, risk: SourceHinge | SourceQuadratic) -> list[NDArray]:
    """Return rows of each source that the first iterations visit; none of a source that does not count."""
    batches = [task.batch(t) for t in range(1, ITERATIONS + 1)]
    rows = []
    for source, is_counted in zip(task.rows, risk.is_counted, strict=True):
        visited = np.unique(np.concatenate([batch[source] for batch in batches]))
        most = UNLABELED_POINTS if source == "unlabeled" else POINTS // len(task.rows)
        rows.append(visited[evenly_spread(len(visited), most if is_counted else 0)])
    return rows
