"""Progress of a fit: reports, and warnings about convergence."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning


@dataclass(frozen=True)
class Progress:
    """Progress of a fit after an outer step.

    Attributes
    ----------
    step : int
        Number of outer steps made, from 1.
    total : int
        Largest number of outer steps.
    objective : float
        Objective after this step. NaN if it was not computed.
    seconds : float
        Time since the fit began, in seconds.
    """

    step: int
    total: int
    objective: float
    seconds: float


Callback = Callable[[Progress], object]


class Watch:
    """Counter of one fit's outer steps, which keeps their objectives and calls the callback.

    The callback gets a `Progress` after each outer step. Messages name the estimator by `name`.
    """

    def __init__(self, callback: Callback | None, name: str) -> None:
        self.callback, self.name = callback, name
        self.total, self.steps = 0, 0
        self.values: list[float] = []
        self.is_converged = True
        self.start = time.perf_counter()

    def expect(self, total: int) -> None:
        """Set the largest number of outer steps."""
        self.total = total

    def step(self, objective: float = math.nan) -> None:
        """Count an outer step, and keep its objective unless that is NaN."""
        self.steps += 1
        if not math.isnan(objective):
            self.values.append(float(objective))
        if self.callback is not None:
            seconds = time.perf_counter() - self.start
            self.callback(Progress(self.steps, max(self.total, self.steps), float(objective), seconds))

    def give_up(self, reason: str) -> None:
        """Record that the fit has not converged, and warn in one sentence with the reason and possible remedies."""
        self.is_converged = False
        warnings.warn(f"{self.name} has not converged: {reason}", ConvergenceWarning, stacklevel=4)

    def objectives(self) -> NDArray:
        """Return the objective after each outer step that computed it, of shape (steps,)."""
        return np.array(self.values)
