"""Shared parts of the support vector machines: libsvm to a tolerance, ordered points, centred kernel, model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.utils import gen_batches

from dsgcore.baselines.base import BinaryBaseline, Callback, GaussianOrLinear, Watch
from dsgcore.baselines.basis import Basis, BasisModel, HasMatrix
from dsgcore.core.documented import SEED, described
from dsgcore.core.parameters import Real, integer, like
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED

CACHE = 200  # MB of kernel rows that libsvm caches (its own default)
# Two examples without features, at +epsilon and -epsilon. Their losses are both zero only at 0, which fixes libsvm's
# bias there.
HOLDERS = np.array([1.0, -1.0])
# Cost of these two examples, as a multiple of the cost of all others together.
HOLD = 10.0
# libsvm keeps kernel values in float32. It may cycle if the tolerance is finer than float32 allows. After this many
# iterations it is stopped, and a coarser tolerance is tried.
LEAST_ITERATIONS = 100_000
ITERATIONS_PER_EXAMPLE = 50
COARSER = (1.0, 10.0, 100.0)
# Kernel values computed at a time while the matrix is filled.
MAX_VALUES = 2**20

BALANCE_TARGET = Real("balance_target", None, low=-1.0, high=1.0, optional=True, symbol="r")


def regress(G: NDArray, targets: NDArray, weights: NDArray, *, epsilon: float, tol: float) -> tuple[NDArray, bool]:
    """Minimise ||w||^2 / 2 + sum_i weight_i max(0, |w'phi_i - target_i| - epsilon), without a bias.

    Parameters
    ----------
    G : ndarray of shape (n + 2, n + 2)
        Kernel matrix, with two rows and columns of zeros at the end.
    targets, weights : ndarray of shape (n,)
    tol : float
        Largest violation of the optimality conditions, in units of w'phi_i.

    Returns
    -------
    dual : ndarray of shape (n,)
        w = sum_i dual_i phi_i.
    is_accurate : bool
        As in `fit_to_tolerance`.
    """
    of_all = np.concatenate([weights, np.full(len(HOLDERS), HOLD * weights.sum())])
    svr = SVR(kernel="precomputed", C=1.0, epsilon=epsilon, cache_size=CACHE)
    is_accurate = fit_to_tolerance(svr, G, np.concatenate([targets, epsilon * HOLDERS]), of_all, tol)
    dual = np.zeros(len(G))
    dual[svr.support_] = svr.dual_coef_[0]
    return dual[: len(targets)], is_accurate


def fit_to_tolerance(machine: SVC | SVR, G: NDArray, y: NDArray, weights: NDArray, tol: float) -> bool:
    """Fit one of libsvm's machines, with C = 1 and a precomputed kernel, from G (n, n), y (n,) and weights (n,).

    If libsvm cannot reach the tolerance, it is fitted to a coarser one. Return True if it reached at least a hundred
    times the tolerance.
    """
    most = max(LEAST_ITERATIONS, ITERATIONS_PER_EXAMPLE * len(G))
    for times in COARSER:
        machine.set_params(tol=times * tol, max_iter=most)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            machine.fit(G, y, sample_weight=weights)
        if not any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
            return True
    return False


@dataclass(frozen=True, eq=False)
class OrderedPoints:
    """Labeled points, then unlabeled ones: X of shape (n, d), and y of shape (n_l,), +1 or -1 for each labeled one."""

    X: NDArray
    y: NDArray

    @property
    def n_labeled(self) -> int:
        """Number of labeled points n_l."""
        return len(self.y)

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled points n_u."""
        return len(self.X) - len(self.y)


@dataclass(eq=False, repr=False, kw_only=True)
class S3VMBaseline(GaussianOrLinear, BinaryBaseline):
    """Base class of semi-supervised support vector machines.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The function f, with its bias if it has one.
    """

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        if not (y == 0).any():  # if all points are labeled, they are the unlabeled sample too
            X, y = np.concatenate([X, X]), np.concatenate([y, np.zeros(len(y))])
        return super()._run(X, y, callback)

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        is_labeled = y != 0
        points = OrderedPoints(np.concatenate([X[is_labeled], X[~is_labeled]]), y[is_labeled])
        kernel = self._kernel(points.X)
        assert kernel is not None  # all kernels of these methods have it
        self._learn_from(points, kernel, s, watch)

    def _learn_from(self, points: OrderedPoints, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        """Set `model_`, as `_learn` does, from points sorted into labeled and unlabeled ones."""
        raise NotImplementedError


class CentredS3VM(S3VMBaseline):
    """Base class of machines over the kernel centred on the unlabeled points, with a fixed mean of f over them.

    Parameters
    ----------
    balance_target : Mean value
        Fixed mean of the function over the unlabeled points. The default is the mean label of the labeled points.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_l + n_u,)
        Coefficients of the labeled points, then of the unlabeled ones, for the kernel centred on the latter.
    """

    extra: ClassVar[int] = 0  # rows and columns of zeros at the end of the matrix

    def _learn_from(self, points: OrderedPoints, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        mean = float(points.y.mean()) if s["balance_target"] is None else s["balance_target"]
        K = centred_matrix(kernel, points, extra=self.extra)
        self.dual_coef_ = self._coefficients(K, points, mean, s, watch)
        self.model_ = centred_expansion(kernel, points, self.dual_coef_, mean)

    def _coefficients(self, K: NDArray, points: OrderedPoints, mean: float, s: dict[str, Any], watch: Watch) -> NDArray:
        """Return the coefficients `dual_coef_` of the function with this mean, from the centred kernel matrix."""
        raise NotImplementedError


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


def bound_problem(s: dict[str, Any], points: OrderedPoints) -> tuple[SemiSupervisedSVM, dict[str, NDArray]]:
    """Return the problem with the parameters `s`, bound to the points' labels, and the row numbers of its sources."""
    codes = np.concatenate([points.y > 0, np.full(points.n_unlabeled, UNLABELED)])
    names = ("labeled_weight", "unlabeled_weight", "loss", "s")
    problem = SemiSupervisedSVM(**{name: s[name] for name in names}).bind(codes)
    return problem, problem.rows(codes)


def kernel_matrix(kernel: HasMatrix, X: NDArray, *, extra: int = 0) -> NDArray:
    """Return the kernel matrix of the points with `extra` rows and columns of zeros, of shape (n + extra, n + extra).

    Computes a few rows at a time, so that no other array of its size exists.
    """
    n = len(X)
    K = np.zeros((n + extra, n + extra))
    for rows in gen_batches(n, max(1, MAX_VALUES // n)):
        K[rows, :n] = kernel.matrix(X[rows], X)
    return K


def centred_matrix(kernel: HasMatrix, points: OrderedPoints, *, extra: int = 0) -> NDArray:
    """Return the `kernel_matrix` of the points, centred in feature space on the mean of the unlabeled ones.

    With phi' = phi - mean_U phi, every function <w, phi'> has the mean 0 over the unlabeled points.
    """
    n = len(points.X)
    K = kernel_matrix(kernel, points.X, extra=extra)
    mean = K[:n, points.n_labeled : n].mean(axis=1)
    K[:n, :n] -= mean[:, None]
    K[:n, :n] -= mean
    K[:n, :n] += mean[points.n_labeled :].mean()
    return K


def expansion(kernel: HasMatrix, X: NDArray, coef: NDArray, bias: float) -> BasisModel:
    """Return f(x) = sum_i coef_i k(x, x_i) + bias, without the points whose coefficient is 0."""
    held = np.flatnonzero(coef) if coef.any() else np.arange(1)
    return BasisModel(Basis(kernel, X[held], has_bias=True), np.append(coef[held], bias))


def centred_expansion(kernel: HasMatrix, points: OrderedPoints, coef: NDArray, mean: float) -> BasisModel:
    """Return f(x) = sum_i coef_i k'(x, x_i) + mean as an expansion in k.

    k' is the kernel centred on the unlabeled points, `coef` is of shape (n,), and `mean` is the mean of f over these
    points.
    """
    coef = coef.copy()
    coef[points.n_labeled :] -= coef.sum() / points.n_unlabeled
    model = expansion(kernel, points.X, coef, 0.0)
    unlabeled = points.X[points.n_labeled :]
    pieces = gen_batches(len(unlabeled), max(1, MAX_VALUES // len(points.X)))
    model.coef[-1] = mean - np.concatenate([model.evaluate(unlabeled[rows]) for rows in pieces]).mean()
    return model
