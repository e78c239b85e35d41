"""The objective of the comparison methods that go down stochastic gradients: that of TSGS3VM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines.s3vm_parts import OrderedPoints, S3VMBaseline
from dsgcore.core.documented import SEED, told
from dsgcore.core.parameters import Integer, as_said, field_as_in
from dsgcore.core.solver_parameters import SolverParameters
from dsgcore.problems.s3vm import SemiSupervisedSVM

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


@dataclass(eq=False, repr=False, kw_only=True)
class GradientS3VM(S3VMBaseline):
    """Shell of a machine that goes down stochastic gradients of TSGS3VM's objective: C weighs the labeled points' mean loss.

    Parameters
    ----------
    step_size
        The step at iteration t is θ/t; with θ = 1 the function is the mean of what the iterations added.
    random_state
        Seed of what is drawn.
    """

    C: float = field_as_in(SemiSupervisedSVM, "C", default=100.0)
    C_star: float | None = field_as_in(SemiSupervisedSVM, "C_star")
    loss: str = field_as_in(SemiSupervisedSVM, "loss")
    s: float = field_as_in(SemiSupervisedSVM, "s")
    n_passes: int = as_said(N_PASSES)
    step_size: float = field_as_in(
        SolverParameters,
        "step_size",
        default=1.0,
        high=1.0,
        optional=False,
        automatic=None,
        symbol="θ",
        usual=(0.01, 1.0),
    )
    random_state: int | np.random.RandomState | None = told(None, SEED)


def bound_problem(s: dict[str, Any], points: OrderedPoints) -> SemiSupervisedSVM:
    """Return the problem with the parameters `s`, bound to the points' labels."""
    problem = SemiSupervisedSVM(C=s["C"], C_star=s["C_star"], loss=s["loss"], s=s["s"])
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
