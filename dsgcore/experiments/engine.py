"""What a run needs of a method: make an iteration and measure it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol

from numpy.typing import NDArray

from dsgcore.core.cost import Cost, Sizes
from dsgcore.core.gauges import Gauges
from dsgcore.data import Split
from dsgcore.experiments.settings import Setting
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic_engine import StochasticEngine
from dsgcore.multiclass.engine import MultiClassEngine


class Model(Protocol):
    """What is learned."""

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the values at points of shape (n, d): of shape (n,), or (n, K) for several classes."""

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write a NumPy archive."""


class Engine(Protocol):
    """A method at work on a spec's data.

    Attributes
    ----------
    problem : Setting
        Bound to the training labels.
    model : Model
        What has been learned so far.
    t : int
        The number of iterations after which the model and all values are as they are now.
    training_values : ndarray of shape (n,) or (n, K), or None
        Values at all training points; None where there are too many of them.
    test_values : ndarray of shape (n_test,) or (n_test, K)
        Values at all test points.
    test_average : ndarray of shape (n_test,) or (n_test, K)
        The averaged iterate's values at all test points, as its score is measured on them.
    labeled_values : ndarray of shape (n_labeled,) or (n_labeled, K)
        Values at the labeled training points.
    shift : float
        What is added to values before their sign is taken: where an S3VM keeps the balance; else 0.
    automatic_step : float or None
        What the step "auto" is in this run, whether its spec asks for it or says a number; None where the method knows none.
    largest_step : float or None
        The constant step above which the iterate grows without end; None where there is none, or none is known.
    caution : str
        What is to be said of the parameters before anybody trusts the numbers, in a sentence or two; mostly nothing.
    can_look_back : bool
        Whether `at` gives earlier states.
    training_seconds : float
        Spent so far on what makes the model, as a fit without any measuring would.
    gauges : Gauges
        What was read of its progress and noise on the way.
    gauged : tuple of str
        Which gauges have a meaning here, as `dsgcore.diagnostics.strip` calls them.
    limited_by : str
        What the largest step comes from, in words.
    has_graph : bool
        Whether points are linked: then ``links(limit)`` returns both ends of at most so many links, (m, 2).
    """

    problem: Setting
    model: Any
    t: int
    training_values: NDArray | None
    test_values: NDArray
    test_average: NDArray
    labeled_values: NDArray
    shift: float
    automatic_step: float | None
    largest_step: float | None
    caution: str
    can_look_back: bool
    training_seconds: float
    gauges: Gauges
    gauged: ClassVar[tuple[str, ...]]
    limited_by: ClassVar[str]
    has_graph: ClassVar[bool]

    def start_objective(self) -> float:
        """Return the objective at f = 0."""

    def advance(self) -> dict[str, float] | None:
        """Make one iteration and return its row for the history; None where there is no further (finite) one."""

    def step_at(self, t: int) -> float:
        """Return the step size that iteration `t` has, or is to have."""

    def follow(self, spec: Spec) -> None:
        """Go on by a spec that has more changes, at iterations not made yet."""

    def extend(self, spec: Spec) -> None:
        """Go on to a longer spec's end; values that were no longer carried are computed again once."""

    def keep(self) -> None:
        """Make the state whose objective was measured last the one that `go_back` returns to."""

    def go_back(self) -> None:
        """Return as a whole to the state kept last, or else the start: model, values, twin; nothing follows."""

    def at(self, t: int) -> Any:
        """Return an `Engine` as this one was after `t` iterations: the same bits. It is to be looked at, not to go on."""

    def model_at(self, t: int) -> Any:
        """Return the model, a `Model`, as it was after `t` iterations, before or after those gone back."""

    def average_at(self, t: int) -> Any:
        """Return the mean of the iterates to be averaged, a `Model`, as it was after `t` iterations."""

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d) at the present iteration: O(n p) kernel evaluations."""

    @staticmethod
    def learned(spec: Spec, split: Split, until: Callable[[], bool]) -> NDArray | None:
        """Return what a whole run makes of the test points, with nothing measured on the way; None where `until` ended it."""

    @staticmethod
    def long_work(spec: Spec, split: Split) -> tuple[Any, ...] | None:
        """Return the fields of a `LongWork` where there is any to be done before a run can begin."""

    @staticmethod
    def cost(spec: Spec, sizes: Sizes) -> Cost:
        """Return what a run of such sizes costs besides its data."""


# By the name that a problem gives as its `engine`.
ENGINES: dict[str, type[Any]] = {"stochastic": StochasticEngine, "proximal": MultiClassEngine}


def engine_for(spec: Spec, split: Split) -> Engine:
    """Make the engine of a spec's setting."""
    engine: Engine = ENGINES[spec.problem.engine](spec, split)
    return engine


@dataclass(frozen=True)
class LongWork:
    """What a run needs before it can begin and that takes long: for a background job, while a page shows how far it is.

    Attributes
    ----------
    function : callable
        Of a module; called as ``function(*arguments, report=report)``. It reports what is being done and the share done, (str,
        float).
    keep : callable
        Gets the result: from then on the run can begin at once.
    """

    function: Callable[..., Any]
    arguments: tuple
    keep: Callable[[Any], None]


def long_work(spec: Spec, split: Split) -> LongWork | None:
    """Return what a run needs before it can begin, where that takes so long that a page should not wait for it."""
    found = ENGINES[spec.problem.engine].long_work(spec, split)
    return None if found is None else LongWork(*found)
