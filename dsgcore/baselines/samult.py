"""SAMULT: semi-supervised AUC maximisation that takes unlabeled points as both classes, in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from dsgcore.baselines.auc_base import AUC_PARAMETERS, AUCBaseline
from dsgcore.baselines.pair_risk import PairRisk, samult_risk
from dsgcore.core.parameters import Parameter, Real

GAMMA = Real(
    "gamma",
    0.5,
    low=0.0,
    high=1.0,
    symbol="γ",
    label="Weight of labeled pairs",
    sentence="How much pairs of labeled points count; the rest is that of pairs with unlabeled ones.",
)


@dataclass(eq=False, repr=False, kw_only=True)
class SAMULT(AUCBaseline):
    """Semi-supervised AUC maximisation by SAMULT, in closed form.

    With f = sum_j theta_j k(x, c_j) and R_AB the mean of (1 - (f(a) - f(b)))^2 over pairs, the minimiser of

        J(theta) = gamma R_PN + (1 - gamma) (R_PU + R_UN - 1/2) + lam |theta|^2,

    or with the ridge in another norm: with "half rkhs" and all points as centres it is where `dsgcore.QSGS2AUC` goes.

    Parameters
    ----------
    kernel, sigma, length, nu, power, lam, penalty, centers, memory_limit, random_state
        As in `dsgcore.baselines.pnu_auc.PNUAUC`.
    gamma : float in [0, 1], default=0.5
        Weight of the labeled pairs; 1 - gamma is that of the pairs with unlabeled points.

    Attributes
    ----------
    classes_, model_, threshold_, condition_, objective_, memory_, objectives_, n_iter_, converged_, n_features_in_
        As in `dsgcore.baselines.pnu_auc.PNUAUC`.

    Notes
    -----
    Source: Z. Xie and M. Li, Semi-Supervised AUC Optimization Without Guessing Labels of Unlabeled Data, AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore.baselines import SAMULT
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # nine labels of ten hidden
    >>> model = SAMULT(sigma=0.5, lam=0.1).fit(X, few)
    >>> roc_auc_score(y, model.decision_function(X)) > 0.97
    True
    """

    title: ClassVar[str] = "SAMULT"
    citation: ClassVar[str] = "Xie and Li, AAAI 2018"
    sentence: ClassVar[str] = "ranks with unlabeled points taken as both classes, in closed form"
    parameters: ClassVar[tuple[Parameter, ...]] = (GAMMA, *AUC_PARAMETERS)

    gamma: float = 0.5

    def _risk(self, sets: Mapping[str, NDArray], s: dict[str, Any]) -> PairRisk:
        return samult_risk(s["gamma"])
