"""The papers' figures as measurements: the paper's sets and rivals, a claim, and a verdict with an interval over seeds."""

from __future__ import annotations

import inspect
import json
import math
import time
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.files import cache_folder
from dsgcore.core.metrics import paired_difference
from dsgcore.core.parameters import quoted
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import DATASETS, load
from dsgcore.data.archive_sets import REMOTE_SETS, RemoteSet, cached
from dsgcore.data.reading.recipe import LOCAL
from dsgcore.data.reading.sources import Source, streamed
from dsgcore.data.reading.svmlight import TARGET, read_svmlight
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.experiments.rivals import competitor, values_of
from dsgcore.experiments.settings import SETTINGS
from dsgcore.problems import UNLABELED
from dsgcore.settings import profile_of
from dsgcore.studies.store import Store
from dsgcore.tuning.folds import LabeledFolds
from dsgcore.tuning.scorers import accuracy, auc_score, mean_auc_score

# Names of sets of the archives that have other names in the figures, and the largest set that is read whole.
FETCHED = {
    **{"codrna": "cod-rna", "skin_nonskin": "skin", "covtype20k": "covtype"},
    **{"higgs7500": "higgs", "poker25k": "poker", "mnist10k": "mnist"},
}
MOST_NUMBERS = 200_000_000
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
KIND, VERSION, MOST_TESTED, TRIES = "reproduction", 2, 2000, 100
FASTER, BETTER, AS_GOOD = "faster", "better", "as good"
AXES = {"unlabeled": "unlabeled points", "share_labeled": "share of labels", "n_iter": "iterations"}
SCORERS: Mapping[str, Any] = {"auc": auc_score, "ordinal": mean_auc_score}
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Reproduction:
    """A figure's measurement, as `reproductions.toml` has it: there are the meanings of its fields."""

    name: str
    claim: str
    sets: tuple[str, ...]
    rivals: tuple[Parameters, ...]
    within: float = 0.0
    ours: Parameters = field(default_factory=dict)
    beside: tuple[Parameters, ...] = ()
    why: str = ""
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    n_labeled: int = 0
    share_labeled: tuple[float, ...] = ()
    unlabeled: tuple[int, ...] = (0,)
    n_iter: tuple[int, ...] = ()
    seeds: int = 10
    quick: Mapping[str, Any] = field(default_factory=dict)

    @property
    def setting(self) -> str:
        """The setting that it belongs to."""
        return self.name.partition("/")[0]

    @property
    def says(self) -> str:
        """The paper's statement."""
        figures = profile_of(SETTINGS[self.setting]).figures
        return next(figure.says for figure in figures if self.name == f"{self.setting}/{figure.name}")

    @property
    def axis(self) -> str:
        """What grows from fit to fit: "n_iter", "share_labeled" or "unlabeled"."""
        return next((name for name in ("n_iter", "share_labeled") if len(getattr(self, name)) > 1), "unlabeled")

    def methods(self) -> dict[str, tuple[Any, Parameters]]:
        """Return each method's class and parameters, by the name that its fits have: ours, the rivals, and those beside."""
        ours = OURS[self.setting]
        found: dict[str, tuple[Any, Parameters]] = {ours.__name__: (ours, self.ours)}
        for said in (*self.rivals, *self.beside):
            name = said.get("of", ours.__name__)
            parameters = {**(self.ours if name == ours.__name__ else {}), **said}
            kind = ours if parameters.pop("of", name) == ours.__name__ else competitor(self.setting, name)
            found[named(said, ours.__name__)] = (kind, parameters)
        return found


def named(said: Parameters, ours: str) -> str:
    """Return a method's name with the parameters that are told of it, such as "CUU, centers 200"."""
    values = (f"{name} {value}" for name, value in said.items() if name != "of")
    return ", ".join(
        (said.get("of", ours), *(value.replace("as_in_paper True", "as in the paper") for value in values))
    )


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
    """One measured fit; `at` is its place on the figure's axis, `seconds` are those of the processor in one thread."""

    dataset: str
    method: str
    at: float
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


# Fits as the package keeps them: by set, method and place on the axis, seconds and score of each seed.
Kept = dict[str, dict[str, dict[str, list[list[float]]]]]


def compact(fits: Iterable[Fit]) -> Kept:
    """Return fits as the package keeps them, with four digits."""
    found: Kept = {}
    for fit in sorted(fits, key=lambda fit: fit.seed):
        own = found.setdefault(fit.dataset, {}).setdefault(fit.method, {}).setdefault(f"{fit.at:g}", [])
        own.append([float(f"{value:.4g}") for value in (fit.seconds, fit.score)])
    return found


def kept_verdict(asked: Reproduction) -> Verdict:
    """Return what the fits in the package say; the outcome is "not run" if there are none."""
    fits = (
        Fit(dataset, method, float(at), seed, *of_seed)
        for dataset, methods in _kept().get(asked.name, {}).items()
        for method, places in methods.items()
        for at, seeds in places.items()
        for seed, of_seed in enumerate(seeds)
    )
    return verdict_of(asked, fits)


@cache
def _kept() -> dict[str, Kept]:
    return json.loads(Path(__file__).with_name("reproduced.json").read_text(encoding="utf-8"))


def find_set(name: str, folder: Path | None) -> Path | str | None:
    """Return a set's file: NAME.npz in the folder or in the cache, or the file that was fetched; None if there is none.

    A set of the package is found by its name.
    """
    remote = archive_of(name)
    places = [place / f"{name}.npz" for place in (folder, cache_folder(), cache_folder() / name) if place is not None]
    fetched = None if remote is None else cached(remote)
    found = next((place for place in [*places, *([fetched] if fetched else [])] if place.is_file()), None)
    return name if found is None and name in DATASETS else found


def how_to_get(missing: Sequence[str]) -> str:
    """Return a sentence on sets that were not found: the command that fetches them, or the file to give."""
    remotes = [remote.name for name in missing if (remote := archive_of(name))]
    others = [f"{name}.npz" for name in missing if archive_of(name) is None]
    ways = [f"fetch it with `dsg-lab data fetch {' '.join(remotes)}`"] * bool(remotes)
    return (
        f"Needs {', '.join(missing)}: {' and '.join(ways + [f'name a folder that holds {name}' for name in others])}."
    )


def archive_of(name: str) -> RemoteSet | None:
    """Return the archive's set that serves as a figure's, if it has labels by itself and fits into memory."""
    remote = REMOTE_SETS.get(FETCHED.get(name, name))
    if remote is None or remote.archive == "UCI" or remote.n * remote.d > MOST_NUMBERS:
        return None
    return remote


def read_set(file: Path | str, labels: str) -> tuple[NDArray, NDArray]:
    """Return a set's points, scaled to [0, 1] per column, and its classes from 0 on. Binary: the most frequent against the rest.

    Raises
    ------
    DSGError
        If the file does not hold points and labels.
    """
    try:
        X, y = _arrays(file, labels)
    except (KeyError, ValueError, OSError) as error:
        raise DSGError(f"{file} must hold X and {'y5' if labels == 'ordinal' else 'y'}: {error}") from None
    classes, codes = np.unique(y, return_inverse=True)
    if labels in ("binary", "pairs"):
        codes = codes if len(classes) == 2 else (codes == np.bincount(codes).argmax()).astype(int)
    low = X.min(axis=0)
    return (X - low) / np.maximum(X.max(axis=0) - low, 1e-12), codes


def _arrays(file: Path | str, labels: str) -> tuple[NDArray, NDArray]:
    """Return the points and labels of a NumPy archive, or of LIBSVM text; ordered labels are five equal parts of a number."""
    if isinstance(file, str):
        own = load(file)
        return own.X.astype(np.float64), own.y
    if file.suffix == ".npz":
        with np.load(file, allow_pickle=False) as held:
            return held["X"].astype(np.float64), held["y5" if labels == "ordinal" else "y"]
    frame, _ = read_svmlight(streamed(Source.of_path(file), LOCAL), LOCAL)
    X, y = frame.drop(columns=TARGET).to_numpy(np.float64), frame[TARGET].to_numpy(np.float64)
    return X, np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y) if labels == "ordinal" else y


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


def made(method: Any, parameters: Parameters, setting: str, sample: Sample, seed: int) -> Any:
    """Return a method ready to be fitted: with its parameters or its paper's, the seed, and the share of positives."""
    known = inspect.signature(method).parameters
    share = float(np.clip(np.mean(sample.seen[sample.seen >= 0] == 1), 0.02, 0.98))
    usual = {"random_state": seed, "y_holds": "classes", "prior": share if abs(share - 0.5) > 0.01 else 0.51}
    if setting != "similar_unlabeled":
        del usual["prior"]
    given = {name: value for name, value in usual.items() if name in known} | dict(parameters)
    return method.as_in_paper(len(sample.X), **given) if given.pop("as_in_paper", False) else method(**given)


def measured(setting: str, method: Any, parameters: Parameters, sample: Sample, seed: int) -> tuple[float, float]:
    """Return the processor's seconds of a fit in one thread, and its score on the test points."""
    estimator = made(method, parameters, setting, sample, seed)
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        while True:
            try:
                estimator.fit(sample.X, sample.seen)
                break
            except DivergedError:  # the step that is best in the folds can be too large for all points
                if not isinstance(estimator.step_size, float):
                    raise
                estimator.step_size /= 2
        seconds = time.process_time() - begin
        problem = SETTINGS[setting]()
        f = values_of(estimator, sample.X_test, problem.decision, sample.n_classes)
        if setting == "similar_unlabeled":
            return seconds, float(np.mean(estimator.predict(sample.X_test) == sample.y_test))
        return seconds, float(problem.score(sample.y_test, f))


def chosen(setting: str, method: Any, parameters: Parameters, grid: Mapping[str, Any], sample: Sample) -> Parameters:
    """Return the grid's values that are best in three folds of the labels, beside all unlabeled points."""
    known = inspect.signature(method).parameters
    own = {name: values for name, values in grid.items() if name in known and name not in parameters}
    if not own:
        return {}
    folds = LabeledFolds(3, unlabeled="train", random_state=0)
    estimator = made(method, parameters, setting, sample, 0)
    search = GridSearchCV(estimator, own, cv=folds, scoring=SCORERS.get(setting, accuracy), refit=False)
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        return dict(search.fit(sample.X, sample.seen).best_params_)


@dataclass
class _Keeping:
    """Finished work in a store: what is there is not done again. Before the first work, a fit compiles, or loads what is."""

    store: Store | None
    warm_up: Callable[[], object] | None = None

    def get(self, name: str, work: Callable[..., Any], *given: Any) -> Any:
        """Return what the work returns, by its name and by what it is given."""
        key = sha256(json.dumps([VERSION, name, *map(_plain, given)]).encode()).hexdigest()
        kept = None if self.store is None else self.store.kept(KIND, [key]).get(key)
        if kept is None:
            if self.warm_up is not None:
                self.warm_up()
                self.warm_up = None
            kept = json.dumps(work(*given))
            if self.store is not None:
                self.store.keep(KIND, [(key, kept, None)])
        return json.loads(kept)


def _plain(given: Any) -> Any:
    if isinstance(given, Sample):
        return sha256(given.X.tobytes() + given.seen.tobytes() + given.X_test.tobytes()).hexdigest()
    return given.__name__ if isinstance(given, type) else given


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
    keeping, fits, methods = _Keeping(store), list[Fit](), asked.methods()
    is_cold = True
    total = len(there) * len(getattr(asked, asked.axis)) * asked.seeds * len(methods)
    for name, file in there.items():
        X, y = read_set(file, SETTINGS[asked.setting].labels)
        values: dict[str, Parameters] = {}
        for seed, sizes in ((seed, sizes) for seed in range(asked.seeds) for sizes in _sizes(asked, len(y))):
            sample = drawn_sample(X, y, *sizes, seed)
            if is_cold:
                keeping.warm_up = partial(measured, asked.setting, OURS[asked.setting], asked.ours, sample, seed)
            is_cold = False
            for shown, (kind, parameters) in methods.items():
                if shown not in values:
                    tell(len(fits), total, f"values of {shown} on {name}")
                    values[shown] = keeping.get(
                        "chosen", chosen, asked.setting, kind, dict(parameters), asked.grid, sample
                    )
                for at, more in _places(asked, kind, sizes):
                    tell(len(fits), total, f"{shown} on {name}, {sizes[1]:,} unlabeled points, seed {seed}")
                    own = {**parameters, **values[shown], **more}
                    fits.append(
                        Fit(
                            name,
                            shown,
                            at,
                            seed,
                            *keeping.get("measured", measured, asked.setting, kind, own, sample, seed),
                        )
                    )
    return verdict_of(asked, fits)


def run_quick(name: str, *, report: Callable[[tuple[int, int, str]], object]) -> Verdict:
    """Measure a figure's quick form on sets in the cache, as a job: `report` gets what `tell` gets."""
    asked = reproduction(name, is_quick=True)
    return carry_out_reproduction(asked, tell=lambda done, total, words: report((done, total, words)))


def _sizes(asked: Reproduction, n: int) -> list[tuple[int, int]]:
    """Return the numbers of labeled and unlabeled points, the largest first: there the grid is searched."""
    labeled = [int(share * 0.7 * n) for share in asked.share_labeled] or [asked.n_labeled]
    return [(m, u or int(0.7 * n) - m) for m in reversed(labeled) for u in reversed(asked.unlabeled)]


def _places(asked: Reproduction, kind: Any, sizes: tuple[int, int]) -> list[tuple[float, Parameters]]:
    """Return where a method's fits are on the figure's axis, each with the parameters that it needs there."""
    if asked.axis == "n_iter":
        iterates = "n_iter" in inspect.signature(kind).parameters
        return [(t, {"n_iter": t}) for t in asked.n_iter] if iterates else [(asked.n_iter[-1], {})]
    return [(round(sizes[0] / sum(sizes), 3) if asked.axis == "share_labeled" else sizes[1], {})]


def verdict_of(asked: Reproduction, fits: Iterable[Fit]) -> Verdict:
    """Return what fits say of a figure's claim."""
    fits = tuple(fits)
    checks = tuple(_checks(asked, fits))
    there = {fit.dataset for fit in fits}
    return Verdict(_outcome(checks), checks, fits, tuple(name for name in asked.sets if name not in there))


def _checks(asked: Reproduction, fits: Iterable[Fit]) -> Iterator[Check]:
    """Compare our fits with each rival's, on each set, at the end of the axis, seed by seed."""
    ours = OURS[asked.setting].__name__
    rivals = [named(said, ours) for said in asked.rivals]
    for name in dict.fromkeys(fit.dataset for fit in fits):
        last = max(fit.at for fit in fits if fit.dataset == name)
        values: dict[str, dict[int, float]] = {}
        for fit in fits:
            if (fit.dataset, fit.at) == (name, last):
                value = -math.log(max(fit.seconds, 1e-6)) if asked.claim == FASTER else fit.score
                values.setdefault(fit.method, {})[fit.seed] = value
        for rival in rivals:
            both = sorted(values[ours].keys() & values.get(rival, {}).keys())
            if not both:
                continue
            gain = paired_difference([values[ours][seed] for seed in both], [values[rival][seed] for seed in both])
            # Too few seeds for an interval say nothing.
            low, high = (-math.inf, math.inf) if gain.effect is None else (gain.low, gain.high)
            state = HOLDS if low > -asked.within else FAILS if high < -asked.within else OPEN
            yield Check(name, rival, gain.mean, low, high, state)


def _outcome(checks: tuple[Check, ...]) -> str:
    if not checks:
        return NOT_RUN
    states = {check.state for check in checks}
    if states == {HOLDS}:
        return REPRODUCED
    return IN_PART if HOLDS in states else NOT_REPRODUCED if FAILS in states else UNDECIDED


def size_of(asked: Reproduction, found: Verdict) -> str:
    """Return the number of sets, seeds and fits, and the processor's time, in a sentence; empty without fits."""
    if not found.fits:
        return ""
    n_sets, n_seeds = (len({getattr(fit, name) for fit in found.fits}) for name in ("dataset", "seed"))
    seconds = sum(fit.seconds for fit in found.fits)
    of_axis = f"up to {max(fit.at for fit in found.fits):,g} {AXES[asked.axis]}"
    return f"{n_sets} set{'s' * (n_sets > 1)}, {n_seeds} seeds, {len(found.fits)} fits in {seconds:,.0f} s, {of_axis}."


def words_of_check(asked: Reproduction, check: Check) -> str:
    """Return a check's difference and interval in words."""
    against = f"{check.dataset} against {check.rival}:"
    if asked.claim == FASTER:
        of, low, high = (f"{math.exp(min(v, 700.0)):.2g}" for v in (check.difference, check.low, check.high))
        return f"{against} {of} times as fast ({low} to {high})"
    unit = (check.difference, check.low, check.high)
    of, low, high = (f"{100 * v:+.1f}" for v in unit)
    within = f", needed above {-100 * asked.within:.1f}" if asked.within else ""
    return f"{against} {of} points ({low} to {high}{within})"
