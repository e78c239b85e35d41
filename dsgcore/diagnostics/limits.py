"""Measured limits of a run: its convergence, the parts of its distance to the optimum, and what other runs would score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dsgcore.core.metrics import Difference, paired_difference
from dsgcore.core.parameters import Real, finite
from dsgcore.data import Split
from dsgcore.data.datasets import keyed_generator
from dsgcore.diagnostics.references import (
    BYTES_A_PAIR,
    MAX_POINTS,
    FourRuns,
    Subsample,
    check_possible,
    four_runs,
    seeds_of,
)
from dsgcore.experiments import Spec, load_split
from dsgcore.experiments.engine import learned_score
from dsgcore.experiments.spec import FILE
from dsgcore.experiments.stochastic import task_of
from dsgcore.experiments.verdict import chosen_rows
from dsgcore.jobs import Job, JobQueue
from dsgcore.problems import UNLABELED
from dsgcore.solver.automatic_step import step_sizes
from dsgcore.solver.measures import slope
from dsgcore.solver.parameters import SolverParameters

# A run has converged if f is this near to f*, relative to its size, in the root mean square.
NEAR = 0.1
# Below this value no limit is worth mentioning.
NEGLIGIBLE = 0.02
CAUSES = ("optimisation", "batches", "features")
ALL = (*CAUSES, "together")
# A remedy divides a variance by this factor.
FACTOR = 4
# Other runs, whose test scores say what regularisation and labels cost; λ is divided and multiplied by the factor.
LESS, MORE, HALF_THE_LABELS = "less regularisation", "more regularisation", "half the labels"
FACTOR_OF_RIDGE = 10.0
HIGHEST_RIDGE = next(p.high for p in SolverParameters.parameters if isinstance(p, Real) and p.name == "lam")
# Share of the time that the four runs take.
SHARE_OF_FOUR_RUNS = 0.7
# Number of seeds of a verdict in the background.
SEEDS = 5
# Bytes of a process after its imports, beside those of the pairs of points.
ALLOWANCE = 300_000_000
# Number of progress reports.
REPORTS = 200


@dataclass(frozen=True)
class RunLimits:
    """Limits of a run.

    Attributes
    ----------
    converged : bool
        True if ||f - f*|| is at most a tenth of ||f*||.
    leading : {"optimisation", "batches", "features", "none"}
        The largest of the three; "none" if together they are below a fiftieth of ||f*||.
    parts : dict
        Root mean squares at the end relative to ||f*||, for "optimisation", "batches", "features" and "together".
    shares : dict
        Parts of the squared distance ||f - f*||^2: those three and their "remainder", signed. They sum to 1.
    slopes : dict
        Slopes of log mean squares against log t over the second half: of the "error" |f - h|^2 and the "distance" |f -
        f*|^2.
    largest_step : float or None
        The constant step above which the run diverges, if there is one.
    runs : tuple of FourRuns
        One per seed.
    subsample : Subsample or None
        The training points used; None if all of them were.
    scores : mapping of str to Difference
        Test scores of other runs less this one's, over the seeds: with "less regularisation" and "more regularisation",
        by a factor of ten each, and with "half the labels".
    """

    converged: bool
    leading: str
    parts: dict[str, float]
    shares: dict[str, float]
    slopes: dict[str, float]
    largest_step: float | None
    seeds: tuple[int, ...]
    runs: tuple[FourRuns, ...] = field(repr=False)
    subsample: Subsample | None = None
    scores: Mapping[str, Difference] = field(default_factory=dict)

    @property
    def has_grown(self) -> bool:
        """True if the run has diverged, or has begun to, with one of the seeds."""
        return any(run.has_grown for run in self.runs)

    @property
    def expected(self) -> float | None:
        """||f - f*|| / ||f*|| if the square of the leading part falls by a factor of four; None if no part leads."""
        if self.has_grown or self.leading == "none":
            return None
        # NumPy's floats do not overflow with an error.
        together, part = np.float64(self.parts["together"]), np.float64(self.parts[self.leading])
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.sqrt(np.maximum(together**2 - (1 - 1 / FACTOR) * part**2, 0.0)))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data; numbers that are not finite become None."""
        names = ("converged", "leading", "shares", "slopes", "parts", "expected", "largest_step")
        subsample = None if self.subsample is None else self.subsample.to_dict()
        plain = {name: getattr(self, name) for name in names} | {"seeds": list(self.seeds), "subsample": subsample}
        plain["scores"] = {
            name: {"mean": one.mean, "low": one.low, "high": one.high} for name, one in self.scores.items()
        }
        return dict(finite(plain))


def limits(
    spec: Spec,
    seeds: int | Sequence[int] = 5,
    *,
    split: Split | None = None,
    callback: Callable[[float], object] = lambda share: None,
) -> RunLimits:
    """Find the limits of a run: make it four times with every seed, with and without each of its two noises.

    Parameters
    ----------
    spec : Spec
        With a stochastic setting. If there are more than 4,000 training points, each seed draws 4,000 of them at
        random, and `RunLimits.subsample` records this.
    seeds : int or sequence of int, default 5
        Seeds of batches and features. A number stands for that many seeds, from the spec's own on. The data stay the
        same.
    split : Split, optional
        The data, if they are already loaded.
    callback : callable, optional
        Called with the share that is done.

    Returns
    -------
    RunLimits

    Raises
    ------
    DiagnosticsError
        If the setting's gradient is not a stochastic functional one.

    Examples
    --------
    >>> from dsgcore import Spec
    >>> from dsgcore.diagnostics import limits
    >>> data = {"name": "two_moons", "n": 200, "n_labeled": 20}
    >>> found = limits(Spec.from_dict({"setting": "auc", "data": data, "solver": {"n_iter": 20}}), seeds=2)
    >>> found.leading, found.converged
    ('optimisation', False)
    """
    used = seeds_of(spec, seeds)
    check_possible(spec)
    split = load_split(spec) if split is None else split
    runs = four_runs(spec, used, split=split, callback=lambda share: callback(SHARE_OF_FOUR_RUNS * share))
    largest = step_sizes(task_of(spec, split)).largest
    # Parts and shares at the last iteration, from the mean squares over the seeds.
    ends = {name: [(getattr(run, name)[-1] if len(run.t) else np.inf) / run.scale for run in runs] for name in ALL}
    squares = {name: float(np.mean(values)) for name, values in ends.items()}
    parts = {name: float(np.sqrt(value)) for name, value in squares.items()}
    with np.errstate(invalid="ignore"):
        shares = {name: float(np.divide(squares[name], squares["together"])) for name in CAUSES}
    leading = max(CAUSES, key=lambda cause: parts[cause])
    has_grown = any(run.has_grown for run in runs)
    if has_grown:
        leading = "optimisation"
    elif parts["together"] < NEGLIGIBLE and parts[leading] < NEGLIGIBLE:
        leading = "none"
    return RunLimits(
        converged=bool(parts["together"] <= NEAR),
        leading=leading,
        parts=parts,
        shares=shares | {"remainder": 1.0 - sum(shares.values())},
        slopes={"error": _slope(runs, "error"), "distance": _slope(runs, "together")},
        largest_step=largest,
        seeds=used,
        runs=runs,
        subsample=Subsample.of_points(len(split.X_train), used),
        scores={} if has_grown else _scores(spec, used, split, callback),
    )


def _scores(
    spec: Spec, seeds: Sequence[int], split: Split, callback: Callable[[float], object]
) -> dict[str, Difference]:
    """Return what another ridge and fewer labels bring to the test score; the batches and features of a seed stay the same."""
    spec = replace(spec, changes=())
    lam = spec.solver.lam
    others = {LESS: lam / FACTOR_OF_RIDGE, MORE: min(lam * FACTOR_OF_RIDGE, HIGHEST_RIDGE)} if lam > 0 else {}
    found = dict[str, list[float]]()
    for number, seed in enumerate(seeds):
        own, half = replace(spec, seed=seed), half_of_labels(split, seed, is_pairs=spec.problem.labels == "pairs")
        ways = {"": (own, split)}
        ways |= {n: (replace(own, solver=replace(own.solver, lam=lam)), split) for n, lam in others.items()}
        ways |= {HALF_THE_LABELS: (own, half)} if half is not None else {}
        for name, (one, data) in ways.items():
            found.setdefault(name, []).append(learned_score(one, data))
        callback(SHARE_OF_FOUR_RUNS + (1.0 - SHARE_OF_FOUR_RUNS) * (number + 1) / len(seeds))
    own_scores = found.pop("")
    return {name: paired_difference(scores, own_scores) for name, scores in found.items()}


def half_of_labels(split: Split, seed: int, *, is_pairs: bool) -> Split | None:
    """Return the data with half of the labels, or pairs, drawn at random; None if there are too few of them."""
    drawn, y = keyed_generator(seed, "half of the labels"), np.full(len(split.y_train), UNLABELED)
    codes = np.unique(split.y_train[split.labeled])
    if is_pairs:
        if len(codes) < 2:
            return None
        for number, pair in enumerate(np.sort(drawn.choice(codes, len(codes) // 2, replace=False))):
            y[split.y_train == pair] = number
        return replace(split, y_train=y)
    n = len(split.labeled) // 2
    if n < len(codes):
        return None
    rows = chosen_rows(split.y_train, n, drawn)
    y[rows] = split.y_train[rows]
    return replace(split, y_train=y)


def _slope(runs: Sequence[FourRuns], name: str) -> float:
    """Return the slope over the second half of the shortest run; NaN if that has no iteration."""
    n = min(len(run.t) for run in runs)
    if not n:
        return float("nan")
    t, mean = runs[0].t[:n], np.mean([getattr(run, name)[:n] for run in runs], axis=0)
    late = t >= t[-1] / 2
    return slope(t[late], mean[late])


def begin_limits(queue: JobQueue, spec: Spec, split: Split, **options: Any) -> Job:
    """Submit the four runs with five seeds to a queue; the job's progress is the share done, its result `RunLimits`.

    The job loads the data again from the spec, unless they came from a file, which may no longer exist. Options are
    `lease` and `is_wanted` of `JobQueue.submit`. Errors of `limits` are raised before the job begins.
    """
    n = min(len(split.X_train), MAX_POINTS)
    check_possible(spec)
    held = split if spec.data.name == FILE else None
    return queue.submit(find_limits, spec.to_json(), held, memory_limit=BYTES_A_PAIR * n * n + ALLOWANCE, **options)


def find_limits(spec: str, split: Split | None, *, report: Callable[[float], object]) -> RunLimits:
    """Find the limits of a run; report the share that is done."""
    told = [-1]

    def callback(share: float) -> None:
        if int(share * REPORTS) > told[0]:
            told[0] = int(share * REPORTS)
            report(share)

    return limits(Spec.from_json(spec), SEEDS, split=split, callback=callback)
