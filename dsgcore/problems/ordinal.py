"""QS3ORAO: semi-supervised ordinal regression by AUC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import choice, real
from dsgcore.problems.ranking import RankingProblem
from dsgcore.problems.thresholds import check_classes, mean_auc
from dsgcore.solver.problem import UNLABELED, ProblemError, Sections, bound, rows_where


@documented
@dataclass(frozen=True)
class SemiSupervisedOrdinal(RankingProblem):
    """Semi-supervised ordinal AUC risk: k ordered classes should rank in order, and unlabeled points serve as all classes.

    There are k - 1 sub-problems. In sub-problem j the classes above j are the positives and the others the negatives.
    Each class has its share of the labels there. The data term of the objective is the mean over j of QSG-S2AUC's,

        gamma_j R_PN + (1 - gamma_j) (R_PU + R_UN - 1/2),   R_AB = mean over pairs (a, b) of (1 - f(a) + f(b))^2.

    It is linear in the risks between single classes, so that one mini-batch per class serves all sub-problems. It
    equals sum_ab W_ab R_ab over ordered pairs of sources, where W is `risk_weights`. The coefficient of the i-th point
    of source a is (2 / n_a) sum_b [(W_ba - W_ab) + (W_ab + W_ba) (f_a,i - v_b)]. If points are paired, v_b is the i-th
    value of source b, else the mean of its values.

    gamma is one number for all sub-problems, or a list with one for each. `shares` is each class's share of the
    labeled points. It is not a parameter: `bind` computes it from the labels.

    Parameters
    ----------
    gamma : Trust in the labels
        Weight of the labeled pairs against pairs with unlabeled points. With 1, only the labels count.
    pairing : Pairs in a batch
        The value “paired” pairs the points one by one, as in the paper. The value “all” takes every pair, which has
        less noise and the same mean.

    Notes
    -----
    Source: Quadruply Stochastic Gradient Method for Large Scale Nonlinear Semi-Supervised Ordinal Regression
    AUC Optimization (AAAI 2020), (7)-(10) and Algorithm 1. Thresholds after training:
    `dsgcore.problems.thresholds`.

    Deviation: (13) and line 11 of Algorithm 1 attach l_5 to n and l_6 to u, the wrong way round. (10) is right (l_5 to
    u, l_6 to n). The kernel of the experiments, exp(sigma ||x - x'||^2), lacks a minus sign.

    Deviation: Algorithm 1 draws a positive and a negative for each sub-problem from the union of its classes.
    Here every class has a mini-batch, as in the paper's text. Within a sub-problem the classes are weighted by
    their shares. This keeps the expectation and lowers the variance, and no class is ever without a point.

    The identity R_PU + R_UN - 1/2 = R_PN holds for the zero-one loss, but not for the squared one; see
    `SemiSupervisedAUC`.
    """

    gamma: float | tuple[float, ...] = real(0.5, low=0.0, high=1.0, symbol="γ", many=True)
    pairing: str = choice("paired", options=("paired", "all"))
    shares: tuple[float, ...] | None = None

    name = "ordinal"
    title = "Semi-supervised ordinal regression"
    score_name = "mean AUC"
    sentence = "learns to rank points of ordered classes"
    citation = "QS3ORAO, Shi, Gu, Li and Huang, AAAI 2020"
    labels = "ordinal"
    decision = "ranks"
    defaults: ClassVar[Sections] = {
        "data": {"name": "ordinal_rings", "n_labeled": 10},
        "kernel": {"sigma": 0.5},
        "solver": {"lam": 0.02, "step_size": 0.5},
    }
    other_sets: ClassVar[Sections] = {"data": {"n_labeled": 50}, "solver": {"lam": 0.1}}

    def bind(self, y: NDArray) -> Self:
        """Return the problem bound to labels y (n,): class codes 0 .. k - 1 in their order, and -1 for unlabeled.

        Binding sets the number of classes and their shares. Raise `ProblemError` if `rows` raises it, or if gamma is a
        list whose length is not k - 1.
        """
        labels = np.asarray(y)
        labels = labels[labels != UNLABELED]
        check_classes(labels)
        counts = np.bincount(labels.astype(int)).tolist()
        if isinstance(self.gamma, tuple) and len(self.gamma) != len(counts) - 1:
            raise ProblemError(
                f"gamma must be one number or {len(counts) - 1}, one for each place where {len(counts)} classes "
                f"can be cut in two, got {len(self.gamma)}"
            )
        return replace(self, shares=tuple(count / sum(counts) for count in counts))

    @property
    def n_classes(self) -> int:
        """The number of classes k."""
        return len(bound(self.shares))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources: class 1 .. class k, with codes 0 .. k - 1, and unlabeled."""
        return (*(f"class {j}" for j in range(1, self.n_classes + 1)), "unlabeled")

    def rows(self, y: NDArray) -> dict[str, NDArray]:
        """Return the row numbers of each class and of the unlabeled points; y as in `bind`.

        If there are no unlabeled points, all points are used for them.

        Raise `ProblemError` if a class has no labeled point, if there is only one class, or if the problem is bound to
        others.
        """
        y = np.asarray(y)
        classes = check_classes(y[y != UNLABELED])
        if self.shares is not None and len(classes) != len(self.shares):
            raise ProblemError(f"this problem is bound to {len(self.shares)} classes, got {len(classes)}")
        rows = {f"class {j + 1}": rows_where(y == j) for j in range(len(classes))}
        return {**rows, "unlabeled": rows_where(y == UNLABELED, or_all=True)}

    @cached_property
    def risk_weights(self) -> NDArray:
        """W of shape (k + 1, k + 1), in the order of `sources`: weight of the risk that row should score above column."""
        # Row j - 1 of these is the sub-problem that cuts before class j + 1, or class code j.
        k, shares = self.n_classes, np.array(self.shares)
        above, unlabeled = np.triu(np.tile(shares, (k, 1)))[1:], np.zeros((k - 1, 1))
        below = shares - above
        gammas = np.broadcast_to(np.asarray(self.gamma, dtype=float), k - 1)[:, None]
        above = np.hstack([above / above.sum(axis=1, keepdims=True), unlabeled])
        below = np.hstack([below / below.sum(axis=1, keepdims=True), unlabeled])
        W = (gammas * above).T @ below
        W[:, k] += ((1.0 - gammas) * above).sum(axis=0)
        W[k] += ((1.0 - gammas) * below).sum(axis=0)
        return W / (k - 1)

    def _named(self, parts: NDArray) -> dict[str, float]:
        return {
            "class over class": float(parts[:-1, :-1].sum()),
            "class over unlabeled": float(parts[:-1, -1].sum()),
            "unlabeled over class": float(parts[-1, :-1].sum()),
        }

    def score(self, y: NDArray, f: NDArray) -> float:
        return mean_auc(y, f)
