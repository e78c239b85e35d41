"""The papers' figures as measurements: the paper's sets and rivals, a claim, and a verdict with an interval over seeds."""

from __future__ import annotations

import inspect
import json
import math
import time
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.files import cache_folder
from dsgcore.core.metrics import paired_difference, scores_of_chance
from dsgcore.core.parameters import counted, quoted
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import DATASETS, Split, load
from dsgcore.data.archive_sets import REMOTE_SETS, RemoteSet, cached
from dsgcore.data.reading.recipe import LOCAL
from dsgcore.data.reading.sources import Source, streamed
from dsgcore.data.reading.svmlight import TARGET, read_svmlight
from dsgcore.data.splits import fit_scaling
from dsgcore.experiments.export import estimator_of
from dsgcore.experiments.race import competitor, test_score
from dsgcore.experiments.spec import SETTINGS
from dsgcore.jobs.tasks import finished, queue_of
from dsgcore.problems import UNLABELED
from dsgcore.settings import profile_of
from dsgcore.studies.store import Store
from dsgcore.tuning.folds import LabeledFolds, accuracy, auc_score, mean_auc_score

# Names of sets of the archives that have other names in the figures, and the largest set that is read whole.
FETCHED = {"codrna": "cod-rna", "skin_nonskin": "skin", "covtype20k": "covtype", "higgs7500": "higgs"}
FETCHED |= {"poker25k": "poker", "mnist10k": "mnist"}
MOST_NUMBERS = 200_000_000
REPRODUCED, IN_PART, NOT_REPRODUCED = "reproduced", "reproduced in part", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
HOLDS, FAILS, OPEN = "holds", "fails", "open"
# A tenth of a point: a smaller gain is none. An interval that is shorter than two of them has a second digit.
WORTH = 0.001
KIND, VERSION, MOST_TESTED, TRIES = "reproduction", 3, 2000, 100
FASTER, BETTER, AS_GOOD = "faster", "better", "as good"
CHECKED = {FASTER: "less processor time", BETTER: "a score that is higher by a tenth of a point"}
CHECKED |= {AS_GOOD: "a score that is lower by no more than {:.1f} points"}
AXES = {"unlabeled": "unlabeled points", "share_labeled": "share of labels", "n_iter": "iterations"}
SCORERS: Mapping[str, Any] = {"auc": auc_score, "ordinal": mean_auc_score}
# Of a fit: `at` is its place on the figure's axis, `seconds` are those of the processor in one thread, `chance` is the score of
# one value for all points.
COLUMNS = ["dataset", "method", "at", "seed", "seconds", "score", "chance"]
READ = cache(pd.read_csv)
Parameters = Mapping[str, Any]
Method = tuple[Any, Parameters, tuple[str, ...]]  # its class, its parameters, and what the paper claims against it
# Parameters in the names of methods: how one is written, and one with a certain value.
PARAMETERS = {
    "lam": "λ = {}",
    "centers": "{:,} centres",
    "batch_size": "mini-batches of {}",
    "step_size": "step size {:g}",
    "radius": "radius {:g}",
}
VALUES = {
    ("as_in_paper", True): "as in the paper",
    ("variant", "released"): "released variant",
    ("kernel", "dot_product"): "dot-product kernel",
    ("correction", "identity"): "no correction",
    ("C_star", 0.0): "labels only",
}
NO_PARAMETERS, NONE = ("of", "claims", "usual"), "none"  # what else is told of a method, and the value that TOML lacks


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
    def labels(self) -> str:
        """How many labels the methods have, in words."""
        if self.share_labeled:
            return f"{100 * max(self.share_labeled):g} % of the points labeled"
        is_pairs = SETTINGS[self.setting].labels == "pairs"
        return f"{self.n_labeled // 2:,} pairs" if is_pairs else f"{self.n_labeled:,} labels"

    @property
    def checked(self) -> str:
        """What of the statement is checked, in a sentence."""
        words = {claim: said.format(100 * self.within) for claim, said in CHECKED.items()}
        others = {name: own for name, (_, _, own) in self.methods.items() if own not in ((), (self.claim,))}
        own = [f"; against {name} {' and '.join(words[claim] for claim in own)}" for name, own in others.items()]
        return f"Checked at the end of the axis: {words[self.claim]}{''.join(own)}."

    @property
    def axis(self) -> str:
        """What grows from fit to fit: "n_iter", "share_labeled" or "unlabeled"."""
        return next((name for name in ("n_iter", "share_labeled") if len(getattr(self, name)) > 1), "unlabeled")

    @cached_property
    def methods(self) -> dict[str, Method]:
        """Ours, the rivals, and those beside them, by the name that their fits have, such as "SU-SL" or "CUU, 200 centres"."""
        ours, found = estimator_of(SETTINGS[self.setting]), dict[str, Method]()
        claims = [(), *[(self.claim,)] * len(self.rivals), *[()] * len(self.beside)]
        for said, claimed in zip(({}, *self.rivals, *self.beside), claims, strict=True):
            own = {name: value for name, value in said.items() if name not in NO_PARAMETERS}
            words = [VALUES.get((name, value)) or PARAMETERS[name].format(value) for name, value in own.items()]
            words += ["usual values"] * ("usual" in said)
            kind, own = (competitor(self.setting, said["of"]), own) if "of" in said else (ours, {**self.ours, **own})
            name = ", ".join([profile_of(SETTINGS[self.setting]).paper if kind is ours else kind.title, *words])
            known = inspect.signature(kind).parameters
            usual = {name: known[name].default for name in self.grid if "usual" in said and name in known}
            own = {name: None if value == NONE else value for name, value in {**usual, **own}.items()}
            found[name] = kind, own, tuple(said.get("claims", claimed))
        return found

    def places(self, kind: Any, n_labeled: int, n_unlabeled: int) -> list[tuple[float, Parameters]]:
        """Return where a method's fits are on the figure's axis, each with the parameters that it needs there."""
        if self.axis == "n_iter":
            iterates = "n_iter" in inspect.signature(kind).parameters
            return [(t, {"n_iter": t}) for t in self.n_iter] if iterates else [(self.n_iter[-1], {})]
        is_share = self.axis == "share_labeled"
        return [(round(n_labeled / (n_labeled + n_unlabeled), 3) if is_share else n_unlabeled, {})]


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


@dataclass(frozen=True)
class Check:
    """The claim against one rival on one set: a difference in our favour, and its interval over the seeds.

    It holds, or fails, if all of the interval is above, or below, the least difference that the claim needs; else it is open.
    Nor is it decided where one value for all points would pass as well: `chance` is then the mean of its scores, else None. A
    claim of scores needs the better of the two methods above chance. One of speed needs our fits above it to hold, not to fail.
    """

    dataset: str
    rival: str
    claim: str
    difference: float
    low: float
    high: float
    least: float
    chance: float | None = None

    @property
    def state(self) -> str:
        """Whether it holds."""
        state = HOLDS if self.low > self.least else FAILS if self.high < self.least else OPEN
        return OPEN if self.chance is not None and (self.claim, state) != (FASTER, FAILS) else state

    @property
    def words(self) -> str:
        """The difference and its interval in words."""
        against, numbers = f"{self.dataset} against {self.rival}:", (self.difference, self.low, self.high)
        more = f"{-100 * self.least:.1f} points " if self.claim == AS_GOOD else ""
        who = "its fits are not" if self.claim == FASTER else "neither is"
        nothing = "" if self.chance is None else f"; {who} clearly {more}above chance ({100 * self.chance:.1f})"
        if self.claim == FASTER:
            of, low, high = (f"{float(f'{math.exp(min(v, 700.0)):.2g}'):,g}" for v in numbers)
            return f"{against} {of} times as fast ({low} to {high}){nothing}"
        if self.low == self.high == 0.0:
            return f"{against} equal in every draw{nothing}"
        digits = 1 if self.high - self.low >= 2 * WORTH else 2  # without the sign of a rounded zero
        of, low, high = (f"{round(100 * v, digits) + 0.0:+.{digits}f}" for v in numbers)
        within = f", needed above {100 * self.least:.1f}" if self.claim == AS_GOOD else ""
        return f"{against} {of} points ({low} to {high}{within}){nothing}"


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
        found, methods = list[Check](), self.asked.methods
        claims = [(rival, claim) for rival, (_, _, own) in methods.items() for claim in own]
        least = {FASTER: 0.0, BETTER: WORTH, AS_GOOD: -self.asked.within}
        for name, fits in self.fits.groupby("dataset", sort=False):
            last = fits[fits["at"] == fits["at"].max()].pivot(index="seed", columns="method")
            for rival, claim in claims:
                if rival not in last["score"]:
                    continue
                is_speed, ours = claim == FASTER, next(iter(methods))
                values = -np.log(last["seconds"].clip(lower=1e-6)) if is_speed else last["score"]
                gain = paired_difference(values[ours], values[rival])
                # Too few seeds for an interval say nothing.
                low, high = (-math.inf, math.inf) if gain.effect is None else (gain.low, gain.high)
                learned, chance = ours if is_speed or gain.mean > 0.0 else rival, last["chance"][rival]
                is_above = paired_difference(last["score"][learned], chance).low > max(-least[claim], 0.0)
                known = None if is_above else float(chance.mean())
                found.append(Check(str(name), rival, claim, gain.mean, low, high, least[claim], known))
        return tuple(found)

    @property
    def outcome(self) -> str:
        """The verdict in words."""
        states = {check.state for check in self.checks}
        if states <= {HOLDS}:
            return REPRODUCED if states else NOT_RUN
        return IN_PART if HOLDS in states else NOT_REPRODUCED if FAILS in states else UNDECIDED

    @property
    def size(self) -> str:
        """The number of sets, seeds and fits, the processor's time, labels and points, in a sentence; empty without fits."""
        if not len(self.fits):
            return ""
        n_sets, n_seeds = self.fits["dataset"].nunique(), self.fits["seed"].nunique()
        asked, most = self.asked, f"{self.fits['at'].max():,.0f} {AXES[self.asked.axis]}"
        given = f"up to {asked.labels}" if asked.axis == "share_labeled" else asked.labels
        if asked.axis == "unlabeled":
            given += f" and up to {most}"
        elif asked.axis == "n_iter":
            n = max(asked.unlabeled)  # 0 beside a share of labels
            given += f" and {n:,} unlabeled points, up to {most}" if n else f", up to {most}"
        took = f"{counted(len(self.fits), 'fit')} in {self.fits['seconds'].sum():,.0f} s"
        return f"{counted(n_sets, 'set')}, {counted(n_seeds, 'seed')}, {took}, {given}."


def kept(asked: Reproduction) -> Reproduced:
    """Return a figure with the fits in the package; its outcome is "not run" if there are none."""
    fits = READ(Path(__file__).with_name("reproduced.csv"))
    return Reproduced(asked, fits.loc[fits["figure"] == asked.name, COLUMNS])


def find_set(name: str, folder: Path | None) -> Path | str | None:
    """Return a set's file: NAME.npz in the folder or in the cache, or the file that was fetched; None if there is none.

    A set of the package is found by its name.
    """
    remote = archive_of(name)
    places = [place / f"{name}.npz" for place in (folder, cache_folder(), cache_folder() / name) if place is not None]
    places += [fetched] if remote is not None and (fetched := cached(remote)) else []
    return next((place for place in places if place.is_file()), name if name in DATASETS else None)


def how_to_get(missing: Sequence[str]) -> str:
    """Return a sentence on sets that were not found: the command that fetches them, or the file to give."""
    remotes = {name: remote.name for name in missing if (remote := archive_of(name))}
    ways = [f"fetch it with `dsg-lab data fetch {' '.join(remotes.values())}`"] * bool(remotes)
    files = [f"{name}.npz" for name in missing if name not in remotes]
    ways += [f"name a folder that holds {', '.join(files)}"] * bool(files)
    return f"Needs {', '.join(missing)}: {' and '.join(ways)}."


def archive_of(name: str) -> RemoteSet | None:
    """Return the archive's set that serves as a figure's, if it has labels by itself and fits into memory."""
    remote = REMOTE_SETS.get(FETCHED.get(name, name))
    is_usable = remote is not None and remote.archive != "UCI" and remote.n * remote.d <= MOST_NUMBERS
    return remote if is_usable else None


def read_set(file: Path | str, labels: str) -> tuple[NDArray, NDArray]:
    """Return a set's points, scaled to [0, 1] per column, and its classes from 0 on. Binary: the most frequent against the rest.

    It is a set of the package, a NumPy archive, or LIBSVM text, whose ordered labels are five equal parts of a number. Raise
    `DSGError` if the file does not hold points and labels.
    """
    which = "y5" if labels == "ordinal" else "y"
    try:
        if isinstance(file, str):
            own = load(file)
            X, y = own.X.astype(np.float64), own.y
        elif file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as held:
                X, y = held["X"].astype(np.float64), held[which]
        else:
            frame, _ = read_svmlight([streamed(Source.of_path(file), LOCAL)], LOCAL)
            X, y = frame.drop(columns=TARGET).to_numpy(np.float64), frame[TARGET].to_numpy(np.float64)
            y = np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y) if labels == "ordinal" else y
    except (KeyError, ValueError, OSError) as error:
        raise DSGError(f"{file} must hold X and {which}: {error}") from None
    classes, codes = np.unique(y, return_inverse=True)
    if labels in ("binary", "pairs"):
        codes = codes if len(classes) == 2 else (codes == np.bincount(codes).argmax()).astype(int)
    low = X.min(axis=0)
    return (X - low) / np.maximum(X.max(axis=0) - low, 1e-12), codes


def drawn_split(X: NDArray, y: NDArray, n_labeled: int, n_unlabeled: int, seed: int) -> Split:
    """Draw labeled, unlabeled and test points by the seed, in float64; the labels are of all classes."""
    k = int(y.max()) + 1
    orders = (np.random.default_rng([seed, attempt]).permutation(len(y)) for attempt in range(TRIES))
    order = next((order for order in orders if len(np.unique(y[order[:n_labeled]])) == k), None)
    if order is None:
        raise DSGError(f"{n_labeled} labels of {k} classes lack a class in each of {TRIES} draws: take more labels")
    train, test = np.split(order, [min(n_labeled + n_unlabeled, len(y) - len(y) // 5)])
    test, seen = test[:MOST_TESTED], np.where(np.arange(len(train)) < n_labeled, y[train], UNLABELED)
    names, scaling = tuple(map(str, range(k))), fit_scaling(X, train, "none")
    return Split(X[train], seen, y[train], X[test], y[test], scaling, train, test, class_names=names)


def made(method: Any, parameters: Parameters, setting: str, split: Split, seed: int) -> Any:
    """Return a method ready to be fitted: with its parameters or its paper's, the seed, and the share of positives."""
    known = inspect.signature(method).parameters
    share = float(np.clip(np.mean(split.y_train[split.labeled] == 1), 0.02, 0.98))
    usual = {"random_state": seed, "y_holds": "classes"}
    if setting == "similar_unlabeled":
        usual |= {"prior": share if abs(share - 0.5) > 0.01 else 0.51}
    given = {name: value for name, value in usual.items() if name in known} | dict(parameters)
    return method.as_in_paper(len(split.X_train), **given) if given.pop("as_in_paper", False) else method(**given)


def measured(method: Any, parameters: Parameters, setting: str, split: Split, seed: int) -> tuple[float, float]:
    """Return the processor's seconds of a fit, and its score on the test points."""
    estimator, begin = made(method, parameters, setting, split, seed), time.process_time()
    while True:
        try:
            estimator.fit(split.X_train, split.y_train)
            break
        except DivergedError:  # the step that is best in the folds can be too large for all points
            if not isinstance(estimator.step_size, float):
                raise
            estimator.step_size /= 2
    return time.process_time() - begin, test_score(estimator, SETTINGS[setting](), split)


def chance_of(setting: str, split: Split) -> float:
    """Return the score on the test points of one value for all."""
    labels = split.y_train[split.labeled]
    labels = labels[:0] if SETTINGS[setting].labels == "pairs" else labels
    return scores_of_chance(split.y_test, labels)["auc" if setting in SCORERS else "accuracy"]


def chosen(
    method: Any, parameters: Parameters, setting: str, split: Split, seed: int, grid: Mapping[str, Any]
) -> Parameters:
    """Return the grid's values that are best in three folds of the labels, beside all unlabeled points."""
    known = inspect.signature(method).parameters
    own = {name: values for name, values in grid.items() if name in known and name not in parameters}
    folds, scoring = LabeledFolds(3, unlabeled="train", random_state=0), SCORERS.get(setting, accuracy)
    search = GridSearchCV(made(method, parameters, setting, split, 0), own, cv=folds, scoring=scoring, refit=False)
    return dict(search.fit(split.X_train, split.y_train).best_params_) if own else {}


class _Points:
    """A set's points and labels, with the last draw from them."""

    def __init__(self, X: NDArray, y: NDArray) -> None:
        self.X, self.y = X, y
        self._last: tuple[tuple[int, ...], Split] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the last draw."""
        return _Points, (self.X, self.y)

    def drawn(self, *draw: int) -> Split:
        """Return the `drawn_split` of numbers of labeled and unlabeled points, and a seed."""
        if self._last is None or self._last[0] != draw:
            self._last = draw, drawn_split(self.X, self.y, *draw)
        return self._last[1]


@dataclass(frozen=True, eq=False)
class _Asked:
    """A fit, or a search for values, with its key in the store; `name` is the method's, `draw` is that of `_Points.drawn`."""

    work: Callable[..., Any]
    name: str
    method: Any
    parameters: Parameters
    draw: tuple[int, int, int]
    key: str
    words: str
    more: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        asked: Reproduction,
        work: Callable[..., Any],
        name: str,
        parameters: Parameters,
        draw: tuple[int, int, int],
        digest: str,
        words: str,
        *more: Any,
    ) -> _Asked:
        """Return it with its key; `digest` is that of the draw's points."""
        method = asked.methods[name][0]
        said = [VERSION, asked.setting, work.__name__, method.__name__, parameters, digest, draw[-1], *more]
        return cls(work, name, method, parameters, draw, sha256(json.dumps(said).encode()).hexdigest(), words, more)


def make_asked(
    points: _Points,
    setting: str,
    smallest: tuple[int, int],
    compiled: set[str],
    asked: Sequence[_Asked],
    *,
    report: Callable[[str], object],
) -> None:
    """Do some works on a set's points, each in one thread, and report each result as JSON text.

    Before a method's first one a fit to the smallest draw compiles, unless the method is among the compiled ones.
    """
    with warnings.catch_warnings(action="ignore"), single_threaded_blas():
        for one in asked:
            seed, split = one.draw[-1], points.drawn(*one.draw)
            if one.name not in compiled:
                small = drawn_split(points.X, points.y, *smallest, seed)
                measured(one.method, one.parameters, setting, small, seed)
                compiled.add(one.name)
            report(json.dumps(one.work(one.method, one.parameters, setting, split, seed, *one.more)))


def carry_out_reproduction(
    asked: Reproduction,
    folder: Path | None = None,
    store: Store | None = None,
    *,
    client: Any = None,
    report: Callable[[tuple[int, int, str]], object] = lambda so_far: None,
) -> Reproduced:
    """Make the fits that the store does not have, each in one thread, and return them all.

    The sets are in the folder, `NAME.npz` each, or in the cache of downloads. An interrupted call continues from the store.
    `client` is a Dask client whose workers make the fits, instead of this process. `report` gets before each fit the number of
    finished ones, the number of all, and a few words.
    """
    files = {name: file for name in asked.sets if (file := find_set(name, folder)) is not None}
    fits, compiled = list[tuple[Any, ...]](), set[str]()
    total = len(files) * len(getattr(asked, asked.axis)) * asked.seeds * len(asked.methods)

    def done(works: Sequence[_Asked], where: Any, smallest: tuple[int, int]) -> list[Any]:
        """Return the works' results, from the store if they are there."""
        found = {} if store is None else dict(store.kept(KIND, [one.key for one in works]))
        missing = list({one.key: one for one in works if one.key not in found}.values())
        n_before = len(fits) + (len(works) - len(missing)) * (works[0].work is measured)
        with queue_of(None, client, "fits") as queue:
            shared = where, asked.setting, smallest, compiled
            results, begun = finished(queue, make_asked, shared, [[one] for one in missing]), iter(missing)
            report((n_before, total, next(begun, works[0]).words))
            for n, (one, result, error) in enumerate(results, 1):
                if error:
                    raise DSGError(f"{one.words} has no result: {error}. Finished fits are kept")
                found[one.key] = result
                if store is not None:
                    store.keep(KIND, [(one.key, result, None)])
                if after := next(begun, None):
                    report((n_before + n * (one.work is measured), total, after.words))
        return [json.loads(found[one.key]) for one in works]

    for name, file in files.items():
        points = _Points(*read_set(file, SETTINGS[asked.setting].labels))
        n = len(points.y)
        labeled = [int(share * 0.7 * n) for share in asked.share_labeled] or [asked.n_labeled]
        # The largest size comes first: there the grid is searched.
        most = n - n // 5  # points that the test leaves
        sizes = [(m, u or int(0.7 * n) - m) for m in reversed(labeled) for u in reversed(asked.unlabeled)]
        sizes = list(dict.fromkeys((m, min(u, most - m)) for m, u in sizes))
        draws = [(*size, seed) for seed, size in product(range(asked.seeds), sizes)]
        known = dict[tuple[int, ...], tuple[str, float]]()
        for draw in draws:
            split = points.drawn(*draw)
            drawn = split.X_train.tobytes() + split.y_train.tobytes() + split.X_test.tobytes()
            known[draw] = sha256(drawn).hexdigest(), chance_of(asked.setting, split)
        where = points if client is None else client.scatter(points, broadcast=True, hash=False)
        first, digest = draws[0], known[draws[0]][0]
        searches = [
            _Asked.of(asked, chosen, shown, own, first, digest, f"values of {shown} on {name}", asked.grid)
            for shown, (_, own, _) in asked.methods.items()
        ]
        values = dict(zip(asked.methods, done(searches, where, sizes[-1]), strict=True))
        rows, wanted = list[tuple[Any, ...]](), list[_Asked]()
        for draw in draws:
            for shown, (kind, parameters, _) in asked.methods.items():
                words = f"{shown} on {name}, {draw[1]:,} unlabeled points, seed {draw[2]}"
                for at, more in asked.places(kind, *draw[:2]):
                    own = {**parameters, **values[shown], **more}
                    wanted.append(_Asked.of(asked, measured, shown, own, draw, known[draw][0], words))
                    rows.append((name, shown, at, draw[2], known[draw][1]))
        results = done(wanted, where, sizes[-1])
        fits += [(*row[:4], *result, row[4]) for row, result in zip(rows, results, strict=True)]
    return Reproduced(asked, pd.DataFrame(fits, columns=COLUMNS))
