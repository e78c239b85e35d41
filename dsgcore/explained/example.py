"""The example that explains the method, two moons with a few labels ranked by AUC: its first steps, and its two noises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.diagnostics.references import values_of_four_runs
from dsgcore.experiments import Plane, Spec, load_split
from dsgcore.experiments.stochastic import task_of
from dsgcore.solver.automatic_step import settle_step
from dsgcore.solver.loop import solve
from dsgcore.solver.task import Task

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
    paths, optimum = values_of_four_runs(shown.spec, tuple(seeds), split=shown.split)
    every = {key: np.array([[getattr(at, run) for at in path] for path in paths]) for key, run in SWITCHES.items()}
    scale = np.mean(optimum**2)
    errors = {key: np.mean((of - optimum) ** 2, axis=(0, 2)) / scale for key, of in every.items()}
    return Noises(np.array([at.t for at in paths[0]]), {key: of[0] for key, of in every.items()}, errors, optimum)
