"""SVOREX: support vector ordinal regression with explicit constraints on the thresholds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.base import MAX_ITER, TOL, GaussianOrLinear, OrdinalBaseline, Watch
from dsgcore.baselines.basis import Linear
from dsgcore.baselines.s3vm import HOLDERS, expansion, kernel_matrix, regress
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import like, real
from dsgcore.problems.s3vm import C

# Half the distance between the two kinks of the regression's loss, so that values rarely reach the second one.
EPSILON = 1e4
# Cost of thresholds out of order, as a multiple of the cost of all errors together.
PENALTY = 10.0
# The search ends when the thresholds move by less than this.
STILL = 1e-4


@estimator
class SVOREX(GaussianOrLinear, OrdinalBaseline):
    """Support vector ordinal regression with explicit constraints: one function, and a threshold between classes.

    It learns from the labeled points only. Its linear kernel is ⟨x, x'⟩ / d, as in the authors' program.

    Parameters
    ----------
    jitter : Jitter
        Number added to the kernel matrix's diagonal, against rounding errors.
    tol
        Tolerance of each convex step: largest violation of the optimality conditions.
    max_iter
        Largest number of convex steps in the search for the thresholds.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The function f.
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on f that separate the classes, in rising order.
    dual_coef_ : ndarray of shape (n_l,)
        Coefficients of the labeled points.
    objectives_ : ndarray of shape (n_iter_,)
        Objective after each step.
    converged_ : bool
        True if the thresholds converged.

    Notes
    -----
    Objective: ||w||^2 / 2 + C sum_j [sum_{y=j} max(0, 1 + f - b_j) + sum_{y=j+1} max(0, 1 - f + b_j)] subject to
    b_1 <= .. <= b_{k-1}. Only the two neighbouring classes have a loss at a threshold.

    If each point occurs twice, once for each of its thresholds, this is a support vector machine with one bias for
    each threshold. libsvm has only one bias. So the thresholds become directions of feature space. This penalises
    their length, and proximal steps remove the penalty: each minimises the objective plus |b - b_last|^2 / (2 L^2),
    L^2 the mean of k(x, x).

    If all positions of a threshold between two values have the same objective, it is put in the middle.

    Source: W. Chu and S. S. Keerthi, Support Vector Ordinal Regression, Neural Computation 19, 2007, (1)-(3).

    For an example see `dsgcore.QS3ORAO`.
    """

    title = "SVOREX"
    citation = "SVOREX, Chu and Keerthi, Neural Computation 2007"
    sentence = "learns one function and the thresholds between ordered classes, from the labeled points only"
    is_supervised = True

    C: float = like(C)
    jitter: float = real(1e-3, low=0.0, high=1.0, scale="log", usual=(0.0, 0.1))
    tol: float = like(TOL, default=1e-4)
    max_iter: int = like(MAX_ITER)

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        kernel = self._kernel(X)
        kernel = Linear(X.shape[1]) if isinstance(kernel, Linear) else kernel
        assert kernel is not None  # all kernels of this method have it
        K = kernel_matrix(kernel, X)
        K[np.diag_indices_from(K)] += s["jitter"]
        machine, watch.total = _Machine(K, y, s["C"], s["tol"]), s["max_iter"]
        for _ in range(s["max_iter"]):
            moved = machine.step()
            margins = machine.sign * (machine.f[machine.rows] - machine.b[machine.threshold])
            watch.step(float(0.5 * machine.coef @ machine.f + s["C"] * np.maximum(0.0, 1.0 - margins).sum()))
            if moved < STILL:
                break
        else:
            watch.give_up(
                f"thresholds still move by {moved:.2g} after {s['max_iter']} steps; try a larger max_iter or a smaller tol"
            )
        if not machine.is_accurate:
            watch.give_up(
                f"libsvm missed a tolerance of {100 * s['tol']:.1g}; try a larger tol, a smaller C, or scaled points"
            )
        # The middle of each threshold's optimal interval for this function, if these are in order.
        middles = np.array([middle(low, high) for low, high in pairwise(machine.f[y == j] for j in range(machine.k))])
        self.thresholds_ = middles if (np.diff(middles) >= 0).all() else np.maximum.accumulate(machine.b)
        self.dual_coef_ = machine.coef
        self.model_ = expansion(kernel, X, machine.coef, 0.0)


class _Machine:
    """State of the machine: the points at their thresholds, and the current function."""

    def __init__(self, K: NDArray, y: NDArray, C: float, tol: float) -> None:
        self.K, self.tol, self.k = K, tol, int(y.max()) + 1
        below, above = np.flatnonzero(y < self.k - 1), np.flatnonzero(y > 0)
        self.rows = np.concatenate([below, above])
        self.threshold = np.concatenate([y[below], y[above] - 1])
        self.sign = np.concatenate([np.full(len(below), -1.0), np.ones(len(above))])
        self.coef: NDArray = np.zeros(len(y))
        self.b: NDArray = np.zeros(self.k - 1)
        self.is_accurate = True
        # The matrix of all examples: points at thresholds, neighbouring thresholds, and two that fix the bias.
        m, k = len(self.rows), self.k
        # Coefficients of each example's value by the thresholds: -b_j, or b_{j+1} - b_j.
        self.directions = np.zeros((m + k - 2 + len(HOLDERS), k - 1))
        self.directions[np.arange(m), self.threshold] = -1.0
        places = np.arange(k - 2)
        self.directions[m + places, places] = -1.0
        self.directions[m + places, places + 1] = 1.0
        # Longer directions would need fewer steps, but libsvm's float32 kernel values would then lose the points' own
        # digits.
        self.length = float(np.mean(np.diag(self.K))) or 1.0
        self.G = self.length * self.directions @ self.directions.T
        for i, row in enumerate(self.rows):
            self.G[i, :m] += self.K[row, self.rows]
        self.targets = np.concatenate([self.sign * (1.0 + EPSILON), np.full(k - 2, EPSILON)])
        self.weights = np.full(m + k - 2, PENALTY * C * m)
        self.weights[:m] = C

    def step(self) -> float:
        """Minimise near the last thresholds, and return the distance that they moved."""
        targets = self.targets - self.directions[: len(self.targets)] @ self.b
        dual, is_accurate = regress(self.G, targets, self.weights, epsilon=EPSILON, tol=self.tol)
        self.is_accurate &= is_accurate
        self.coef = np.bincount(self.rows, dual[: len(self.rows)], minlength=len(self.K))
        step = self.length * dual @ self.directions[: len(dual)]
        self.b = self.b + step
        self.f = self.K @ self.coef
        if np.abs(self.f).max() > EPSILON:
            raise DSGError(f"SVOREX needs points of a smaller scale: f reaches {np.abs(self.f).max():.3g}")
        return float(np.abs(step).max())


def middle(low: NDArray, high: NDArray) -> float:
    """Return the middle of all b that minimise sum_low max(0, 1 + f - b) + sum_high max(0, 1 - f + b)."""
    # The slope begins with -len(low), and each kink adds 1.
    kinks = np.sort(np.concatenate([low + 1.0, high - 1.0]))
    return float(kinks[len(low) - 1 : len(low) + 1].mean())
