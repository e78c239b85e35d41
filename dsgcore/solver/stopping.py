"""Stopping rule of all fits: the averaged scores have stopped changing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning


class StoppingRule:
    """Stopping rule of all fits: the averaged scores have stopped changing.

    They have if they change by no more than the share `tol` of their size, for `patience` iterations. With a `tol` of
    None this never happens.
    """

    def __init__(self, tol: float | None, patience: int, scores: NDArray | None = None) -> None:
        self.tol, self.patience, self.scores = tol, patience, scores
        self.change, self.looks, self.settled_for = np.inf, 0, 0

    def look(self, scores: NDArray, iterations: int) -> None:
        """Compare the scores with those of the last look, which was so many iterations ago."""
        before, self.scores = self.scores, scores
        size = max(float(np.linalg.norm(scores)), np.finfo(float).tiny)
        self.change = float(np.linalg.norm(scores if before is None else scores - before)) / size
        self.looks += 1
        is_still = before is not None and self.tol is not None and self.change <= self.tol
        self.settled_for = self.settled_for + iterations if is_still else 0

    @property
    def is_settled(self) -> bool:
        """True if the scores have stopped changing."""
        return self.tol is not None and self.settled_for >= self.patience

    @property
    def is_moving(self) -> bool:
        """True if the scores still changed by more than `tol` at the last look, and it was not the first one."""
        return self.tol is not None and self.looks > 1 and not self.is_settled

    def warn(self, estimator: Any) -> None:
        """Warn if the model was still changing at the last look."""
        if self.is_moving:
            warnings.warn(
                f"{type(estimator).__name__} was still moving by {self.change:.1%} after n_iter={estimator.n_iter} iterations "
                f"(tol={self.tol:g}): raise n_iter, or raise tol if this is accurate enough",
                ConvergenceWarning,
                stacklevel=4,
            )
