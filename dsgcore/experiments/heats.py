"""Races of several methods at growing sizes: test score and seconds of a run and its rivals on the same data, over seeds."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.experiments.data_of import load_split
from dsgcore.experiments.race import competitor, fixed_parameters, free_parameters, values_of
from dsgcore.experiments.run import Run
from dsgcore.experiments.spec import Spec
from dsgcore.settings import profile_of
from dsgcore.solver.problem import UNLABELED

# Seconds after which a method is not tried at a larger size. Its time is expected to grow with the square of the points.
SECONDS = 60.0


@dataclass(frozen=True)
class Heat:
    """One fit: its method, number of unlabeled points and seed, and its seconds and test score, or else why it has none."""

    method: str
    n_unlabeled: int
    seed: int
    seconds: float = math.nan
    score: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class Summary:
    """A method at one size: medians over the seeds, and the smallest and the largest score."""

    method: str
    n_unlabeled: int
    seconds: float
    score: float
    low: float
    high: float


def usual_sizes(split: Split) -> tuple[int, ...]:
    """Return the numbers of unlabeled points of a race: a hundredth, a tenth, a third and all of them, at least ten."""
    n = int(np.sum(split.y_train == UNLABELED))
    return tuple(sorted({max(10, n // part) for part in (100, 10, 3)} | {n})) if n >= 10 else (n,)


def run_heats(
    spec: str,
    rivals: Sequence[str],
    sizes: Iterable[int],
    n_seeds: int,
    split: Split | None = None,
    *,
    seconds: float = SECONDS,
    report: Callable[[tuple[int, int, tuple[Heat, ...]]], object] = lambda so_far: None,
) -> tuple[Heat, ...]:
    """Fit the run and its rivals at each size and seed, the small sizes first.

    Parameters
    ----------
    spec : str
        The run as JSON. A seed is added to its own, which draws other labels, mini-batches and features.
    rivals : sequence of str
        Names of competitors' classes. They get the run's kernel and the parameters that they share with it.
    sizes : iterable of int
        Numbers of unlabeled points. The labeled ones and the test points stay.
    n_seeds : int
    split : Split, optional
        Data of a file, which may no longer exist; all seeds have its labels. Default: as the spec says.
    seconds : float
        A method is left out where it is expected to take longer.
    report : callable
        Called after each fit with the number of finished ones, the number of all, and all so far.

    Raises
    ------
    DSGError
        If there is no such rival, or if the data cannot be loaded.
    """
    base, found = Spec.from_json(spec), list[Heat]()
    names = ["", *rivals]
    for name in rivals:
        competitor(base.problem.name, name)
    sizes, last = sorted(sizes), dict[str, tuple[int, float]]()
    total = len(sizes) * n_seeds * len(names)
    splits = {
        seed: load_split(replace(base, seed=base.seed + seed)) if split is None else split for seed in range(n_seeds)
    }
    Run(base, smaller(splits[0], sizes[0], 0)).advance(1)  # compile, or load what is compiled
    for n in sizes:
        for seed, whole in splits.items():
            own, part = replace(base, seed=base.seed + seed), smaller(whole, n, seed)
            for name in names:
                found.append(_heat(own, name, part, n, seed, _expected(last.get(name), n), seconds))
                report((len(found), total, tuple(found)))
        for name in names:
            times = [heat.seconds for heat in found if heat.method == title(base, name) and heat.n_unlabeled == n]
            last[name] = (n, float(np.median(times)))
    return tuple(found)


def smaller(split: Split, n: int, seed: int) -> Split:
    """Return a split with so many of the unlabeled training points, drawn by the seed, and all labeled ones."""
    unlabeled = np.flatnonzero(split.y_train == UNLABELED)
    drawn = np.random.default_rng([seed, len(unlabeled)]).permutation(unlabeled)[:n]
    rows = np.sort(np.concatenate([np.flatnonzero(split.y_train != UNLABELED), drawn]))
    names = ("X_train", "y_train", "y_hidden", "train_rows")
    parts: dict[str, Any] = {name: np.ascontiguousarray(getattr(split, name)[rows]) for name in names}
    return replace(split, **parts)


def title(spec: Spec, name: str) -> str:
    """Return a method's name in the race; an empty name is the run's own."""
    return competitor(spec.problem.name, name).title if name else profile_of(spec.problem).paper


def _expected(last: tuple[int, float] | None, n: int) -> float:
    """Return the seconds that a method will take, from its last size; NaN if it had no time there."""
    return 0.0 if last is None else last[1] * (n / last[0]) ** 2


def _heat(spec: Spec, name: str, split: Split, n: int, seed: int, expected: float, most: float) -> Heat:
    shown = title(spec, name)
    if name and not expected <= most:
        about = f"it would take about {expected:,.0f} s" if math.isfinite(expected) else "fewer points took too long"
        return Heat(shown, n, seed, note=about)
    try:
        with warnings.catch_warnings(), single_threaded_blas():
            warnings.simplefilter("ignore")
            return Heat(shown, n, seed, *(_rival(spec, name, split) if name else _own(spec, split)))
    except MemoryError:
        return Heat(shown, n, seed, note="it needs more memory than the limit")
    except DSGError as error:
        return Heat(shown, n, seed, note=str(error))


def _own(spec: Spec, split: Split) -> tuple[float, float]:
    run = Run(spec, split)
    run.advance(run.n_iter)
    score = run.result_score
    return (run.training_clock[-1] if run.training_clock else math.nan), (math.nan if score is None else score)


def _rival(spec: Spec, name: str, split: Split) -> tuple[float, float]:
    kind = competitor(spec.problem.name, name)
    free = {p.name: p.default for p in free_parameters(spec, split, kind)}
    estimator = kind(**{**fixed_parameters(spec, kind), **free})
    begin = time.perf_counter()
    estimator.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - begin
    values: NDArray = values_of(estimator, split.X_test, spec.problem.decision, len(split.class_names))
    return seconds, float(spec.problem.score(split.y_test, values))


def summaries(heats: Iterable[Heat]) -> list[Summary]:
    """Return the medians of each method at each size over the seeds; fits without a score are left out."""
    scored: dict[tuple[str, int], list[Heat]] = {}
    for heat in heats:
        if math.isfinite(heat.score):
            scored.setdefault((heat.method, heat.n_unlabeled), []).append(heat)
    made = []
    for (method, n), own in scored.items():
        scores = [heat.score for heat in own]
        seconds = float(np.median([heat.seconds for heat in own]))
        made.append(Summary(method, n, seconds, float(np.median(scores)), min(scores), max(scores)))
    return made
