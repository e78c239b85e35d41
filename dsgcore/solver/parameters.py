"""Parameters of the solver. Specs, controls and estimators read their ranges and texts here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from dsgcore.core.documented import documented
from dsgcore.core.parameters import Checked, choice, integer, like, real
from dsgcore.kernels import Kernel
from dsgcore.solver.start import START
from dsgcore.solver.task import FIXED, FRESH, SAMPLING, SCHEDULES, Change


@documented
@dataclass(frozen=True)
class SolverParameters(Checked):
    """Parameters of the solver.

    Parameters
    ----------
    step_size : Step size
        Length of each step (θ in the decaying schedules). The value “auto” is computed from the data.
    schedule : Step schedule
        Learning-rate schedule: the step may shrink with the iteration t, or with the length T of the run.
    lam : Regularisation
        Strength of the ridge, which pulls the function towards zero.
    n_features : Random features
        Number of random features that replace the kernel in each iteration.
    features : Features
        Each iteration draws “fresh” random features, or all use the same, “fixed” ones. The errors of fresh ones average out.
    batch_size : Mini-batch
        Number of points that each iteration draws from each source.
    n_iter : Iterations
        Number of iterations.
    average : Average
        The value “tail” also follows the mean of the iterates in the second half, which is less noisy.
    start : Start
        The run starts at f = 0, or with “exact” at the exact solution for some points.
    sampling : Sampling
        How the points of a mini-batch are drawn: independently, or “shuffled” in passes over all of them.
    tol : Tolerance
        The run ends when its average changes by no more than this share of its size. 0 makes all iterations.
    dtype : Precision
        Floating-point precision. float32 is about three times faster.
    """

    step_size: float | None = real(
        0.5, low=1e-6, high=1e6, scale="log", optional=True, automatic=0.5, symbol="η", usual=(1e-3, 20.0)
    )
    schedule: str = choice("constant", options=tuple(SCHEDULES), symbol="η_t")
    lam: float = real(1e-2, low=0.0, high=1e3, scale="log", symbol="λ", usual=(0.0, 10.0))
    n_features: int = integer(256, low=1, high=65_536, scale="log2", symbol="m", usual=(1, 4096))
    features: str = choice(FRESH, options=(FRESH, FIXED))
    batch_size: int = integer(128, low=1, high=65_536, scale="log2", symbol="B", usual=(1, 1024))
    n_iter: int = integer(300, low=1, high=100_000, scale="log", symbol="T", usual=(16, 4096))
    average: str | None = choice(None, options=("tail",), optional=True)
    start: str | None = like(START)
    sampling: str = like(SAMPLING)
    tol: float = real(0.0, low=0.0, high=1.0, scale="log", usual=(0.0, 0.2))
    dtype: str = choice("float32", options=("float32", "float64"))


SOLVER_PARAMETERS = SolverParameters.parameters
# How an estimator's fit differs from a paper's run.
OF_A_FIT = ("start", "sampling", "tol")
# Plain data of a spec name these only if they have other values than here.
SILENT = (*OF_A_FIT, "features")


class RunSpec(Protocol):
    """What a method and a theorem read of a spec: its sections, its changes, and its values at an iteration.

    `steerable` are the names of the parameters that can change during a run.
    """

    @property
    def problem(self) -> Any: ...

    @property
    def kernel(self) -> Kernel: ...

    @property
    def solver(self) -> SolverParameters: ...

    @property
    def diagnostics(self) -> Any: ...

    @property
    def changes(self) -> tuple[Change, ...]: ...

    @property
    def seed(self) -> int: ...

    @property
    def steerable(self) -> tuple[str, ...]: ...

    def values_at(self, t: int) -> dict[str, Any]:
        """Return the values of the steerable parameters at iteration `t` (0: at the start)."""
