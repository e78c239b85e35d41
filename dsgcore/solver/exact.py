"""The twin h, a run with the exact kernel beside it: the error of random features, the distance from the optimum, and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.kernels import Kernel
from dsgcore.solver.loop import OwnValues
from dsgcore.solver.problem import Problem
from dsgcore.solver.start import SourceQuadratic, shares
from dsgcore.solver.task import Task

MAX_EXACT_POINTS = 6000


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
