"""Doubly stochastic gradients for several classes: the softmax loss, with new random features in each iteration; and its run.

for j = 1 .. T:
    R     <- softmax(F at the mini-batch) - one hot, with F = sum of all earlier W_i' phi_i
    W_j   <- -eta_j (Phi'Phi / B + lam + tiny)^-1 Phi'R / B, or the same without the inverse
    W_i   <- (1 - eta_j lam) W_i for all earlier i; with the inverse, only if lam > 1e-6, as in the authors' program
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from dsgcore.core.cost import Cost, Sizes
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import explicit
from dsgcore.multiclass.engine import MOST_CLASSES, MultiClassEngine, cost_of_iterations, seconds_of_features
from dsgcore.multiclass.features import FixedFeatures, Weights, check_square
from dsgcore.multiclass.loop import MultiClassTask
from dsgcore.multiclass.problem import HALF, PRECONDITIONED, MultiClassSetting, logistic
from dsgcore.multiclass.twin import KernelTwin
from dsgcore.solver.measures import PLACES
from dsgcore.solver.parameters import RunSpec

# Added to the preconditioner's diagonal, and the largest ridge that shrinks nothing, as in the authors' program.
TINY, NO_RIDGE = 1e-7, 1e-6
# Squared singular values below this share of the largest are rounding errors of zeros.
SMALLEST_SHARE = 1e-14
# Seconds for each of the n^3 / 3 products of a system of n equations.
SECONDS_A_PIVOT = 5e-11
# Rows of the mini-batch, frequencies (d, m) in turns per unit, the step size and the ridge.
Draw = tuple[NDArray, NDArray, float, float]


@dataclass(frozen=True, eq=False)
class Block:
    """One iteration: its coefficients W (2m, K), the factor that they apply to all earlier ones, and the scores F (n, K) then.

    `losses` (B,) and `slopes` (B, K) are those of the mini-batch's points before the step, `phi` (B, 2m) their features.
    """

    W: NDArray
    decay: float
    F: NDArray
    draw: Draw
    losses: NDArray
    slopes: NDArray
    phi: NDArray


def softmax_blocks(
    X: NDArray, y: NDArray, n_classes: int, draws: Iterable[Draw], *, is_preconditioned: bool
) -> Iterator[Block]:
    """Yield the iterations.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Labeled points, and their classes 0 to K - 1.
    """
    F, every, drawn = np.zeros((len(X), n_classes)), X, X
    for draw in draws:
        rows, frequencies, eta, lam = draw
        decay = 1.0 if is_preconditioned and lam <= NO_RIDGE else 1.0 - eta * lam
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            if frequencies is not drawn:  # fixed ones are the same in each iteration
                every, drawn = explicit(X, frequencies), frequencies
            if is_preconditioned:
                check_square(every.shape[1], "is_preconditioned=True")
            phi, (losses, slopes) = every[rows], logistic(F[rows], y[rows])
            W = -eta * (phi.T @ (slopes / len(rows)))
            W = np.linalg.solve(moments(phi.T @ phi / len(rows), lam), W) if is_preconditioned else W
            F = decay * F + every @ W
        yield Block(W, decay, F, draw, losses, slopes, phi)


def moments(products: NDArray, lam: float) -> NDArray:
    """Add the ridge of the preconditioner to a matrix of second moments, in place."""
    products[np.diag_indices(len(products))] += lam + TINY
    return products


def weighted_blocks(blocks: Sequence[tuple[NDArray, float]], first: int) -> NDArray:
    """Return the coefficients (T, 2m, K) of the mean of the iterates after the `first` ones; of the last one for T - 1.

    `blocks` are each iteration's coefficients, and its factor for all earlier ones.
    """
    weights, later = np.empty(len(blocks)), 0.0
    for i in range(len(blocks) - 1, -1, -1):
        weights[i] = (i >= first) + later
        later = blocks[i][1] * weights[i]
    coefficients = np.stack([W for W, _ in blocks])
    return coefficients * (weights / (len(blocks) - first))[:, None, None]


def each_frequencies(features: FixedFeatures, d: int, n_iter: int) -> Iterator[tuple[int, NDArray]]:
    """Yield the numbers of the iterations, and their frequencies (d, m): always the same array if there is one block alone."""
    only = features.of_block(1, d) if features.n_blocks == 1 else None
    for t in range(1, n_iter + 1):
        yield t, features.of_block(t, d) if only is None else only


def fixed_weights(blocks: Iterable[tuple[NDArray, float]], n: int, first: int) -> NDArray:
    """Return the weights (2m, K) of the mean of `n` iterates after the `first` ones, if all have the same features."""
    W = total = np.zeros(())
    for t, (own, decay) in enumerate(blocks):
        W = decay * W + own
        total = total + W if t >= first else total
    return total / (n - first)


# One iteration of a run: its block, and the mini-batch's objective before it and gradient (2m, K).
SoftmaxStep = namedtuple("SoftmaxStep", ("t", "task", "block", "terms", "gradient", "singular_values"))


class SoftmaxEngine(MultiClassEngine):
    """Run of doubly stochastic gradients with the softmax loss and fixed features: it has weights, as PS3VT."""

    has_graph: ClassVar[bool] = False
    n_blocks: ClassVar[int] = 1
    state = (*MultiClassEngine.state, "_gram")

    def _begin(self) -> None:
        """Set f = 0, and begin with the first mini-batch."""
        super()._begin()
        task, K = self.task, self.task.n_classes
        self.W, self._sum = task.start(), task.start()
        self._gram = np.zeros((K, K))  # W'W
        self._is_preconditioned = self.problem.variant == PRECONDITIONED
        draws = (
            (task.batch(t), frequencies, problem.step_size, 2.0 * problem.lam)
            for t, frequencies in each_frequencies(task.features, self.graphs.X.shape[1], self.spec.solver.n_iter)
            for problem in [self._problem_at(t)]
        )
        labeled = self._points["labeled"].X
        self._steps = softmax_blocks(labeled, task.y, K, draws, is_preconditioned=self._is_preconditioned)

    def _next(self) -> Any:
        if (block := next(self._steps, None)) is None:
            return None
        squared = np.trace(self._gram)
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            W, gram = self._after(block)
            if not np.isfinite(gram).all():
                return None
            self.t, self._gram, self.W = self.t + 1, gram, W
            self._add(block)
        of_gram = np.linalg.eigvalsh(gram)[::-1]
        of_gram[of_gram < SMALLEST_SHARE * of_gram[0]] = 0.0
        task = replace(self.task, problem=self._problem_at(self.t))
        terms = self._terms(task, of=(block.losses, squared))
        gradient = block.phi.T @ block.slopes / len(block.slopes)
        return SoftmaxStep(self.t, task, block, terms, gradient, np.sqrt(of_gram)[: len(self.singular_values)])

    def _after(self, block: Block) -> tuple[NDArray, NDArray]:
        """Return the weights after an iteration, and W'W of all coefficients."""
        W = block.decay * self.W + block.W
        return W, W.T @ W

    def _add(self, block: Block) -> None:
        """Add the iterate to the sum of the averaged ones."""
        if self._n_averaged:
            self._sum = self._sum + self.W

    @property
    def _squared_sum(self) -> float:
        """The squared norm of that sum."""
        return float(np.vdot(self._sum, self._sum))

    @property
    def _n_averaged(self) -> int:
        return 0 if self.average_after is None else max(0, self.t - self.average_after)

    def _terms(self, task: MultiClassTask, *, of_average: bool = False, of: Any = None) -> dict[str, float]:
        if of is None:
            is_mean = of_average and self._n_averaged
            squared = self._squared_sum / self._n_averaged**2 if is_mean else np.trace(self._gram)
            of = logistic(self._scores("labeled", of_average=of_average), self.task.y)[0], squared
        return {"logistic": float(of[0].mean()), "ridge": task.problem.lam * float(of[1])}

    def _advance(self, twin: KernelTwin, iterate: Any) -> None:
        """Make the twin's step: the preconditioner's is the same one with the kernel for the features' products."""
        (rows, _, eta, lam), c = iterate.block.draw, iterate.block.slopes / len(iterate.block.slopes)
        if self._is_preconditioned:
            X = self._points["labeled"].X[rows]
            c = np.linalg.solve(moments(rbf_kernel(X, gamma=twin.features.sigma) / len(rows), lam), c)
        twin.A = iterate.block.decay * twin.A
        np.add.at(twin.A, rows, -eta * c)

    def _single(self, iterate: Any) -> tuple[NDArray, NDArray]:
        block, phi = iterate.block, explicit(self._points["labeled"].X[self._gauged], iterate.block.draw[1])
        if self._is_preconditioned:
            phi = np.linalg.solve(moments(block.phi.T @ block.phi / len(block.phi), block.draw[3]), phi.T).T
        return block.phi[:PLACES] @ phi.T, block.slopes[:PLACES]

    def at(self, t: int) -> Self:
        """Return the engine after `t` iterations, which are made again, without its exact-kernel twin."""
        other = copy(self)
        other.t, other.twin = 0, None
        other._begin()
        for _ in range(t):
            other._stepped()
        return other

    @property
    def automatic_step(self) -> float:
        return HALF if self.problem.variant == PRECONDITIONED else super().automatic_step

    def _mean_of(self, t: int, first: int) -> Weights:
        return super()._mean_of(t, first) if t == self.t else self.at(t)._mean_of(t, first)

    @classmethod
    def cost(cls, spec: RunSpec, sizes: Sizes) -> Cost:
        """Return the cost of a run besides its data, with the preconditioner's matrix, of which the solver makes a copy."""
        own = super().cost(spec, sizes)
        if cast(MultiClassSetting, spec.problem).variant != PRECONDITIONED:
            return own
        width, rows = 2 * sizes.n_features, min(sizes.batch_size, sizes.n_labeled)
        # A measured iteration solves a second system for its gauges.
        return own + cost_of_iterations(2 * width**2, 2 * width**2 * (width / 3 + rows) * SECONDS_A_PIVOT, sizes)


class FreshSoftmaxEngine(SoftmaxEngine):
    """The same with new features in each iteration: the model has all of them, and its scores and norms are summed up."""

    n_blocks = 0
    state = (*SoftmaxEngine.state, "_values", "_sums", "_of_sum")

    def _begin(self) -> None:
        """Set f = 0 at all points that are measured, and begin with the first mini-batch."""
        super()._begin()
        K = self.task.n_classes
        self._values = self._sums = {which: np.zeros((len(points.X), K)) for which, points in self._points.items()}
        # The product of the averaged iterates' sum with the iterate, and the sum's own square.
        self._of_sum = (0.0, 0.0)
        self.blocks = list[tuple[NDArray, float]]()  # coefficients, and the factor that they apply to all earlier ones

    def _after(self, block: Block) -> tuple[NDArray, NDArray]:
        return self.W, block.decay**2 * self._gram + block.W.T @ block.W

    def _add(self, block: Block) -> None:
        """Add an iteration's own features to the values, and to the sums of the average."""
        values = {"labeled": block.F}
        for which in self._points.keys() - {"labeled"}:
            added = explicit(self._points[which].X, block.draw[1]) @ block.W
            values[which] = block.decay * self._values[which] + added
        self._values = values
        self.blocks.append((block.W, block.decay))
        if self._n_averaged:
            with_last, own = block.decay * self._of_sum[0], np.trace(self._gram)
            self._of_sum = with_last + own, self._of_sum[1] + 2.0 * with_last + own
            self._sums = {which: self._sums[which] + own for which, own in values.items()}

    @property
    def _squared_sum(self) -> float:
        return self._of_sum[1]

    def _scores(self, which: str, *, of_average: bool = False) -> NDArray:
        is_mean = of_average and self._n_averaged
        return self._sums[which] / self._n_averaged if is_mean else self._values[which]

    def _mean_of(self, t: int, first: int) -> Weights:
        d = self.graphs.X.shape[1]
        if t == 0:
            return Weights(self.task.features, self.W, d)
        W = weighted_blocks(self.blocks[:t], first)
        return Weights(replace(self.task.features, n_blocks=t), W.reshape(-1, W.shape[2]), d)

    @classmethod
    def cost(cls, spec: RunSpec, sizes: Sizes) -> Cost:
        """Return the cost with the features of all measured points in each iteration, and with the coefficients of all."""
        points, width = (sizes.n_train, sizes.n_test, sizes.n_labeled), 2 * sizes.n_features
        numbers = width * (2 * max(points) + sizes.n_labeled + MOST_CLASSES * sizes.n_iter)
        return super().cost(spec, sizes) + cost_of_iterations(numbers, seconds_of_features(sum(points), sizes), sizes)
