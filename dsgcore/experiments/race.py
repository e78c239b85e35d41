"""Races: comparison of a run with another method, on the same data and score, in a separate process; its parameters."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.baselines import COMPETITORS, Progress
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer, Parameter, ParameterError, Real, quoted
from dsgcore.data import Split
from dsgcore.estimators.kernel import width
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.plane import Plane
from dsgcore.experiments.settings import FILE
from dsgcore.experiments.spec import Spec
from dsgcore.jobs import Job, JobQueue
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.kernels import GAUSSIAN, KERNELS
from dsgcore.settings import profile_of
from dsgcore.solver.problem import UNLABELED

GRID = 60
GB = 1e9
# Bytes that a fit takes besides its arrays: solvers' code, the points in another precision.
ALLOWANCE = 300_000_000
SECONDS_BETWEEN_REPORTS = 0.1
MAX_STEPS = 1000


class RaceError(DSGError):
    """A race that cannot be run. The message says what is wrong and what is allowed."""


@dataclass(frozen=True)
class Race:
    """A competitor with its parameters, and the run whose data it gets.

    Attributes
    ----------
    spec : Spec
        The spec of the run.
    competitor : str
        Name of the competitor's class, one of its setting's `COMPETITORS`.
    parameters : mapping of str to object
        The competitor's parameters; missing ones take its defaults.
    memory_limit : float
        GB (of 10^9 bytes) that its fit may take.
    axes : pair of int or None
        The columns that the maps show; None: a principal axis.
    """

    spec: Spec
    competitor: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    memory_limit: float = 4.0
    axes: tuple[int | None, int | None] = (None, None)

    def plane(self, split: Split) -> Plane:
        """Return the plane through the training points on which the race's maps are drawn."""
        return Plane.through(split.X_train, self.axes, split.feature_names)

    def estimator(self) -> Any:
        """Return the competitor, ready to be fitted; raise `RaceError` if there is none of that name."""
        kind = competitor(self.spec.problem.name, self.competitor)
        return kind(**self.parameters)


@dataclass(frozen=True)
class RaceProgress:
    """Progress of a competitor: outer steps made, their largest possible number, and its own objective (NaN if unknown).

    While the data are loaded, both numbers of steps are 0.
    """

    step: int = 0
    total: int = 0
    objective: float = float("nan")


@dataclass(frozen=True, eq=False)
class RaceResult:
    """Result of a competitor.

    Attributes
    ----------
    score : float
        The setting's score on the run's test points.
    seconds : float
        Time of the fit, without imports and the loading of data.
    memory : int
        Peak memory of the fit in bytes, beyond the memory before it.
    notes : tuple of str
        The warnings of the fit, one sentence each.
    steps, times, objectives : ndarray of shape (s,)
        Outer steps, the time of each in seconds, and the competitor's own objective after it (NaN if unknown).
    surface : ndarray of shape (GRID^2,) or (GRID^2, K)
        Values on the grid of the plane through the training points. The decision boundary is at 0, except for ordinal
        classes.
    classes : ndarray of shape (GRID^2,), int64
        Code of the predicted class on that grid.
    """

    score: float
    seconds: float
    memory: int
    converged: bool
    notes: tuple[str, ...]
    steps: NDArray
    times: NDArray
    objectives: NDArray
    surface: NDArray
    classes: NDArray


def competitors(setting: str) -> tuple[type[Any], ...]:
    """Return the classes of the methods that compete in a setting."""
    return COMPETITORS.get(setting, ())


def competitor(setting: str, name: str) -> type[Any]:
    """Return a competitor's class by its name, or raise `RaceError`."""
    known = {kind.__name__: kind for kind in competitors(setting)}
    if name not in known:
        raise RaceError(f"the competitors in the setting {setting} are {', '.join(known)}, got {quoted(name)}")
    return known[name]


def begin_race(queue: JobQueue, race: Race, split: Split, **options: Any) -> Job:
    """Submit a race to a queue; the job's progress is a `RaceProgress`, its result a `RaceResult`.

    The job loads the data again from the spec, unless they came from a file, which may no longer exist. Options are
    `lease`, `is_wanted` and `on_done` of `JobQueue.submit`.
    """
    held = split if race.spec.data.name == FILE else None
    limit = int(race.memory_limit * GB) + ALLOWANCE
    plain = vars(race) | {"parameters": dict(race.parameters)}
    spec = plain.pop("spec").to_json()
    return queue.submit(run_race, spec, plain, held, memory_limit=limit, **options)


def run_race(
    spec: str, plain: Mapping[str, Any], split: Split | None, *, report: Callable[[RaceProgress], None]
) -> RaceResult:
    """Fit the competitor and measure it.

    Parameters
    ----------
    spec : str
        The run's spec as JSON.
    plain : mapping
        The other fields of `Race`.
    split : Split or None
        The run's data; None loads them as the spec says.
    report : callable
        Called with the progress of the fit, at most ten times a second.

    Raises
    ------
    ValueError
        If the competitor refuses its parameters or the data, or needs more memory than the limit.
    """
    race = Race(Spec.from_json(spec), **plain)
    report(RaceProgress())
    estimator = race.estimator()
    data = load_split(race.spec) if split is None else split
    try:
        return _measured(race, estimator, data, report)
    except MemoryError:
        raise RaceError(
            f"{estimator.title} needs more memory than the limit of {race.memory_limit:g} GB, and was stopped."
        ) from None


def _as_people_say(text: str, estimator: Any) -> str:
    """Return an estimator's message with the method's name in place of the class's."""
    return text.replace(type(estimator).__name__, estimator.title)


def _measured(race: Race, estimator: Any, split: Split, report: Callable[[RaceProgress], None]) -> RaceResult:
    log = _Log(report)
    held = forget_peak()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        estimator.fit(split.X_train, split.y_train, callback=log)
    seconds = time.perf_counter() - start
    memory = max(0, peak() - held)
    notes = (_as_people_say(str(w.message), estimator) for w in said if issubclass(w.category, UserWarning))
    decision, k = race.spec.problem.decision, len(split.class_names)
    points = race.plane(split).grid(GRID)
    return RaceResult(
        score=race.spec.problem.score(split.y_test, values_of(estimator, split.X_test, decision, k)),
        seconds=seconds,
        memory=memory,
        converged=bool(getattr(estimator, "converged_", True)),
        notes=tuple(dict.fromkeys(notes)),
        surface=values_of(estimator, points, decision, k).astype(np.float32),
        classes=np.asarray(estimator.predict(points), dtype=np.int64),
        **log.arrays(),
    )


def values_of(estimator: Any, X: NDArray, decision: str, k: int) -> NDArray:
    """Return the values that the setting scores, of shape (n,), or (n, k) for classes without an order."""
    if decision == "ranks":
        return np.asarray(estimator.ranking_function(X))
    values = np.asarray(estimator.decision_function(X))
    if decision != "highest":
        return values
    known = np.stack([-values, values], axis=1) if values.ndim == 1 else values
    scores = np.full((len(X), k), -np.inf)
    scores[:, estimator.classes_] = known
    return scores


class _Log:
    """Callback of a fit that records its steps, and reports some of them."""

    def __init__(self, report: Callable[[RaceProgress], None]) -> None:
        self.report = report
        self.rows: list[tuple[int, float, float]] = []
        self.reported_at = 0.0

    def __call__(self, progress: Progress) -> None:
        self.rows.append((progress.step, progress.seconds, progress.objective))
        now = time.monotonic()
        if now - self.reported_at >= SECONDS_BETWEEN_REPORTS:
            self.reported_at = now
            self.report(RaceProgress(progress.step, progress.total, progress.objective))

    def arrays(self) -> dict[str, NDArray]:
        """Return the steps, evenly thinned; the last one is always kept."""
        rows = np.array(self.rows, dtype=float).reshape(-1, 3)
        kept = np.linspace(0, len(rows) - 1, min(len(rows), MAX_STEPS)).astype(int)
        steps, times, objectives = rows[kept].T
        return {"steps": steps.astype(int), "times": times, "objectives": objectives}


# Parameters that a page does not offer: the coding of labels, which is fixed here.
FIXED = ("y_holds",)
SIGMA = next(p for p in KERNELS[GAUSSIAN].parameters if p.name == "sigma")

Values = dict[str, Any]


def fixed_parameters(spec: Spec, kind: type[Any]) -> Values:
    """Return the parameters that a competitor always takes from the run: kernel, its smoothness and the seed."""
    takes, kernel = signature(kind).parameters, _kernel_name(spec, kind)
    own = [p.name for p in spec.kernel.parameters if isinstance(p, Choice)] if kernel == spec.kernel.name else []
    fixed = {"kernel": kernel, **{name: getattr(spec.kernel, name) for name in own}, "random_state": spec.seed}
    return {name: value for name, value in fixed.items() if name in takes}


def _kernel_name(spec: Spec, kind: type[Any]) -> str:
    """Return the run's kernel if the competitor has it, else the Gaussian one."""
    return spec.kernel.name if spec.kernel.name in getattr(kind, "kernels", ()) else GAUSSIAN


def kernel_note(spec: Spec, kind: type[Any]) -> str:
    """Return a sentence about the competitor's kernel if it cannot have the run's; empty if it can, or has no kernel."""
    if "kernel" not in signature(kind).parameters or _kernel_name(spec, kind) == spec.kernel.name:
        return ""
    run_has = words_of(spec.kernel.name).title
    if spec.kernel.family == GAUSSIAN:
        return f"{kind.title} has no orthogonal features: it gets the same Gaussian kernel without them."
    return (
        f"{kind.title} has no {run_has} kernel: it gets a {words_of(GAUSSIAN).title} one, whose "
        "default bandwidth follows the spread of the points."
    )


def free_parameters(spec: Spec, split: Split, kind: type[Any]) -> tuple[Parameter, ...]:
    """Return a competitor's parameters that the user can choose, with the run's values as defaults if it has them."""
    own = [p for p in kind.parameters if p.name not in FIXED]
    values = {p.name: p.default for p in own} | _same_names(spec, own) | _translated(spec, split, kind)
    return (*_kernel_parameters(spec, split, kind), *(_with_default(p, values[p.name]) for p in own))


def _kernel_parameters(spec: Spec, split: Split, kind: type[Any]) -> list[Parameter]:
    takes = signature(kind).parameters
    if "kernel" not in takes:
        return []
    if _kernel_name(spec, kind) == spec.kernel.name:
        own = [p for p in spec.kernel.parameters if not isinstance(p, Choice) and p.name in takes]
        return [replace(p, default=getattr(spec.kernel, p.name)) for p in own]
    if spec.kernel.family == GAUSSIAN:  # with other random features
        return [replace(SIGMA, default=getattr(spec.kernel, SIGMA.name))]
    return [replace(SIGMA, default=float(f"{width(SIGMA, 'scale', split.X_train):.3g}"))]


def _same_names(spec: Spec, parameters: list[Parameter]) -> Values:
    """Return the values of the run's method or solver that have the same names."""
    owners = (spec.kernel, spec.solver, spec.problem)
    return {p.name: getattr(owner, p.name) for owner in owners for p in parameters if hasattr(owner, p.name)}


def _with_default(parameter: Parameter, value: Any) -> Parameter:
    """Set a parameter's default to the nearest allowed value; keep its own if the types differ."""
    if isinstance(parameter, Real | Integer) and isinstance(value, int | float):
        value = min(max(float(f"{value:.4g}"), parameter.low), parameter.high)
        value = int(value) if isinstance(parameter, Integer) else value
    try:
        return replace(parameter, default=parameter.check(value))
    except ParameterError:
        return parameter


def _translated(spec: Spec, split: Split, kind: type[Any]) -> Values:
    """Return the values that have another name or unit in the competitor's objective."""
    names = {p.name for p in kind.parameters}
    labels = split.y_train[split.y_train != UNLABELED]
    values: Values = {}
    if "penalty" in names:
        values["penalty"] = "half rkhs"  # the norm of the run's own ridge
    if "prior" in names and spec.problem.labels != "pairs":
        values["prior"] = _shares_above(labels)
    rule = profile_of(spec.problem).translations.get(kind.__name__)
    return values if rule is None else values | rule(spec, len(labels), len(split.y_train) - len(labels))


def _shares_above(labels: NDArray) -> float | tuple[float, ...]:
    """Return the share of the labeled points above the threshold of two classes, or above each threshold."""
    shares = tuple(float(f"{np.mean(labels >= code):.4g}") for code in range(1, int(labels.max()) + 1))
    return shares[0] if len(shares) == 1 else shares
