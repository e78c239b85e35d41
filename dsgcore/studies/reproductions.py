"""The papers' figures as measurements: the paper's sets and rivals, a claim, and a verdict with an interval over seeds."""

from __future__ import annotations

import inspect
import json
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from dsgcore.core.errors import DSGError
from dsgcore.core.files import cache_folder
from dsgcore.core.parameters import quoted
from dsgcore.core.threads import single_threaded_blas
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.experiments.race import competitor, values_of
from dsgcore.experiments.settings import SETTINGS
from dsgcore.problems import UNLABELED
from dsgcore.studies.store import Store

REPRODUCED, IN_PART, NOT_REPRODUCED = "reproduced", "reproduced in part", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
HOLDS, FAILS, OPEN = "holds", "fails", "open"
OURS: dict[str, Any] = {
    "similar_unlabeled": TSGSU,
    "auc": QSGS2AUC,
    "s3vm": TSGS3VM,
    "ordinal": QS3ORAO,
    "multiclass": PS3VT,
}
KIND, VERSION, CONFIDENCE, MOST_TESTED, TRIES = "reproduction", 1, 0.95, 2000, 100
FASTER, BETTER, AS_GOOD = "faster", "better", "as good"


@dataclass(frozen=True)
class Reproduction:
    """A figure's measurement, as `reproductions.toml` has it: there are the meanings of its fields."""

    name: str
    says: str
    claim: str
    sets: tuple[str, ...]
    rivals: tuple[str, ...]
    within: float = 0.0
    ours: Mapping[str, Any] = field(default_factory=dict)
    rival_set: Mapping[str, Any] = field(default_factory=dict)
    n_labeled: int = 0
    share_labeled: float = 0.0
    unlabeled: tuple[int, ...] = (0,)
    seeds: int = 10
    quick: Mapping[str, Any] = field(default_factory=dict)

    @property
    def setting(self) -> str:
        """The setting that it belongs to."""
        return self.name.partition("/")[0]


@cache
def reproductions() -> dict[str, Reproduction]:
    """Return all of them by name, such as "auc/fig1"."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        f"{setting}/{figure}": Reproduction(f"{setting}/{figure}", **said)
        for setting, own in table.items()
        for figure, said in own.items()
    }


def reproduction(name: str, *, is_quick: bool = False) -> Reproduction:
    """Return one of them, with its quick sizes if they are asked for; raise `DSGError` if there is none of that name."""
    if name not in reproductions():
        raise DSGError(f"the figure must be one of {', '.join(reproductions())}, got {quoted(name)}")
    found = reproductions()[name]
    return replace(found, **found.quick) if is_quick else found


@dataclass(frozen=True)
class Fit:
    """One measured fit."""

    dataset: str
    method: str
    n_unlabeled: int
    seed: int
    seconds: float
    score: float


@dataclass(frozen=True)
class Check:
    """The claim against one rival on one set: a difference in our favour, and its interval over the seeds.

    It holds, or fails, if all of the interval says so, and else it is open.
    """

    dataset: str
    rival: str
    difference: float
    low: float
    high: float
    state: str


@dataclass(frozen=True)
class Verdict:
    """What has come out: the outcome in words, the checks, the fits, and the sets that are not there."""

    outcome: str
    checks: tuple[Check, ...]
    fits: tuple[Fit, ...]
    missing: tuple[str, ...]


def find_set(name: str, folder: Path | None) -> Path | None:
    """Return a set's file, in the folder or else in the cache of downloads; None if it is in neither."""
    places = [place / f"{name}.npz" for place in (folder, cache_folder(), cache_folder() / name) if place is not None]
    return next((place for place in places if place.is_file()), None)


def read_set(file: Path, labels: str) -> tuple[NDArray, NDArray]:
    """Return a set's points, scaled to [0, 1] per column, and its classes from 0 on. Binary: the most frequent against the rest.

    Raises
    ------
    DSGError
        If the file does not hold points and labels.
    """
    try:
        with np.load(file, allow_pickle=False) as held:
            X, y = held["X"].astype(np.float64), held["y5" if labels == "ordinal" else "y"]
    except (KeyError, ValueError, OSError) as error:
        raise DSGError(f"{file} must hold X and {'y5' if labels == 'ordinal' else 'y'}: {error}") from None
    classes, codes = np.unique(y, return_inverse=True)
    if labels in ("binary", "pairs"):
        codes = codes if len(classes) == 2 else (codes == np.bincount(codes).argmax()).astype(int)
    low = X.min(axis=0)
    return (X - low) / np.maximum(X.max(axis=0) - low, 1e-12), codes


@dataclass(frozen=True, eq=False)
class Sample:
    """Training points with few labels, and test points."""

    X: NDArray
    seen: NDArray
    X_test: NDArray
    y_test: NDArray
    n_classes: int


def drawn_sample(X: NDArray, y: NDArray, n_labeled: int, n_unlabeled: int, seed: int) -> Sample:
    """Draw labeled, unlabeled and test points by the seed; the labels are of all classes."""
    k = int(y.max()) + 1
    for attempt in range(TRIES):
        order = np.random.default_rng([seed, attempt]).permutation(len(y))
        if len(np.unique(y[order[:n_labeled]])) == k:
            break
    else:
        raise DSGError(f"{n_labeled} labels of {k} classes lack a class in each of {TRIES} draws: take more labels")
    train, test = np.split(order, [min(n_labeled + n_unlabeled, len(y) - len(y) // 5)])
    seen = np.where(np.arange(len(train)) < n_labeled, y[train], UNLABELED)
    return Sample(X[train], seen, X[test[:MOST_TESTED]], y[test[:MOST_TESTED]], k)


def measured(
    setting: str, method: Any, parameters: Mapping[str, Any], sample: Sample, seed: int
) -> tuple[float, float]:
    """Return the seconds of a fit in one thread, and its score on the test points."""
    known = inspect.signature(method).parameters
    share = float(np.clip(np.mean(sample.seen[sample.seen >= 0] == 1), 0.02, 0.98))
    usual = {"random_state": seed, "y_holds": "classes", "prior": share if abs(share - 0.5) > 0.01 else 0.51}
    if setting != "similar_unlabeled":
        del usual["prior"]
    estimator = method(**{name: value for name, value in usual.items() if name in known} | dict(parameters))
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        estimator.fit(sample.X, sample.seen)
        seconds = time.perf_counter() - begin
        problem = SETTINGS[setting]()
        f = values_of(estimator, sample.X_test, problem.decision, sample.n_classes)
        if setting == "similar_unlabeled":
            return seconds, float(np.mean(estimator.predict(sample.X_test) == sample.y_test))
        return seconds, float(problem.score(sample.y_test, f))


def carry_out_reproduction(
    asked: Reproduction,
    folder: Path | None = None,
    store: Store | None = None,
    tell: Callable[[int, int, str], object] = lambda done, total, words: None,
) -> Verdict:
    """Make the fits that the store does not have, and return the verdict.

    Parameters
    ----------
    asked : Reproduction
    folder : path, optional
        Folder with the sets, `NAME.npz` each. By default only the cache of downloads is searched.
    store : Store, optional
        Store of finished fits, from which an interrupted call continues.
    tell : callable, optional
        Called before each fit with the number of finished ones, the number of all, and a few words.
    """
    files = {name: find_set(name, folder) for name in asked.sets}
    there = {name: file for name, file in files.items() if file is not None}
    labels, fits, ours = SETTINGS[asked.setting].labels, list[Fit](), OURS[asked.setting]
    methods, is_warm = [(ours.__name__, ours, asked.ours)], False
    for rival in asked.rivals:
        is_own = rival == ours.__name__
        kind = ours if is_own else competitor(asked.setting, rival)
        methods.append((f"{rival} {' '.join(map(str, asked.rival_set.values()))}".strip(), kind, asked.rival_set))
    total = len(there) * len(asked.unlabeled) * asked.seeds * len(methods)
    for name, file in there.items():
        X, y = read_set(file, labels)
        n_labeled = asked.n_labeled or int(asked.share_labeled * 0.7 * len(y))
        for n, seed in ((n, seed) for n in asked.unlabeled for seed in range(asked.seeds)):
            size = n or int(0.7 * len(y)) - n_labeled
            sample = drawn_sample(X, y, n_labeled, size, seed)
            for shown, method, parameters in methods:
                tell(len(fits), total, f"{shown} on {name}, {size:,} unlabeled points, seed {seed}")
                key = _key(asked.setting, shown, parameters, sample, seed)
                kept = None if store is None else store.kept(KIND, [key]).get(key)
                if kept is None:
                    if not is_warm:  # compile, or load what is compiled
                        measured(asked.setting, ours, asked.ours, sample, seed)
                    is_warm = True
                    kept = json.dumps(measured(asked.setting, method, parameters, sample, seed))
                    if store is not None:
                        store.keep(KIND, [(key, kept, None)])
                fits.append(Fit(name, shown, size, seed, *json.loads(kept)))
    checks = tuple(_checks(asked, fits))
    return Verdict(_outcome(checks), checks, tuple(fits), tuple(name for name in asked.sets if name not in there))


def _key(setting: str, method: str, parameters: Mapping[str, Any], sample: Sample, seed: int) -> str:
    points = sha256(sample.X.tobytes() + sample.seen.tobytes() + sample.X_test.tobytes()).hexdigest()
    return sha256(json.dumps([VERSION, setting, method, dict(parameters), points, seed]).encode()).hexdigest()


def _checks(asked: Reproduction, fits: list[Fit]) -> Iterator[Check]:
    """Compare our fits with each rival's, on each set, at the largest size, seed by seed."""
    ours = OURS[asked.setting].__name__
    for name in dict.fromkeys(fit.dataset for fit in fits):
        largest = max(fit.n_unlabeled for fit in fits if fit.dataset == name)
        by_method: dict[str, list[float]] = {}
        for fit in fits:
            if (fit.dataset, fit.n_unlabeled) == (name, largest):
                value = -np.log(max(fit.seconds, 1e-6)) if asked.claim == FASTER else fit.score
                by_method.setdefault(fit.method, []).append(value)
        own = np.array(by_method.pop(ours))
        for rival, values in by_method.items():
            mean, half = interval(own - np.array(values))
            low, high = mean - half, mean + half
            state = HOLDS if low > -asked.within else FAILS if high < -asked.within else OPEN
            yield Check(name, rival, mean, low, high, state)


def interval(differences: NDArray) -> tuple[float, float]:
    """Return the mean, and half the width of its interval by Student's t. One number has an infinite one."""
    n = len(differences)
    if n < 2:
        return float(differences.mean()), float("inf")
    half = student.ppf((1.0 + CONFIDENCE) / 2.0, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return float(differences.mean()), float(half)


def _outcome(checks: tuple[Check, ...]) -> str:
    if not checks:
        return NOT_RUN
    states = {check.state for check in checks}
    if states == {HOLDS}:
        return REPRODUCED
    return IN_PART if HOLDS in states else NOT_REPRODUCED if FAILS in states else UNDECIDED
