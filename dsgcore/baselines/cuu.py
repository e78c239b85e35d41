"""CUU: mini-batch gradient descent on kernel features with the corrected risk of two unlabeled sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dsgcore.baselines.basis import Basis, BasisModel, choose_centers
from dsgcore.baselines.pairs_base import PairsBaseline, split_sources
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import like
from dsgcore.core.sampling import batch_rows
from dsgcore.problems.similar_unlabeled import LOSSES, SimilarUnlabeled
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.plan import SCHEDULES

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


@estimator
class CUU(PairsBaseline):
    """Classification from similar pairs and unlabeled points by CUU: corrected risk, mini-batches, kernel features.

    With f = w'[k(x, c_1) .. k(x, c_m), 1] it minimises, by stochastic gradient descent,

        J(w) = delta(A_1) + delta(A_2) + (lam / 2) |w|^2.

    A_1 and A_2 are the risks of the two classes (see `dsgcore.baselines.cuu.UURisk`). Each iteration estimates
    them on a mini-batch of members of similar pairs and one of unlabeled points, and computes the batches' kernel
    values at the centres.

    Parameters
    ----------
    n_iter
        Number of iterations, each with its own mini-batches.
    batch_size
        Number of points drawn from the pairs, and from the unlabeled points, per iteration.
    step_size
        Step size of an iteration, in units of 1 over the mean squared length of the features.

    Attributes
    ----------
    objectives_ : ndarray of shape (n_iter_,)
        J on each iteration's mini-batches, before its step.

    Raises
    ------
    ValueError
        From `fit`: see there, and if the run diverges.

    Notes
    -----
    Source: N. Lu, T. Zhang, G. Niu and M. Sugiyama, Mitigating Overfitting in Supervised Classification from Two
    Unlabeled Datasets: A Consistent Risk Correction Approach, AISTATS 2020. Kernel features and plain steps follow the
    comparisons of the TSGSU paper. Its CUU(All) has centers=None, its CUU(2000) centers=2000.

    The unit of the step size comes from the first mini-batch. So a good step size does not depend on the number of
    centres.

    For an example see `SUSL`.
    """

    title = "CUU"
    citation = "Lu, Zhang, Niu and Sugiyama, AISTATS 2020"
    sentence = "learns from similar pairs in mini-batches, with kernels at fixed centres and a corrected risk"

    loss: str = like(SimilarUnlabeled, "loss", options=tuple(MARGIN_LOSSES))
    correction: str = like(SimilarUnlabeled, "correction", options=tuple(SLOPES_BELOW_ZERO))
    n_iter: int = like(SolverParameters, "n_iter", default=100, high=10**6, usual=(10, 1000))
    batch_size: int = like(SolverParameters, "batch_size", default=1000, high=2**20, scale="log", usual=(10, 2000))
    step_size: float = like(
        SolverParameters, "step_size", default=1.0, optional=False, automatic=None, usual=(0.01, 10.0)
    )
    schedule: str = like(SolverParameters, "schedule")

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        seed = self._seed()
        basis = Basis(self._kernel(X), choose_centers(X, s["centers"], seed), has_bias=True)
        risk = similar_unlabeled_risk(self.prior_, s["loss"], s["correction"])
        watch.expect(s["n_iter"])
        self.model_ = BasisModel(basis, _descend(basis, risk, split_sources(X, y), s, seed, watch))


def _descend(
    basis: Basis, risk: UURisk, sets: tuple[NDArray, NDArray], s: dict[str, Any], seed: int, watch: Watch
) -> NDArray:
    """Return the weights after `n_iter` steps from zero."""
    w, size, B = np.zeros(basis.size), 0.0, s["batch_size"]
    sources = {"similar": sets[0], "unlabeled": sets[1]}
    for t in range(1, s["n_iter"] + 1):
        drawn = [own[batch_rows(seed, name, t, np.arange(len(own)), B)] for name, own in sources.items()]
        phi = basis.features(np.concatenate(drawn))
        size = size or float(np.einsum("ij,ij->", phi, phi)) / len(phi)
        f1, f2 = np.split(phi @ w, 2)
        with np.errstate(over="ignore", invalid="ignore"):  # the check of the objective reports divergence
            objective = risk.value(f1, f2) + s["lam"] / 2.0 * float(w @ w)
        if not np.isfinite(objective):
            raise DSGError(
                f"CUU diverged at iteration {t}: step_size {s['step_size']:g} is too big for this problem; try half of it"
            )
        watch.step(objective)
        step = SCHEDULES[s["schedule"]](s["step_size"], t, s["n_iter"]) / size
        w = (1.0 - step * s["lam"]) * w - step * (np.concatenate(risk.gradient(f1, f2)) @ phi)
        del phi  # free memory before the next features
    return w
