"""Exact start of a run: the minimiser for some of its points, on the random features of its first iteration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import AUTOMATIC, Choice
from dsgcore.core.sampling import evenly_spread
from dsgcore.kernels.features import Cosines, as_points, explicit
from dsgcore.kernels.loops import hinge_weights

if TYPE_CHECKING:
    from dsgcore.solver.task import Task

EXACT = "exact"
START = Choice("start", None, options=(EXACT,), optional=True).called(
    "Start", "Where the run starts: the exact solution for some points, or 0."
)
# 'auto' is exact for at most so many labels, if these have default values: else a run might not forget the start.
AUTOMATIC_START = replace(START, default=AUTOMATIC, options=(AUTOMATIC, EXACT))
OF_AUTOMATIC_START, MOST_LABELS = ("kernel", "sigma", "lam", "C", "labeled_weight"), 512
# The first iteration has so many times as many features as another one, or as one of so many.
TIMES, FEATURES = 16, 64
# Most points of all sources, of which so many first iterations visit, so that a run on files reads no others. Of unlabeled
# points the start needs their mean and their spread.
POINTS, ITERATIONS, UNLABELED_POINTS = 1536, 12, 128
# A support vector machine's largest distance of a margin from 1, its most steps, and the ridge that stands for none.
MARGIN_ERROR, MOST_STEPS, SMALLEST_RIDGE = 1e-3, 20_000, 1e-12


@dataclass(frozen=True, eq=False)
class SourceQuadratic:
    """Quadratic risk in which the points of a source count alike, so that its minimiser is known.

    With v_s the values at the points of source s, it is
    sum_s spread_s mean(v_s^2) / 2 - sum_st between_st mean(v_s) mean(v_t) / 2 + sum_s linear_s mean(v_s) + constant.
    `spread` and `linear` (S,) are in the order of `Problem.sources`, `between` (S, S) is symmetric; no spread is negative.
    """

    spread: NDArray
    between: NDArray
    linear: NDArray

    @property
    def is_counted(self) -> NDArray:
        """A mask (S,) of the sources whose points count."""
        return (self.spread != 0.0) | (self.linear != 0.0) | self.between.any(axis=1)

    def solution(self, M: NDArray, K: NDArray, lam: float) -> NDArray:
        """Return the a with which f = K a minimises the risk plus lam a'K a / 2, for M (n, S) from `shares`.

        With the risk as f'Qf / 2 + l'f it solves (Q K + lam) a = -l. Raise `numpy.linalg.LinAlgError` if nothing does.
        """
        system = self.curvature(M, K)
        system[np.diag_indices(len(K))] += lam
        return np.linalg.solve(system, -(M @ self.linear))

    def curvature(self, M: NDArray, values: NDArray) -> NDArray:
        """Return Q V (n, k) of values V (n, k), for M (n, S) from `shares`, without a matrix Q (n, n)."""
        return (M @ self.spread)[:, None] * values - M @ (self.between @ (M.T @ values))

    def slopes(self, M: NDArray, values: NDArray) -> NDArray:
        """Return the derivative Q v + l (n,) of the risk by every point's value (n,)."""
        return self.curvature(M, values[:, None])[:, 0] + M @ self.linear


@dataclass(frozen=True, eq=False)
class SourceHinge:
    """Support vector machine's risk: sum_s weight_s mean(max(0, 1 - sign_s v_s)); weight and sign are 0 if s does not count."""

    weight: NDArray
    sign: NDArray

    @property
    def is_counted(self) -> NDArray:
        """A mask (S,) of the sources whose points count."""
        return self.weight != 0.0

    def solution(self, M: NDArray, K: NDArray, lam: float) -> NDArray:
        """Return the same as `SourceQuadratic.solution`, up to `MARGIN_ERROR` or `MOST_STEPS`."""
        if not np.isfinite(K).all():
            raise np.linalg.LinAlgError("the kernel matrix has numbers that are not finite")
        cost = M @ self.weight / max(lam, SMALLEST_RIDGE)
        return hinge_weights(K.astype(float), np.sign(M @ self.sign), cost, MARGIN_ERROR, MOST_STEPS)


def shares(rows: Iterable[NDArray], n: int) -> NDArray:
    """Return each point's share (n, S) in the mean over every source, from the sources' rows."""
    return np.stack([np.bincount(own, minlength=n) / len(own) for own in rows], axis=1)


def plan_start(task: Task, start: str | None) -> bool:
    """Give the first iteration more features, for `solution`; False if `start` is None, or if there is none for the task."""
    if start is None or not isinstance(task.kernel.feature_map, Cosines) or task.problem.near_risk() is None:
        return False
    m = task.plan.n_features
    task.plan.first_features = m if task.new_model().is_fixed else max(m, TIMES * min(m, FEATURES))
    return True


def solution(task: Task, W: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return the minimiser f = sum_i a_i k(x_i, .) for some points, with the kernel of features with frequencies `W`.

    It is 0 if the equations have no solution, as without a ridge. Return different rows of each source that the first
    iterations visit (n,), their points (n, d), the weights a (n,), and the model's block.
    """
    risk, batches = task.problem.near_risk(), task.joined_batches(0, ITERATIONS).reshape(ITERATIONS, len(task.rows), -1)
    assert risk is not None
    rows = []
    for place, (source, is_counted) in enumerate(zip(task.rows, risk.is_counted, strict=True)):
        visited = np.unique(batches[:, place])
        most = UNLABELED_POINTS if source == "unlabeled" else POINTS // len(task.rows)
        rows.append(visited[evenly_spread(len(visited), most if is_counted else 0)])
    points = np.concatenate([as_points(task.X[own], task.dtype) for own in rows])
    phi, sizes = explicit(points, W), np.array([len(own) for own in rows])
    means = np.repeat(np.diag(1.0 / np.maximum(sizes, 1)), sizes, axis=0)
    try:
        weights = risk.solution(means, phi @ phi.T, task.plan.lam).astype(task.dtype)
    except np.linalg.LinAlgError:
        weights = np.zeros(len(phi), dtype=task.dtype)
    if not np.isfinite(alpha := phi.T @ weights).all():
        alpha, weights = np.zeros_like(alpha), np.zeros_like(weights)
    return np.concatenate(rows), points, weights, task.kernel.feature_map.block_of(alpha)
