"""The papers' figures as measurements: the paper's sets and rivals, a claim, and a verdict with an interval over seeds."""

from __future__ import annotations

import inspect
import json
import math
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.files import cache_folder
from dsgcore.core.metrics import paired_difference
from dsgcore.core.parameters import quoted
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import DATASETS, Split, load
from dsgcore.data.archive_sets import REMOTE_SETS, RemoteSet, cached
from dsgcore.data.reading.recipe import LOCAL
from dsgcore.data.reading.sources import Source, streamed
from dsgcore.data.reading.svmlight import TARGET, read_svmlight
from dsgcore.data.splits import fit_scaling
from dsgcore.experiments.export import estimator_of
from dsgcore.experiments.race import test_score
from dsgcore.experiments.rivals import competitor
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
KIND, VERSION, MOST_TESTED, TRIES = "reproduction", 2, 2000, 100
FASTER, AS_GOOD = "faster", "as good"
CHECKED = {
    FASTER: "less processor time",
    "better": "a higher score",
    AS_GOOD: "a score that is lower by no more than {:.1f} points",
}
AXES = {"unlabeled": "unlabeled points", "share_labeled": "share of labels", "n_iter": "iterations"}
SCORERS: Mapping[str, Any] = {"auc": auc_score, "ordinal": mean_auc_score}
# Of a fit: `at` is its place on the figure's axis, `seconds` are those of the processor in one thread.
COLUMNS = ["dataset", "method", "at", "seed", "seconds", "score"]
Parameters = Mapping[str, Any]
NO_PARAMETERS, NONE = ("of", "claims"), "none"  # what else is told of a method, and the value that TOML lacks


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
    def checked(self) -> str:
        """What of the statement is checked, in a sentence."""
        words = {claim: said.format(100 * self.within) for claim, said in CHECKED.items()}
        own = [
            f"; against {self.named(said)} {' and '.join(words[c] for c in said['claims'])}"
            for said in self.rivals
            if "claims" in said
        ]
        return f"Checked at the end of the axis: {words[self.claim]}{''.join(own)}."

    @property
    def ours_class(self) -> Any:
        """The paper's method."""
        return estimator_of(SETTINGS[self.setting])

    @property
    def axis(self) -> str:
        """What grows from fit to fit: "n_iter", "share_labeled" or "unlabeled"."""
        return next((name for name in ("n_iter", "share_labeled") if len(getattr(self, name)) > 1), "unlabeled")

    def named(self, said: Parameters) -> str:
        """Return a method's name with the parameters that are told of it, such as "CUU, centers 200"."""
        name, *values = (
            said.get("of", self.ours_class.__name__),
            *(f"{k} {v}" for k, v in said.items() if k not in NO_PARAMETERS),
        )
        return ", ".join([name, *values]).replace("as_in_paper True", "as in the paper")

    def claims(self) -> Iterator[tuple[str, str]]:
        """Yield each rival's name with what is claimed against it."""
        return ((self.named(said), claim) for said in self.rivals for claim in said.get("claims", (self.claim,)))

    def methods(self) -> dict[str, tuple[Any, Parameters]]:
        """Return each method's class and parameters, by the name that its fits have: ours, the rivals, and those beside."""
        ours, found = self.ours_class, dict[str, tuple[Any, Parameters]]()
        for said in ({}, *self.rivals, *self.beside):
            is_ours = said.get("of", ours.__name__) == ours.__name__
            own = {**(self.ours if is_ours else {}), **said}
            parameters = {
                name: None if value == NONE else value for name, value in own.items() if name not in NO_PARAMETERS
            }
            found[self.named(said)] = ours if is_ours else competitor(self.setting, said["of"]), parameters
        return found

    def sizes(self, n: int) -> list[tuple[int, int]]:
        """Return the numbers of labeled and unlabeled points, the largest first: there the grid is searched."""
        labeled = [int(share * 0.7 * n) for share in self.share_labeled] or [self.n_labeled]
        return [(m, u or int(0.7 * n) - m) for m in reversed(labeled) for u in reversed(self.unlabeled)]

    def places(self, kind: Any, sizes: tuple[int, int]) -> list[tuple[float, Parameters]]:
        """Return where a method's fits are on the figure's axis, each with the parameters that it needs there."""
        if self.axis == "n_iter":
            iterates = "n_iter" in inspect.signature(kind).parameters
            return [(t, {"n_iter": t}) for t in self.n_iter] if iterates else [(self.n_iter[-1], {})]
        return [(round(sizes[0] / sum(sizes), 3) if self.axis == "share_labeled" else sizes[1], {})]


@cache
def reproductions() -> dict[str, Reproduction]:
    """Return all of them by name, such as "auc/fig1"."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    named = {f"{setting}/{figure}": said for setting, own in table.items() for figure, said in own.items()}
    return {name: Reproduction(name, **said) for name, said in named.items()}


def reproduction(name: str, *, is_quick: bool = False) -> Reproduction:
    """Return one of them, with its quick sizes if they are asked for; raise `DSGError` if there is none of that name."""
    if name not in reproductions():
        raise DSGError(f"the figure must be one of {', '.join(reproductions())}, got {quoted(name)}")
    found = reproductions()[name]
    return replace(found, **found.quick) if is_quick else found


# --- what has come out


@dataclass(frozen=True)
class Check:
    """The claim against one rival on one set: a difference in our favour, and its interval over the seeds.

    It holds, or fails, if all of the interval says so, and else it is open.
    """

    dataset: str
    rival: str
    claim: str
    difference: float
    low: float
    high: float
    state: str


@dataclass(frozen=True, eq=False)
class Reproduced:
    """The fits of a figure, one a row, and what they say of the paper's claim."""

    asked: Reproduction
    fits: pd.DataFrame

    @property
    def missing(self) -> tuple[str, ...]:
        """The sets that are not there."""
        return tuple(name for name in self.asked.sets if name not in set(self.fits["dataset"]))

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Our fits against each rival's, on each set, at the end of the axis, seed by seed."""
        return tuple(self._checks())

    def _checks(self) -> Iterator[Check]:
        asked, ours = self.asked, self.asked.named({})
        for name, own in self.fits.groupby("dataset", sort=False):
            last = own[own["at"] == own["at"].max()].pivot(index="seed", columns="method")
            for rival, claim in asked.claims():
                values = -np.log(last["seconds"].clip(lower=1e-6)) if claim == FASTER else last["score"]
                if rival not in values:
                    continue
                gain = paired_difference(values[ours], values[rival])
                # Too few seeds for an interval say nothing.
                low, high = (-math.inf, math.inf) if gain.effect is None else (gain.low, gain.high)
                least = -asked.within if claim == AS_GOOD else 0.0
                state = HOLDS if low > least else FAILS if high < least else OPEN
                yield Check(str(name), rival, claim, gain.mean, low, high, state)

    @property
    def outcome(self) -> str:
        """The verdict in words."""
        states = {check.state for check in self.checks}
        if states <= {HOLDS}:
            return REPRODUCED if states else NOT_RUN
        return IN_PART if HOLDS in states else NOT_REPRODUCED if FAILS in states else UNDECIDED

    @property
    def size(self) -> str:
        """The number of sets, seeds and fits, and the processor's time, in a sentence; empty without fits."""
        if not len(self.fits):
            return ""
        n_sets, n_seeds = self.fits["dataset"].nunique(), self.fits["seed"].nunique()
        of_axis = f"up to {self.fits['at'].max():,g} {AXES[self.asked.axis]}"
        took = f"{len(self.fits)} fits in {self.fits['seconds'].sum():,.0f} s"
        return f"{n_sets} set{'s' * (n_sets > 1)}, {n_seeds} seeds, {took}, {of_axis}."

    def words(self, check: Check) -> str:
        """Return a check's difference and interval in words."""
        against, numbers = f"{check.dataset} against {check.rival}:", (check.difference, check.low, check.high)
        if check.claim == FASTER:
            of, low, high = (f"{math.exp(min(v, 700.0)):.2g}" for v in numbers)
            return f"{against} {of} times as fast ({low} to {high})"
        of, low, high = (f"{100 * v:+.1f}" for v in numbers)
        within = f", needed above {-100 * self.asked.within:.1f}" if check.claim == AS_GOOD else ""
        return f"{against} {of} points ({low} to {high}{within})"


def kept(asked: Reproduction) -> Reproduced:
    """Return a figure with the fits in the package; its outcome is "not run" if there are none."""
    fits = _kept_fits()
    return Reproduced(asked, fits.loc[fits["figure"] == asked.name, COLUMNS])


@cache
def _kept_fits() -> pd.DataFrame:
    return pd.read_csv(Path(__file__).with_name("reproduced.csv"))


# --- sets


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
    ways = [f"fetch it with `dsg-lab data fetch {' '.join(remotes)}`"] * bool(remotes)
    ways += [f"name a folder that holds {name}.npz" for name in missing if archive_of(name) is None]
    return f"Needs {', '.join(missing)}: {' and '.join(ways)}."


def archive_of(name: str) -> RemoteSet | None:
    """Return the archive's set that serves as a figure's, if it has labels by itself and fits into memory."""
    remote = REMOTE_SETS.get(FETCHED.get(name, name))
    is_usable = remote is not None and remote.archive != "UCI" and remote.n * remote.d <= MOST_NUMBERS
    return remote if is_usable else None


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


def drawn_split(X: NDArray, y: NDArray, n_labeled: int, n_unlabeled: int, seed: int) -> Split:
    """Draw labeled, unlabeled and test points by the seed, in float64; the labels are of all classes."""
    k = int(y.max()) + 1
    for attempt in range(TRIES):
        order = np.random.default_rng([seed, attempt]).permutation(len(y))
        if len(np.unique(y[order[:n_labeled]])) == k:
            break
    else:
        raise DSGError(f"{n_labeled} labels of {k} classes lack a class in each of {TRIES} draws: take more labels")
    train, test = np.split(order, [min(n_labeled + n_unlabeled, len(y) - len(y) // 5)])
    test, seen = test[:MOST_TESTED], np.where(np.arange(len(train)) < n_labeled, y[train], UNLABELED)
    names, scaling = tuple(map(str, range(k))), fit_scaling(X, train, "none")
    return Split(X[train], seen, y[train], X[test], y[test], scaling, train, test, class_names=names)


# --- fits


def made(method: Any, parameters: Parameters, setting: str, split: Split, seed: int) -> Any:
    """Return a method ready to be fitted: with its parameters or its paper's, the seed, and the share of positives."""
    known = inspect.signature(method).parameters
    share = float(np.clip(np.mean(split.y_train[split.labeled] == 1), 0.02, 0.98))
    usual = {"random_state": seed, "y_holds": "classes"}
    if setting == "similar_unlabeled":
        usual |= {"prior": share if abs(share - 0.5) > 0.01 else 0.51}
    given = {name: value for name, value in usual.items() if name in known} | dict(parameters)
    return method.as_in_paper(len(split.X_train), **given) if given.pop("as_in_paper", False) else method(**given)


def measured(setting: str, method: Any, parameters: Parameters, split: Split, seed: int) -> tuple[float, float]:
    """Return the processor's seconds of a fit in one thread, and its score on the test points."""
    estimator = made(method, parameters, setting, split, seed)
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        while True:
            try:
                estimator.fit(split.X_train, split.y_train)
                break
            except DivergedError:  # the step that is best in the folds can be too large for all points
                if not isinstance(estimator.step_size, float):
                    raise
                estimator.step_size /= 2
        return time.process_time() - begin, test_score(estimator, SETTINGS[setting](), split)


def chosen(setting: str, method: Any, parameters: Parameters, grid: Mapping[str, Any], split: Split) -> Parameters:
    """Return the grid's values that are best in three folds of the labels, beside all unlabeled points."""
    known = inspect.signature(method).parameters
    own = {name: values for name, values in grid.items() if name in known and name not in parameters}
    if not own:
        return {}
    folds = LabeledFolds(3, unlabeled="train", random_state=0)
    estimator = made(method, parameters, setting, split, 0)
    search = GridSearchCV(estimator, own, cv=folds, scoring=SCORERS.get(setting, accuracy), refit=False)
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        return dict(search.fit(split.X_train, split.y_train).best_params_)


def _once(store: Store | None, warm_up: Callable[[], object], work: Callable[..., Any], *given: Any) -> Any:
    """Return what the work returns, from the store if it is there; before the first work, a fit compiles, or loads what is."""
    key = sha256(json.dumps([VERSION, work.__name__, *map(_plain, given)]).encode()).hexdigest()
    found = None if store is None else store.kept(KIND, [key]).get(key)
    if found is None:
        warm_up()
        found = json.dumps(work(*given))
        if store is not None:
            store.keep(KIND, [(key, found, None)])
    return json.loads(found)


def _plain(given: Any) -> Any:
    if isinstance(given, Split):
        return sha256(given.X_train.tobytes() + given.y_train.tobytes() + given.X_test.tobytes()).hexdigest()
    return given.__name__ if isinstance(given, type) else given


def carry_out_reproduction(
    asked: Reproduction,
    folder: Path | None = None,
    store: Store | None = None,
    tell: Callable[[int, int, str], object] = lambda done, total, words: None,
) -> Reproduced:
    """Make the fits that the store does not have, and return them all.

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
    files = {name: file for name in asked.sets if (file := find_set(name, folder)) is not None}
    methods, fits, warm_up = asked.methods(), list[tuple[Any, ...]](), None
    total = len(files) * len(getattr(asked, asked.axis)) * asked.seeds * len(methods)
    for name, file in files.items():
        X, y = read_set(file, SETTINGS[asked.setting].labels)
        values: dict[str, Parameters] = {}
        for seed, sizes in ((seed, sizes) for seed in range(asked.seeds) for sizes in asked.sizes(len(y))):
            split = drawn_split(X, y, *sizes, seed)
            warm_up = warm_up or cache(partial(measured, asked.setting, *methods[asked.named({})], split, seed))
            do = partial(_once, store, warm_up)
            for shown, (kind, parameters) in methods.items():
                if shown not in values:
                    tell(len(fits), total, f"values of {shown} on {name}")
                    values[shown] = do(chosen, asked.setting, kind, dict(parameters), asked.grid, split)
                for at, more in asked.places(kind, sizes):
                    tell(len(fits), total, f"{shown} on {name}, {sizes[1]:,} unlabeled points, seed {seed}")
                    own = {**parameters, **values[shown], **more}
                    fits.append((name, shown, at, seed, *do(measured, asked.setting, kind, own, split, seed)))
    return Reproduced(asked, pd.DataFrame(fits, columns=COLUMNS))


def run_quick(name: str, *, report: Callable[[tuple[int, int, str]], object]) -> Reproduced:
    """Measure a figure's quick form on sets in the cache, as a job: `report` gets what `tell` gets."""
    asked = reproduction(name, is_quick=True)
    return carry_out_reproduction(asked, tell=lambda done, total, words: report((done, total, words)))
