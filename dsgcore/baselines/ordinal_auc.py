"""PNU-AUC and SAMULT for ordered classes: one model for each cut of the classes into two groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import OrdinalBaseline
from dsgcore.baselines.pair_risk import ClosedForm, PairRisk, Sets, estimated_prior, pnu_risk, samult_risk
from dsgcore.baselines.parameters import OneOrSeveral, Priors, for_each_cut
from dsgcore.baselines.pnu_auc import PNUAUC, SAMULT
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import estimator
from dsgcore.core.metrics import auc
from dsgcore.core.parameters import like, parameter_like
from dsgcore.estimators.inputs import encode
from dsgcore.estimators.scores import labeled_parts
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.problem import UNLABELED, unlabeled_rows


class CutBaseline(ClosedForm, OrdinalBaseline):
    """Base class of methods that learn a binary model for each cut of the classes.

    At cut j, codes from j on are positive, and codes before j are negative.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The k - 1 functions.
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on the functions' mean that separate the classes, in rising order.
    conditions_ : ndarray of shape (k - 1,)
        Estimated condition numbers of the systems.
    objectives_ : ndarray of shape (k - 1,)
        J of each model at its solution.

    Warns
    -----
    UserWarning
        From `fit`, if thresholds coincide: then no point can get a class between them.
    """

    conditions_: NDArray

    def _risks(self, sets: Sequence[Sets], s: dict[str, Any]) -> list[PairRisk]:
        """Return the risk to minimise at each cut."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        is_labeled, unlabeled = y != UNLABELED, X[unlabeled_rows(y == UNLABELED)]
        # Points of the classes from code j on, and of those before.
        sets = [
            {"positive": X[y >= j], "negative": X[is_labeled & (y < j)], "unlabeled": unlabeled}
            for j in range(1, y.max() + 1)
        ]
        design, minima = self._minimise(X, self._risks(sets, s), sets, s, watch)
        self.conditions_ = np.array([solution.condition for solution, _ in minima])
        self.model_ = design.model(np.column_stack([solution.x for solution, _ in minima]))
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


@estimator
class MSAMULT(CutBaseline):
    """Semi-supervised ordinal regression by k - 1 models of SAMULT, one for each cut of the classes.

    Notes
    -----
    Source: the comparisons of the QS3ORAO paper (AAAI 2020), with `dsgcore.baselines.pnu_auc.SAMULT`. The paper
    measures the mean of the models' areas under the curve, as `mean_auc` does. It has no rule for predicting classes.
    Here the thresholds of `dsgcore.QS3ORAO` cut the mean of the models' values into classes.
    """

    title = "M-SAMULT"
    citation = "Xie and Li, AAAI 2018, one model for each cut"
    sentence = "ranks ordered classes by one SAMULT model for each cut into two groups"

    gamma: float | ArrayLike = like(OneOrSeveral(**vars(parameter_like(SAMULT, "gamma"))))

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
    Source: the comparisons of the QS3ORAO paper (AAAI 2020), with `dsgcore.baselines.pnu_auc.PNUAUC`. For the measure
    and the classes see `MSAMULT`.
    """

    title = "M-PNU-AUC"
    citation = "Sakai, Niu and Sugiyama, Machine Learning 2018, one model for each cut"
    sentence = "ranks ordered classes by one PNU-AUC model for each cut into two groups"

    eta: float | ArrayLike = like(OneOrSeveral(**vars(parameter_like(PNUAUC, "eta"))))
    prior: float | str | ArrayLike = like(Priors(**vars(parameter_like(PNUAUC, "prior"))), "estimate")

    def _risks(self, sets: Sequence[Sets], s: dict[str, Any]) -> list[PairRisk]:
        etas = for_each_cut("eta", s["eta"], len(sets))
        priors = tuple(map(estimated_prior, sets)) if s["prior"] == "estimate" else s["prior"]
        self.priors_ = np.array(for_each_cut("prior", priors, len(sets)))
        return [pnu_risk(eta, prior) for eta, prior in zip(etas, self.priors_, strict=True)]
