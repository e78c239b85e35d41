"""Squared pairwise risks as quadratic forms of a model's weights, and the methods that minimise them in closed form.

PNU-AUC and SAMULT learn from two classes. For ordered classes there is one model for each cut into two groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import BasisParameters, BinaryBaseline, OrdinalBaseline, Watch
from dsgcore.baselines.basis import FACTORS, PENALTY, Basis, solve_symmetric
from dsgcore.core.documented import estimator
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import auc
from dsgcore.core.parameters import Real, like, real
from dsgcore.estimators.classes import best_threshold, labeled_parts
from dsgcore.estimators.inputs import encode
from dsgcore.prior import PriorError, energy_class_prior
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.problem import UNLABELED, rows_where

Sets = Mapping[str, NDArray]  # from "positive", "negative" and "unlabeled" to points of shape (n_set, d)
PRIOR = Real("prior", 0.5, low=0.0, high=1.0, symbol="π", words=("estimate",)).called(
    "Assumed share of positives", "Share of positives among the unlabeled points."
)


@dataclass(frozen=True)
class PairRisk:
    """Weighted sum of squared pairwise risks R_AB = mean over a in A, b in B of (1 - (f(a) - f(b)))^2, and a constant.

    `weights` has the weight of each R_AB by the names of the sets; none is 0. If A is B, the mean includes each point paired
    with itself.
    """

    weights: Mapping[tuple[str, str], float]
    constant: float = 0.0

    def sources(self) -> tuple[str, ...]:
        """Return the names of the sets that the risk uses."""
        return tuple(dict.fromkeys(name for pair in self.weights for name in pair))

    def minimise(self, basis: Basis, sets: Sets, ridge: float, watch: Watch) -> tuple[NDArray, float]:
        """Minimise the risk of f = psi'v plus ridge |v|^2, by one linear system; return v and the objective there.

        Calls the watch after each block of the sets' rows, and with the objective at the end.
        """
        # H_AB is the mean of psi psi' over A plus that over B, minus the products of the two means.
        H, h, mean = np.diag(np.full(basis.size, ridge)), np.zeros(basis.size), {}
        for source in self.sources():
            weight = sum(w * pair.count(source) for pair, w in self.weights.items()) / len(sets[source])
            mean[source] = np.zeros(basis.size)
            for psi in basis.blocks(sets[source]):
                mean[source] += psi.sum(axis=0) / len(sets[source])
                H += psi.T @ (weight * psi)
                watch.step()
        for (a, b), w in self.weights.items():
            products = np.outer(mean[a], w * mean[b])
            H -= products
            H -= products.T
            h += w * (mean[a] - mean[b])
        v = solve_symmetric(H, h, watch.name, stacklevel=9)
        objective = self.constant + sum(self.weights.values()) - float(h @ v)  # holds because H v = h
        watch.step(objective)
        return v, objective


def pnu_risk(eta: float, prior: float) -> PairRisk:
    """Return PNU-AUC's risk, for eta in [-1, 1] and a prior in [0, 1]: J of `PNUAUC` without the ridge.

    Raise DSGError if the risk would divide by zero.
    """
    if (eta > 0.0 and prior >= 1.0) or (eta < 0.0 and prior <= 0.0):
        raise DSGError(f"prior must be {'below 1' if eta > 0.0 else 'above 0'} with eta = {eta:g}, got {prior:g}")
    e = abs(eta)
    weights = {("positive", "negative"): 1.0 - e}
    if eta > 0.0:
        weights |= {("positive", "unlabeled"): e / (1.0 - prior), ("positive", "positive"): -e * prior / (1.0 - prior)}
    elif eta < 0.0:
        weights |= {("unlabeled", "negative"): e / prior, ("negative", "negative"): -e * (1.0 - prior) / prior}
    return PairRisk({pair: weight for pair, weight in weights.items() if weight})


def samult_risk(gamma: float) -> PairRisk:
    """Return SAMULT's risk, for gamma in [0, 1]: J of `SAMULT` without the ridge."""
    rest = 1.0 - gamma
    weights = {("positive", "negative"): gamma, ("positive", "unlabeled"): rest, ("unlabeled", "negative"): rest}
    return PairRisk({pair: weight for pair, weight in weights.items() if weight}, constant=-rest / 2.0)


def estimated_prior(sets: Sets) -> float:
    """Return the share of positives among the unlabeled points, estimated by energy distance.

    If the estimate fails, return the share of positives among the labels.
    """
    try:
        share = energy_class_prior(sets["positive"], sets["negative"], sets["unlabeled"])
    except PriorError:  # both classes have the same points
        share = len(sets["positive"]) / (len(sets["positive"]) + len(sets["negative"]))
    # At 0 and 1 the risk would divide by zero.
    return min(max(share, 0.01), 0.99)


@dataclass(eq=False, repr=False, kw_only=True)
class ClosedForm(BasisParameters):
    """Base class of methods that minimise squared pairwise risks over one set of features.

    Parameters
    ----------
    penalty
        Norm of the ridge: the squared length of the weights as in the authors' program, half of it, or half the
        squared norm of f in the kernel's space.
    """

    penalty: str = like(PENALTY, default="euclidean", options=tuple(FACTORS))

    growth = 3.0  # a system of as many equations as centres

    def _minimise(
        self, X: NDArray, risks: Sequence[PairRisk], sets: Sequence[Sets], s: dict[str, Any], watch: Watch
    ) -> tuple[Basis, list[tuple[NDArray, float]]]:
        """Return the features, and the minimiser of each risk on its sets with the objective there."""
        basis = self._basis(X, s)
        pairs = list(zip(risks, sets, strict=True))
        watch.total = sum(1 + sum(len(basis.pieces(len(own[name]))) for name in risk.sources()) for risk, own in pairs)
        ridge = s["lam"] * FACTORS[s["penalty"]]
        return basis, [risk.minimise(basis, own, ridge, watch) for risk, own in pairs]


class AUCBaseline(ClosedForm, BinaryBaseline):
    """Base class of methods that rank positives above negatives by minimising a squared pairwise risk in closed form.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The scorer f. Its `coef` is theta.
    threshold_ : float
        Decision threshold of `predict`. It maximises the balanced accuracy on the labeled points.
    objective_ : float
        J at the solution.
    """

    objective_: float

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        """Return the risk to minimise."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        sets = {"positive": X[y == 1.0], "negative": X[y == -1.0], "unlabeled": X[rows_where(y == 0.0, or_all=True)]}
        basis, ((v, self.objective_),) = self._minimise(X, [self._risk(sets, s)], [sets], s, watch)
        self.model_ = basis.model(v)
        is_labeled = y != 0.0
        self.threshold_ = best_threshold(y[is_labeled] > 0.0, self.model_.evaluate(X[is_labeled]))


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
    prior_, eta_ : float
        The share of positives and the weight that were used.

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

    For an example see `dsgcore.QSGS2AUC`.
    """

    title = "PNU-AUC"
    citation = "Sakai, Niu and Sugiyama, Machine Learning 2018"
    sentence = "learns to rank from pairs of a labeled and an unlabeled point, in closed form, and needs the share of positives"

    eta: float = real(0.5, low=-1.0, high=1.0, symbol="η")
    prior: float | str = like(PRIOR, "estimate")

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        self.prior_ = estimated_prior(sets) if s["prior"] == "estimate" else s["prior"]
        self.eta_ = s["eta"]
        return pnu_risk(self.eta_, self.prior_)


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
    For an example see `dsgcore.QSGS2AUC`.
    """

    title = "SAMULT"
    citation = "Xie and Li, AAAI 2018"
    sentence = "learns to rank as if each unlabeled point were both positive and negative, in closed form"

    gamma: float = real(0.5, low=0.0, high=1.0, symbol="γ")

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        return samult_risk(s["gamma"])


class CutBaseline(ClosedForm, OrdinalBaseline):
    """Base class of methods that learn a binary model for each cut of the classes.

    At cut j, codes from j on are positive, and codes before j are negative.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The k - 1 functions.
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on the functions' mean that separate the classes, in rising order.
    objectives_ : ndarray of shape (k - 1,)
        J of each model at its solution.

    Warns
    -----
    UserWarning
        From `fit`, if thresholds coincide: then no point can get a class between them.
    """

    def _risks(self, sets: Sequence[Sets], s: dict[str, Any]) -> list[PairRisk]:
        """Return the risk to minimise at each cut."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        is_labeled, unlabeled = y != UNLABELED, X[rows_where(y == UNLABELED, or_all=True)]
        # Points of the classes from code j on, and of those before.
        sets = [
            {"positive": X[y >= j], "negative": X[is_labeled & (y < j)], "unlabeled": unlabeled}
            for j in range(1, y.max() + 1)
        ]
        basis, minima = self._minimise(X, self._risks(sets, s), sets, s, watch)
        self.model_ = basis.model(np.column_stack([v for v, _ in minima]))
        values = self.model_.evaluate(X[is_labeled]).mean(axis=1)
        self.thresholds_ = thresholds(y[is_labeled], values, loss="hinge", margin=0.0)

    def cut_functions(self, X: ArrayLike) -> NDArray:
        """Return f_1(x) .. f_{k-1}(x), of shape (n, k - 1). A larger f_j puts x further above cut j."""
        return self._values(X)

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return the mean of the cuts' models, of shape (n,). Larger values belong to later classes."""
        return self.cut_functions(X).mean(axis=1)

    def mean_auc(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean AUC over the k - 1 cuts, each with its own model: Eq. (2) of the QS3ORAO paper.

        Arguments are as in `dsgcore.QS3ORAO`. Cuts without a point on either side are left out.
        """
        f = self.cut_functions(X)
        codes = encode(y, self.classes_)[1]
        (codes, f), _ = labeled_parts(codes != UNLABELED, None, codes, f)
        areas = np.array([auc(codes >= j, f[:, j - 1]) for j in range(1, len(self.classes_))])
        return float(np.nanmean(areas)) if np.isfinite(areas).any() else float("nan")


def for_each_cut(name: str, value: Any, cuts: int) -> tuple[Any, ...]:
    """Return a checked value for each of `cuts` cuts; raise DSGError, with the `name`, if their number differs."""
    values = value if isinstance(value, tuple) else (value,) * cuts
    if len(values) != cuts:
        raise DSGError(f"{name} must be one number or {cuts}, one less than there are classes, got {len(values)}")
    return values


@estimator
class MSAMULT(CutBaseline):
    """Semi-supervised ordinal regression by k - 1 models of SAMULT, one for each cut of the classes.

    Notes
    -----
    Source: the comparisons of the QS3ORAO paper (AAAI 2020), with `dsgcore.baselines.SAMULT`. The paper
    measures the mean of the models' areas under the curve, as `mean_auc` does. It has no rule for predicting classes.
    Here the thresholds of `dsgcore.QS3ORAO` cut the mean of the models' values into classes.
    """

    title = "M-SAMULT"
    citation = "Xie and Li, AAAI 2018, one model for each cut"
    sentence = "ranks ordered classes by one SAMULT model for each cut into two groups"

    gamma: float | ArrayLike = like(SAMULT, "gamma", many=True)

    def _risks(self, sets: Sequence[Sets], s: dict[str, Any]) -> list[PairRisk]:
        return [samult_risk(gamma) for gamma in for_each_cut("gamma", s["gamma"], len(sets))]


@estimator
class MPNUAUC(CutBaseline):
    """Semi-supervised ordinal regression by k - 1 models of PNU-AUC, one for each cut of the classes.

    Parameters
    ----------
    prior : Share above each cut
        Share of the unlabeled points in the classes above a cut.

    Attributes
    ----------
    priors_ : ndarray of shape (k - 1,)
        The shares that were used.

    Warns
    -----
    UserWarning
        From `fit`, if thresholds coincide, or if a system is singular or indefinite (see `PNUAUC`).

    Notes
    -----
    Source: the comparisons of the QS3ORAO paper (AAAI 2020), with `dsgcore.baselines.PNUAUC`. For the measure
    and the classes see `MSAMULT`.
    """

    title = "M-PNU-AUC"
    citation = "Sakai, Niu and Sugiyama, Machine Learning 2018, one model for each cut"
    sentence = "ranks ordered classes by one PNU-AUC model for each cut into two groups"

    eta: float | ArrayLike = like(PNUAUC, "eta", many=True)
    prior: float | str | ArrayLike = like(PRIOR, "estimate", many=True)

    def _risks(self, sets: Sequence[Sets], s: dict[str, Any]) -> list[PairRisk]:
        etas = for_each_cut("eta", s["eta"], len(sets))
        priors = tuple(map(estimated_prior, sets)) if s["prior"] == "estimate" else s["prior"]
        self.priors_ = np.array(for_each_cut("prior", priors, len(sets)))
        return [pnu_risk(eta, prior) for eta, prior in zip(etas, self.priors_, strict=True)]
