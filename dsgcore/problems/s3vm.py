"""TSGS3VM: semi-supervised support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, derived, flag, parameter_like, real
from dsgcore.solver.problem import Problem, Sections, Values, bound
from dsgcore.solver.start import SourceHinge


@dataclass(frozen=True)
class _Loss:
    """Loss of an unlabeled point's value r, and its derivative; s is the position of the ramp's kink."""

    value: Callable[[NDArray, float], NDArray]
    slope: Callable[[NDArray, float], NDArray]


def _inside(r: NDArray) -> NDArray:
    """Return max(0, 1 - |r|), the distance of a value from the margin's edge if it is inside."""
    return np.maximum(0.0, 1.0 - np.abs(r))


# Table 2 of the paper, with the sign of r that its first two derivatives lack.
LOSSES = {
    "symmetric hinge": _Loss(lambda r, s: _inside(r), lambda r, s: -np.sign(r) * (np.abs(r) < 1.0)),
    "squared symmetric hinge": _Loss(lambda r, s: 0.5 * _inside(r) ** 2, lambda r, s: -np.sign(r) * _inside(r)),
    "ramp": _Loss(
        lambda r, s: np.minimum(_inside(r), 1.0 + s), lambda r, s: -np.sign(r) * ((np.abs(r) > -s) & (np.abs(r) < 1.0))
    ),
    "exponential": _Loss(lambda r, s: np.exp(-5.0 * r**2), lambda r, s: -10.0 * r * np.exp(-5.0 * r**2)),
}


@documented
@dataclass(frozen=True)
class SemiSupervisedSVM(Problem):
    """Semi-supervised SVM risk: labeled points on their side of the boundary, unlabeled points away from it.

    The data term of the objective is

        C [share mean_P max(0, 1 - f) + (1 - share) mean_N max(0, 1 + f)] + C* mean_U u(f),

    with C = labeled_weight, C* = unlabeled_weight, P, N the labeled points of the two classes, share = n_P / (n_P + n_N),
    and U the unlabeled points.
    Coefficients: c_p = -C share [f < 1] / B, c_n = C (1 - share) [f > -1] / B, c_u = C* u'(f) / B.

    The losses u(r) are, in the order of the options: max(0, 1 - |r|); max(0, 1 - |r|)^2 / 2; min(1 + s, max(0, 1 -
    |r|)); exp(-5 r^2). With s = 0 the third is the first.

    If C* is None, `bind` sets it to C n_l / n_u. With C* = 0 the unlabeled points do not count. `positive_share` is
    the share in the formula. It is not a parameter: `bind` computes it from the labels.

    Parameters
    ----------
    labeled_weight : Weight of the labels
        Weight of the mean cost of labeled points on the wrong side.
    unlabeled_weight : Weight of the unlabeled points
        Weight of the mean cost of unlabeled points near the boundary. The default is that of the labels times n_l / n_u.
    loss : Loss of unlabeled points
        Shape of the cost of an unlabeled point near the boundary.
    s : Ramp's kink
        Position of the kink of the ramp loss. Unlabeled points closer to the boundary no longer pull.
    is_balanced : Keep the balance
        Shift the function, so that unlabeled points have the same shares of classes as labeled ones.

    Notes
    -----
    Source: Scalable Semi-Supervised SVM via Triply Stochastic Gradients (IJCAI 2019), (1), (3)-(7), Table 2,
    Algorithm 1.

    The paper's objective has 1/2 ||f||^2, which is lam = 1 with the solver's step as its gamma_t. For another lam,
    divide the objective by lam: (C, C*, step) here are the paper's (C / lam, C* / lam, step * lam).

    Deviation: the paper draws labeled points from both classes at once. Here each class has its own mini-batch,
    weighted by its share of the labels. This keeps the expectation and lowers the variance, and no batch lacks a
    class.

    Deviation: the paper's features are sqrt 2 cos(w'x + b), with phi = 2. Here they are pairs of cosine and sine, with
    phi = 1.

    Deviation: Table 2 lacks the sign of r in the derivatives of the symmetric hinge and of its square. Here u'(0) = 0.

    Deviation: the ramp H_1 - H_s is applied to r and to -r, as in CCCP-S3VM (Collobert et al. 2006). The
    constant 1 - s is subtracted, so that u = 0 outside the margin as for the other losses.

    The balance shift uses the mini-batch's own mean. So with the shift, a batch's gradient is unbiased only in the
    limit of large batches.
    """

    labeled_weight: float = real(1.0, low=1e-6, high=1e6, scale="log", symbol="C", usual=(0.001, 1000.0))
    unlabeled_weight: float | None = real(
        None, low=0.0, high=1e6, scale="log", optional=True, symbol="C*", usual=(0.0, 1000.0)
    )
    loss: str = choice("symmetric hinge", options=tuple(LOSSES), symbol="u")
    s: float = real(-0.3, low=-0.999, high=0.0, symbol="s")
    is_balanced: bool = flag(False)
    positive_share: float | None = None

    name = "s3vm"
    title = "Semi-supervised SVM"
    sentence = "learns a boundary between two classes that runs where unlabeled points are few"
    citation = "TSGS3VM, Geng, Gu, Li, Shi, Zheng and Huang, IJCAI 2019"
    defaults: ClassVar[Sections] = {
        "data": {"name": "two_moons", "noise": 0.05, "n_labeled": 6},
        "kernel": {"sigma": 50.0},
        "problem": {"labeled_weight": 10.0, "unlabeled_weight": 10.0, "is_balanced": True},
        "solver": {"lam": 1.0, "step_size": 0.05},
    }
    other_sets: ClassVar[Sections] = {"data": {"n_labeled": 50}}
    sources = ("positive", "negative", "unlabeled")

    def bind(self, y: NDArray) -> Self:
        """Return the problem bound to labels y (n,): sets the share of positives, and C* if it is None."""
        n = {source: len(index) for source, index in self.rows(y).items()}
        n_labeled = n["positive"] + n["negative"]
        weight = self.unlabeled_weight
        if weight is None:
            weight = self.labeled_weight * n_labeled / n["unlabeled"]
        return derived(self, unlabeled_weight=weight, positive_share=n["positive"] / n_labeled)

    def _weights(self) -> dict[str, float]:
        share, C, C_star = bound(self.positive_share), self.labeled_weight, bound(self.unlabeled_weight)
        return {"positive": C * share, "negative": C * (1.0 - share), "unlabeled": C_star}

    @property
    def largest_slope(self) -> float:
        """C + C* times the steepest slope of the unlabeled points' loss.

        It is twice that with the shift, because the shift moves every value.
        """
        r = np.linspace(-1.0, 1.0, 401)
        steepest = float(np.abs(LOSSES[self.loss].slope(r, self.s)).max())
        weight = self._weights()
        labels = weight["positive"] + weight["negative"]
        return (labels + weight["unlabeled"] * steepest) * (2.0 if self.is_balanced else 1.0)

    @property
    def is_shifted(self) -> bool:
        """True if f is shifted to keep the balance."""
        return self.is_balanced

    def shift(self, unlabeled: NDArray) -> float:
        """Return the shift of f before its sign is taken, from the values (n_u,) at the unlabeled training points."""
        if not self.is_balanced:
            return 0.0
        return 2.0 * bound(self.positive_share) - 1.0 - float(unlabeled.mean())

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return the derivative of the batch objective by each value: Eq. (4)."""
        shift = self.shift(f["unlabeled"])
        g = {source: values + shift for source, values in f.items()} if self.is_balanced else f
        weight = {source: weight / len(f[source]) for source, weight in self._weights().items()}
        c = {
            "positive": (g["positive"] < 1.0) * -weight["positive"],
            "negative": (g["negative"] > -1.0) * weight["negative"],
            "unlabeled": LOSSES[self.loss].slope(g["unlabeled"], self.s) * weight["unlabeled"],
        }
        if self.is_balanced:  # every value also moves with the mean of the unlabeled ones
            c["unlabeled"] = c["unlabeled"] - sum(v.sum() for v in c.values()) / len(c["unlabeled"])
        # Adding 0 f keeps a value that is not finite visible; its slope alone would hide it.
        return {source: (c[source] + 0.0 * values).astype(values.dtype) for source, values in f.items()}

    def terms(self, f: Values) -> dict[str, float]:
        weight, shift = self._weights(), self.shift(f["unlabeled"])
        losses = {
            "positive": np.maximum(0.0, 1.0 - (f["positive"] + shift)),
            "negative": np.maximum(0.0, 1.0 + (f["negative"] + shift)),
            "unlabeled": LOSSES[self.loss].value(f["unlabeled"] + shift, self.s),
        }
        return {source: weight[source] * float(loss.mean()) for source, loss in losses.items()}

    def near_risk(self) -> SourceHinge:
        """Return the risk of the labeled points alone, without the shift."""
        weight = self._weights()
        return SourceHinge(np.array([weight["positive"], weight["negative"], 0.0]), np.array([1.0, -1.0, 0.0]))

    def baseline(self) -> Self:
        """Return the problem on the labeled points alone: C* = 0, no balance."""
        return derived(self, unlabeled_weight=0.0, is_balanced=False)


# Weights of one point's loss instead of a mean loss, for methods that sum the losses, as scikit-learn's SVC does.
C = parameter_like(SemiSupervisedSVM, "labeled_weight", name="C", symbol="").called(
    "Weight of each label", "Weight of each labeled point's loss. The same as scikit-learn's C."
)
C_STAR = parameter_like(SemiSupervisedSVM, "unlabeled_weight", name="C_star", symbol="").called(
    "Weight of each unlabeled point", "Weight of each unlabeled point's loss."
)
