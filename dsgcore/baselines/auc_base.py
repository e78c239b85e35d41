"""What the two methods that maximise the AUC in closed form share, and their versions for ordered classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from dsgcore.baselines.base import BinaryBaseline, unlabeled_rows
from dsgcore.baselines.basis import choose_centers, count_centers
from dsgcore.baselines.design import FACTORS, PENALTY, Design, make_design, system_numbers
from dsgcore.baselines.linear_system import Solution, solve_symmetric
from dsgcore.baselines.memory import Memory, numbers
from dsgcore.baselines.pair_risk import PairRisk
from dsgcore.baselines.parameters import CENTERS, LAM
from dsgcore.baselines.progress import Watch
from dsgcore.kernels import KERNELS
from dsgcore.parameters import Parameter
from dsgcore.prior import PriorError, energy_class_prior

AUC_PENALTY = replace(
    PENALTY,
    options=tuple(FACTORS),
    sentence="The ridge: the squared length of the weights, half of it, or half the squared norm of f in the kernel's space.",
)
AUC_PARAMETERS: tuple[Parameter, ...] = (LAM, AUC_PENALTY, CENTERS)
AUC_KERNELS = ("lm", "linear", *KERNELS)


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


def closed_form_memory(n: int, d: int, kernel: str, s: Mapping[str, Any]) -> Memory:
    """Return the need for the system over the centres."""
    m = d if kernel == "lm" else count_centers(n, s["centers"])
    return numbers(system_numbers(n, m, s["penalty"]), f"a system of {m:,} equations")


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


class AUCBaseline(BinaryBaseline):
    """Shell of a method that ranks positives above negatives by minimising a squared pairwise risk in closed form."""

    parameters: ClassVar[tuple[Parameter, ...]] = AUC_PARAMETERS
    kernels: ClassVar[tuple[str, ...]] = AUC_KERNELS

    condition_: float
    objective_: float

    def _risk(self, sets: Mapping[str, NDArray], s: dict[str, Any]) -> PairRisk:
        """Return what to minimise."""
        raise NotImplementedError

    def _memory(self, n: int, d: int, s: dict[str, Any]) -> Memory:
        return closed_form_memory(n, d, getattr(self, "kernel", "gaussian"), s)

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        sets = {"positive": X[y == 1.0], "negative": X[y == -1.0], "unlabeled": X[unlabeled_rows(y == 0.0)]}
        risk = self._risk(sets, s)
        design = make_design(self._kernel(X), choose_centers(X, s["centers"], self._seed()), s["penalty"])
        watch.expect(count_steps(risk, design, sets))
        best = minimise(risk, design, sets, s, watch)
        best.solution.warn(type(self).__name__)
        self.model_, self.condition_ = design.model(best.weights), best.solution.condition
        self.objective_ = best.objective
        is_labeled = y != 0.0
        self.threshold_ = best_threshold(y[is_labeled] > 0.0, self.model_.evaluate(X[is_labeled]))


def best_threshold(is_positive: NDArray, values: NDArray) -> float:
    """Return the middle of the gap between values at which true minus false positive rate is largest."""
    false_rate, true_rate, thresholds = roc_curve(is_positive, values, drop_intermediate=False)
    lowest_positive = thresholds[np.argmax(true_rate - false_rate)]
    below = values[values < lowest_positive]
    return float((lowest_positive + below.max()) / 2.0) if len(below) else float(lowest_positive) - 1.0
