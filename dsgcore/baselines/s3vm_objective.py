"""The objective of the comparison methods that go down stochastic gradients: that of TSGS3VM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.parameters import as_in
from dsgcore.baselines.s3vm_parts import OrderedPoints
from dsgcore.core.parameters import Integer, Parameter
from dsgcore.core.solver_parameters import SolverParameters
from dsgcore.problems.s3vm import SemiSupervisedSVM

# As of TSGS3VM: C weighs the labeled points' mean loss, not their sum.
PARAMETERS: tuple[Parameter, ...] = tuple(
    replace(p, default=100.0) if p.name == "C" else p for p in SemiSupervisedSVM.parameters if p.name != "is_balanced"
)
N_PASSES = Integer(
    "n_passes",
    1,
    low=1,
    high=10_000,
    scale="log",
    usual=(1, 100),
    label="Passes",
    sentence="How often as many iterations are made as there are points.",
)
STEP_SIZE = as_in(
    SolverParameters,
    "step_size",
    default=1.0,
    high=1.0,
    symbol="θ",
    usual=(0.01, 1.0),
    sentence="The step at iteration t is θ/t; with θ = 1 the function is the mean of what the iterations added.",
)


def bound_problem(s: dict[str, Any], points: OrderedPoints) -> SemiSupervisedSVM:
    """Return the problem with the parameters `s`, bound to the points' labels."""
    problem = SemiSupervisedSVM(**{p.name: s[p.name] for p in PARAMETERS})
    return problem.bind(np.concatenate([points.y > 0, np.full(points.n_unlabeled, -1)]))


def loss(problem: SemiSupervisedSVM, y: NDArray, labeled: NDArray, unlabeled: NDArray) -> float:
    """Return the objective without its ridge, from values at labeled points and at unlabeled ones.

    Parameters
    ----------
    problem : SemiSupervisedSVM
        Bound to labels.
    y : ndarray of shape (n_l,)
        +1 and -1, both.
    labeled : ndarray of shape (n_l,)
    unlabeled : ndarray of shape (n_u,)
    """
    return sum(problem.terms({"positive": labeled[y > 0], "negative": labeled[y < 0], "unlabeled": unlabeled}).values())
