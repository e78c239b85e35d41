"""SAMULT: semi-supervised AUC maximisation that takes unlabeled points as both classes, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsgcore.baselines.pair_risk import AUCBaseline, PairRisk, Sets, samult_risk
from dsgcore.core.documented import documented
from dsgcore.core.parameters import real


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SAMULT(AUCBaseline):
    """Semi-supervised AUC maximisation by SAMULT, in closed form.

    With f = sum_j theta_j k(x, c_j) and R_AB the mean of (1 - (f(a) - f(b)))^2 over pairs, it minimises

        J(theta) = gamma R_PN + (1 - gamma) (R_PU + R_UN - 1/2) + lam |theta|^2,

    or the same with the ridge in another norm. With "half rkhs" and all points as centres, the minimiser is the limit
    of `dsgcore.QSGS2AUC`.

    Parameters
    ----------
    gamma : Weight of labeled pairs
        Weight of pairs of labeled points. Pairs with unlabeled points have the remaining weight.

    Notes
    -----
    Source: Z. Xie and M. Li, Semi-Supervised AUC Optimization Without Guessing Labels of Unlabeled Data, AAAI 2018.
    For an example see `PNUAUC`.
    """

    title = "SAMULT"
    citation = "Xie and Li, AAAI 2018"
    sentence = "ranks with unlabeled points taken as both classes, in closed form"

    gamma: float = real(0.5, low=0.0, high=1.0, symbol="γ")

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        return samult_risk(s["gamma"])
