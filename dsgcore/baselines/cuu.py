"""CUU: mini-batch gradient descent on explicit kernel features with the corrected risk of two unlabeled sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.basis import Basis, BasisModel, choose_centers
from dsgcore.baselines.pairs_base import PairsBaseline, split_sources
from dsgcore.baselines.progress import Watch
from dsgcore.baselines.uu_risk import MARGIN_LOSSES, SLOPES_BELOW_ZERO, UURisk, similar_unlabeled_risk
from dsgcore.core.documented import documented
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import like
from dsgcore.core.plan import SCHEDULES
from dsgcore.core.sampling import batch_rows
from dsgcore.core.solver_parameters import SolverParameters
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class CUU(PairsBaseline):
    """Classification from similar pairs and unlabeled points by CUU: corrected risk, mini-batches, kernel features.

    With f = w'[k(x, c_1) .. k(x, c_m), 1] it minimises, by stochastic gradient descent,

        J(w) = delta(A_1) + delta(A_2) + (lam / 2) |w|^2.

    A_1 and A_2 are the risks of the two classes (see `dsgcore.baselines.uu_risk.UURisk`). Each iteration estimates
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
    sentence = "learns from similar pairs by mini-batches on kernels at fixed centres, risk corrected"

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
