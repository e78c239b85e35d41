"""PNU-AUC and SAMULT: semi-supervised AUC maximisation from pairwise risks, in closed form."""

from __future__ import annotations

from typing import Any

from dsgcore.baselines.pair_risk import AUCBaseline, PairRisk, Sets, estimated_prior, pnu_risk, samult_risk
from dsgcore.baselines.parameters import Prior
from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like, real


@estimator
class PNUAUC(AUCBaseline):
    """Semi-supervised AUC maximisation by PNU-AUC, in closed form.

    With f = sum_j theta_j k(x, c_j), R_AB the mean of (1 - (f(a) - f(b)))^2 over pairs, p = prior, e = |eta|,
    R_PU* = (R_PU - p R_PP) / (1 - p) and R_NU* = (R_UN - (1 - p) R_NN) / p, it solves for the zero gradient of

        J(theta) = (1 - e) R_PN + e R_PU* + lam |theta|^2      if eta >= 0,
        J(theta) = (1 - e) R_PN + e R_NU* + lam |theta|^2      if eta < 0.

    Parameters
    ----------
    eta : Weight of unlabeled pairs
        Weight of pairs with unlabeled points. Positive values pair positives with them, negative values pair
        negatives.

    Attributes
    ----------
    prior_ : float
        The share of positives that was used.

    Warns
    -----
    IllPosedWarning
        From `fit`, if the system is singular or indefinite. J subtracts R_PP and R_NN, and so need not have a minimum
        if lam is small. The system is solved unchanged, as in the authors' program.

    Notes
    -----
    If the prior is "estimate", it is estimated by energy distance and cut to [0.01, 0.99].

    Source: T. Sakai, G. Niu and M. Sugiyama, Semi-supervised AUC optimization based on positive-unlabeled learning,
    Machine Learning, 2018, (9)-(14).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore.baselines import PNUAUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # nine labels of ten hidden
    >>> model = PNUAUC(sigma=0.5, lam=0.1).fit(X, few)
    >>> bool(roc_auc_score(y, model.decision_function(X)) > 0.97)
    True
    """

    title = "PNU-AUC"
    citation = "Sakai, Niu and Sugiyama, Machine Learning 2018"
    sentence = "learns to rank from pairs of a labeled and an unlabeled point, in closed form, and needs the share of positives"

    eta: float = real(0.5, low=-1.0, high=1.0, symbol="η")
    prior: float | str = like(
        Prior(
            "prior",
            0.5,
            low=0.0,
            high=1.0,
            symbol="π",
            label="Assumed share of positives",
            sentence="Share of positives among the unlabeled points.",
        ),
        "estimate",
    )

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        self.prior_ = estimated_prior(sets) if s["prior"] == "estimate" else s["prior"]
        return pnu_risk(s["eta"], self.prior_)


@estimator
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
    sentence = "learns to rank as if each unlabeled point were both positive and negative, in closed form"

    gamma: float = real(0.5, low=0.0, high=1.0, symbol="γ")

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        return samult_risk(s["gamma"])
