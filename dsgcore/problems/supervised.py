"""Doubly stochastic gradients: two classes from labels alone. It is the algorithm that the papers extend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, derived
from dsgcore.problems.similar_unlabeled import LOSSES as PAIR_LOSSES
from dsgcore.problems.similar_unlabeled import MarginLoss
from dsgcore.solver.problem import Problem, Sections, Values, bound
from dsgcore.solver.start import SourceHinge, SourceQuadratic

LOSSES = {
    "logistic": PAIR_LOSSES["logistic"],
    "hinge": MarginLoss(lambda m: np.maximum(0.0, 1.0 - m), lambda m: -(m < 1.0).astype(m.dtype)),
    "squared": MarginLoss(lambda m: 0.5 * (m - 1.0) ** 2, lambda m: m - 1.0),
}
SIGNS = {"positive": 1, "negative": -1}


@documented
@dataclass(frozen=True)
class Supervised(Problem):
    """Supervised risk of two classes: the mean over the labeled points of l(y f), for y = 1 and y = -1.

    The losses l(m) are log(1 + exp(-m)), max(0, 1 - m) and (1 - m)^2 / 2. With the ridge, they are kernel logistic
    regression, a support vector machine and kernel ridge regression on the labels 1 and -1.

    `positive_share` is the share of positives among the labels. It is not a parameter: `bind` computes it.

    Parameters
    ----------
    loss : Loss
        Loss of a labeled point. The logistic loss weighs all points. The hinge loss weighs those near the boundary or
        on its wrong side. The squared loss makes ridge regression of the labels 1 and -1.

    Notes
    -----
    Source: B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, Scalable Kernel Methods via Doubly
    Stochastic Gradients, NIPS 2014, Algorithms 1 and 2 and Table 1.

    Deviation: the paper draws one point from all of them. Here each class has its own mini-batch, weighted by its share
    of the labels. This keeps the expectation and lowers the variance.
    """

    loss: str = choice("logistic", options=tuple(LOSSES))
    positive_share: float | None = None

    name = "supervised"
    title = "Supervised classification"
    sentence = "learns a boundary between two classes from labels alone"
    citation = "DSG, Dai, Xie, He, Liang, Raj, Balcan and Song, NIPS 2014"
    defaults: ClassVar[Sections] = {
        "data": {"name": "two_moons", "n_labeled": 50},
        "solver": {"step_size": 4.0, "lam": 1e-3},
    }
    sources = ("positive", "negative")

    def bind(self, y: NDArray) -> Self:
        """Return the problem bound to labels y (n,): sets the share of positives."""
        n = {source: len(index) for source, index in self.rows(y).items()}
        return derived(self, positive_share=n["positive"] / sum(n.values()))

    @property
    def largest_slope(self) -> float | None:
        """1 for the hinge loss; None for the others, because they are curved."""
        return 1.0 if self.loss == "hinge" else None

    def usual_ridge(self, rows: Mapping[str, NDArray]) -> float:
        """Return one half over the number of labels: as in an SVM with C = 2."""
        return 0.5 / sum(map(len, rows.values()))

    def _weights(self) -> dict[str, float]:
        share = bound(self.positive_share)
        return {"positive": share, "negative": 1.0 - share}

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return the derivative of the batch objective by each value: Table 1."""
        slope, weights = LOSSES[self.loss].slope, self._weights()
        # Adding 0 f keeps a value that is not finite visible; its slope alone would hide it.
        return {
            source: (SIGNS[source] * weights[source] / len(v) * slope(SIGNS[source] * v) + 0.0 * v).astype(v.dtype)
            for source, v in f.items()
        }

    def terms(self, f: Values) -> dict[str, float]:
        value, weights = LOSSES[self.loss].value, self._weights()
        return {s: weights[s] * float(value(SIGNS[s] * f[s]).mean()) for s in self.sources}

    def near_risk(self) -> SourceQuadratic | SourceHinge | None:
        """Return the risk; None for the logistic loss."""
        weights, signs = np.array([*self._weights().values()]), np.array([1.0, -1.0])
        if self.loss == "squared":
            return SourceQuadratic(weights, np.zeros((2, 2)), -signs * weights)
        return SourceHinge(weights, signs) if self.loss == "hinge" else None
