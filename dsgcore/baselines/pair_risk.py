"""Squared pairwise risks as quadratic forms of a model's weights, and base classes of methods that minimise them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import Baseline, BinaryBaseline
from dsgcore.baselines.basis import choose_centers
from dsgcore.baselines.design import FACTORS, PENALTY, Design, Solution, add_products, make_design, solve_symmetric
from dsgcore.baselines.parameters import CENTERS, FEATURES, LAM
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import SEED, described
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import like
from dsgcore.estimators.classes import best_threshold
from dsgcore.estimators.kernel import KernelParameters
from dsgcore.prior import PriorError, energy_class_prior
from dsgcore.solver.problem import unlabeled_rows

Sets = Mapping[str, NDArray]  # from "positive", "negative" and "unlabeled" to points of shape (n_set, d)


@dataclass(frozen=True)
class PairRisk:
    """Weighted sum of squared pairwise risks R_AB = mean over a in A, b in B of (1 - (f(a) - f(b)))^2.

    If A is B, the mean includes each point paired with itself.

    Parameters
    ----------
    weights : mapping from (A, B) to float
        Weight of each R_AB, by the names of the sets.
    constant : float, default 0.0
        Constant added to the sum.
    """

    weights: Mapping[tuple[str, str], float]
    constant: float = 0.0

    def sources(self) -> tuple[str, ...]:
        """Return the names of the sets that the risk uses."""
        return tuple(dict.fromkeys(name for pair, weight in self.weights.items() if weight for name in pair))

    def value(self, f: Mapping[str, NDArray]) -> float:
        """Return the risk at values f, a mapping from a set's name to an array (n_set,)."""
        return self.constant + sum(w * _pairwise(f[a], f[b]) for (a, b), w in self.weights.items() if w)

    def system(self, design: Design, sets: Sets, watch: Watch) -> tuple[NDArray, NDArray]:
        """Return H and h such that the risk of f = psi'v, psi the design's features, is v'Hv - 2 h'v + `at_zero()`.

        Calls the watch after each block of the sets' rows.
        """
        H, mean = np.zeros((design.basis.size,) * 2), {}
        room = np.empty_like(H)
        for source in self.sources():
            # H_AB is the mean of psi psi' over A plus that over B, minus the products of the two means.
            weight = sum(w * pair.count(source) for pair, w in self.weights.items()) / len(sets[source])
            mean[source] = np.zeros(design.basis.size)
            for psi in design.blocks(sets[source]):
                mean[source] += psi.sum(axis=0) / len(sets[source])
                add_products(H, psi, weight, room)
                watch.step()
        h = np.zeros(design.basis.size)
        for (a, b), w in self.weights.items():
            if w:
                np.multiply.outer(mean[a], w * mean[b], out=room)
                H -= room
                H -= room.T
                h += w * (mean[a] - mean[b])
        return H, h

    def at_zero(self) -> float:
        """Return the risk of f = 0."""
        return self.constant + sum(self.weights.values())


def _pairwise(a: NDArray, b: NDArray) -> float:
    """Return the mean of (1 - (a_i - b_j))^2 over all pairs."""
    difference = 1.0 - (a.mean() - b.mean())
    return float(difference**2 + a.var() + b.var())


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
    return PairRisk(weights)


def samult_risk(gamma: float) -> PairRisk:
    """Return SAMULT's risk, for gamma in [0, 1]: J of `dsgcore.baselines.SAMULT` without the ridge."""
    rest = 1.0 - gamma
    weights = {("positive", "negative"): gamma, ("positive", "unlabeled"): rest, ("unlabeled", "negative"): rest}
    return PairRisk(weights, constant=-rest / 2.0)


def minimise(risk: PairRisk, design: Design, sets: Sets, s: Mapping[str, Any], watch: Watch) -> tuple[Solution, float]:
    """Minimise the risk plus lam times the penalty, by solving one linear system.

    Return the solution and the objective there. Calls `watch` after each block of rows, and with the objective at the
    end.
    """
    H, h = risk.system(design, sets, watch)
    H[np.diag_indices(len(H))] += s["lam"] * FACTORS[s["penalty"]]
    solution = solve_symmetric(H, h)
    objective = risk.at_zero() - float(h @ solution.x)  # holds because H v = h
    watch.step(objective)
    return solution, objective


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
class ClosedForm(KernelParameters, Baseline):
    """Base class of methods that minimise squared pairwise risks over one set of features.

    Parameters
    ----------
    penalty
        Norm of the ridge: the squared length of the weights as in the authors' program, half of it, or half the
        squared norm of f in the kernel's space.
    random_state
        Seed for drawing the centres.
    """

    kernels = FEATURES

    lam: float = like(LAM)
    penalty: str = like(PENALTY, default="euclidean", options=tuple(FACTORS))
    centers: int | ArrayLike | None = like(CENTERS)
    random_state: int | np.random.RandomState | None = described(None, SEED)

    def _minimise(
        self, X: NDArray, risks: list[PairRisk], sets: Sequence[Sets], s: dict[str, Any], watch: Watch
    ) -> tuple[Design, list[tuple[Solution, float]]]:
        """Return the features, and the minimiser of each risk on its sets."""
        design = make_design(self._kernel(X), choose_centers(X, s["centers"], self._seed()), s["penalty"])
        pairs = list(zip(risks, sets, strict=True))
        watch.expect(sum(1 + sum(design.count(len(own[source])) for source in risk.sources()) for risk, own in pairs))
        minima = [minimise(risk, design, own, s, watch) for risk, own in pairs]
        for solution, _ in minima:
            solution.warn(type(self).__name__)
        return design, minima


class AUCBaseline(ClosedForm, BinaryBaseline):
    """Base class of methods that rank positives above negatives by minimising a squared pairwise risk in closed form.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The scorer f. Its `coef` is theta.
    threshold_ : float
        Decision threshold of `predict`. It maximises the balanced accuracy on the labeled points.
    condition_ : float
        Estimated condition number of the system.
    objective_ : float
        J at the solution.
    """

    condition_: float
    objective_: float

    def _risk(self, sets: Sets, s: dict[str, Any]) -> PairRisk:
        """Return the risk to minimise."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        sets = {"positive": X[y == 1.0], "negative": X[y == -1.0], "unlabeled": X[unlabeled_rows(y == 0.0)]}
        design, ((best, self.objective_),) = self._minimise(X, [self._risk(sets, s)], [sets], s, watch)
        self.model_, self.condition_ = design.model(best.x), best.condition
        is_labeled = y != 0.0
        self.threshold_ = best_threshold(y[is_labeled] > 0.0, self.model_.evaluate(X[is_labeled]))
