"""Start of a run: the exact solution for some of its points, on the random features of its first iteration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import AUTOMATIC, Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels import features
from dsgcore.solver.model import Expansion
from dsgcore.solver.near_risks import SourceHinge, SourceQuadratic
from dsgcore.solver.plan import Change
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
    """Give the first iteration more features than the others, for `begin`; return False if the run starts at 0.

    It does if `start` is None, if no risk near the problem's has a known minimiser, or if the features are not cosines.
    """
    if start is None or task.kernel.feature_map is not features:
        return False
    if task.problem.near_risk() is None:
        return False
    m = task.plan.n_features
    more = max(m, TIMES * min(m, FEATURES))
    task.plan.changes += [Change(1, "n_features", more), Change(2, "n_features", m)]
    return True


def begin(task: Task, model: Expansion) -> None:
    """Append the first iteration to an empty model: the minimiser for some points, in the space of its features.

    It is 0 if the equations have no solution, as without a ridge.
    """
    step, risk = task.plan.at(1), task.problem.near_risk()
    assert risk is not None
    points, W = _points(task, risk), model.frequencies(1, step.n_features)
    sizes = np.array([len(X) for X in points])
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        phi = features.explicit(np.concatenate(points), W)
        means = np.repeat(np.diag(1.0 / np.maximum(sizes, 1)), sizes, axis=0)
        try:
            alpha = phi.T @ risk.solution(means, phi @ phi.T, task.plan.lam).astype(task.dtype)
        except np.linalg.LinAlgError:
            alpha = np.zeros(phi.shape[1], dtype=task.dtype)
        alpha = alpha if np.isfinite(alpha).all() else np.zeros_like(alpha)
        model.append(features.block_of(alpha), step.decay)


def _points(task: Task, risk: SourceHinge | SourceQuadratic) -> list[NDArray]:
    """Return points of each source that the first iterations visit; none of a source that does not count."""
    batches = [task.batch(t) for t in range(1, ITERATIONS + 1)]
    points = []
    for source, is_counted in zip(task.rows, risk.is_counted, strict=True):
        visited = np.unique(np.concatenate([batch[source] for batch in batches]))
        most = UNLABELED_POINTS if source == "unlabeled" else POINTS // len(task.rows)
        rows = visited[evenly_spread(len(visited), most if is_counted else 0)]
        points.append(features.as_points(task.X[rows], task.dtype))
    return points
