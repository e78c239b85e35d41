"""Two classes by squared distances: as small as a problem can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import real
from dsgcore.solver.problem import Problem, Values


@dataclass(frozen=True)
class ToyProblem(Problem):
    """gamma mean_P (1 - f)^2 + (1 - gamma) mean_N (1 + f)^2."""

    name = "toy_problem"
    sources = ("positive", "negative")
    gamma: float = real(
        0.5, low=0.0, high=1.0, symbol="γ", label="Weight of the positives", sentence="Against negatives."
    )

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        y = np.asarray(y)
        return {"positive": np.flatnonzero(y == 1), "negative": np.flatnonzero(y == 0)}

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        p, n = f["positive"], f["negative"]
        return {
            "positive": (p - 1) * (2 * self.gamma / len(p)),
            "negative": (n + 1) * (2 * (1 - self.gamma) / len(n)),
        }

    def terms(self, f: Values) -> dict[str, float]:
        p, n = f["positive"], f["negative"]
        return {
            "positives": float(self.gamma * np.mean((1 - p) ** 2)),
            "negatives": float((1 - self.gamma) * np.mean((1 + n) ** 2)),
        }
