"""QSG-S2AUC: semi-supervised AUC optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core import metrics
from dsgcore.core.documented import documented
from dsgcore.core.moments import mean, mean_and_variance
from dsgcore.core.parameters import choice, flag, real
from dsgcore.core.problem import Problem, Values, bound, two_class_rows

# The three pair terms of the risk: which source should score above which.
PAIRS = (("positive", "negative"), ("positive", "unlabeled"), ("unlabeled", "negative"))


@documented
@dataclass(frozen=True)
class SemiSupervisedAUC(Problem):
    """Rank positives above negatives, with unlabeled points standing in for both.

    With the squared pairwise loss l(u, v) = (1 - u + v)^2, the data term of the objective is

        gamma R_PN + (1 - gamma) (R_PU + R_UN - 1/2),   R_AB = mean over pairs (a, b) of l(f(a), f(b)).

    Per triple (p, n, u), with a = 1 - f_p + f_n, q = 1 - f_p + f_u, w = 1 - f_u + f_n:
    c_p = [-2 gamma a - 2 (1 - gamma) q] / B, c_n = [2 gamma a + 2 (1 - gamma) w] / B, c_u = (1 - gamma) (2 q - 2 w) / B.

    Pairs within a mini-batch are the b-th of each source with the b-th of the others ("triplets"), as in the paper's
    Algorithm 1, or all of them: the same expectation, a lower variance, and still O(B) for the squared loss.

    In expectation the squared loss has the variances of f over the positives and over the negatives beside the distance of their
    means, weighing the same however few points of a class are labeled. Pooled, they weigh 2 pi and 2 (1 - pi), with pi the
    share of positives among the labels: (1 - 2 pi) (Var_N - Var_P) is added. With as many positives as negatives nothing changes.
    `positive_share` is not a parameter but that share, which `bind` fills in.

    Parameters
    ----------
    gamma : Trust in the labels
        Weight of the labeled pairs against pairs with unlabeled points. With 1, only the labels count.
    pairing : Pairs in a batch
        “triplets” pairs the points one by one, as in the paper. “all” uses every pair, which has less noise and the same mean.
    is_pooled : Pool the spread of both classes
        Estimate the spread of the scores from both classes together. A class with few labels says little about it.

    Notes
    -----
    Source: Quadruply Stochastic Gradients for Large Scale Nonlinear Semi-Supervised AUC Optimization (IJCAI 2019), (6), (12)-(16).

    Deviation: the paper starts from R_PU + R_UN - 1/2 = R_PN, which holds for the zero-one loss. With the squared loss the two
    sides differ by variance terms; this is the paper's objective all the same, and moving gamma shows the bias.

    Deviation: the paper has no pooled spread. Where a class has a handful of labels, its own spread asks for a function that is the
    same at all of them, and so for one that ranks by how many points there are rather than of which class.
    """

    gamma: float = real(0.5, low=0.0, high=1.0, symbol="γ")
    pairing: str = choice("triplets", options=("triplets", "all"))
    is_pooled: bool = flag(False)
    positive_share: float | None = None

    name: ClassVar[str] = "auc"
    title: ClassVar[str] = "Semi-supervised AUC"
    score_name: ClassVar[str] = "AUC"
    decision: ClassVar[str] = "cut"
    sentence: ClassVar[str] = "learns to rank positives above negatives"
    citation: ClassVar[str] = "QSG-S2AUC, Shi, Gu, Li, Geng and Huang, IJCAI 2019"
    sources: ClassVar[tuple[str, ...]] = ("positive", "negative", "unlabeled")

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        """Return the row numbers of positives (y = 1), negatives (0) and unlabeled points (-1; all points if there are none)."""
        return two_class_rows(y, "AUC")

    def bind(self, y: NDArray) -> Self:
        """Return the problem with what it takes from labels y (n,): the share of positives, where spreads are pooled."""
        if not self.is_pooled:
            return self
        rows = self.rows(y)
        return replace(self, positive_share=len(rows["positive"]) / (len(rows["positive"]) + len(rows["negative"])))

    def _weight(self, pair: tuple[str, str]) -> float:
        return self.gamma if "unlabeled" not in pair else 1.0 - self.gamma

    def coefficients(self, f: Values) -> dict[str, NDArray]:
        """Return the derivative of the batch objective by each value: Eqs. (13)-(15)."""
        c = {source: np.zeros_like(values) for source, values in f.items()}
        for upper, lower in PAIRS:
            weight = 2.0 * self._weight((upper, lower))
            margin_upper, margin_lower = self._margins(f[upper], f[lower])
            c[upper] -= margin_upper * (weight / len(f[upper]))
            c[lower] += margin_lower * (weight / len(f[lower]))
        for source, weight in self._spread_weights().items():
            values = f[source]  # the sample's variance: unbiased, as its classes' pairs are
            c[source] += (values - values.mean()) * (2.0 * weight / max(len(values) - 1, 1))
        return c

    def _spread_weights(self) -> dict[str, float]:
        """Return by how much each class's variance weighs more than as it is in the pairs."""
        if not self.is_pooled:
            return {}
        more = 1.0 - 2.0 * bound(self.positive_share)
        return {"positive": -more, "negative": more}

    def _margins(self, u: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        """Return 1 - u + v per point: paired one by one, or each point against the other source's mean."""
        if self.pairing == "triplets":
            margin = 1.0 - u + v
            return margin, margin
        return 1.0 - u + v.mean(), 1.0 - u.mean() + v

    def terms(self, f: Values) -> dict[str, float]:
        """Return the three pair terms, the constant and what pooling adds, over the mini-batch."""
        if self.pairing == "all":
            return self._terms(_losses_of_all(f), f, lost=1)
        return self._terms([mean((1.0 - f[upper] + f[lower]) ** 2) for upper, lower in PAIRS], f, lost=1)

    def risk_terms(self, f: Values) -> dict[str, float]:
        """Return the same over all pairs of whole sources, in O(n)."""
        return self._terms(_losses_of_all(f), f, lost=0)

    def _terms(self, losses: list[np.floating], f: Values, *, lost: int) -> dict[str, float]:
        """Return the terms from each pair's mean loss; the spread is of variances with so many degrees of freedom lost."""
        terms = {
            " over ".join(pair): self._weight(pair) * float(loss) for pair, loss in zip(PAIRS, losses, strict=True)
        }
        terms["constant"] = -0.5 * (1.0 - self.gamma)
        sums = {s: float(np.sum((f[s] - f[s].mean()) ** 2)) / max(len(f[s]) - lost, 1) for s in self._spread_weights()}
        return terms | ({"pooled spread": sum(w * sums[s] for s, w in self._spread_weights().items())} if sums else {})

    def usual_ridge(self, rows: Mapping[str, NDArray]) -> float:
        """Return three times that of other problems, and at least 0.01.

        Pairs of a few positives with everything are many, but say no more than these positives; and the noise that pairs with
        unlabeled points bring does not go with more labels. Where spreads are pooled it is that of two classes of the same size.
        """
        one = super().usual_ridge(rows)
        if self.is_pooled:
            one = 1.0 / (len(rows["positive"]) + len(rows["negative"]))
        return max(3.0 * one, 0.01)

    def quadratic(self, rows: dict[str, NDArray], n: int) -> tuple[NDArray, NDArray]:
        """Return Q of shape (n, n) and l of shape (n,): over all n points the risk is f'Qf / 2 + l'f + constant."""
        Q, l = np.zeros((n, n)), np.zeros(n)
        mean = {source: np.bincount(index, minlength=n) / len(index) for source, index in rows.items()}
        for upper, lower in PAIRS:
            m1, m2, weight = mean[upper], mean[lower], 2.0 * self._weight((upper, lower))
            Q += weight * (np.diag(m1 + m2) - np.outer(m1, m2) - np.outer(m2, m1))
            l += weight * (m2 - m1)
        for source, weight in self._spread_weights().items():
            m = mean[source]
            Q += 2.0 * weight * (np.diag(m) - np.outer(m, m))
        return Q, l

    def score(self, y: NDArray, f: NDArray) -> float:
        """Return the AUC, ties one half."""
        return metrics.auc(y, f)

    def twin(self) -> Self:
        """Return the problem on the labeled pairs alone (gamma = 1)."""
        return replace(self, gamma=1.0)


def _losses_of_all(f: Values) -> list[np.floating]:
    """Return the mean over all pairs of (1 - u + v)^2, which factorises into means and variances."""
    # NumPy's floats: the square of a Python float that is too large is an error, not infinite.
    moments = {source: mean_and_variance(values) for source, values in f.items()}
    mean = {source: np.float64(center) for source, (center, _) in moments.items()}
    variance = {source: float(spread) for source, (_, spread) in moments.items()}
    return [(1.0 - mean[upper] + mean[lower]) ** 2 + variance[upper] + variance[lower] for upper, lower in PAIRS]
