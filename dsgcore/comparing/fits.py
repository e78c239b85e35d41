"""One fit of a comparison, in any process: a request is the input, scores, time and memory are the output; kept fits."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import joblib
import numpy as np
from numpy.typing import NDArray

from dsgcore import __version__
from dsgcore.comparing.methods import METHODS, Method, scores_of
from dsgcore.comparing.samples import Sample
from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.splits import Split
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.solver.problem import UNLABELED
from dsgcore.studies.store import Store

# Labels of each class, and unlabeled points, of the short fit that compiles and loads what a fit needs.
WARM_LABELS, WARM_POINTS = 3, 40
# A slow method learns from so many unlabeled points. With ten times as many it would take most of a comparison's time.
MOST_OF_SLOW = 2000
# In the key of a kept fit; it changes with the way of fitting and measuring.
VERSION = 6
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
    """Result of one fit.

    Attributes
    ----------
    request : FitRequest
    scores : mapping of str to float
        Test scores by name; empty if the fit failed.
    seconds : float
        Computing time of the fit on one core.
    megabytes : float
        Peak memory of the fit beyond the data.
    note : str
        Reason why there is no score, or a warning of the fit.
    """

    request: FitRequest
    scores: dict[str, float] = field(default_factory=dict)
    seconds: float = math.nan
    megabytes: float = math.nan
    note: str = ""


class KeptFits:
    """The fits of one sample that are known: those that were put here, and those in a store."""

    def __init__(self, sample: Sample, store: Store | None = None) -> None:
        self.sample, self.store = sample, store
        self._known: dict[FitRequest, Fit] = {}
        self._looked_up: set[FitRequest] = set()

    def get(self, requests: Iterable[FitRequest]) -> dict[FitRequest, Fit]:
        """Return the known fits among these. Each is looked up in the store once."""
        wanted = list(requests)
        if self.store is not None and (new := set(wanted) - self._looked_up):
            self._looked_up |= new
            keys = {request.key(self.sample): request for request in new - self._known.keys()}
            for key, text in self.store.kept(KIND, keys).items():
                self._known[keys[key]] = Fit(keys[key], **json.loads(text))
        return {request: self._known[request] for request in wanted if request in self._known}

    def put(self, fits: Iterable[Fit], *, is_stored: bool = True) -> None:
        """Keep fits, in memory only unless they are to be stored. One that is there already stays as it is."""
        new = [fit for fit in fits if fit.request not in self._known]
        self._known |= {fit.request: fit for fit in new}
        if self.store is not None and is_stored and new:
            numbers = [{name: value for name, value in vars(fit).items() if name != "request"} for fit in new]
            keys = [fit.request.key(self.sample) for fit in new]
            self.store.keep(KIND, [(key, json.dumps(own), None) for key, own in zip(keys, numbers, strict=True)])


def fit_some(where: str | Sample, requests: Sequence[FitRequest], *, report: Callable[[Fit], object]) -> None:
    """Make some fits to a sample, or the one in a file, and report each. A background job does this."""
    # The points in a file stay on the disk until they are used.
    sample = joblib.load(where, mmap_mode="r") if isinstance(where, str) else where
    split_of = lru_cache(maxsize=1)(sample.split)  # the methods of a seed follow each other
    _warm_up(METHODS[requests[0].method], split_of(requests[0].seed, requests[0].n_labeled), requests[0].seed)
    for request in requests:
        report(fit(request, split_of(request.seed, request.n_labeled), sample.kind))


def fit(request: FitRequest, split: Split, kind: str) -> Fit:
    """Make one fit, and measure it."""
    method = METHODS[request.method]
    X, y = _training(method, split)
    n_used, n_unlabeled = len(y) - len(split.labeled), len(split.y_train) - len(split.labeled)
    is_part = method.uses_unlabeled and n_used < n_unlabeled
    note = f"learns from {n_used:,} of {n_unlabeled:,} unlabeled points, to be fast enough" if is_part else ""
    model, held, start = method.make(request.seed), forget_peak(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a method that has not converged shows it by its score
            model.fit(X, y)
        seconds, used = time.process_time() - start, max(0, peak() - held) / 1e6
        scores = scores_of(model, split.X_test, split.y_test, kind)
    except DSGError as error:
        return Fit(request, note=str(error))
    if not np.isfinite(list(scores.values())).all():
        return Fit(request, note="a score is not a finite number")
    return Fit(request, scores, round(seconds, 4), round(used, 1), note)


def _training(method: Method, split: Split) -> tuple[NDArray, NDArray]:
    """Return the points and labels that a method gets."""
    rows = training_rows(method, split.y_train)
    return split.X_train[rows], split.y_train[rows]


def training_rows(method: Method, codes: NDArray) -> NDArray[np.intp]:
    """Return the rows that a method learns from, by class codes (n,): those with labels, and others if it uses them."""
    rows = np.flatnonzero(codes != UNLABELED)
    if method.uses_unlabeled:
        others = np.flatnonzero(codes == UNLABELED)
        most = MOST_OF_SLOW if method.is_slow else len(others)
        rows = np.sort(np.concatenate([rows, others[evenly_spread(len(others), most)]]))
    return rows


def _warm_up(method: Method, split: Split, seed: int) -> None:
    """Fit on a few points, so that compiling and loading are not measured."""
    X, y = _training(method, split)
    labeled = [np.flatnonzero(y == code)[:WARM_LABELS] for code in np.unique(y[y != UNLABELED])]
    rows = np.concatenate([*labeled, np.flatnonzero(y == UNLABELED)[:WARM_POINTS]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(DSGError):  # the fit itself will say so
            method.make(seed).fit(X[rows], y[rows])
