"""TSGSU: classification from similar pairs and unlabeled points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dsgcore.core.documented import documented
from dsgcore.core.parameters import ParameterError, choice, real
from dsgcore.solver.problem import UNLABELED, Problem, ProblemError, Sections, Values, rows_where
from dsgcore.solver.start import SourceQuadratic

SIMILAR = "similar"
# The risk divides by 2 prior - 1. At this distance from one half, noise is amplified five hundred times.
SMALLEST_DISTANCE_FROM_HALF = 1e-3


@dataclass(frozen=True)
class MarginLoss:
    """A margin loss and its derivative: l(z, t) = value(z t), dl/dz = t slope(z t)."""

    value: Callable[[NDArray], NDArray]
    slope: Callable[[NDArray], NDArray]


LOSSES = {
    "squared": MarginLoss(lambda m: 0.25 * (m - 1.0) ** 2, lambda m: 0.5 * (m - 1.0)),
    "double hinge": MarginLoss(
        lambda m: np.maximum(-m, np.maximum(0.0, 0.5 - 0.5 * m)),
        lambda m: np.where(m < -1.0, -1.0, np.where(m <= 1.0, -0.5, 0.0)).astype(m.dtype),
    ),
    "logistic": MarginLoss(lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m)),
}
CORRECTIONS = ("absolute value", "ReLU", "leaky ReLU", "identity")


@documented
@dataclass(frozen=True)
class SimilarUnlabeled(Problem):
    """Similar-unlabeled risk: two classes from unlabeled points, and from pairs whose members share an unknown class.

    With pi = prior, pi_S = pi^2 + (1 - pi)^2, S all members of the similar pairs and U the unlabeled points,
    the data term of the objective is delta(A_1) + delta(A_2), where

        A_1 = [pi_S mean_S l(f, +1) - (1 - pi) mean_U l(f, +1)] / (2 pi - 1)     the risk of the positive class,
        A_2 = [pi mean_U l(f, -1) - pi_S mean_S l(f, -1)] / (2 pi - 1)           the risk of the negative class.

    Both estimates contain a difference, and so can be negative. delta corrects that. With l' the derivative by f,
    c_S = pi_S [delta'(A_1) l'(f, +1) - delta'(A_2) l'(f, -1)] / ((2 pi - 1) B_S) and
    c_U = [-(1 - pi) delta'(A_1) l'(f, +1) + pi delta'(A_2) l'(f, -1)] / ((2 pi - 1) B_U), with A_1, A_2 of the batch.

    Similar pairs do not show which class is positive. The prior decides that: below 1/2, the rarer class is positive.

    The losses l(z, t) are (z t - 1)^2 / 4, max(-z t, max(0, 1/2 - z t / 2)) and log(1 + exp(-z t)). All corrections
    delta are A for A >= 0. The leaky ReLU is -leak A below.

    Parameters
    ----------
    prior : Assumed share of positives
        Share of positives among all points, which you tell the method. It must not be one half, because then similar
        pairs say nothing.
    loss : Loss
        Cost of a score on the wrong side of the boundary.
    correction : Correction
        Correction of an estimated risk below zero. The value “identity” does nothing.
    leak : Leak
        Slope of the leaky ReLU for a negative risk. 0 gives ReLU, 1 the absolute value.

    Raises
    ------
    ParameterError
        If the prior is within 0.001 of 1/2.

    Notes
    -----
    Source: Triply stochastic gradient method for large-scale nonlinear similar unlabeled classification
    (Machine Learning, 2021), (8), (9), (17)-(19) and (25). For the identity and the squared loss the optimum is
    SU-SL's (Bao et al. 2018).

    delta' is taken at the mini-batch's own A_1 and A_2, as in the paper. So for any delta but the identity, a batch's
    gradient is unbiased only in the limit of large batches.

    Deviation: the paper's (9) lacks a sum in its last term, and (18) groups the constants by single points. This class
    implements (8). At A = 0, delta' = 1, from the right.
    """

    prior: float = real(0.7, low=0.01, high=0.99, symbol="π₊", usual=(0.05, 0.95))
    loss: str = choice("squared", options=tuple(LOSSES), symbol="l")
    correction: str = choice("absolute value", options=CORRECTIONS, symbol="δ")
    leak: float = real(0.5, low=0.0, high=10.0, usual=(0.0, 1.0))

    name = "similar_unlabeled"
    title = "Similar-unlabeled classification"
    sentence = "learns to tell two classes apart from pairs that share a class"
    citation = "TSGSU, Shi, Gu, Li, Deng and Huang, Machine Learning 2021"
    labels = "pairs"
    baseline_name = "no correction"
    defaults: ClassVar[Sections] = {
        "data": {"name": "gaussian_mixture", "n": 1000, "noise": 0.2, "n_labeled": 50, "imbalance": 0.7},
        "kernel": {"sigma": 100.0},
        "problem": {"correction": "ReLU"},
        "solver": {"lam": 1e-3, "step_size": 0.5},
    }
    other_sets: ClassVar[Sections] = {"solver": {"lam": 1e-2}}
    sources = (SIMILAR, "unlabeled")

    def __post_init__(self) -> None:
        """Raise `ParameterError` for a prior of one half, and for other values out of range."""
        super().__post_init__()
        if abs(self.prior - 0.5) < SMALLEST_DISTANCE_FROM_HALF:
            raise ParameterError(
                f"prior must differ from 1/2 by at least {SMALLEST_DISTANCE_FROM_HALF:g}, got {self.prior!r}: "
                "the risk divides by 2 prior - 1, and with equal shares similar pairs look like any other points"
            )

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        """Return the row numbers of both members of all similar pairs, and of the unlabeled points.

        `y` (n,) holds pair ids: the same number >= 0 for the two members of a similar pair, -1 for unlabeled points.
        Raise `ProblemError` if an id does not occur exactly twice or is below -1, or if there are no pairs or no
        unlabeled points.
        """
        y = np.asarray(y)
        rows = {SIMILAR: rows_where(y != UNLABELED), "unlabeled": rows_where(y == UNLABELED)}
        ids, counts = np.unique(y[rows[SIMILAR]], return_counts=True)
        if (ids < 0).any():
            raise ProblemError(f"a pair id must be 0 or more, and -1 marks unlabeled points, got {ids[0]}")
        if (counts != 2).any():
            wrong = np.argmax(counts != 2)
            raise ProblemError(f"pair id {ids[wrong]} must occur exactly twice, but occurs {counts[wrong]} times")
        for source, what in ((SIMILAR, "similar pair"), ("unlabeled", "unlabeled point")):
            if not len(rows[source]):
                raise ProblemError(f"similar-unlabeled learning needs at least one {what}, got none")
        return rows

    @property
    def _delta_slope(self) -> float:
        """Slope of delta below zero. The slope above zero is 1."""
        return {"identity": 1.0, "absolute value": -1.0, "ReLU": 0.0}.get(self.correction, -self.leak)

    @property
    def similar_prior(self) -> float:
        """pi_S, the share of similar pairs among all pairs of points."""
        return self.prior**2 + (1.0 - self.prior) ** 2

    def usual_ridge(self, rows: Mapping[str, NDArray]) -> float:
        """Return (1 / number of similar points + 1 / number of unlabeled ones) / 4 / (2 prior - 1)^2.

        The risk is a difference of means over both sources, so that the noise of both adds: many unlabeled points do not make
        up for few pairs. It divides by 2 prior - 1, which amplifies its noise. With as many of either it is 1 / (number of all
        points) / (2 prior - 1)^2.
        """
        return min(sum(1.0 / len(own) for own in rows.values()) / 4.0 / (2.0 * self.prior - 1.0) ** 2, 1.0)

    @property
    def largest_slope(self) -> float | None:
        """Sum of the mean losses' weights; None unless the loss has kinks, because the others are curved."""
        if self.loss != "double hinge":
            return None
        return sum(abs(weight) for _, _, weight in self._weights().values())

    def _weights(self) -> dict[str, tuple[str, int, float]]:
        """Source, target t and signed weight of each mean loss: the first two make A_1, the others A_2."""
        scale = 1.0 / (2.0 * self.prior - 1.0)
        return {
            "similar as positive": (SIMILAR, 1, self.similar_prior * scale),
            "unlabeled as positive": ("unlabeled", 1, -(1.0 - self.prior) * scale),
            "unlabeled as negative": ("unlabeled", -1, self.prior * scale),
            "similar as negative": (SIMILAR, -1, -self.similar_prior * scale),
        }

    def _parts(self, f: Values) -> dict[str, float]:
        value = LOSSES[self.loss].value
        return {
            name: weight * float(value(target * f[source]).mean())
            for name, (source, target, weight) in self._weights().items()
        }

    def risks(self, f: Values) -> dict[str, float]:
        """Return A_1 and A_2 before the correction, as "positive class" and "negative class"; either may be negative."""
        first, second, third, fourth = self._parts(f).values()
        return {"positive class": first + second, "negative class": third + fourth}

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return the derivative of the batch objective by each value: Eq. (25)."""
        below_zero, slopes = self._delta_slope, {1: 1.0, -1: 1.0}
        if below_zero != 1.0:  # otherwise the risks make no difference
            slopes = {
                t: 1.0 if risk >= 0.0 else below_zero for t, risk in zip((1, -1), self.risks(f).values(), strict=True)
            }
        c = {source: 0.0 * values for source, values in f.items()}  # NaN if a value is not finite
        for source, target, weight in self._weights().values():
            factor = target * slopes[target] * weight / len(f[source])
            c[source] += LOSSES[self.loss].slope(target * f[source]) * factor
        return c

    def terms(self, f: Values) -> dict[str, float]:
        below_zero = sum(min(risk, 0.0) for risk in self.risks(f).values())
        return {**self._parts(f), "correction": (self._delta_slope - 1.0) * below_zero}

    def near_risk(self) -> SourceQuadratic | None:
        """Return the risk; None for any loss but the squared one, or with a correction.

        Since l(z, +1) - l(z, -1) = -z, only mean_U of f^2 / 4 and terms linear in f remain.
        """
        if self.loss != "squared" or self.correction != "identity":
            return None
        linear = np.array([-self.similar_prior, 0.5]) / (2.0 * self.prior - 1.0)
        return SourceQuadratic(np.array([0.0, 0.5]), np.zeros((2, 2)), linear)

    def baseline(self) -> Self:
        """Return the problem without the correction. Without the unlabeled points no problem would be left."""
        return replace(self, correction="identity")
