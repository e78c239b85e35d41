"""The step size as a ball in a bowl, beside the same step size in a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.experiments import Run
from dsgcore.explained.example import Example
from dsgcore.solver.automatic_step import step_sizes
from dsgcore.solver.task import Step


@dataclass(frozen=True)
class Bowl:
    """The largest curvature of a run's objective."""

    # The ridge.
    lam: float
    # The step size above which each step overshoots.
    limit: float

    @property
    def steepness(self) -> float:
        """The ridge lambda plus the largest curvature mu of the loss."""
        return 2.0 / self.limit

    @property
    def mu(self) -> float:
        """The largest curvature of the loss."""
        return self.steepness - self.lam


def bowl_of(shown: Example) -> Bowl:
    """Return the bowl of the example's run."""
    largest = step_sizes(shown.task).largest
    assert largest is not None  # the example's loss is squared
    return Bowl(shown.spec.solver.lam, largest)


def rolled(bowl: Bowl, step: float, n: int) -> NDArray:
    """Return the places of a ball that begins at 1 after 0 to `n` steps of this size, of shape (n + 1,).

    A step of a run shrinks what is there by 1 - eta lambda. Along the steepest direction the loss adds mu to lambda.
    """
    return np.cumprod([1.0, *[Step(step, bowl.steepness, 1).decay] * n])


def objectives(shown: Example, step: float, n: int) -> NDArray:
    """Return the objective of the example's run with this step size, up to its last finite one, of shape (at most n,)."""
    solver = replace(shown.spec.solver, step_size=step, n_iter=n)
    run = Run(replace(shown.spec, solver=solver), shown.split)
    run.advance()
    return np.asarray(run.history.column("objective"))
