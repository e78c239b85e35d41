"""The one stochastic functional-gradient loop, for every problem and kernel.

    for t = 1 .. T:
        draw one mini-batch per source from (seed, source, t), and m frequencies from (seed, t)
        c     <- problem.coefficients(f_t at the batch points)
        alpha <- -eta_t * sum_b c_b phi(x_b)
        f     <- (1 - eta_t lambda) f + alpha' phi

It is a generator, so it pauses until the caller takes the next iterate. The values of f at the batch points are tracked
(`dsgcore.solver.carried`), so an iteration evaluates one block instead of all earlier ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.threads import single_threaded_blas
from dsgcore.solver.carried import Advanced, TrainingPoints, training_points
from dsgcore.solver.model import Expansion
from dsgcore.solver.plan import Step
from dsgcore.solver.problem import Problem, Values
from dsgcore.solver.start import solution
from dsgcore.solver.task import Task


@dataclass(frozen=True)
class Iterate:
    """One iteration, as diagnostics see it. The arrays are of all mini-batches, source after source, or of one source (B,)."""

    t: int  # from 1
    step: Step
    sources: tuple[str, ...]
    rows: NDArray  # (sum of B,), those of the mini-batches, source after source
    values: NDArray  # (sum of B,), f_t at the batch points, before the step
    # the iteration's block of the model: (2, m) amplitudes and phases, or another form of the kernel's feature map
    block: NDArray
    points: NDArray  # (sum of B, d)
    weights: NDArray  # (sum of B,), the coefficients
    # Values of the averaged iterate at the batch points, before the step; those of f if the plan asks for no average.
    averages: NDArray
    problem: Problem

    @property
    def weighed_with(self) -> float:
        """The factor by which the weights count, with the other sign, in h."""
        return self.step.size

    @property
    def batch(self) -> Values:
        """The rows of each source's mini-batch."""
        return per_source(self.rows, self.sources)

    @property
    def f(self) -> Values:
        """f_t at the batch points of each source."""
        return per_source(self.values, self.sources)

    @property
    def average(self) -> Values:
        """The averaged iterate at the batch points of each source."""
        return per_source(self.averages, self.sources)

    @cached_property
    def terms(self) -> Mapping[str, float]:
        """Signed parts of the batch objective at f_t, computed when somebody asks for them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.problem.terms(self.f)


@dataclass(frozen=True)
class Beginning(Iterate):
    """First iteration of a run that starts at a solution for some points. Its rows are these, and no mini-batches."""

    @property
    def weighed_with(self) -> float:
        """One: the solution is no step."""
        return 1.0

    @property
    def f(self) -> Values:
        """F before the first iteration, 0 at a point of each source."""
        return {source: np.zeros(1, dtype=self.values.dtype) for source in self.sources}

    @property
    def average(self) -> Values:
        """The same."""
        return self.f


def per_source(values: NDArray, sources: Collection[str]) -> dict[str, NDArray]:
    """Return each source's part of an array of all of them, which have one size."""
    return dict(zip(sources, values.reshape(len(sources), -1), strict=True))


def solve(
    task: Task,
    model: Expansion,
    *,
    training: TrainingPoints | None = None,
    carried: Sequence[Advanced] = (),
    stop: int | None = None,
) -> Iterator[Iterate]:
    """Run the iterations that `model` does not have yet, up to `stop` (default: the plan's last one).

    Parameters
    ----------
    task : Task
    model : Expansion
        ``task.new_model()``, or a model to continue; every iteration appends a block to it.
    training : AllPoints, VisitedPoints or DrawnPoints, optional
        Given if the caller also reads their values.
    carried : sequence of Advanced
        Other state to update: values at test points, probes, a surface.

    Yields
    ------
    Iterate
        After the model and all tracked values have been updated. The generator ends early, before the first step that
        is not finite.
    """
    sources, problem, has_start = tuple(task.rows), task.problem, task.plan.first_features is not None
    training = training if training is not None else training_points(task, model)
    for t in range(len(model) + 1, (task.plan.n_iter if stop is None else stop) + 1):
        step = task.plan.at(t)
        # Overflow is expected here: the values of a diverging run show it.
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            if t == 1 and has_start:
                W = model.frequencies(t, step.n_features)
                rows, points, weights, block = solution(task, W)
                zeros = np.zeros(len(rows), dtype=task.dtype)
                iterate: Iterate = Beginning(t, step, sources, rows, zeros, block, points, -weights, zeros, problem)
            else:
                rows, places = training.batch(t)
                values, points = training.values.take(places), training.X.take(places, axis=0)
                averages = training.average_of(places) if training.t > training.average_after else values
                coefficients = problem.coefficients(per_source(values, sources))
                weights = np.concatenate([coefficients[source] for source in sources]).astype(task.dtype, copy=False)
                if not np.isfinite(weights).all():
                    return
                W = model.frequencies(t, step.n_features)
                block = model.kernel.feature_map.accumulate(points, weights, W, step.size)
                iterate = Iterate(t, step, sources, rows, values, block, points, weights, averages, problem)
            model.append(block, step.decay)
            for tracked in (training, *carried):
                tracked.advance(W, block, step.decay)
        yield iterate
