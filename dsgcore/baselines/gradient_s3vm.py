"""Semi-supervised support vector machines by stochastic gradients: BGS3VM with budgets, FRS3VM on fixed random features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import Watch
from dsgcore.baselines.basis import HasMatrix
from dsgcore.baselines.s3vm import S3VMBaseline, expansion
from dsgcore.core.documented import SEED, described, estimator
from dsgcore.core.parameters import integer, like
from dsgcore.core.sampling import batches, generator
from dsgcore.multiclass.features import FixedFeatures, Weights
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED, objective

# Default budget of the unlabeled points, as a share of their number. From the paper of TSGS3VM.
BUDGET_SHARE = 0.2
# Computations of the objective per pass, and the most points of each kind that it uses.
STEPS_PER_PASS = 10
POINTS_FOR_OBJECTIVE = 500
# Coefficients whose relative difference is below this are treated as equal.
TIE = 1e-9


@dataclass(eq=False, repr=False, kw_only=True)
class GradientS3VM(S3VMBaseline):
    """Base class of stochastic gradient machines with TSGS3VM's objective, whose weights are those of mean losses.

    Parameters
    ----------
    n_passes : Passes
        Number of passes. A pass makes as many iterations as there are points.
    step_size
        θ in the step θ/t of iteration t. If θ = 1, the function is the mean of the iterations' contributions.
    random_state
        Seed of all random draws.
    """

    labeled_weight: float = like(SemiSupervisedSVM, "labeled_weight", default=100.0)
    unlabeled_weight: float | None = like(SemiSupervisedSVM, "unlabeled_weight")
    loss: str = like(SemiSupervisedSVM, "loss")
    s: float = like(SemiSupervisedSVM, "s")
    n_passes: int = integer(1, low=1, high=10_000, scale="log", usual=(1, 100))
    step_size: float = like(
        SolverParameters,
        "step_size",
        default=1.0,
        high=1.0,
        optional=False,
        automatic=None,
        symbol="θ",
        usual=(0.01, 1.0),
    )
    random_state: int | np.random.RandomState | None = described(None, SEED)


def bound_problem(s: dict[str, Any], y: NDArray, n_unlabeled: int) -> tuple[SemiSupervisedSVM, dict[str, NDArray]]:
    """Return the problem with the parameters `s`, bound to labels y (n_l,), and the row numbers of its sources."""
    codes = np.concatenate([y > 0, np.full(n_unlabeled, UNLABELED)])
    names = ("labeled_weight", "unlabeled_weight", "loss", "s")
    problem = SemiSupervisedSVM(**{name: s[name] for name in names}).bind(codes)
    return problem, problem.rows(codes)


@estimator
class BGS3VM(GradientS3VM):
    """Semi-supervised support vector machine by stochastic gradients, with budgets of support vectors.

    Each iteration draws a labeled and an unlabeled point. It adds a kernel at each of them whose loss has a slope
    there. There is one budget for labeled points and one for unlabeled points. If a budget is exceeded, the kernel
    with the smallest coefficient is removed. If several are equal, the oldest one is removed.

    Parameters
    ----------
    budget_labeled : Labeled support vectors
        Most labeled points that the function may keep.
    budget_unlabeled : Unlabeled support vectors
        Most unlabeled points that the function may keep. The default is a fifth of them.

    Attributes
    ----------
    objectives_ : ndarray of shape (n_iter_,)
        Estimates of the objective, ten per pass, from at most 500 labeled and 500 unlabeled points.
    converged_ : bool
        Always True, because the number of passes is fixed.

    Notes
    -----
    Objective: ||f||^2 / 2 + C mean_L max(0, 1 - y f) + C* mean_U u(f), as in `dsgcore.problems.s3vm`. The number of
    iterations in a pass is the number of labeled or of unlabeled points, whichever is larger.

    Source: T. Le, P. Duong, M. Dinh, T. D. Nguyen, V. Nguyen and D. Phung, Budgeted Semi-supervised Support Vector
    Machine, UAI 2016. The comparison follows X. Geng et al. (the paper of TSGS3VM, section 6.1).

    Deviation: Le et al. take the unlabeled points' loss from the edges of a neighbourhood graph. In the comparison of
    Geng et al. all methods have the same loss u of a single point, and so has this class.

    Deviation: the budget is kept by removal, as in Z. Wang, K. Crammer and S. Vucetic, Breaking the Curse of
    Kernelization, JMLR 13, 2012, section 4.

    For an example see `BLS3VM`.
    """

    title = "BGS3VM"
    citation = "BGS3VM, Le, Duong, Dinh, Nguyen, Nguyen and Phung, UAI 2016"
    sentence = "learns a semi-supervised support vector machine with a limited number of support vectors"

    budget_labeled: int = integer(100, low=1, high=10**6, scale="log", symbol="B_l", usual=(10, 1000))
    budget_unlabeled: int | None = integer(
        None, low=1, high=10**6, scale="log", symbol="B_u", usual=(10, 10_000), optional=True
    )

    def _learn_from(self, X: NDArray, y: NDArray, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        n_l, n_u, seed = len(y), len(X) - len(y), self._seed()
        problem, rows = bound_problem(s, y, n_u)
        assert problem.unlabeled_weight is not None  # always set in a bound problem
        share = max(1, int(BUDGET_SHARE * n_u)) if s["budget_unlabeled"] is None else s["budget_unlabeled"]
        budgets = min(s["budget_labeled"], n_l), min(share, n_u)
        near_labeled, near_unlabeled = parts = [_Supports(kernel, budget, X) for budget in budgets]

        def f(Z: NDArray) -> NDArray:
            return near_labeled.values(Z) + near_unlabeled.values(Z)

        labeled, unlabeled, rng = (generator(seed, stream) for stream in ("labeled", "unlabeled", "objective"))
        some = {source: X[rng.permutation(own)[:POINTS_FOR_OBJECTIVE]] for source, own in rows.items()}
        n_iter, t = max(n_l, n_u), 0
        stops = set(np.linspace(0, n_iter, STEPS_PER_PASS + 1).astype(int).tolist())
        watch.total = s["n_passes"] * (len(stops) - 1)
        for _ in range(s["n_passes"]):
            drawn = labeled.integers(n_l, size=n_iter), n_l + unlabeled.integers(n_u, size=n_iter)
            for number, (i, j) in enumerate(zip(*(rows.tolist() for rows in drawn), strict=True), start=1):
                t += 1
                step, (at_labeled, at_unlabeled) = s["step_size"] / t, f(X[[i, j]])
                for part in parts:
                    part.coef *= 1.0 - step
                if y[i] * at_labeled < 1.0:
                    near_labeled.add(t, i, step * problem.labeled_weight * y[i])
                slope = problem.unlabeled_weight * float(LOSSES[problem.loss].slope(at_unlabeled, problem.s))
                if slope != 0.0:
                    near_unlabeled.add(t, j, -step * slope)
                if number in stops:
                    supports, coef = _joined(parts)
                    values = {source: f(Z) for source, Z in some.items()}
                    ridge = 0.5 * float(coef @ kernel.matrix(supports, supports) @ coef)
                    watch.step(ridge + sum(problem.terms(values).values()))
        self.model_ = expansion(kernel, *_joined(parts), 0.0)


def _joined(parts: Sequence[_Supports]) -> tuple[NDArray, NDArray]:
    """Return all support vectors and their coefficients; one point with the coefficient 0 if there are none."""
    X, coef = (np.concatenate([getattr(p, name)[: p.size] for p in parts]) for name in ("X", "coef"))
    return (X, coef) if len(X) else (parts[0].points[:1], np.zeros(1))


class _Supports:
    """Support vectors and their coefficients, at most as many as the budget."""

    def __init__(self, kernel: HasMatrix, budget: int, points: NDArray) -> None:
        self.kernel, self.points, self.size = kernel, points, 0
        self.X, self.coef = np.zeros((budget, points.shape[1])), np.zeros(budget)
        self.rows, self.since = np.zeros(budget, dtype=int), np.zeros(budget, dtype=int)

    def values(self, X: NDArray) -> NDArray:
        """Return the contribution of these kernels to f at each row of `X`."""
        return self.kernel.matrix(X, self.X[: self.size]) @ self.coef[: self.size]

    def add(self, t: int, row: int, coef: float) -> None:
        """Add a kernel at the point of this row, at iteration `t`.

        In a full budget it replaces the smallest kernel, the oldest one among equals, unless its own coefficient is smaller.
        """
        held = np.flatnonzero(self.rows[: self.size] == row)
        if len(held):
            self.coef[held[0]] += coef
            return
        slot = self.size
        if slot < len(self.coef):
            self.size += 1
        else:
            # Coefficients are multiples of C / t, so that ties are common. The tolerance keeps rounding from deciding them.
            sizes = np.abs(self.coef)
            if abs(coef) < (1.0 - TIE) * sizes.min():
                return
            ties = np.flatnonzero(sizes <= (1.0 + TIE) * sizes.min())
            slot = int(ties[np.argmin(self.since[ties])])
        self.X[slot], self.coef[slot], self.rows[slot], self.since[slot] = self.points[row], coef, row, t


@estimator
class FRS3VM(GradientS3VM):
    """Semi-supervised support vector machine by stochastic gradients on random features drawn once.

    Parameters
    ----------
    n_features
        Number of frequencies, drawn once.
    n_passes : Passes
        Number of passes. A pass draws as many unlabeled points as there are.

    Attributes
    ----------
    model_ : dsgcore.multiclass.features.Weights
        The function f(x) = w'phi(x): weights with one column, w.
    objectives_ : ndarray of shape (n_iter_,)
        Objective after each pass. A pass is one outer step.
    converged_ : bool
        Always True, because the number of passes is fixed.

    Notes
    -----
    Objective: ||w||^2 / 2 + C mean_L max(0, 1 - y f) + C* mean_U u(f), f = w'phi, as in `dsgcore.problems.s3vm`.
    phi(x) = sqrt(1/m) [cos w_j'x .., sin w_j'x ..] with the same frequencies in all iterations. For the linear kernel,
    phi is the coordinates themselves. Points are drawn with replacement.
    In the solver's own loop each mini-batch would have new frequencies; here the features are computed once.

    Source: X. Geng, B. Gu, X. Li, W. Shi, G. Zheng and H. Huang, Scalable Semi-Supervised SVM via Triply Stochastic
    Gradients, IJCAI 2019, section 6.1 (as a method to compare with); A. Rahimi and B. Recht, Random Features for
    Large-Scale Kernel Machines, NIPS 2007.

    For an example see `BLS3VM`.
    """

    title = "FRS3VM"
    citation = "FRS3VM, random features by Rahimi and Recht, NIPS 2007"
    sentence = "learns a semi-supervised support vector machine on fixed random features"
    growth = 1.0

    n_features: int = like(SolverParameters, "n_features", usual=(16, 4096))
    batch_size: int = like(SolverParameters, "batch_size")
    n_passes: int = like(GradientS3VM, "n_passes", default=10)

    def _learn_from(self, X: NDArray, y: NDArray, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        kind, seed = "linear" if self.kernel == "linear" else "fourier", self._seed()
        features = FixedFeatures(kind, getattr(kernel, "sigma", 1.0), s["n_features"], seed)
        n_unlabeled = len(X) - len(y)
        phi, (problem, rows) = features(X), bound_problem(s, y, n_unlabeled)
        w, steps = np.zeros(phi.shape[1]), -(-n_unlabeled // s["batch_size"])
        watch.total = s["n_passes"]
        for t in range(1, s["n_passes"] * steps + 1):
            step = s["step_size"] / t
            drawn = batches(seed, t, rows, s["batch_size"])
            own = {source: phi[batch] for source, batch in drawn.items()}
            slopes = problem.coefficients({source: batch @ w for source, batch in own.items()})
            w = (1.0 - step) * w - step * sum(slopes[source] @ batch for source, batch in own.items())
            if t % steps == 0:
                f = phi @ w
                terms = problem.terms({source: f[own_rows] for source, own_rows in rows.items()})
                watch.step(0.5 * float(w @ w) + objective(terms))
        self.model_ = Weights(features, w[:, None], X.shape[1])

    def _values(self, X: ArrayLike) -> NDArray:
        return super()._values(X)[:, 0]
