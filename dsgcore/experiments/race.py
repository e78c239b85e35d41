"""Races: a run's competitors on the same data and score. Of one all is measured; of several, at growing sizes and over seeds."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.baselines import COMPETITORS, Progress
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Choice, Integer, Parameter, ParameterError, Real, parameter_like, quoted
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.estimators.inputs import width
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.engine import learned_score
from dsgcore.experiments.plane import Plane
from dsgcore.experiments.run import Run
from dsgcore.experiments.spec import FILE, Setting, Spec
from dsgcore.experiments.theory import words_of
from dsgcore.jobs import Job, JobQueue
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.kernels import GAUSSIAN, KERNELS
from dsgcore.multiclass.problem import PRECONDITIONED
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import FIXED

GRID = 60
GB = 1e9
# Bytes that a fit takes besides its arrays: solvers' code, the points in another precision.
ALLOWANCE = 300_000_000
SECONDS_BETWEEN_REPORTS = 0.1
MAX_STEPS = 1000
# The name of the run itself with features that are drawn once, as many numbers as its fresh ones of all iterations.
FIXED_FEATURES = "fixed"
# Seconds that a fit may be expected to take, and those up to which its time grows with the square of the points at most: in a
# short fit, the system of all points takes the smaller part.
SECONDS, SHORT = 60.0, 1.0
# The beginning of the names of everyday competitors' classes.
EVERYDAY = "Everyday"
SIGMA = next(p for p in KERNELS[GAUSSIAN].parameters if p.name == "sigma")

Values = dict[str, Any]


class RaceError(DSGError):
    """A race that cannot be run. The message says what is wrong and what is allowed."""


def competitors(setting: str) -> tuple[type[Any], ...]:
    """Return the classes of the methods that compete in a setting."""
    return COMPETITORS.get(setting, ())


def usual_rivals(setting: str) -> list[str]:
    """Return the names of the papers' own competitors in a setting, or without any those of the first two everyday ones."""
    kinds = competitors(setting)
    return [plain_name(kind) for kind in [kind for kind in kinds if not kind.is_everyday] or kinds[:2]]


def competitor(setting: str, name: str) -> type[Any]:
    """Return a competitor's class by its name, as `compare` and `fit` have it, or raise `RaceError`."""
    known = {plain_name(kind): kind for kind in competitors(setting)}
    if (own := name.removeprefix(EVERYDAY)) not in known:
        raise RaceError(f"the competitors in the setting {setting} are {', '.join(known)}, got {quoted(name)}")
    return known[own]


def plain_name(kind: type[Any]) -> str:
    """Return the name that a class has in every table and command."""
    return kind.__name__.removeprefix(EVERYDAY)


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
    takes, run_kernel, of_kernel = signature(kind).parameters, spec.kernel, list[Parameter]()
    if "kernel" in takes and _kernel_name(spec, kind) == run_kernel.name:
        own = [p for p in run_kernel.parameters if not isinstance(p, Choice) and p.name in takes]
        of_kernel = [replace(p, default=getattr(run_kernel, p.name)) for p in own]
    elif "kernel" in takes and run_kernel.family == GAUSSIAN:  # with other random features
        of_kernel = [replace(SIGMA, default=getattr(run_kernel, SIGMA.name))]
    elif "kernel" in takes:
        of_kernel = [replace(SIGMA, default=float(f"{width(SIGMA, 'scale', split.X_train):.3g}"))]
    own = [p for p in kind.parameters if p.name != "y_holds"]  # the coding of labels
    owners = (run_kernel, spec.solver, spec.problem)
    values = {p.name: p.default for p in own}
    values |= {p.name: getattr(owner, p.name) for owner in owners for p in own if hasattr(owner, p.name)}
    labels = split.y_train[split.y_train != UNLABELED]
    if "penalty" in values:
        values["penalty"] = "half rkhs"  # the norm of the run's own ridge
    if "prior" in values and spec.problem.labels != "pairs":
        # The share of the labeled points above the threshold of two classes, or above each threshold.
        shares = tuple(float(f"{np.mean(labels >= code):.4g}") for code in range(1, int(labels.max()) + 1))
        values["prior"] = shares[0] if len(shares) == 1 else shares
    # Values that have another name or unit in the competitor's objective.
    rule = profile_of(spec.problem).translations.get(kind.__name__)
    values |= {} if rule is None else rule(spec, len(labels), len(split.y_train) - len(labels))
    return (*of_kernel, *(_with_default(p, values[p.name]) for p in own))


def _with_default(parameter: Parameter, value: Any) -> Parameter:
    """Set a parameter's default to the nearest allowed value; keep its own if the types differ."""
    if isinstance(parameter, Real | Integer) and isinstance(value, int | float):
        value = min(max(float(f"{value:.4g}"), parameter.low), parameter.high)
        value = int(value) if isinstance(parameter, Integer) else value
    try:
        return replace(parameter, default=parameter.check(value))
    except ParameterError:
        return parameter


# --- one competitor, of which all is measured


@dataclass(frozen=True)
class Race:
    """A competitor with its parameters, or else its defaults, and the run whose data it gets.

    Its fit may take `memory_limit` GB (of 10^9 bytes). `axes` are the columns that the maps show; None: a principal axis.
    """

    spec: Spec
    competitor: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    memory_limit: float = 4.0
    axes: tuple[int | None, int | None] = (None, None)

    def plane(self, split: Split) -> Plane:
        """Return the plane through the training points on which the race's maps are drawn."""
        return Plane.through(split.X_train, self.axes, split.feature_names)


@dataclass(frozen=True, eq=False)
class RaceResult:
    """Result of a competitor: its score on the run's test points, the seconds and peak bytes of its fit, and its warnings.

    `objectives` (s,) are its own after some outer `steps` (s,), evenly thinned; NaN if unknown. `surface` (GRID^2,) or (GRID^2, K)
    are its values on the grid of the plane, where the decision boundary is at 0, except for ordinal classes, and `classes`
    (GRID^2,) the codes of the predicted ones there.
    """

    score: float
    seconds: float
    memory: int
    notes: tuple[str, ...]
    steps: NDArray
    objectives: NDArray
    surface: NDArray
    classes: NDArray


def begin_race(queue: JobQueue, race: Race, split: Split, **options: Any) -> Job:
    """Submit a race to a queue; the job's progress is a competitor's `Progress`, its result a `RaceResult`.

    The job loads the data again from the spec, unless they came from a file, which may no longer exist. Options are
    `lease`, `is_wanted` and `on_done` of `JobQueue.submit`.
    """
    held = split if race.spec.data.name == FILE else None
    limit = int(race.memory_limit * GB) + ALLOWANCE
    return queue.submit(run_race, race, held, memory_limit=limit, **options)


def run_race(race: Race, split: Split | None, *, report: Callable[[Progress], None]) -> RaceResult:
    """Fit the competitor and measure it; without a split the data are loaded as the spec says.

    `report` gets the progress of the fit, at most ten times a second. Raise `ValueError` if the competitor refuses its
    parameters or the data, or needs more memory than the limit.
    """
    estimator = competitor(race.spec.problem.name, race.competitor)(**race.parameters)
    rows, reported_at = list[tuple[float, float]](), 0.0
    data = load_split(race.spec) if split is None else split
    problem, points = race.spec.problem, race.plane(data).grid(GRID)

    def note(progress: Progress) -> None:
        nonlocal reported_at
        rows.append((progress.step, progress.objective))
        if (now := time.monotonic()) - reported_at >= SECONDS_BETWEEN_REPORTS:
            reported_at = now
            report(progress)

    try:
        found = measured(estimator, problem, data, note)
        surface = values_of(estimator, points, problem.decision, len(data.class_names)).astype(np.float32)
        classes = np.asarray(estimator.predict(points), dtype=np.int64)
    except MemoryError:
        raise RaceError(
            f"{estimator.title} needs more memory than the limit of {race.memory_limit:g} GB, and was stopped."
        ) from None
    thinned = np.linspace(0, len(rows) - 1, min(len(rows), MAX_STEPS)).astype(int)  # the last one is always kept
    steps, objectives = np.array(rows, dtype=float).reshape(-1, 2)[thinned].T
    return RaceResult(**found, steps=steps.astype(int), objectives=objectives, surface=surface, classes=classes)


def measured(
    estimator: Any, problem: Setting, split: Split, callback: Callable[[Progress], None] | None
) -> dict[str, Any]:
    """Fit a competitor; return score, seconds, memory and notes, as in `RaceResult`. Notes name the method, not its class."""
    held = forget_peak()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as said, single_threaded_blas():
        warnings.simplefilter("always")
        estimator.fit(split.X_train, split.y_train, callback=callback)
    seconds = time.perf_counter() - start
    memory = max(0, peak() - held)
    notes = [str(w.message) for w in said if issubclass(w.category, UserWarning)]
    notes = [text.replace(type(estimator).__name__, estimator.title) for text in notes]
    score = test_score(estimator, problem, split)
    return {"score": score, "seconds": seconds, "memory": memory, "notes": tuple(dict.fromkeys(notes))}


def test_score(estimator: Any, problem: Setting, split: Split) -> float:
    """Return the setting's score of a fitted method on the test points."""
    with single_threaded_blas():
        values = values_of(estimator, split.X_test, problem.decision, len(split.class_names))
    return float(problem.score(split.y_test, values))


# --- several methods at growing sizes


@dataclass(frozen=True)
class Heat:
    """One fit: its method, number of unlabeled points and seed, and its seconds and test score, or else why it has none."""

    method: str
    n_unlabeled: int
    seed: int
    seconds: float = math.nan
    score: float = math.nan
    note: str = ""


NO_UNLABELED = (
    "methods race over numbers of unlabeled points, from 1 on: hide some labels, or take data in which rows have none"
)


def usual_sizes(split: Split) -> tuple[int, ...]:
    """Return the numbers of unlabeled points of a race: a hundredth, a tenth, a third and all of them, at least ten."""
    n = int(np.sum(split.y_train == UNLABELED))
    return tuple(sorted({max(10, n // part) for part in (100, 10, 3)} | {n})) if n >= 10 else (n,)


def run_heats(
    base: Spec,
    rivals: Sequence[str],
    sizes: Iterable[int],
    n_seeds: int,
    split: Split | None = None,
    *,
    seconds: float = SECONDS,
    report: Callable[[tuple[int, int, tuple[Heat, ...]]], object] = lambda so_far: None,
) -> tuple[Heat, ...]:
    """Fit the run and its rivals at each size and seed, the small sizes first.

    A seed is added to the spec's own, which draws other labels, mini-batches and features; the data of a file, which may no
    longer exist, come as a split, whose labels all seeds have. Rivals are names of competitors' classes, or "fixed". They get
    the run's kernel and the parameters that they share with it. Sizes are numbers of unlabeled points; the labeled ones and the
    test points stay. A method is left out where it is expected to take more than so many seconds. `report` gets after each fit
    the number of finished ones, the number of all, and all so far.

    Raise `DSGError` if there is no such rival or no unlabeled point, or if the data cannot be loaded.
    """
    sizes, titles, found = sorted(sizes), {name: title(base, name) for name in ("", *rivals)}, list[Heat]()
    own = [replace(base, seed=base.seed + seed) for seed in range(n_seeds)]
    splits = [load_split(one) if split is None else split for one in own]
    most = min(int(np.sum(whole.y_train == UNLABELED)) for whole in splits)
    if not most or sizes[0] < 1:
        raise RaceError(NO_UNLABELED)
    if sizes[-1] > most:
        raise RaceError(f"a size must be at most {most:,}, the number of unlabeled points, got {sizes[-1]:,}")
    Run(base, smaller(splits[0], sizes[0], 0)).advance(1)  # compile, or load what is compiled
    expected = dict.fromkeys(titles, 0.0)
    for size, following in zip(sizes, [*sizes[1:], sizes[-1]], strict=True):
        for seed, one in enumerate(own):
            part = smaller(splits[seed], size, seed)
            for name in titles:
                found.append(_heat(one, name, part, seed, expected[name], seconds))
                report((len(found), len(sizes) * n_seeds * len(titles), tuple(found)))
        for name, shown in titles.items():  # NaN if it had no time here
            times = [heat.seconds for heat in found if heat.method == shown and heat.n_unlabeled == size]
            middle, n_labeled = float(np.median(times)), len(splits[0].labeled)
            power = _growth(base, name) if middle > SHORT else min(_growth(base, name), 2.0)
            expected[name] = middle * ((n_labeled + following) / (n_labeled + size)) ** power
    return tuple(found)


def _growth(spec: Spec, name: str) -> float:
    """Return the power of the number of points with which a method's time grows; the run's own fits are never left out."""
    if name in ("", FIXED_FEATURES):  # as many points in each step, whatever the size
        return 0.0
    kind = competitor(spec.problem.name, name)
    return 0.0 if kind.is_supervised else kind.growth


def smaller(split: Split, n: int, seed: int) -> Split:
    """Return a split with so many of the unlabeled training points, drawn by the seed, and all labeled ones."""
    unlabeled = np.flatnonzero(split.y_train == UNLABELED)
    drawn = np.random.default_rng([seed, len(unlabeled)]).permutation(unlabeled)[:n]
    return split.of_rows(np.sort(np.concatenate([split.labeled, drawn])))


def title(spec: Spec, name: str) -> str:
    """Return a method's name in the race; an empty name is the run's own. Raise `DSGError` if there is none of that name."""
    own = "DSG, softmax" if spec.problem.engine_of_run == "softmax" else profile_of(spec.problem).paper
    if name == FIXED_FEATURES:
        return f"{own}, {with_fixed_features(spec).solver.n_features:,} fixed features"
    return competitor(spec.problem.name, name).title if name else own


def why_not_fixed(spec: Spec) -> str:
    """Return why a run cannot race against fixed features in place of its own at equal memory; empty if it can."""
    problem: Any = spec.problem
    if "features" in problem.without_effect or spec.solver.features == FIXED:
        return f"a run of {title(spec, '')} cannot have fixed features in place of its own: leave 'fixed' out"
    if problem.engine_of_run == "softmax" and problem.variant == PRECONDITIONED:
        return "each preconditioned step would invert a matrix of all fixed features: race the variant softmax against them"
    return ""


def with_fixed_features(spec: Spec) -> Spec:
    """Return the spec with features that are drawn once, for a model of as many numbers, up to the allowed ones.

    Raise `RaceError` if `why_not_fixed` has a reason.
    """
    if said := why_not_fixed(spec):
        raise RaceError(said)
    own = spec.solver.n_features
    total = sum(int(spec.values_at(t).get("n_features", own)) for t in range(1, spec.solver.n_iter + 1))
    most = parameter_like(SolverParameters, "n_features").high
    solver = replace(spec.solver, features=FIXED, n_features=min(total, most))
    return replace(spec, solver=solver, changes=tuple(c for c in spec.changes if c.name != "n_features"))


def _heat(spec: Spec, name: str, split: Split, seed: int, expected: float, most: float) -> Heat:
    """Fit the run, the run with fixed features, or a rival with the run's parameters, unless it is expected to take too long."""
    heat = Heat(title(spec, name), int(np.sum(split.y_train == UNLABELED)), seed)
    if name and not expected <= most:
        about = f"it would take about {expected:,.0f} s, and a fit gets {most:g} s at most"
        return replace(
            heat, note=about if math.isfinite(expected) else "not tried, because it has no result at the size before"
        )
    try:
        if not name:
            run = Run(spec, split)
            run.advance(run.n_iter)
            seconds, score = (run.training_clock or [math.nan])[-1], run.result_score
            return replace(heat, seconds=seconds, score=math.nan if score is None else score)
        if name == FIXED_FEATURES:
            begin = time.perf_counter()
            with single_threaded_blas():
                score = learned_score(with_fixed_features(spec), split)
            return replace(heat, seconds=time.perf_counter() - begin, score=score)
        kind = competitor(spec.problem.name, name)
        free = {p.name: p.default for p in free_parameters(spec, split, kind)}
        found = measured(kind(**{**fixed_parameters(spec, kind), **free}), spec.problem, split, None)
        return replace(heat, seconds=found["seconds"], score=found["score"])
    except MemoryError:
        return replace(heat, note="it needs more memory than the limit")
    except DSGError as error:
        return replace(heat, note=str(error))


def summaries(heats: Iterable[Heat]) -> pd.DataFrame:
    """Return each method at each size: medians over the seeds, and the lowest and highest score; fits without one are left out."""
    table = pd.DataFrame(heats, columns=[own.name for own in fields(Heat)])
    by = table[table["score"].notna()].groupby(["method", "n_unlabeled"], sort=False, as_index=False)
    return by.agg(seconds=("seconds", "median"), score=("score", "median"), low=("score", "min"), high=("score", "max"))
