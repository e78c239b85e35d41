"""Plain doubly stochastic gradients with the softmax loss as a run: the iterations of `dsgcore.DSGSoftmax`, measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from dsgcore.core.cost import Cost, Sizes
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.features import explicit
from dsgcore.multiclass.engine import FLOAT, GAUGED_POINTS, MOST_CLASSES, MultiClassEngine, multiclass_cost
from dsgcore.multiclass.fresh import Block, Draw, moments, softmax_blocks, weighted_blocks
from dsgcore.multiclass.problem import logistic
from dsgcore.multiclass.setting import HALF, PRECONDITIONED
from dsgcore.multiclass.twin import KernelTwin
from dsgcore.multiclass.weights import Weights
from dsgcore.problems import objective
from dsgcore.solver.gauges import PLACES
from dsgcore.solver.parameters import RunSpec

# Squared singular values below this share of the largest are rounding errors of zeros.
SMALLEST_SHARE = 1e-14
# What an iteration changes; none of it is changed in place.
STATE = ("t", "blocks", "singular_values", "_values", "_sums", "_gram", "_of_sum", "twin")


def softmax_cost(spec: RunSpec, sizes: Sizes) -> Cost:
    """Return the cost of a run besides its data: that of Fourier features, and the coefficients of all iterations."""
    problem = replace(spec.problem, feature_map="fourier")
    kept = Cost(FLOAT * sizes.n_iter * 2 * sizes.n_features * MOST_CLASSES, 0.0)
    return multiclass_cost(replace(cast(Any, spec), problem=problem), sizes) + kept


@dataclass(frozen=True, eq=False)
class SoftmaxStep:
    """One iteration: its block, and what the engine measures of it.

    Attributes
    ----------
    task : namespace
        Its problem, the size of its mini-batch, and the terms of the objective after it, as a function of anything.
    terms : dict
        The terms on its mini-batch, before it.
    gradient : ndarray of shape (2m, K)
        The mini-batch's gradient by the block's coefficients.
    """

    t: int
    block: Block
    task: SimpleNamespace
    terms: dict[str, float]
    gradient: NDArray
    singular_values: NDArray


class SoftmaxEngine(MultiClassEngine):
    """Run of doubly stochastic gradients with the softmax loss. Its model has the random features of every iteration.

    Attributes
    ----------
    blocks : list of tuple
        Each iteration's coefficients (2m, K), and the factor that they apply to all earlier ones.
    """

    has_graph: ClassVar[bool] = False
    cost = staticmethod(softmax_cost)

    def _begin(self) -> None:
        """Set f = 0 at all points that are measured, and begin with the first mini-batch."""
        sets = {"labeled": self._labeled, "test": self._test, "training": self._training}
        self._points = {name: points.X for name, points in sets.items() if points is not None}
        self._values = {name: np.zeros((len(X), self.task.n_classes)) for name, X in self._points.items()}
        self._sums, self.blocks = self._values, list[tuple[NDArray, float]]()
        # W'W; of the sum of the averaged iterates, its product with W, and its own square.
        self._gram, self._of_sum = np.zeros((self.task.n_classes,) * 2), (0.0, 0.0)
        is_preconditioned = self.problem.variant == PRECONDITIONED
        self._steps = softmax_blocks(
            self._points["labeled"],
            self.task.y,
            self.task.n_classes,
            self._draws(),
            is_preconditioned=is_preconditioned,
        )

    def _draws(self) -> Iterator[Draw]:
        features, d = self.task.features, self._points["labeled"].shape[1]
        for t in range(1, self.spec.solver.n_iter + 1):
            problem = self._problem_at(t)
            yield self.task.batch(t), features.of_block(t, d), problem.step_size, 2.0 * problem.lam

    @property
    def is_settled(self) -> bool:
        """True if no iteration need follow, because the run beside it has ended."""
        return self.t == self.ends_at

    def _next(self) -> Any:
        """Make the next iteration; None if the run has ended, or has diverged."""
        if (block := next(self._steps, None)) is None:
            return None
        problem, before = self._problem_at(self.t + 1), np.trace(self._gram)
        with single_threaded_blas():  # bit-for-bit identical for any number of threads
            gram = block.decay**2 * self._gram + block.W.T @ block.W
            if not np.isfinite(gram).all():
                return None
            self._values = {name: self._added(block, name) for name in self._points}
        self.t, self.blocks, self._gram = self.t + 1, [*self.blocks, (block.W, block.decay)], gram
        self._sum_up(block.decay)
        squared = np.linalg.eigvalsh(gram)[::-1]
        squared[squared < SMALLEST_SHARE * squared[0]] = 0.0
        whole = _terms(logistic(self._values["labeled"], self.task.y)[0], problem.lam, np.trace(gram))
        return SoftmaxStep(
            self.t,
            block,
            SimpleNamespace(problem=problem, batch_size=len(block.losses), terms=lambda W: whole),
            _terms(block.losses, problem.lam, before),
            block.phi.T @ block.slopes / len(block.slopes),
            np.sqrt(squared)[: len(self.singular_values)],
        )

    def _added(self, block: Block, name: str) -> NDArray:
        """Return the values at a set of points after a block is added."""
        return block.decay * self._values[name] + explicit(self._points[name], block.draw[1]) @ block.W

    def _sum_up(self, decay: float) -> None:
        """Add the iterate to the sum of those that are averaged."""
        if self._after is None or self.t <= self._after:
            return
        with_last, own = decay * self._of_sum[0], np.trace(self._gram)
        self._of_sum = with_last + own, self._of_sum[1] + 2.0 * with_last + own
        self._sums = {name: self._sums[name] + values for name, values in self._values.items()}

    def _advance(self, twin: KernelTwin, iterate: Any) -> None:
        """Make the twin's step: the preconditioner's is the same one with the kernel for the features' products."""
        rows, _, eta, lam = iterate.block.draw
        c = iterate.block.slopes / len(rows)
        if self.problem.variant == PRECONDITIONED:
            X = self._points["labeled"][rows]
            c = np.linalg.solve(moments(rbf_kernel(X, gamma=twin.features.sigma) / len(rows), lam), c)
        twin.A = iterate.block.decay * twin.A
        np.add.at(twin.A, rows, -eta * c)

    def _read(self, iterate: Any) -> tuple[NDArray, float, Callable[[], NDArray]]:
        """Return the gauges' readings, as the other engine's."""
        own, block = evenly_spread(len(self.task.y), GAUGED_POINTS), iterate.block

        def each() -> NDArray:
            phi = explicit(self._points["labeled"][own], block.draw[1])
            if self.problem.variant == PRECONDITIONED:
                phi = np.linalg.solve(moments(block.phi.T @ block.phi / len(block.phi), block.draw[3]), phi.T).T
            products = block.phi[:PLACES] @ phi.T
            return np.einsum("bp,bk->bpk", products, block.slopes[:PLACES]).reshape(len(products), -1)

        return self._values["labeled"][own].ravel(), np.nan, each

    def _measure(self, iterate: Any) -> dict[str, float]:
        return super()._measure(iterate) | {"lam": 2.0 * iterate.task.problem.lam}

    def _of_average(self, task: Any) -> dict[str, float]:
        """Return the average's objective and test score, if the spec requests iterate averaging."""
        if self._after is None:
            return {}
        n = self.t - self._after
        squared = self._of_sum[1] / n**2 if n > 0 else np.trace(self._gram)
        terms = _terms(logistic(self._mean_at("labeled"), self.task.y)[0], task.problem.lam, squared)
        score = self.problem.score(self.split.y_test, self.test_average)
        return {"objective_average": objective(terms), "score_average": score}

    def _mean_at(self, name: str) -> NDArray:
        is_begun = self._after is not None and self.t > self._after
        return self._sums[name] / (self.t - self._after) if is_begun else self._values[name]  # type: ignore[operator]

    def keep(self) -> None:
        """Keep the present state for `go_back`."""
        self._all_kept = {name: getattr(self, name) for name in STATE} | {"twin": copy(self.twin)}

    def go_back(self) -> None:
        """Restore the state that `keep` kept last."""
        vars(self).update(self._all_kept)

    def at(self, t: int) -> Self:
        """Return the engine after `t` iterations, which are made again, without its exact-kernel twin."""
        other = copy(self)
        other.t, other.twin, other.singular_values = 0, None, np.zeros_like(self.singular_values)
        other._begin()
        for _ in range(t):
            other.singular_values = other._next().singular_values
        return other

    @property
    def training_values(self) -> NDArray | None:
        """Scores at all training points, of shape (n, K); None if there are too many of them."""
        return self._values.get("training")

    @property
    def test_values(self) -> NDArray:
        """Scores at all test points, of shape (n_test, K)."""
        return self._values["test"]

    @property
    def labeled_values(self) -> NDArray:
        """Scores at the labeled points, of shape (n_labeled, K)."""
        return self._values["labeled"]

    @property
    def test_average(self) -> NDArray:
        """The average's scores at all test points, of shape (n_test, K)."""
        return self._mean_at("test")

    @property
    def automatic_step(self) -> float:
        """The value of the step "auto" here, even if the spec sets a number."""
        return HALF if self.problem.variant == PRECONDITIONED else super().automatic_step

    @property
    def model(self) -> Weights:
        """The coefficients of all iterations."""
        return self.model_at(self.t)

    def model_at(self, t: int) -> Weights:
        """Return the model after `t` iterations."""
        return self._mean_of(t, t - 1)

    def average_at(self, t: int) -> Weights:
        """Return the averaged model after `t` iterations; before the second half, the model with the weights of then."""
        return self.model_at(t) if self._after is None or t <= self._after else self._mean_of(t, self._after)

    def _mean_of(self, t: int, first: int) -> Weights:
        """Return the mean of the iterates after the `first` ones of `t`."""
        if t == 0:
            return self._model(self.task.start())
        W, d = weighted_blocks(self.blocks[:t], first), self._points["labeled"].shape[1]
        return Weights(replace(self.task.features, n_blocks=t), W.reshape(-1, W.shape[2]), d)


def _terms(losses: NDArray, lam: float, squared: float) -> dict[str, float]:
    """Return the objective's terms: losses (n,) of points, and the ridge of weights with this squared norm."""
    return {"logistic": float(losses.mean()), "ridge": lam * float(squared), "graph": 0.0, "tail": 0.0}
