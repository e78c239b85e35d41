"""The example that explains the method: two moons with a few labels, ranked by semi-supervised AUC."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments import Plane, Spec, load_split
from dsgcore.experiments.stochastic_task import task_of
from dsgcore.solver.task import Task

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
