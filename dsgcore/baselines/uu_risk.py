"""Risk of a classifier from two unlabeled sets with different shares of the positive class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dsgcore.problems.similar_unlabeled import LOSSES

Function = Callable[[NDArray], NDArray]
# A loss of the margin z t, and its slope.
MARGIN_LOSSES: dict[str, tuple[Function, Function]] = {
    **{name: (loss.value, loss.slope) for name, loss in LOSSES.items()},
    "sigmoid": (lambda m: expit(-m), lambda m: -expit(m) * expit(-m)),
}
# Losses for measuring only. The zero-one loss costs 1 for a wrong sign and 1/2 for the value 0.
ZERO_ONE: tuple[Function, Function] = (lambda m: (1.0 - np.sign(m)) / 2.0, np.zeros_like)
LOSSES_BY_NAME = {**MARGIN_LOSSES, "zero-one": ZERO_ONE}
# Slope of each correction for a risk below zero.
SLOPES_BELOW_ZERO = {"absolute value": -1.0, "ReLU": 0.0, "identity": 1.0}


@dataclass(frozen=True)
class UURisk:
    """Risk of f from two sets of points with shares theta1 and theta2 of positives.

    With D = theta1 - theta2 and p = prior, it is delta(A_1) + delta(A_2), where

        A_1 = p [(1 - theta2) mean_1 l(f) - (1 - theta1) mean_2 l(f)] / D             the positive class's,
        A_2 = (1 - p) [theta1 mean_2 l(-f) - theta2 mean_1 l(-f)] / D                 the negative class's.

    Parameters
    ----------
    theta1, theta2 : float in [0, 1]
        Shares of positives in the two sets. They must differ.
    prior : float in [0, 1]
        Share of positives among the points to classify.
    loss : {"squared", "double hinge", "logistic", "sigmoid", "zero-one"}
        The loss l.
    correction : {"identity", "absolute value", "ReLU"}
        The correction delta of estimates below zero.

    Notes
    -----
    Source: N. Lu, G. Niu, A. K. Menon and M. Sugiyama, On the Minimal Supervision for Training Any Binary Classifier
    from Only Unlabeled Data, ICLR 2019, Theorem 4; the correction: N. Lu, T. Zhang, G. Niu and M. Sugiyama, Mitigating
    Overfitting in Supervised Classification from Two Unlabeled Datasets, AISTATS 2020, (9)-(11).
    """

    theta1: float
    theta2: float
    prior: float
    loss: str = "squared"
    correction: str = "identity"

    def _weights(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the weights of the two sets' mean losses in A_1, and those in A_2."""
        D, p = self.theta1 - self.theta2, self.prior
        return (
            (p * (1.0 - self.theta2) / D, -p * (1.0 - self.theta1) / D),
            (-(1.0 - p) * self.theta2 / D, (1.0 - p) * self.theta1 / D),
        )

    def class_risks(self, f1: NDArray, f2: NDArray) -> tuple[float, float]:
        """Return A_1 and A_2 from the values on the two sets, of shapes (n_1,) and (n_2,)."""
        value, _ = LOSSES_BY_NAME[self.loss]
        return tuple(  # type: ignore[return-value]
            sum(w * float(np.mean(value(t * f))) for w, f in zip(weights, (f1, f2), strict=True))
            for t, weights in zip((1.0, -1.0), self._weights(), strict=True)
        )

    def value(self, f1: NDArray, f2: NDArray) -> float:
        """Return the corrected risk."""
        slope = SLOPES_BELOW_ZERO[self.correction]
        return sum(A if A >= 0.0 else slope * A for A in self.class_risks(f1, f2))

    def gradient(self, f1: NDArray, f2: NDArray) -> tuple[NDArray, NDArray]:
        """Return the risk's derivatives by the values; at A = 0 the correction's derivative from the right."""
        _, slope = LOSSES_BY_NAME[self.loss]
        below_zero = SLOPES_BELOW_ZERO[self.correction]
        corrections = [1.0 if A >= 0.0 else below_zero for A in self.class_risks(f1, f2)]
        of_class = list(zip((1.0, -1.0), self._weights(), corrections, strict=True))
        return tuple(  # type: ignore[return-value]
            sum(t * c * weights[i] * slope(t * f) for t, weights, c in of_class) / len(f)
            for i, f in enumerate((f1, f2))
        )


def similar_unlabeled_risk(prior: float, loss: str, correction: str) -> UURisk:
    """Return the risk for members of similar pairs as the first set and unlabeled points as the second.

    The prior must not be 1/2.
    """
    similar_share = prior**2 + (1.0 - prior) ** 2
    return UURisk(prior**2 / similar_share, prior, prior, loss, correction)
