"""How a fit tells how far it is, is cancelled, and says that it has not converged."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from dsgcore.core.errors import DSGError


class Cancelled(DSGError):  # noqa: N818 (nothing went wrong)
    """The callback asked for the end of a fit. The model is then what it was before."""


@dataclass(frozen=True)
class Progress:
    """Where a fit stands between two of its outer steps.

    Attributes
    ----------
    step : int
        Outer steps made, from 1.
    total : int
        How many there will be at most.
    objective : float
        Objective after this step; NaN where it is not known yet.
    seconds : float
        Time since the fit began.
    """

    step: int
    total: int
    objective: float
    seconds: float


Callback = Callable[[Progress], bool | None]


class Watch:
    """Counts the outer steps of one fit, keeps their objectives, and asks the callback whether to go on.

    The callback gets a `Progress` after each outer step, and returns True to cancel; the name is the estimator's, for messages.
    """

    def __init__(self, callback: Callback | None, name: str) -> None:
        self.callback, self.name = callback, name
        self.total, self.steps = 0, 0
        self.values: list[float] = []
        self.is_converged = True
        self.start = time.perf_counter()

    def expect(self, total: int) -> None:
        """Say how many outer steps there will be at most."""
        self.total = total

    def step(self, objective: float = math.nan) -> None:
        """Count an outer step, and keep the objective after it where that is not NaN; raise `Cancelled` where it is asked for."""
        self.steps += 1
        if not math.isnan(objective):
            self.values.append(float(objective))
        if self.callback is None:
            return
        seconds = time.perf_counter() - self.start
        if self.callback(Progress(self.steps, max(self.total, self.steps), float(objective), seconds)) is True:
            raise Cancelled(f"{self.name} was cancelled after step {self.steps}")

    def give_up(self, reason: str) -> None:
        """Note that the fit has not converged, and warn in one sentence, with what happened and what may help."""
        self.is_converged = False
        warnings.warn(f"{self.name} has not converged: {reason}", ConvergenceWarning, stacklevel=4)

    def objectives(self) -> NDArray:
        """Return the objective after each outer step that knew it, of shape (steps,)."""
        return np.array(self.values)
