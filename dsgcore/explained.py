"""The idea of doubly stochastic gradients in numbers: random waves, their sum, one step, its size, and its noise.

The example is two moons with a few labels, ranked by AUC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.diagnostics.references import paths_of_four_runs
from dsgcore.experiments import Plane, Run, Spec, load_split
from dsgcore.experiments.stochastic import task_of
from dsgcore.kernels import block_frequencies
from dsgcore.solver.automatic_step import settle_step, step_sizes
from dsgcore.solver.loop import solve
from dsgcore.solver.task import Step, Task

# With the noise of mini-batches, and with that of random features. The names are those of the four runs.
SWITCHES = {(False, False): "g", (True, False): "b", (False, True): "r", (True, True): "f"}
# Points along each side of the grid on which functions are shown.
GRID = 48
_PLAIN: dict[str, Any] = {
    "setting": "auc",
    "data": {"name": "two_moons", "n": 400, "n_labeled": 20},
    "kernel": {"sigma": 12.0},
}


@dataclass(frozen=True, eq=False)
class Example:
    """A spec with its data, and the plane on which its functions are shown."""

    spec: Spec
    split: Split

    @cached_property
    def plane(self) -> Plane:
        """The square that holds the points."""
        return Plane.through(self.split.X_train)

    @property
    def task(self) -> Task:
        """The solver's task, still without its automatic step."""
        return task_of(self.spec, self.split)

    @cached_property
    def grid(self) -> NDArray:
        """The points of the grid, of shape (GRID^2, 2), row by row from the lower left, in the model's precision."""
        return np.ascontiguousarray(self.plane.grid(GRID), dtype=self.spec.solver.dtype)

    @cached_property
    def centre(self) -> NDArray:
        """The labeled point that is nearest to the middle of the data, of shape (1, 2)."""
        labeled = self.split.X_train[self.split.y_train >= 0]
        middle = (self.plane.low + self.plane.high) / 2
        nearest = np.argmin(((labeled - middle) ** 2).sum(axis=1))
        return np.ascontiguousarray(labeled[nearest : nearest + 1], dtype=self.spec.solver.dtype)


def example(**solver: Any) -> Example:
    """Return the example with these values in the spec's solver section."""
    spec = Spec.from_dict(_PLAIN | {"solver": solver})
    return Example(spec, load_split(spec))


# --- waves


@dataclass(frozen=True, eq=False)
class Sum:
    """The mean of the first `n` waves."""

    n: int
    # The mean on the grid.
    values: NDArray
    # Root mean square over the grid of its difference from the kernel.
    error: float
    # The same over all draws of the waves. It falls as 1 / sqrt(n).
    expected: float


def single_waves(shown: Example, n: int) -> NDArray:
    """Return `n` random waves with a crest at the example's centre, on its grid, of shape (n, GRID^2)."""
    W = _frequencies(shown, n)
    return np.stack([_mean(shown, W[:, i : i + 1], shown.grid) for i in range(n)])


def sums_of_waves(shown: Example, numbers: Sequence[int]) -> Iterator[Sum]:
    """Yield the mean of the first waves for each of these numbers of waves."""
    kernel, twice = exact_bump(shown, shown.grid), exact_bump(shown, 2.0 * shown.grid - shown.centre)
    # The variance of cos w'z over all frequencies is (1 + k(2 z)) / 2 - k(z)^2.
    spread = float(np.sqrt(np.mean((1 + twice) / 2 - kernel**2)))
    for n, values in zip(numbers, sums_on_a_line(shown, numbers, shown.grid), strict=True):
        yield Sum(n, values, float(np.sqrt(np.mean((values - kernel) ** 2))), spread / n**0.5)


def sums_on_a_line(shown: Example, numbers: Sequence[int], X: NDArray) -> NDArray:
    """Return the same means at any points (p, 2), of shape (number of means, p)."""
    W = _frequencies(shown, max(numbers))
    return np.stack([_mean(shown, W[:, :n], np.ascontiguousarray(X, dtype=W.dtype)) for n in numbers])


def exact_bump(shown: Example, X: NDArray) -> NDArray:
    """Return the kernel between the example's centre and points (p, 2), of shape (p,)."""
    return shown.spec.kernel.matrix(shown.centre.astype(float), np.asarray(X, dtype=float))[0]


def _frequencies(shown: Example, n: int) -> NDArray:
    return block_frequencies(shown.spec.kernel, shown.spec.seed, 1, 2, n, shown.grid.dtype)


def _mean(shown: Example, W: NDArray, X: NDArray) -> NDArray:
    """Return the mean of cos w'(x - centre): the random features between the centre and each point."""
    feature_map, W = shown.spec.kernel.feature_map, np.ascontiguousarray(W)
    block = feature_map.accumulate(shown.centre, np.ones(1, dtype=X.dtype), W, -1.0)
    values = np.zeros(len(X), dtype=X.dtype)
    feature_map.evaluate(X, W, block, 0.0, values)
    return values


# --- steps, and the step size as a ball in a bowl


@dataclass(frozen=True, eq=False)
class Added:
    """One step: the training rows of its mini-batch, what it adds, and the score after it, both on the grid (GRID^2,)."""

    t: int
    rows: NDArray
    added: NDArray
    score: NDArray


def first_steps(shown: Example) -> Iterator[Added]:
    """Yield the steps of the example's run."""
    task = shown.task
    settle_step(task)
    model, feature_map = task.new_model(), task.kernel.feature_map
    score = np.zeros(len(shown.grid), dtype=shown.grid.dtype)
    for iterate in solve(task, model):
        W = model.frequencies(iterate.t, iterate.step.n_features)
        added = np.zeros_like(score)
        feature_map.evaluate(shown.grid, W, iterate.block, 0.0, added)
        feature_map.evaluate(shown.grid, W, iterate.block, iterate.step.decay, score)
        yield Added(iterate.t, iterate.rows, added, score.copy())


def largest_step(shown: Example) -> float:
    """Return the step size above which each step of the example's run overshoots."""
    largest = step_sizes(shown.task).largest
    assert largest is not None  # the example's loss is squared
    return largest


def rolled(steepness: float, step: float, n: int) -> NDArray:
    """Return the places of a ball that begins at 1 after 0 to `n` steps of this size, of shape (n + 1,).

    A step shrinks what is there by 1 - eta lambda. Along the steepest direction the loss adds mu to lambda: the steepness.
    """
    return np.cumprod([1.0, *[Step(step, steepness, 1).decay] * n])


def objectives(shown: Example, step: float, n: int) -> NDArray:
    """Return the objective of the example's run with this step size, up to its last finite one, of shape (at most n,)."""
    solver = replace(shown.spec.solver, step_size=step, n_iter=n)
    run = Run(replace(shown.spec, solver=solver), shown.split)
    run.advance()
    return np.asarray(run.history.column("objective"))


# --- noises


@dataclass(frozen=True, eq=False)
class Noises:
    """The four runs of an example."""

    # Recorded iterations.
    t: NDArray
    # Values at the training points, with the first seed, by the two switches.
    values: dict[tuple[bool, bool], NDArray]
    # Mean over points and seeds of the squared difference from the optimum, relative to the optimum's own.
    errors: dict[tuple[bool, bool], NDArray]
    optimum: NDArray


def noises(shown: Example, seeds: Iterable[int]) -> Noises:
    """Make the four runs of the example with each of these seeds of batches and features."""
    paths = [*paths_of_four_runs(shown.spec, tuple(seeds), shown.split)]
    every = {key: np.array([[getattr(at, run) for at in path.rows] for path in paths]) for key, run in SWITCHES.items()}
    optimum = paths[0].end
    errors = {key: np.mean((of - optimum) ** 2, axis=(0, 2)) / np.mean(optimum**2) for key, of in every.items()}
    return Noises(np.array([at.t for at in paths[0].rows]), {key: of[0] for key, of in every.items()}, errors, optimum)
