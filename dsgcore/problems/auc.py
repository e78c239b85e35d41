"""QSG-S2AUC: semi-supervised AUC optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core import metrics
from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, flag, real
from dsgcore.problems.ranking import RankingProblem
from dsgcore.solver.problem import Sections, bound
from dsgcore.solver.task import by_labels

# The three pair terms of the risk: source that should score higher, source that should score lower.
PAIRS = (("positive", "negative"), ("positive", "unlabeled"), ("unlabeled", "negative"))


@documented
@dataclass(frozen=True)
class SemiSupervisedAUC(RankingProblem):
    """Semi-supervised AUC risk: positives should rank above negatives, and unlabeled points serve as both.

    With the squared pairwise loss l(u, v) = (1 - u + v)^2, the data term of the objective is

        gamma R_PN + (1 - gamma) (R_PU + R_UN - 1/2),   R_AB = mean over pairs (a, b) of l(f(a), f(b)).

    Per triple (p, n, u), with a = 1 - f_p + f_n, q = 1 - f_p + f_u, w = 1 - f_u + f_n:
    c_p = [-2 gamma a - 2 (1 - gamma) q] / B, c_n = [2 gamma a + 2 (1 - gamma) w] / B, c_u = (1 - gamma) (2 q - 2 w) /
    B.

    The pairs within a mini-batch are either "triplets", as in the paper's Algorithm 1, or all pairs. Triplets pair the
    b-th point of each source with the b-th of the others. All pairs have the same expectation and a lower variance,
    and still cost O(B) for the squared loss.

    The expected squared loss contains the variance of f over the positives and over the negatives. Both have the same
    weight, even if one class has few labels. Pooling changes their weights to 2 pi and 2 (1 - pi), where pi is the
    share of positives among the labels. It adds (1 - 2 pi) (Var_N - Var_P). If there are as many positives as
    negatives, nothing changes.

    `positive_share` is that share pi. It is not a parameter: `bind` computes it from the labels.

    Parameters
    ----------
    gamma : Trust in the labels
        Weight of the labeled pairs against pairs with unlabeled points. With 1, only the labels count.
    pairing : Pairs in a batch
        The value “triplets” pairs the points one by one, as in the paper. The value “all” takes every pair, which has
        less noise and the same mean.
    is_pooled : Pool the spread of both classes
        Estimate the spread of the scores from both classes together. A class with few labels says little about it.

    Notes
    -----
    Source: Quadruply Stochastic Gradients for Large Scale Nonlinear Semi-Supervised AUC Optimization (IJCAI 2019),
    (8), (9), (12)-(16) and Algorithm 1.

    Deviation: (16) and line 8 of Algorithm 1 shrink each earlier coefficient by its own step's factor, 1 - eta_j lam. The
    update that they implement, f_{t+1} = (1 - eta_t lam) f_t - eta_t zeta_t, has the factor of the present step for all. So
    has this library, as QS3ORAO's (14). The formula for a_t^i has eta_t for eta_i.

    Deviation: the paper starts from R_PU + R_UN - 1/2 = R_PN, which holds for the zero-one loss. For the squared loss
    the two sides differ by variance terms. This class keeps the paper's objective. Changing gamma shows the bias.

    Deviation: the paper does not pool the spread. If a class has only a few labels, the term for its own spread
    favours a function that is equal at all of them. Such a function ranks by the number of points rather than by their
    class.
    """

    gamma: float = real(0.5, low=0.0, high=1.0, symbol="γ")
    pairing: str = choice("triplets", options=("triplets", "all"))
    is_pooled: bool = flag(False)
    positive_share: float | None = None

    name = "auc"
    title = "Semi-supervised AUC"
    score_name = "AUC"
    decision = "cut"
    defaults: ClassVar[Sections] = {
        "data": {"name": "circles", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 1e-3},
    }
    other_sets: ClassVar[Sections] = {"solver": {"lam": 1e-2}}
    sentence = "learns to rank positives above negatives"
    citation = "QSG-S2AUC, Shi, Gu, Li, Geng and Huang, IJCAI 2019"
    sources = ("positive", "negative", "unlabeled")

    def bind(self, y: NDArray) -> Self:
        """Return the problem bound to labels y (n,); with `is_pooled` that sets the share of positives."""
        if not self.is_pooled:
            return self
        rows = self.rows(y)
        return replace(self, positive_share=len(rows["positive"]) / (len(rows["positive"]) + len(rows["negative"])))

    @cached_property
    def risk_weights(self) -> NDArray:
        """W of shape (3, 3), in the order of `sources`: weight of the risk that row should score above column."""
        W = np.zeros((3, 3))
        for upper, lower in PAIRS:
            of_labels = "unlabeled" not in (upper, lower)
            W[self.sources.index(upper), self.sources.index(lower)] = self.gamma if of_labels else 1.0 - self.gamma
        return W

    @cached_property
    def variance_weights(self) -> NDArray:
        """The weights (3,) of the variances that pooling adds. The sample's variance is unbiased, as the pairs are."""
        more = 1.0 - 2.0 * bound(self.positive_share) if self.is_pooled else 0.0
        return np.array([-more, more, 0.0])

    def _named(self, parts: NDArray) -> dict[str, float]:
        place = self.sources.index
        return {f"{upper} over {lower}": float(parts[place(upper), place(lower)]) for upper, lower in PAIRS}

    def usual_ridge(self, rows: Mapping[str, NDArray]) -> float:
        """Return three times the ridge of other problems, and at least 0.01; with many labels less (`by_labels`).

        Pairs of a few positives with all other points are many, but say no more than these few positives. And the
        noise from pairs with unlabeled points does not shrink with the first labels. With `is_pooled`, use the ridge of
        two equally large classes.
        """
        n = len(rows["positive"]), len(rows["negative"])
        one = 1.0 / sum(n) if self.is_pooled else super().usual_ridge(rows)
        return max(3.0 * one, 0.01) * by_labels(sum(n), n[0] / sum(n)).ridge

    def score(self, y: NDArray, f: NDArray) -> float:
        return metrics.auc(y, f)
