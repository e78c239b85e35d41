"""One fit of a comparison, in any process: a request is the input, scores, time and memory are the output; kept fits."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import joblib
import numpy as np
from numpy.typing import NDArray

from dsgcore import __version__
from dsgcore.comparing.methods import METHODS, Method, scores_of, scores_of_chance
from dsgcore.comparing.samples import Sample
from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.splits import Split
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.solver.problem import UNLABELED

# Labels of each class, and unlabeled points, of the short fit that compiles and loads what a fit needs.
WARM_LABELS, WARM_POINTS = 3, 40
# A slow method learns from so many unlabeled points. With ten times as many it would take most of a comparison's time.
MOST_OF_SLOW = 2000
# In the key of a kept fit; it changes with the way of fitting and measuring.
VERSION = 7
KIND = "fit"


@dataclass(frozen=True)
class FitRequest:
    """One fit: a method's name, a seed, and the number of labels."""

    method: str
    seed: int
    n_labeled: int

    def key(self, sample: Sample) -> str:
        """Return the name of its result in a store."""
        said = [VERSION, __version__, sample.sha256, self.method, self.seed, self.n_labeled]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True)
class Fit:
    """Result of one fit: test scores by name, none if it failed; seconds of one core; peak memory beyond the data.

    The note is the reason why there is no score, or a warning. Chance has the scores of one answer for all test points.
    """

    request: FitRequest
    scores: dict[str, float] = field(default_factory=dict)
    seconds: float = math.nan
    megabytes: float = math.nan
    note: str = ""
    chance: dict[str, float] = field(default_factory=dict)


def fit_some(where: str | Sample, requests: Sequence[FitRequest], *, report: Callable[[Fit], object]) -> None:
    """Make some fits to a sample, or the one in a file, and report each. A background job does this."""
    # The points in a file stay on the disk until they are used.
    sample = joblib.load(where, mmap_mode="r") if isinstance(where, str) else where
    split_of = lru_cache(maxsize=1)(sample.split)  # the methods of a seed follow each other
    method, split = METHODS[requests[0].method], split_of(requests[0].seed, requests[0].n_labeled)
    rows, y = training_rows(method, split.y_train), split.y_train
    labeled = [rows[y[rows] == code][:WARM_LABELS] for code in np.unique(y[y != UNLABELED])]
    some = np.concatenate([*labeled, rows[y[rows] == UNLABELED][:WARM_POINTS]])
    with warnings.catch_warnings(action="ignore"), suppress(DSGError):  # the fit itself will say so
        method.make(requests[0].seed).fit(split.X_train[some], y[some])
    for request in requests:
        report(fit(request, split_of(request.seed, request.n_labeled), sample.kind))


def fit(request: FitRequest, split: Split, kind: str) -> Fit:
    """Make one fit, and measure it."""
    method = METHODS[request.method]
    rows = training_rows(method, split.y_train)
    X, y = split.X_train[rows], split.y_train[rows]
    note = about_part(method, y, len(split.y_train) - len(split.labeled), "points")
    model, held, start = method.make(request.seed), forget_peak(), time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):  # a method that has not converged shows it by its score
            model.fit(X, y)
        seconds, used = time.process_time() - start, max(0, peak() - held) / 1e6
        scores = scores_of(model, split.X_test, split.y_test, kind)
    except DSGError as error:
        return Fit(request, note=str(error))
    if not np.isfinite(list(scores.values())).all():
        return Fit(request, note="a score is not a finite number")
    chance = scores_of_chance(split.y_train[split.labeled], split.y_test, kind)
    return Fit(request, scores, round(seconds, 4), round(used, 1), note, chance)


def about_part(method: Method, codes: NDArray, n_unlabeled: int, what: str) -> str:
    """Return words on a method that learns from class codes (n,) which have fewer unlabeled ones than there are, else none."""
    n_used = int(np.sum(codes == UNLABELED))
    is_part = method.uses_unlabeled and n_used < n_unlabeled
    return f"learns from {n_used:,} of {n_unlabeled:,} unlabeled {what}, to be fast enough" if is_part else ""


def training_rows(method: Method, codes: NDArray) -> NDArray[np.intp]:
    """Return the rows that a method learns from, by class codes (n,): those with labels, and others if it uses them."""
    rows = np.flatnonzero(codes != UNLABELED)
    if method.uses_unlabeled:
        others = np.flatnonzero(codes == UNLABELED)
        most = MOST_OF_SLOW if method.is_slow else len(others)
        rows = np.sort(np.concatenate([rows, others[evenly_spread(len(others), most)]]))
    return rows
