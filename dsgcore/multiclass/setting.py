"""PS3VT as a setting among the others: its own parameters in a spec, and how the shared ones are read for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import ParameterError, as_in, field_as_in, flag
from dsgcore.multiclass.problem import MultiClass
from dsgcore.problems import Setting

# The graph's weight where none is given and the step bears it.
AUTOMATIC_TAU_I = 1e-3
_AUTO = f"{as_in(MultiClass, 'tau_I').sentence} “auto” is {AUTOMATIC_TAU_I:g}, or less where a step would overshoot."


@documented
@dataclass(frozen=True)
class MultiClassSetting(Setting):
    """PS3VT's own parameters; the rest of `MultiClass` is in the solver and kernel sections of a spec.

    There, ``lam`` is tau_A, ``step_size`` under its schedule is 1/mu, and ``sigma`` and ``n_features`` are those of the
    Fourier features: without meaning for linear ones. The released variant divides its step by t + n_l itself, so its
    schedule must be constant. The kernel is Gaussian and the precision float64. A tau_I of None is 0.001, or less
    where the run's first step would overshoot.

    Parameters
    ----------
    is_full_gradient : All labels in each step
        Each iteration takes all labeled points: gradient descent instead of mini-batches.
    """

    tau_I: float | None = field_as_in(MultiClass, "tau_I", automatic=AUTOMATIC_TAU_I, sentence=_AUTO)
    tau_S: float = field_as_in(MultiClass, "tau_S", optional=False, automatic=None)
    theta: float = field_as_in(MultiClass, "theta")
    radius: float | None = field_as_in(MultiClass, "radius")
    n_neighbors: int = field_as_in(MultiClass, "n_neighbors", usual=(1, 21))
    variant: str = field_as_in(MultiClass, "variant")
    features: str = field_as_in(MultiClass, "features")
    fit_intercept: bool = field_as_in(MultiClass, "fit_intercept")
    loss: str = field_as_in(MultiClass, "loss")
    is_full_gradient: bool = flag(False)

    name: ClassVar[str] = "multiclass"
    title: ClassVar[str] = "Multi-class with a graph"
    sentence: ClassVar[str] = "learns to tell several classes apart, alike for points that are close"
    citation: ClassVar[str] = "PS3VT, Li, Liu, Yin and Wang, IJCAI 2019"
    labels: ClassVar[str] = "classes"
    usual_tau_I: ClassVar[float] = AUTOMATIC_TAU_I
    engine: ClassVar[str] = "proximal"
    decision: ClassVar[str] = "highest"

    def check_schedule(self, schedule: str) -> None:
        """Raise `ParameterError` where the step would be divided twice: by the schedule and by the released variant."""
        if self.variant == "released" and schedule != "constant":
            raise ParameterError(
                "schedule must be constant where variant is released, whose step is divided by t + n_l already, "
                f"got {schedule!r}"
            )

    def twin(self) -> Self:
        """Return Linear-MC: no graph, no pull to low rank."""
        return replace(self, tau_I=0.0, tau_S=0.0)

    def hits(self, y: NDArray, scores: NDArray) -> NDArray:
        """Return which points' class has the highest score, of shape (n,)."""
        return scores.argmax(axis=1) == np.asarray(y)
