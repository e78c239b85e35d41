"""Measures of a run from the solver's records.

The twin h is the same run with the exact kernel: the error of random features, the distance from the optimum, and rates.
Gauges of progress and noise are read at a few probes, every eighth iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.kernels import Kernel
from dsgcore.solver.loop import Beginning, Iterate, OwnValues
from dsgcore.solver.problem import Problem
from dsgcore.solver.start import SourceQuadratic, shares
from dsgcore.solver.task import Task

MAX_EXACT_POINTS = 6000
# Iterations between readings, number of probes, and number of places of a batch.
STRIDE, PROBES, PLACES = 8, 24, 64
# A batch of one point shows no spread, so the points of this many readings are used together.
POOLED = 32
# Weight of a reading in the running mean of the agreement of two successive updates.
FORGETS = 0.2


class DiagnosticsError(DSGError):
    """A diagnostic that cannot be computed for this size or this problem."""


def feature_error(f: NDArray, h: NDArray) -> dict[str, float]:
    """Return mean and largest |f - h|^2 over the probes, and the mean |h|^2; for several classes sums over them."""
    error, size = (np.sum(values.reshape(len(f), -1) ** 2, axis=1) for values in (f.astype(float) - h, h.astype(float)))
    return {"error_mean": float(error.mean()), "error_max": float(error.max()), "h_squared": float(size.mean())}


class ExactTwin(OwnValues):
    """The iterate's twin with the exact kernel, h, at probe points (p, d) in the model's precision, from the solver's records.

    h_{t+1}(x) = (1 - eta_t lambda) h_t(x) - eta_t sum_b c_b k(x_b, x), with the same c_b: the gradient is taken at f_t.
    """

    changed: ClassVar[tuple[str, ...]] = ("h",)

    def __init__(self, kernel: Kernel, probes: NDArray) -> None:
        self.kernel, self.probes = kernel, probes
        self.h = np.zeros(len(probes), dtype=probes.dtype)
        self.largest_weight = 0.0
        self.squared_steps = 0.0

    def advance(self, points: NDArray, weights: NDArray, step: float, decay: float) -> None:
        """Add one iteration: its batch points (B, d), their coefficients (B,), its step and decay."""
        self.kernel.sums(points, weights * weights.dtype.type(-step), self.probes, decay, self.h)
        self.largest_weight = max(self.largest_weight, float(np.abs(weights).sum()))
        # a_t^i = -eta_i prod_{j > i} (1 - eta_j lambda), so the sum of squares has its own recursion.
        self.squared_steps = decay**2 * self.squared_steps + step**2

    def bound(self) -> float:
        """Return the bound on E |f - h|^2 of QSG-S2AUC's Lemma 1 and QS3ORAO's Lemma 2.

        TSGSU's Lemma 1 and TSGS3VM's Theorem 1 have (sqrt kappa + sqrt phi)^2, which is the same for kappa = phi = 1, and the
        upper bound T eta^2 of the sum.
        """
        bounds = self.kernel.bound + self.kernel.feature_bound
        # A NumPy float: the square of a Python float that is too large raises an error instead of becoming infinite.
        return float(np.float64(self.largest_weight * bounds) ** 2 * self.squared_steps)

    def compare(self, f: NDArray, variance: NDArray) -> dict[str, float]:
        """Return the error of the values `f` at the probes, its bound, and the mean of its predicted square, `variance`."""
        return {**feature_error(f, self.h), "bound": self.bound(), "band": float(variance.mean())}


class SquaredNorm:
    """A running estimate of ||h_t||^2 in the kernel's space, without any kernel evaluation.

    ||h_{t+1}||^2 = d^2 ||h_t||^2 - 2 d eta <h_t, g_t> + eta^2 ||g_t||^2 with d = 1 - eta lambda and g_t = sum_b c_b k(x_b, .).
    <h_t, g_t> = sum_b c_b h_t(x_b) is estimated with f_t for h_t, and eta^2 ||g_t||^2 with ||alpha_t||^2.
    """

    value = 0.0

    def advance(self, f: NDArray, weights: NDArray, block: NDArray, step: float, decay: float) -> None:
        """Add one iteration: values f_t and coefficients at its batch points, both (B,), and its block."""
        m = block.shape[1]
        inner = float(np.dot(f.astype(np.float64), weights))
        alpha = m * float(np.dot(block[0].astype(np.float64), block[0]))
        # Zero last: NaN stays NaN.
        self.value = max(decay**2 * self.value - 2 * decay * step * inner + alpha, 0.0)


class AverageNorm:
    """Estimate, like `SquaredNorm`, for the mean of iterates: || mean of h_s ||^2.

    Let P_t be the sum of those to be averaged, up to h_t. Then <P_t, h_{t+1}> = d <P_t, h_t> - eta <P_t, g_t>, where
    <P_t, g_t> = sum_b c_b P_t(x_b), and P_{t+1} = P_t + h_{t+1}.
    """

    def __init__(self, average_after: int) -> None:
        self.average_after, self.t = average_after, 0
        self.inner = self.squared = self.value = 0.0

    def advance(self, average: NDArray, weights: NDArray, step: float, decay: float, norm: float) -> None:
        """Add one iteration: averages and coefficients at its batch points, both (B,), and the new iterate's squared norm."""
        n = self.t - self.average_after
        self.t += 1
        if n <= 0:  # no iterate was averaged before the new one
            self.inner = self.squared = self.value = norm
            return
        of_gradient = n * float(np.dot(average.astype(np.float64), weights))
        with_new = decay * self.inner - step * of_gradient
        self.squared += 2.0 * with_new + norm
        self.inner = with_new + norm
        self.value = max(self.squared / (n + 1) ** 2, 0.0)


def slope(x: Sequence[float] | NDArray, y: Sequence[float] | NDArray) -> float:
    """Return the slope of log y against log x by least squares, over the points where both are positive and finite."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    usable = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
    if usable.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[usable]), np.log(y[usable]), 1)[0])


class DualCoefficients(OwnValues):
    """The twin h as a sum over the n training points, h = sum_i a_i k(x_i, .), with its coefficients a after each iteration."""

    changed: ClassVar[tuple[str, ...]] = ("values",)

    def __init__(self, n: int) -> None:
        self.values = np.zeros(n)

    def advance(self, rows: NDArray, weights: NDArray, step: float, decay: float) -> None:
        """Add one iteration: its batch rows and coefficients, both (B,), its step and decay."""
        self.values *= decay
        np.subtract.at(self.values, rows, step * weights.astype(np.float64))


class GradientNorm:
    """The squared norm of the objective's gradient at h, ||grad J(h)||^2 in the kernel's space.

    With h = sum_i a_i k(x_i, .), and c_i the derivative of the whole sample's risk by the value h(x_i),
    grad J(h) = sum_i (c_i + lambda a_i) k(x_i, .). The papers' theorems on non-convex risks use this norm. At a kink of
    a loss, c is one of its slopes, so the norm need not vanish at a minimum. The problem must be bound to its labels; K (n, n) is
    the kernel matrix on the training points. One evaluation costs two products of K and a vector.

    Source: TSGSU, Theorem 1 and (17); TSGS3VM, Theorem 2 and (6).
    """

    def __init__(self, problem: Problem, rows: Mapping[str, NDArray], K: NDArray) -> None:
        if len(K) > MAX_EXACT_POINTS:
            raise DiagnosticsError(
                f"the gradient's norm needs the kernel matrix of all points; at most {MAX_EXACT_POINTS} points, got {len(K)}"
            )
        self.problem, self.rows, self.K = problem, dict(rows), K
        # A batch's coefficients may pair points one by one; the quadratic form uses all pairs.
        self.quadratic = risk if isinstance(risk := problem.near_risk(), SourceQuadratic) else None
        self.shares = shares(self.rows.values(), len(K))

    def at(self, dual: NDArray, lam: float) -> float:
        """Return the squared norm at h of dual coefficients a, of shape (n,), for the ridge `lam`."""
        gradient = self.slopes(self.K @ dual) + lam * dual
        return float(gradient @ self.K @ gradient)

    def slopes(self, h: NDArray) -> NDArray:
        """Return the derivative of the whole sample's risk by every point's value, of shape (n,)."""
        if self.quadratic is not None:
            return self.quadratic.slopes(self.shares, h)
        slopes = np.zeros(len(h))
        for source, c in self.problem.coefficients({source: h[rows] for source, rows in self.rows.items()}).items():
            np.add.at(slopes, self.rows[source], c)
        return slopes


@dataclass(frozen=True, eq=False)
class Reference:
    """Matrix K (n, n), the whole sample's gradient and the optimum that runs with the same data, kernel and ridge share.

    `optimum` (n,) are the dual coefficients of f*; None if the risk is not quadratic, or without a ridge.
    """

    K: NDArray
    whole: GradientNorm
    optimum: NDArray | None

    @classmethod
    def of(cls, task: Task) -> Reference:
        """Return the matrix, gradient and optimum of a task."""
        X, lam = np.asarray(task.X, dtype=np.float64), task.plan.at(task.plan.n_iter).lam
        K = task.kernel.matrix(X, X)
        whole = GradientNorm(task.problem, task.rows, K)
        risk = whole.quadratic
        return cls(K, whole, risk.solution(whole.shares, K, lam) if risk is not None and lam > 0 else None)


# --- gauges


@dataclass(frozen=True, eq=False)
class Reading:
    """Gauge values after iteration `t`, which was made with the step size `step`."""

    t: int
    step: float
    reach: float  # sum of the step sizes so far
    f: NDArray  # values at the probes, of shape (p,)
    # Means over the probes of the variance that the random features, and the batches, have added to f so far, as if no
    # later step reduced it; NaN without random features.
    features: float
    batches: float
    update: float  # its mean square
    # Running mean of the cosine between two successive updates: positive on a path, negative if steps overshoot or if
    # only noise is left.
    agreement: float


@dataclass(frozen=True, eq=False)
class BatchSpread:
    """The variance of a batch's gradient at the probes, from the spread over its places.

    g_b(z) = B sum over the sources of c_b k(x_b, z) belongs to one place b of the batch. The sources' points of one
    place are summed before the variance is taken, because losses of pairs and triplets couple them.
    """

    kernel: Kernel
    probes: NDArray

    def each(self, iterate: Iterate) -> NDArray:
        """Return g_b at the probes for some of an iteration's places, of shape (places, p); zeros for one without a batch."""
        if isinstance(iterate, Beginning):
            return np.zeros((2, len(self.probes)))
        n_sources, size = len(iterate.sources), len(iterate.weights) // len(iterate.sources)
        places = np.arange(min(size, PLACES))
        rows = (np.arange(n_sources)[:, None] * size + places).ravel()
        K = self.kernel.matrix(iterate.points[rows].astype(np.float64), self.probes.astype(np.float64))
        K *= size * iterate.weights[rows, None]
        summed: NDArray = K.reshape(n_sources, len(places), -1).sum(axis=0)
        return summed


class Gauges:
    """Readings of a run at every eighth iteration, for `n` values at up to two dozen probes. If n is 0, nothing is read."""

    def __init__(self, n: int) -> None:
        self.readings: list[Reading] = []
        self.t = 0
        self._f, self._update = np.zeros(n), np.zeros(n)
        self._agreement = self._reach = 0.0
        self._batches = self._of_gradient = 0.0
        self._pool = np.empty((0, n))

    def advance(
        self,
        t: int,
        step: float,
        decay: float,
        size: int,
        read: Callable[[], tuple[NDArray, float, Callable[[], NDArray]]],
    ) -> None:
        """Add an iteration with batches of `size`. An iteration that is repeated counts only once.

        `read` is called now and then. It returns the values at the probes, the features' variance there, and a function
        that returns the gradient of each place of the batch, of shape (places, n).
        """
        if t <= self.t or not len(self._f):
            return
        self.t, left, is_first = t, -t % STRIDE, self.t == 0
        f, features, each = read() if left <= 2 or is_first else (self._f, 0.0, None)
        if each is not None and (left == 0 or is_first):
            own = each()
            if size == 1:
                self._pool = own = np.concatenate([self._pool, own])[-POOLED:]
            if len(own) > 1:
                self._of_gradient = float(own.var(axis=0, ddof=1).mean()) / size
        self._reach += step
        # As noisy as the iteration measured last: V_b <- (1 - eta lambda)^2 V_b + eta^2 Var_b[g_b] / B.
        self._batches = decay**2 * self._batches + step**2 * self._of_gradient
        if left > 2:
            return
        # The values two iterations and one iteration before a reading are kept; it is taken with the third.
        f = f.astype(np.float64)
        update = f - self._f
        if left == 0:
            sizes = float(np.linalg.norm(update) * np.linalg.norm(self._update))
            cosine = float(update @ self._update) / sizes if 0.0 < sizes < np.inf else 0.0
            self._agreement += FORGETS * (cosine - self._agreement)
            of_noise = (features, self._batches, float(np.mean(update**2)), self._agreement)
            self.readings.append(Reading(t, step, self._reach, f, *of_noise))
        self._f, self._update = f, update

    def up_to(self, t: int) -> list[Reading]:
        """Return the readings of the first `t` iterations."""
        return [reading for reading in self.readings if reading.t <= t]
