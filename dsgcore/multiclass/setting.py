"""PS3VT as a setting among the others: its own parameters in a spec, and how the shared ones are read for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.parameters import ParameterError, as_said, flag
from dsgcore.multiclass.problem import MultiClass
from dsgcore.problems import Setting

# The graph's weight where none is given and the step bears it.
AUTOMATIC_TAU_I = 1e-3
_AUTO = f"“auto” is {AUTOMATIC_TAU_I:g}, or less where a step would overshoot."


def _own(name: str, *, more: str = "", **words: Any) -> Any:
    """Return a field that is a parameter as in `MultiClass`, with what a slider has to know besides."""
    parameter = next(p for p in MultiClass.parameters if p.name == name)
    return as_said(replace(parameter, sentence=f"{parameter.sentence} {more}".rstrip(), **words))


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

    tau_I: float | None = _own("tau_I", optional=True, automatic=AUTOMATIC_TAU_I, more=_AUTO)
    tau_S: float = _own("tau_S", optional=False, automatic=None)
    theta: float = _own("theta")
    radius: float | None = _own("radius")
    n_neighbors: int = _own("n_neighbors", usual=(1, 21))
    variant: str = _own("variant")
    features: str = _own("features")
    fit_intercept: bool = _own("fit_intercept")
    loss: str = _own("loss")
    is_full_gradient: bool = flag(False)

    name: ClassVar[str] = MultiClass.name
    title: ClassVar[str] = MultiClass.title
    score_name: ClassVar[str] = MultiClass.score_name
    sentence: ClassVar[str] = MultiClass.sentence
    citation: ClassVar[str] = MultiClass.citation
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
