"""What the two methods that maximise the AUC in closed form share, and their versions for ordered classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.baselines.base import Baseline, BinaryBaseline
from dsgcore.baselines.basis import choose_centers, count_centers
from dsgcore.baselines.design import FACTORS, PENALTY, Design, make_design, system_numbers
from dsgcore.baselines.linear_system import Solution, solve_symmetric
from dsgcore.baselines.memory import Memory, larger, numbers
from dsgcore.baselines.pair_risk import PairRisk
from dsgcore.baselines.parameters import CENTERS, FEATURES, LAM
from dsgcore.baselines.progress import Watch
from dsgcore.core.documented import SEED, told
from dsgcore.core.parameters import as_said
from dsgcore.core.problem import unlabeled_rows
from dsgcore.estimators.classes import best_threshold
from dsgcore.estimators.kernel import KernelParameters
from dsgcore.prior import ROWS_AT_A_TIME, PriorError, energy_class_prior


@dataclass(frozen=True, eq=False)
class Optimum:
    """The minimiser of a pairwise risk with its ridge: weights, the objective there, and the system's solution."""

    weights: NDArray
    objective: float
    solution: Solution


def minimise(
    risk: PairRisk, design: Design, sets: Mapping[str, NDArray], s: Mapping[str, Any], watch: Watch
) -> Optimum:
    """Minimise the risk plus lam times the penalty: one linear system.

    Parameters
    ----------
    risk : PairRisk
    design : Design
        Features in which the penalty is a sum of squares.
    sets : mapping from name to ndarray of shape (n_set, d)
    s : mapping
        Has `lam` and `penalty`.
    watch : Watch
        Is told after each block of rows, and the objective at the end.
    """
    H, h = risk.system(design, sets, watch)
    H[np.diag_indices(len(H))] += s["lam"] * FACTORS[s["penalty"]]
    solution = solve_symmetric(H, h)
    objective = risk.at_zero() - float(h @ solution.x)  # where H v = h
    watch.step(objective)
    return Optimum(solution.x, objective, solution)


def count_steps(risk: PairRisk, design: Design, sets: Mapping[str, NDArray]) -> int:
    """Return how often `minimise` tells the watch."""
    return sum(design.count(len(sets[source])) for source in risk.sources()) + 1


def estimated_prior(sets: Mapping[str, NDArray]) -> float:
    """Return the share of positives among the unlabeled points by energy distance, or else that of the labels."""
    try:
        share = energy_class_prior(sets["positive"], sets["negative"], sets["unlabeled"])
    except PriorError:  # the classes have the same points
        share = len(sets["positive"]) / (len(sets["positive"]) + len(sets["negative"]))
    # At 0 and 1 the risk would divide by nothing.
    return min(max(share, 0.01), 0.99)


def check_prior(prior: float, eta: float) -> None:
    """Refuse a prior at which the risk divides by zero."""
    if (eta > 0.0 and prior >= 1.0) or (eta < 0.0 and prior <= 0.0):
        raise ValueError(f"prior must be {'below 1' if eta > 0.0 else 'above 0'} with eta = {eta:g}, got {prior:g}")


@dataclass(eq=False, repr=False, kw_only=True)
class ClosedForm(KernelParameters, Baseline):
    """What minimises one squared pairwise risk, or several, over the same features.

    Parameters
    ----------
    penalty
        The ridge: the squared length of the weights as in the authors' program, half of it, or half the squared norm
        of f in the kernel's space.
    random_state
        Seed of the centres.
    """

    kernels: ClassVar[tuple[str, ...]] = FEATURES
    unlabeled: ClassVar[int]  # what `_learn` gets for an unlabeled point

    lam: float = as_said(LAM)
    penalty: str = as_said(PENALTY, default="euclidean", options=tuple(FACTORS))
    centers: int | ArrayLike | None = as_said(CENTERS)
    random_state: int | np.random.RandomState | None = told(None, SEED)

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        m = d if getattr(self, "kernel", "gaussian") == "lm" else count_centers(n, s["centers"])
        need = numbers(system_numbers(n, m, s["penalty"]), f"a system of {m:,} equations")
        if s.get("prior") != "estimate":
            return need
        side, others = (n, n) if y is None else _side_and_unlabeled(y, self.unlabeled)
        count = 2 * min(ROWS_AT_A_TIME, side) * max(side, others)
        prior = numbers(count, "the distances from which the share of positives is estimated")
        # One comes after the other, but what the first leaves is not always used again.
        return replace(larger(need, prior), bytes=need.bytes + prior.bytes)

    def _minimise(
        self, X: NDArray, risks: list[PairRisk], sets: list[dict[str, NDArray]], s: dict[str, Any], watch: Watch
    ) -> tuple[Design, list[Optimum]]:
        """Return the features, and the minimiser of each risk on its sets."""
        design = make_design(self._kernel(X), choose_centers(X, s["centers"], self._seed()), s["penalty"])
        watch.expect(sum(count_steps(risk, design, own) for risk, own in zip(risks, sets, strict=True)))
        optima = [minimise(risk, design, own, s, watch) for risk, own in zip(risks, sets, strict=True)]
        for optimum in optima:
            optimum.solution.warn(type(self).__name__)
        return design, optima


def _side_and_unlabeled(y: NDArray, unlabeled: int) -> tuple[int, int]:
    """Return how many points the larger side of any cut through the labels has, and how many are unlabeled."""
    labels = y[y != unlabeled]
    side = int(max(np.sum(labels > labels.min()), np.sum(labels < labels.max())))
    return side, len(y) - len(labels) or len(y)


class AUCBaseline(ClosedForm, BinaryBaseline):
    """Shell of a method that ranks positives above negatives by minimising a squared pairwise risk in closed form.

    Attributes
    ----------
    model_ : dsgcore.baselines.basis.BasisModel
        The scorer f; its `coef` is theta.
    threshold_ : float
        Score above which `predict` says positive: it maximises the balanced accuracy on the labeled points.
    condition_ : float
        Estimated condition number of the system.
    objective_ : float
        J at the solution.
    """

    unlabeled: ClassVar[int] = 0

    condition_: float
    objective_: float

    def _risk(self, sets: Mapping[str, NDArray], s: dict[str, Any]) -> PairRisk:
        """Return what to minimise."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        sets = {"positive": X[y == 1.0], "negative": X[y == -1.0], "unlabeled": X[unlabeled_rows(y == 0.0)]}
        design, (best,) = self._minimise(X, [self._risk(sets, s)], [sets], s, watch)
        self.model_, self.condition_ = design.model(best.weights), best.solution.condition
        self.objective_ = best.objective
        is_labeled = y != 0.0
        self.threshold_ = best_threshold(y[is_labeled] > 0.0, self.model_.evaluate(X[is_labeled]))
