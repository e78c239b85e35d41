"""What a run needs of a method: make an iteration and measure it. One kind for the four stochastic settings, one for PS3VT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

from numpy.typing import NDArray

from dsgcore.data import Split
from dsgcore.experiments.long_work import LongWork
from dsgcore.experiments.multiclass_engine import MultiClassEngine, graph_work
from dsgcore.experiments.settings import Setting
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic_engine import StochasticEngine


class Model(Protocol):
    """What is learned."""

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the values at points of shape (n, d): of shape (n,), or (n, K) for several classes."""
        ...

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write a NumPy archive."""
        ...


class Engine(Protocol):
    """A method at work on a spec's data.

    Attributes
    ----------
    problem : Setting
        Bound to the training labels.
    training_seconds : float
        Spent so far on what makes the model, as a fit without any measuring would.
    """

    training_seconds: float

    @property
    def problem(self) -> Setting:
        """The setting, bound to the training labels."""
        ...

    @property
    def model(self) -> Any:
        """What has been learned so far, a `Model`."""
        ...

    def advance(self) -> dict[str, float] | None:
        """Make one iteration and return its row for the history; None where there is no further (finite) one."""
        ...

    def follow(self, spec: Spec) -> None:
        """Go on by a spec that has more changes, at iterations not made yet."""
        ...

    def extend(self, spec: Spec) -> None:
        """Go on to a longer spec's end."""
        ...

    @property
    def t(self) -> int:
        """The number of iterations after which the model and all values are as they are now."""
        ...

    def keep(self) -> None:
        """Make the state whose objective was measured last the one that `go_back` returns to."""
        ...

    def go_back(self) -> None:
        """Return as a whole to the state kept last, or else the start: model, values, twin; nothing follows."""
        ...

    def model_at(self, t: int) -> Any:
        """Return the model, a `Model`, as it was after `t` iterations, before or after those gone back."""
        ...

    def start_objective(self) -> float:
        """Return the objective at f = 0."""
        ...

    @property
    def training_values(self) -> NDArray | None:
        """Values at all training points; None where there are too many of them."""
        ...

    @property
    def test_values(self) -> NDArray:
        """Values at all test points."""
        ...

    @property
    def labeled_values(self) -> NDArray:
        """Values at the labeled training points."""
        ...

    @property
    def shift(self) -> float:
        """What is added to values before their sign is taken, of a problem that keeps the balance; else 0."""
        ...

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin at the points `Z`."""
        ...


# By the name that a problem gives as its `engine`.
ENGINES: dict[str, Callable[[Spec, Split], Engine]] = {"stochastic": StochasticEngine, "proximal": MultiClassEngine}
LONG_WORK: dict[str, Callable[[Spec, Split], LongWork | None]] = {"proximal": graph_work}


def engine_for(spec: Spec, split: Split) -> Engine:
    """Make the engine of a spec's setting."""
    return ENGINES[spec.problem.engine](spec, split)


def long_work(spec: Spec, split: Split) -> LongWork | None:
    """Return what a run needs before it can begin, where that takes so long that a page should not wait for it."""
    begin = LONG_WORK.get(spec.problem.engine)
    return None if begin is None else begin(spec, split)
