"""Classification from similar pairs and unlabeled points: SU-SL in closed form, SU-DH by its dual, and CUU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.utils import Tags

from dsgcore.baselines.base import LAM, MAX_ITER, TOL, BasisParameters, Callback, Watch
from dsgcore.baselines.basis import PENALTY, BasisModel, solve_symmetric
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DivergedError
from dsgcore.core.parameters import like, parameter_like
from dsgcore.core.sampling import batches
from dsgcore.estimators.classes import HighestScore
from dsgcore.estimators.inputs import all_or_nothing
from dsgcore.estimators.similar_unlabeled import Y_HOLDS, pairs_and_prior, points_and_labels
from dsgcore.kernels.kernels import check_sizes
from dsgcore.problems.similar_unlabeled import SIMILAR, SimilarUnlabeled
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED, objective
from dsgcore.solver.task import SCHEDULES

# Corrections that L-BFGS-B keeps. With fewer it needs half as many iterations again.
N_CORRECTIONS = 30


@dataclass(eq=False, repr=False, kw_only=True)
class PairsBaseline(HighestScore, BasisParameters):
    """Base class of methods that learn from similar pairs and unlabeled points.

    `_learn` gets points and their pair ids, with -1 for unlabeled points. If `centers` is None, the centres are the
    members of the pairs, followed by the unlabeled points.

    Parameters
    ----------
    random_state
        Seed for drawing the centres, pairs from classes, and mini-batches.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the second one positive. [0, 1] if `y` holds pairs.
    prior_ : float
        The share of positives that was used.
    model_ : dsgcore.baselines.basis.BasisModel
        The function f. Its `coef` has the bias last.
    """

    y_holds: str = like(Y_HOLDS)
    prior: float | str = like(parameter_like(SimilarUnlabeled, "prior"), "estimate", words=("estimate",))

    def __sklearn_tags__(self) -> Tags:
        """Declare that the method needs two classes, and cannot learn if both have the same share."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from similar pairs and unlabeled points.

        Parameters
        ----------
        X, y, pairs : array-like
            As in `dsgcore.TSGSU`, with the same errors.
        callback : callable, optional
            As in `dsgcore.baselines.SVOREX`.
        """
        holds_pairs = self._checked()["y_holds"] == "pairs"
        points, classes, codes = points_and_labels(self, X, y, pairs, holds_pairs=holds_pairs, dtype=np.float64)
        check_sizes(points)
        points, ids, both, self.prior_ = pairs_and_prior(points, classes, codes, self._checked()["prior"], self._seed())
        SimilarUnlabeled(prior=self.prior_)  # raises an error for one half
        order = np.concatenate([*SimilarUnlabeled().rows(ids).values()])  # similar points first
        self._run(points[order], ids[order], callback)
        self.classes_ = both
        return self


@estimator
class SUSL(PairsBaseline):
    """Classification from similar pairs and unlabeled points with the squared loss, in closed form.

    With p the share of positives, p_S = p^2 + (1 - p)^2 and f = w'[k(x, c_1) .. k(x, c_m), 1], it minimises

        J(w) = -p_S / (2p - 1) mean_S f + mean_U [f^2 / 4 + 1/4 + f / (2 (2p - 1))] + (lam / 2) |w|^2

    over all members S of the similar pairs and the unlabeled points U: the risk with the loss (t f - 1)^2 / 4.

    Attributes
    ----------
    objective_ : float
        J at the solution.

    Notes
    -----
    The ridge "half rkhs" is half the squared norm of f in the kernel's space, plus half the squared bias.

    Source: H. Bao, G. Niu and M. Sugiyama, Classification from Pairwise Similarity and Unlabeled Data, ICML 2018, (9).

    For an example see `dsgcore.TSGSU`.
    """

    title = "SU-SL"
    citation = "Bao, Niu and Sugiyama, ICML 2018"
    sentence = "learns from similar pairs with the squared loss, in closed form"
    growth = 3.0

    penalty: str = like(PENALTY)

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        basis = self._basis(X, s, has_bias=True)
        similar, unlabeled = X[y != UNLABELED], X[y == UNLABELED]
        watch.total = len(basis.pieces(len(unlabeled))) + 1
        # The risk is w'Aw / 2 - b'w + 1/4.
        scale = 1.0 / (2.0 * self.prior_ - 1.0)
        similar_share = self.prior_**2 + (1.0 - self.prior_) ** 2
        b = sum(psi.sum(axis=0) for psi in basis.blocks(similar)) * (scale * similar_share / len(similar))
        A = np.diag(np.full(basis.size, s["lam"]))
        for psi in basis.blocks(unlabeled):
            b -= psi.sum(axis=0) * (0.5 * scale / len(unlabeled))
            A += psi.T @ (0.5 / len(unlabeled) * psi)
            watch.step()
        w = solve_symmetric(A, b, watch.name)
        self.objective_ = 0.25 - float(b @ w) / 2.0  # J where A w = b
        watch.step(self.objective_)
        self.model_ = basis.model(w)


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

    For an example see `dsgcore.TSGSU`.
    """

    title = "SU-DH"
    citation = "Bao, Niu and Sugiyama, ICML 2018"
    sentence = "learns from similar pairs with the double hinge loss, a quadratic program"
    growth = 3.0

    penalty: str = like(PENALTY)
    lam: float = like(LAM, low=1e-9)  # the dual divides by it
    max_iter: int = like(MAX_ITER, default=5000, high=10**6, scale="log", usual=(100, 10_000))
    tol: float = like(TOL, default=1e-7, high=1.0, usual=(1e-9, 1e-3))

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        basis, lam = self._basis(X, s, has_bias=True), s["lam"]
        similar, unlabeled, watch.total = X[y != UNLABELED], X[y == UNLABELED], s["max_iter"]
        n, phi = len(unlabeled), np.empty((len(unlabeled), basis.size))
        for rows, psi in zip(basis.pieces(n), basis.blocks(unlabeled), strict=True):
            phi[rows] = psi
        scale, similar_share = 1.0 / (2.0 * self.prior_ - 1.0), self.prior_**2 + (1.0 - self.prior_) ** 2
        mean_similar = sum(psi.sum(axis=0) for psi in basis.blocks(similar)) / len(similar)
        q = scale * ((1.0 - self.prior_) * phi.mean(axis=0) - similar_share * mean_similar)
        latest = gap = np.inf

        def primal(w: NDArray, f: NDArray) -> float:
            """Return J at w, with values f at the unlabeled points."""
            loss = np.maximum(f, np.maximum(0.0, 0.5 + f / 2.0))
            return float(q @ w + loss.mean() + lam / 2.0 * (w @ w))

        def minus_dual(z: NDArray) -> tuple[float, NDArray]:
            """Return minus the dual's value at z = (u, v), and its gradient; keep J and the relative gap."""
            nonlocal latest, gap
            u, v = z[:n], z[n:]
            w = -((u + v) @ phi / n + q) / lam
            f = phi @ w
            bound = float(np.mean(u - v) - lam / 2.0 * (w @ w))
            latest = primal(w, f)
            gap = (latest - bound) / max(1.0, abs(latest))
            return -bound, np.concatenate([-f - 1.0, -f + 1.0]) / n

        def after_iteration(intermediate_result: Any) -> None:
            watch.step(latest)
            if gap <= s["tol"]:
                raise StopIteration

        reached = -np.inf
        z, bounds = np.concatenate([np.full(n, 0.25), np.zeros(n)]), [(0.0, 0.5)] * (2 * n)
        # only the gap stops the solver
        options = {"maxfun": 20 * s["max_iter"], "ftol": 0.0, "gtol": 0.0, "maxcor": N_CORRECTIONS}
        while True:
            limits = options | {"maxiter": s["max_iter"] - watch.steps}
            z = minimize(
                minus_dual, z, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration, options=limits
            ).x
            value = -minus_dual(z)[0]
            # A line search sometimes fails because of rounding. Then the solver restarts without its curvature estimate.
            if gap <= s["tol"] or watch.steps >= s["max_iter"] or not value > reached:
                break
            reached = value
        slopes = z[:n] + z[n:]
        w = -(slopes @ phi / n + q) / lam
        self.objective_ = primal(w, phi @ w)
        self.gap_ = self.objective_ - float(np.mean(np.minimum(slopes, 1.0 - slopes)) - lam / 2.0 * (w @ w))
        if not self.gap_ <= s["tol"] * max(1.0, abs(self.objective_)):
            helps = "more iterations (max_iter)" if watch.steps >= s["max_iter"] else "a larger lam"
            watch.give_up(f"its duality gap is {self.gap_:.2g} after {watch.steps} iterations: try {helps}")
        self.dual_coef_, self.model_ = slopes, basis.model(w)


@estimator
class CUU(PairsBaseline):
    """Classification from similar pairs and unlabeled points by CUU: corrected risk, mini-batches, kernel features.

    With f = w'[k(x, c_1) .. k(x, c_m), 1] it minimises, by stochastic gradient descent,

        J(w) = delta(A_1) + delta(A_2) + (lam / 2) |w|^2.

    A_1 and A_2 are the risks of the two classes from two unlabeled sets, of which the similar pairs are one, with the
    share p^2 / p_S of positives: those of `dsgcore.problems.similar_unlabeled.SimilarUnlabeled`. Each iteration estimates
    them on a mini-batch of members of similar pairs and one of unlabeled points, and computes the batches' kernel
    values at the centres.

    Parameters
    ----------
    n_iter
        Number of iterations, each with its own mini-batches.
    batch_size
        Number of points drawn from the pairs, and from the unlabeled points, per iteration.
    step_size
        Step size of an iteration, in units of 1 over the mean squared length of the features.

    Attributes
    ----------
    objectives_ : ndarray of shape (n_iter_,)
        J on each iteration's mini-batches, before its step.

    Raises
    ------
    ValueError
        From `fit`: see there, and if the run diverges.

    Notes
    -----
    Source: N. Lu, T. Zhang, G. Niu and M. Sugiyama, Mitigating Overfitting in Supervised Classification from Two
    Unlabeled Datasets: A Consistent Risk Correction Approach, AISTATS 2020. Kernel features and plain steps follow the
    comparisons of the TSGSU paper. Its CUU(All) has centers=None, its CUU(2000) centers=2000.

    The unit of the step size comes from the first mini-batch. So a good step size does not depend on the number of
    centres.

    For an example see `dsgcore.TSGSU`.
    """

    title = "CUU"
    citation = "Lu, Zhang, Niu and Sugiyama, AISTATS 2020"
    sentence = "learns from similar pairs in mini-batches, with kernels at fixed centres and a corrected risk"
    growth = 1.0

    loss: str = like(SimilarUnlabeled, "loss")
    correction: str = like(SimilarUnlabeled, "correction", options=("absolute value", "ReLU", "identity"))
    n_iter: int = like(SolverParameters, "n_iter", default=100, high=10**6, usual=(10, 1000))
    batch_size: int = like(SolverParameters, "batch_size", default=1000, high=2**20, scale="log", usual=(10, 2000))
    step_size: float = like(
        SolverParameters, "step_size", default=1.0, optional=False, automatic=None, usual=(0.01, 10.0)
    )
    schedule: str = like(SolverParameters, "schedule")

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        basis, seed = self._basis(X, s, has_bias=True), self._seed()
        problem = SimilarUnlabeled(prior=self.prior_, loss=s["loss"], correction=s["correction"])
        rows = {SIMILAR: np.flatnonzero(y != UNLABELED), "unlabeled": np.flatnonzero(y == UNLABELED)}
        w, size, watch.total = np.zeros(basis.size), 0.0, s["n_iter"]
        for t in range(1, s["n_iter"] + 1):
            drawn = batches(seed, t, rows, s["batch_size"])
            phi = basis.features(X[np.concatenate(list(drawn.values()))])
            size = size or float(np.einsum("ij,ij->", phi, phi)) / len(phi)
            f = dict(zip(rows, np.split(phi @ w, 2), strict=True))
            with np.errstate(over="ignore", invalid="ignore"):  # the check of the objective reports divergence
                value = objective(problem.terms(f)) + s["lam"] / 2.0 * float(w @ w)
            if not np.isfinite(value):
                raise DivergedError(
                    f"CUU diverged at iteration {t}: step_size {s['step_size']:g} is too big for this problem; try half of it"
                )
            watch.step(value)
            step = SCHEDULES[s["schedule"]](s["step_size"], t, s["n_iter"]) / size
            slopes = np.concatenate(list(problem.coefficients(f).values()))
            w = (1.0 - step * s["lam"]) * w - step * (slopes @ phi)
            del phi  # free memory before the next features
        self.model_ = BasisModel(basis, w)
