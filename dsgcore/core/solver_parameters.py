"""The numbers that every run of the solver has, each said once: specs, controls and estimators read them here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsgcore.core.documented import documented
from dsgcore.core.parameters import Parameter, choice, integer, parameters_of_fields, real
from dsgcore.core.schedules import AVERAGES, SCHEDULES


@documented
@dataclass(frozen=True)
class SolverParameters:
    """How a problem is solved.

    Parameters
    ----------
    step_size : Step size
        How far each iteration moves the function (θ in the decaying schedules); “auto” knows the data's scale.
    schedule : Step schedule
        How the step shrinks with the iteration t, or with the length T of the run.
    lam : Regularisation
        Ridge: how strongly the function is pulled towards zero.
    n_features : Random features
        How many random features stand in for the kernel in each iteration.
    batch_size : Mini-batch
        How many points are drawn from each source in each iteration.
    n_iter : Iterations
        How many iterations the run has.
    average : Average
        Tail: also the mean of the second half's iterates is followed, which the batches' noise moves less.
    dtype : Precision
        Floating-point numbers used; float32 is about three times faster.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    step_size: float | None = real(
        0.5, low=1e-6, high=1e6, scale="log", optional=True, automatic=0.5, symbol="η", usual=(1e-3, 20.0)
    )
    schedule: str = choice("constant", options=tuple(SCHEDULES), symbol="η_t")
    lam: float = real(1e-2, low=0.0, high=1e3, scale="log", symbol="λ", usual=(0.0, 10.0))
    n_features: int = integer(256, low=1, high=65_536, scale="log2", symbol="m", usual=(1, 4096))
    batch_size: int = integer(128, low=1, high=65_536, scale="log2", symbol="B", usual=(1, 1024))
    n_iter: int = integer(300, low=1, high=100_000, scale="log", symbol="T", usual=(16, 4096))
    average: str | None = choice(None, options=AVERAGES, optional=True)
    dtype: str = choice("float32", options=("float32", "float64"))


SOLVER_PARAMETERS = SolverParameters.parameters
