"""The nearer of two means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from dsgcore.baselines.base import BinaryBaseline, Watch
from dsgcore.core.parameters import Parameter, Real


@dataclass(frozen=True)
class _Line:
    w: NDArray
    b: float

    def evaluate(self, X: NDArray) -> NDArray:
        return X @ self.w - self.b


@dataclass(eq=False, repr=False, kw_only=True)
class ToyMeans(BinaryBaseline):
    """Each point belongs to the class whose mean is nearer."""

    title = "Toy means"
    citation = "made up"
    sentence = "learns the means of two classes"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Real("scale", 1.0, low=0.1, high=10.0, label="Scale", sentence="Of values."),
    )

    scale: float = 1.0

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        upper, lower = X[y == 1].mean(axis=0), X[y == -1].mean(axis=0)
        w = s["scale"] * (upper - lower)
        self.model_ = _Line(w, float(w @ (upper + lower) / 2))
        watch.step(float(w @ w))
