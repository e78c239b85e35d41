"""Interface between a run and its method: make an iteration and measure it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Protocol

from numpy.typing import NDArray

from dsgcore.core.cost import Cost, Sizes
from dsgcore.data import Split
from dsgcore.experiments.settings import Setting
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.multiclass.engine import MultiClassEngine
from dsgcore.solver.automatic_step import StepSizes
from dsgcore.solver.gauges import Gauges


class Model(Protocol):
    """Interface of a learned model."""

    def evaluate(self, X: NDArray) -> NDArray:
        """Return the values at points of shape (n, d): of shape (n,), or (n, K) for several classes."""

    def save(self, file: str | Path | IO[bytes]) -> None:
        """Write a NumPy archive."""


class Engine(Protocol):
    """A method that is learning from a spec's data.

    Attributes
    ----------
    problem : Setting
        Bound to the training labels.
    model : Model
        The model after `t` iterations.
    t : int
        The number of iterations that the model and all values now include.
    training_values : ndarray of shape (n,) or (n, K), or None
        Values at all training points; None if there are too many of them.
    test_values : ndarray of shape (n_test,) or (n_test, K)
        Values at all test points.
    test_average : ndarray of shape (n_test,) or (n_test, K)
        The averaged iterate's values at all test points; its score is measured on them.
    labeled_values : ndarray of shape (n_labeled,) or (n_labeled, K)
        Values at the labeled training points.
    shift : float
        Added to values before their sign is taken, if an S3VM keeps the balance; else 0.
    average_shift : float
        The same for the averaged iterate's values.
    automatic_step : float or None
        The value of the step "auto" in this run, also if its spec gives a number. None if the method has no such value.
    largest_step : float or None
        The constant step above which the risk makes the iterate diverge. None if there is none, or if it is unknown.
    caution : str
        A warning about the parameters, in a sentence or two; usually empty.
    is_settled : bool
        True if no iteration need follow, because the average has stopped changing.
    ends_at : int or None
        The iteration after which the run counts as settled in any case.
    averaged_again : tuple of dict
        What each row says about the average, if it was measured again at the end of a run that has settled; else empty.
    can_look_back : bool
        True if `at` gives earlier states.
    training_seconds : float
        Time spent on the model so far, as a fit without any measurements would take.
    gauges : Gauges
        Measurements of its progress and noise.
    limited_by : str
        The quantity that limits the step, in words.
    has_graph : bool
        True if points are linked: then ``links(limit)`` returns both ends of at most so many links, (m, 2).
    """

    problem: Setting
    model: Any
    t: int
    training_values: NDArray | None
    test_values: NDArray
    test_average: NDArray
    labeled_values: NDArray
    shift: float
    average_shift: float
    automatic_step: float | None
    largest_step: float | None
    caution: str
    is_settled: bool
    ends_at: int | None
    averaged_again: tuple[dict[str, float], ...]
    can_look_back: bool
    training_seconds: float
    gauges: Gauges
    limited_by: ClassVar[str]
    has_graph: ClassVar[bool]

    def sizes_at(self, t: int) -> StepSizes:
        """Return the automatic step and the largest ones of a run that begins with the parameters of iteration `t`."""

    def start_objective(self) -> float:
        """Return the objective at f = 0."""

    def update(self, *, is_brief: bool = False) -> bool:
        """Make one iteration; return False if there is no further (finite) one.

        A brief iteration is not read by gauges, and no earlier states are kept.
        """

    def row(self, *, is_brief: bool = False) -> dict[str, float]:
        """Return the last iteration's row for the history; a brief one has t, the objective, the test score, and the average's."""

    def step_at(self, t: int) -> float:
        """Return the step size of iteration `t`, past or future."""

    def follow(self, spec: Spec) -> None:
        """Continue with a spec that has more changes, at future iterations."""

    def keep(self) -> None:
        """Save the state whose objective was measured last, for `go_back`."""

    def go_back(self) -> None:
        """Restore the state that `keep` saved last, or else the start: model, values, twin. No iteration follows."""

    def at(self, t: int) -> Any:
        """Return an `Engine` as this one was after `t` iterations, bit-for-bit identical. It is read-only: it cannot advance."""

    def model_at(self, t: int) -> Any:
        """Return the model, a `Model`, as it was after `t` iterations, also if the run has gone back."""

    def average_at(self, t: int) -> Any:
        """Return the mean of the averaged iterates, a `Model`, as it was after `t` iterations."""

    def exact_values(self, Z: NDArray) -> NDArray:
        """Return the exact-kernel twin h at the points `Z` (p, d) at the current iteration: O(n p) kernel evaluations."""

    @staticmethod
    def learned(spec: Spec, split: Split, until: Callable[[], bool]) -> NDArray | None:
        """Return a whole run's result on the test points, without measurements; None if `until` ended it."""

    @staticmethod
    def long_work(spec: Spec, split: Split) -> tuple[Any, ...] | None:
        """Return the fields of a `LongWork` if something slow must be done before a run can begin."""

    @staticmethod
    def cost(spec: Spec, sizes: Sizes) -> Cost:
        """Return the cost of a run of such sizes, without its data."""


# By the name that a problem gives as its `engine`.
ENGINES: dict[str, type[Any]] = {"stochastic": StochasticEngine, "proximal": MultiClassEngine}


def engine_for(spec: Spec, split: Split) -> Engine:
    """Return the engine of a spec's setting."""
    engine: Engine = ENGINES[spec.problem.engine](spec, split)
    return engine


@dataclass(frozen=True)
class LongWork:
    """Slow work that a run needs before it can begin. A background job does it while the page shows the progress.

    Attributes
    ----------
    function : callable
        A function of a module, called as ``function(*arguments, report=report)``. It reports the current step and the
        share done, (str, float).
    keep : callable
        Called with the result. After that the run can begin at once.
    """

    function: Callable[..., Any]
    arguments: tuple
    keep: Callable[[Any], None]


def long_work(spec: Spec, split: Split) -> LongWork | None:
    """Return the work that a run needs before it can begin, if a page should not wait for it."""
    found = ENGINES[spec.problem.engine].long_work(spec, split)
    return None if found is None else LongWork(*found)
