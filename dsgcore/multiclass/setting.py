"""PS3VT as a setting: its own parameters in a spec, and the meaning of the shared ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import ParameterError, flag, like, parameter_like
from dsgcore.multiclass.problem import MultiClass
from dsgcore.problems import Setting

# Default weight of the graph, if the step allows it.
AUTOMATIC_TAU_I = 1e-3
_AUTO = (
    f"{parameter_like(MultiClass, 'tau_I').sentence} “auto” is {AUTOMATIC_TAU_I:g}, or less if a step would overshoot."
)


@documented
@dataclass(frozen=True)
class MultiClassSetting(Setting):
    """PS3VT's own parameters in a spec. The solver and kernel sections hold the rest of `MultiClass`.

    In those sections ``lam`` is the paper's tau_A, and ``step_size`` under its schedule is 1/mu. ``sigma`` and
    ``n_features`` belong to the Fourier features, and have no effect for linear ones. The released variant divides its step by t +
    n_l itself, so its schedule must be constant. The kernel is Gaussian and the precision float64. A tau_I of None is
    0.001, or less if the run's first step would overshoot.

    Parameters
    ----------
    is_full_gradient : All labels in each step
        Use all labeled points in each iteration: gradient descent instead of mini-batches.
    """

    tau_I: float | None = like(MultiClass, "tau_I", automatic=AUTOMATIC_TAU_I, sentence=_AUTO)
    tau_S: float = like(MultiClass, "tau_S", optional=False, automatic=None)
    theta: float = like(MultiClass, "theta")
    radius: float | None = like(MultiClass, "radius")
    n_neighbors: int = like(MultiClass, "n_neighbors", usual=(1, 21))
    variant: str = like(MultiClass, "variant")
    features: str = like(MultiClass, "features")
    fit_intercept: bool = like(MultiClass, "fit_intercept")
    loss: str = like(MultiClass, "loss")
    is_full_gradient: bool = flag(False)

    name = "multiclass"
    title = "Multi-class with a graph"
    sentence = "learns to tell several classes apart, with similar scores for close points"
    citation = "PS3VT, Li, Liu, Yin and Wang, IJCAI 2019"
    labels = "classes"
    usual_tau_I = AUTOMATIC_TAU_I
    engine = "proximal"
    decision = "highest"

    def check_schedule(self, schedule: str) -> None:
        """Raise `ParameterError` if the step would be divided twice: by the schedule and by the released variant."""
        if self.variant == "released" and schedule != "constant":
            raise ParameterError(
                "schedule must be constant if variant is released, because that divides the step by t + n_l already, "
                f"got {schedule!r}"
            )

    def baseline(self) -> Self:
        """Return Linear-MC: no graph, no pull to low rank."""
        return replace(self, tau_I=0.0, tau_S=0.0)

    def hits(self, y: NDArray, scores: NDArray) -> NDArray:
        """Return a mask (n,): True if the highest score is that of the point's class."""
        return scores.argmax(axis=1) == np.asarray(y)
