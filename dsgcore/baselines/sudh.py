"""SU-DH: classification from similar pairs and unlabeled points with the double hinge loss, by its dual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from dsgcore.baselines.base import LAM, MAX_ITER, TOL, Watch
from dsgcore.baselines.basis import PENALTY, Basis
from dsgcore.baselines.similar_unlabeled import PairsBaseline
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.solver.problem import UNLABELED

# Corrections that L-BFGS-B keeps. With fewer it needs half as many iterations again.
N_CORRECTIONS = 30


@estimator
class SUDH(PairsBaseline):
    """Classification from similar pairs and unlabeled points with the double hinge loss, by its dual.

    With p the share of positives, p_S = p^2 + (1 - p)^2, l(z) = max(z, max(0, 1/2 + z / 2)) and
    f = w'[k(x, c_1) .. k(x, c_m), 1], it minimises the convex objective

        J(w) = -p_S / (2p - 1) mean_S f + mean_U [l(f) + (1 - p) / (2p - 1) f] + (lam / 2) |w|^2

    over all members S of the similar pairs and the unlabeled points U.

    Parameters
    ----------
    max_iter
        Largest number of iterations of the solver.
    tol
        Tolerance of the duality gap, relative to the objective (to 1 if the objective is smaller).

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_U,)
        Slope of l at each unlabeled point, in [0, 1].
    gap_ : float
        Duality gap: J at the solution exceeds the minimum by at most this.
    objective_ : float
        J at the solution.
    objectives_ : ndarray of shape (n_iter_,)
        J after each iteration.

    Warns
    -----
    ConvergenceWarning
        From `fit`, if the gap is above the tolerance.

    Notes
    -----
    Source: H. Bao, G. Niu and M. Sugiyama, Classification from Pairwise Similarity and Unlabeled Data, ICML 2018,
    (10).

    Deviation: the authors' public program gives its solver slack variables of negative cost, a problem without a
    minimum. This class solves the paper's problem.

    l(z) is the largest s z + min(s, 1 - s) over 0 <= s <= 1. So J's dual is to maximise
    mean_U min(s, 1 - s) - |mean_U s phi + q|^2 / (2 lam), with q = -p_S / (2p - 1) mean_S phi + (1 - p) / (2p - 1)
    mean_U phi and w = -(mean_U s phi + q) / lam. With s = u + v and u, v in [0, 1/2] the concave part is u - v. Then
    the dual is a quadratic program with bounds only, and L-BFGS-B solves it.

    For an example see `SUSL`.
    """

    title = "SU-DH"
    citation = "Bao, Niu and Sugiyama, ICML 2018"
    sentence = "learns from similar pairs with the double hinge loss, a quadratic program"

    penalty: str = like(PENALTY)
    lam: float = like(LAM, low=1e-9)  # the dual divides by it
    max_iter: int = like(MAX_ITER, default=5000, high=10**6, scale="log", usual=(100, 10_000))
    tol: float = like(TOL, default=1e-7, high=1.0, usual=(1e-9, 1e-3))

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        basis, watch.total = self._basis(X, s, has_bias=True), s["max_iter"]
        dual = _Dual(basis, X[y != UNLABELED], X[y == UNLABELED], prior=self.prior_, lam=s["lam"])
        slopes = _maximise(dual, s["max_iter"], s["tol"], watch)
        self.objective_, bound = dual.primal(slopes), dual.value(slopes)
        self.gap_ = self.objective_ - bound
        if not self.gap_ <= s["tol"] * max(1.0, abs(self.objective_)):
            watch.give_up(f"its duality gap is {self.gap_:.2g} after {watch.steps} iterations; a larger lam helps")
        self.dual_coef_, self.model_ = slopes, basis.model(dual.weights(slopes))


class _Dual:
    """Dual of J as a function of the slopes s of l at the unlabeled points."""

    def __init__(self, basis: Basis, similar: NDArray, unlabeled: NDArray, *, prior: float, lam: float) -> None:
        self.lam, self.n = lam, len(unlabeled)
        # J and the relative duality gap at the last evaluation.
        self.latest = self.gap = np.inf
        self.features = np.empty((self.n, basis.size))
        for rows, psi in zip(basis.pieces(self.n), basis.blocks(unlabeled), strict=True):
            self.features[rows] = psi
        scale = 1.0 / (2.0 * prior - 1.0)
        mean_similar = sum(psi.sum(axis=0) for psi in basis.blocks(similar)) / len(similar)
        similar_share = prior**2 + (1.0 - prior) ** 2
        self.q = scale * ((1.0 - prior) * self.features.mean(axis=0) - similar_share * mean_similar)

    def weights(self, s: NDArray) -> NDArray:
        """Return the w that belongs to s."""
        return -(s @ self.features / self.n + self.q) / self.lam

    def value(self, s: NDArray) -> float:
        """Return the dual's value, a lower bound of J."""
        w = self.weights(s)
        return float(np.mean(np.minimum(s, 1.0 - s)) - self.lam / 2.0 * (w @ w))

    def primal(self, s: NDArray) -> float:
        """Return J at the w that belongs to s."""
        w = self.weights(s)
        return self.objective(w, self.features @ w)

    def minus_value(self, z: NDArray) -> tuple[float, NDArray]:
        """Return minus the dual's value at z = (u, v), and its gradient. Keeps J and the gap."""
        u, v = z[: self.n], z[self.n :]
        w = self.weights(u + v)
        f = self.features @ w
        bound = float(np.mean(u - v) - self.lam / 2.0 * (w @ w))
        self.latest = self.objective(w, f)
        self.gap = (self.latest - bound) / max(1.0, abs(self.latest))
        return -bound, np.concatenate([-f - 1.0, -f + 1.0]) / self.n

    def objective(self, w: NDArray, f: NDArray) -> float:
        """Return J at w, with values f at the unlabeled points."""
        loss = np.maximum(f, np.maximum(0.0, 0.5 + f / 2.0))
        return float(self.q @ w + loss.mean() + self.lam / 2.0 * (w @ w))


def _maximise(dual: _Dual, max_iter: int, tol: float, watch: Watch) -> NDArray:
    """Return the slopes s = u + v that maximise the dual, to a duality gap of `tol` relative to J."""
    n, reached = dual.n, -np.inf
    z = np.concatenate([np.full(n, 0.25), np.zeros(n)])
    # only the gap stops the solver
    options = {"maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": N_CORRECTIONS}

    def after_iteration(intermediate_result: Any) -> None:
        watch.step(dual.latest)
        if dual.gap <= tol:
            raise StopIteration

    bounds = [(0.0, 0.5)] * len(z)
    while True:
        limits = options | {"maxiter": max_iter - watch.steps}
        z = minimize(
            dual.minus_value, z, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration, options=limits
        ).x
        value = -dual.minus_value(z)[0]
        # A line search sometimes fails because of rounding. Then the solver restarts without its curvature estimate.
        if dual.gap <= tol or watch.steps >= max_iter or not value > reached:
            return z[:n] + z[n:]
        reached = value
