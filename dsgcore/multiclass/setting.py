"""PS3VT as a setting among the others: its own parameters in a spec, and how the shared ones are read for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import Flag, Integer, Parameter, ParameterError, Real
from dsgcore.multiclass.problem import MultiClass
from dsgcore.problems import Setting

# What a spec says in its solver and kernel sections, as for every setting.
SHARED = ("tau_A", "step_size", "batch_size", "n_iter", "sigma", "n_features")

# The graph's weight where none is given and the step bears it.
AUTOMATIC_TAU_I = 1e-3


def _offered(parameter: Parameter) -> Parameter:
    """Say what a slider should offer where the parameter does not."""
    if isinstance(parameter, Integer) and parameter.name == "n_neighbors":
        return replace(parameter, usual=(1, 21))
    if isinstance(parameter, Real) and parameter.name == "tau_I":
        sentence = f"{parameter.sentence} “auto” is {AUTOMATIC_TAU_I:g}, or less where a step would overshoot."
        return replace(parameter, optional=True, automatic=AUTOMATIC_TAU_I, sentence=sentence)
    return parameter


@dataclass(frozen=True)
class MultiClassSetting(Setting):
    """PS3VT's own parameters; the rest of `MultiClass` is in the solver and kernel sections of a spec.

    There, ``lam`` is tau_A, ``step_size`` under its schedule is 1/mu, and ``sigma`` and ``n_features`` are those of the
    Fourier features: without meaning for linear ones. The released variant divides its step by t + n_l itself, so its
    schedule must be constant. The kernel is Gaussian and the precision float64.

    Parameters
    ----------
    tau_I, tau_S, theta, radius, n_neighbors, variant, features
        As in `MultiClass`; tau_I may be None, which is 0.001, or less where the run's first step would overshoot.
    is_full_gradient : bool, default False
        Whether an iteration takes all labeled points instead of a mini-batch.
    """

    tau_I: float | None = 1e-6
    tau_S: float = 1e-3
    theta: float = 0.5
    radius: float | None = None
    n_neighbors: int = 10
    variant: str = "paper"
    features: str = "linear"
    is_full_gradient: bool = False

    name: ClassVar[str] = MultiClass.name
    title: ClassVar[str] = MultiClass.title
    score_name: ClassVar[str] = MultiClass.score_name
    sentence: ClassVar[str] = MultiClass.sentence
    citation: ClassVar[str] = MultiClass.citation
    labels: ClassVar[str] = "classes"
    usual_tau_I: ClassVar[float] = AUTOMATIC_TAU_I
    engine: ClassVar[str] = "proximal"
    decision: ClassVar[str] = "highest"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        *(_offered(p) for p in MultiClass.parameters if p.name not in SHARED),
        Flag(
            "is_full_gradient",
            False,
            label="All labels in each step",
            sentence="Each iteration takes all labeled points: gradient descent instead of mini-batches.",
        ),
    )

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
