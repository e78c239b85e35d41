"""What semi-supervised support vector machines share (libsvm to a tolerance, the model), and S3VM-light."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.utils import gen_batches

from dsgcore.baselines.base import BinaryBaseline, GaussianOrLinear, Watch
from dsgcore.baselines.basis import Basis, BasisModel, HasMatrix
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like, real
from dsgcore.problems.s3vm import C_STAR, C
from dsgcore.solver.problem import rows_where

TOLERANCE = 1e-4
# The weight of the unlabeled points starts at this share of its final value. Each level doubles it.
FIRST_SHARE = 1e-5
GROWTH = 2.0
# Margin by which a pair's slacks must exceed 2, so that a switch gains more than the solver's tolerance.
LEAST_GAIN = 1e-3
MAX_SWITCHES = 1000
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


def regress(G: NDArray, targets: NDArray, weights: NDArray, *, epsilon: float, tol: float) -> tuple[NDArray, bool]:
    """Minimise ||w||^2 / 2 + sum_i weight_i max(0, |w'phi_i - target_i| - epsilon), without a bias; w = sum_i dual_i phi_i.

    G (n + 2, n + 2) is the kernel matrix, with two rows and columns of zeros at the end. `tol` is the largest violation of the
    optimality conditions, in units of w'phi_i. Return the dual (n,), and whether it is accurate, as in `fit_to_tolerance`.
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


@dataclass(eq=False, repr=False, kw_only=True)
class S3VMBaseline(GaussianOrLinear, BinaryBaseline):
    """Base class of semi-supervised support vector machines.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The function f, with its bias if it has one.
    """

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        ordered = np.concatenate([X[y != 0], X[rows_where(y == 0, or_all=True)]])
        kernel = self._kernel(ordered)
        assert kernel is not None  # all kernels of these methods have it
        self._learn_from(ordered, y[y != 0], kernel, s, watch)

    def _learn_from(self, X: NDArray, y: NDArray, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        """Set `model_` from labeled points, then unlabeled ones, X (n, d), and the labels +1 and -1 of the first, y (n_l,)."""
        raise NotImplementedError


def kernel_matrix(kernel: HasMatrix, X: NDArray, *, extra: int = 0) -> NDArray:
    """Return the kernel matrix of the points with `extra` rows and columns of zeros, of shape (n + extra, n + extra).

    Computes a few rows at a time, so that no other array of its size exists.
    """
    n = len(X)
    K = np.zeros((n + extra, n + extra))
    for rows in gen_batches(n, max(1, MAX_VALUES // n)):
        K[rows, :n] = kernel.matrix(X[rows], X)
    return K


def expansion(kernel: HasMatrix, X: NDArray, coef: NDArray, bias: float) -> BasisModel:
    """Return f(x) = sum_i coef_i k(x, x_i) + bias, without the points whose coefficient is 0."""
    held = np.flatnonzero(coef) if coef.any() else np.arange(1)
    return BasisModel(Basis(kernel, X[held], has_bias=True), np.append(coef[held], bias))


@estimator
class S3VMLight(S3VMBaseline):
    """Transductive support vector machine by label switching.

    The machine trained on the labels guesses those of the unlabeled points, with a given share of positives. Then it
    is trained on all points repeatedly, while the weight of the guesses grows from 1e-5 C* to C*. After each training,
    it switches pairs of a positive and a negative guess. A pair is switched if both guesses violate the margin, and
    would violate it less after the switch.

    Parameters
    ----------
    C_star
        Final cost of an unlabeled point inside the margin. The default is C, the cost of a labeled point.
    positive_share : Share called positive
        Share of the unlabeled points that are labeled positive. The default is the share among the labeled points.

    Attributes
    ----------
    labels_ : ndarray of shape (n_u,)
        The labels +1, -1 given to the unlabeled points.
    objectives_ : ndarray of shape (n_iter_,)
        ||w||^2 / 2 + the weighted slacks, after each training. It falls while `weights_` stays the same.
    weights_ : ndarray of shape (n_iter_, 2)
        Weights of the unlabeled points labeled negative and positive in each training.
    converged_ : bool
        True if the last training left no pair to switch.

    Notes
    -----
    Objective: ||w||^2 / 2 + C sum_L max(0, 1 - y f) + C* sum_U max(0, 1 - y* f), over f = ⟨w, phi⟩ + b and labels y*
    with the given share of positives. C weighs a sum, as in scikit-learn's SVC. While the weights grow, negatives have
    the weight C*_ and positives C*_ n_+ / n_-.

    Source: T. Joachims, Transductive Inference for Text Classification using Support Vector Machines, ICML 1999,
    optimization problem 2 and Algorithm TSVM.

    Deviation: the paper switches one pair before each training. Here all pairs that fulfil the condition are switched
    (largest slacks first, no point twice). At fixed f the gains of disjoint pairs add up. So the paper's proof still
    holds that each training lowers the objective.

    For an example see `BLS3VM`.
    """

    title = "S3VM-light"
    citation = "S3VM-light, Joachims, ICML 1999"
    sentence = "learns a support vector machine on labels that it guesses, and switches these guesses in pairs"
    growth = 3.0

    C: float = like(C)
    C_star: float | None = like(C_STAR)
    positive_share: float | None = real(None, low=0.0, high=1.0, optional=True)

    def _learn_from(self, X: NDArray, y: NDArray, kernel: HasMatrix, s: dict[str, Any], watch: Watch) -> None:
        machine = _Machine(kernel_matrix(kernel, X), y, s["C"], s["C"] if s["C_star"] is None else s["C_star"], watch)
        n, share = len(X) - len(y), float(np.mean(y > 0)) if s["positive_share"] is None else s["positive_share"]
        n_positive = min(max(int(n * share + 0.5), 1), n - 1) if n > 1 else round(share)
        # Ratio of the positives' weight to the negatives' weight: Algorithm TSVM.
        machine.ratio = max(1, n_positive) / max(1, n - n_positive)
        labels = np.full(n, -1.0)
        labels[np.argsort(-machine.train(labels, 0.0), kind="stable")[:n_positive]] = 1.0
        weight, last = FIRST_SHARE * machine.C_star, machine.C_star / min(1.0, machine.ratio)
        watch.total = 2 + int(np.ceil(np.log(last / weight) / np.log(GROWTH))) if weight > 0 else 1
        while weight > 0:
            for _ in range(MAX_SWITCHES):
                # Guesses to switch, positives and negatives: both slacks above 0, and their sum above 2.
                slack = np.maximum(0.0, 1.0 - labels * machine.train(labels, weight))
                sides = [np.flatnonzero((labels == sign) & (slack > 0)) for sign in (1.0, -1.0)]
                positive, negative = (side[np.argsort(-slack[side], kind="stable")] for side in sides)
                pairs = min(map(len, sides))
                pairs = int(np.sum(slack[positive[:pairs]] + slack[negative[:pairs]] > 2.0 + LEAST_GAIN))
                if not pairs:
                    break
                labels[positive[:pairs]], labels[negative[:pairs]] = -1.0, 1.0
            else:
                watch.give_up(
                    f"labels still change after {MAX_SWITCHES} switches at C* = {weight:.3g}; try a smaller C_star"
                )
            weight = min(GROWTH * weight, last) if weight < last else 0.0
        if not machine.is_accurate:
            watch.give_up(f"libsvm missed a tolerance of {100 * TOLERANCE:g}; try a smaller C, or scaled points")
        self.labels_, self.weights_ = labels, np.array(machine.weights)
        self.model_ = expansion(kernel, X, machine.coef, machine.bias)


class _Machine:
    """The machine trained on the labels y (n_l,) and on guesses of the others, whose weight it keeps."""

    def __init__(self, K: NDArray, y: NDArray, C: float, C_star: float, watch: Watch) -> None:
        self.K, self.y, self.C, self.C_star, self.watch = K, y, C, C_star, watch
        self.ratio, self.is_accurate = 1.0, True
        self.weights: list[tuple[float, float]] = []

    def train(self, guesses: NDArray, weight: float) -> NDArray:
        """Train on the labels, and on the guesses with this weight unless it is 0; return the guessed points' values."""
        negative, positive = min(weight, self.C_star), min(self.ratio * weight, self.C_star)
        n = len(self.K) if weight > 0 else len(self.y)
        costs = np.concatenate([np.full(len(self.y), self.C), np.where(guesses > 0, positive, negative)])[:n]
        y = np.concatenate([self.y, guesses])[:n]
        svm = SVC(C=1.0, kernel="precomputed", cache_size=CACHE)
        self.is_accurate &= fit_to_tolerance(svm, self.K[:n, :n], y, costs, TOLERANCE)
        self.coef = np.zeros(len(self.K))
        self.coef[svm.support_] = svm.dual_coef_[0]
        self.bias = float(svm.intercept_[0])
        self.weights.append((negative, positive))
        f = self.K @ self.coef + self.bias
        slacks = np.maximum(0.0, 1.0 - y * f[:n])
        self.watch.step(0.5 * float(self.coef @ (f - self.bias)) + float(costs @ slacks))
        return f[len(self.y) :]
