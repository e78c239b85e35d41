"""The data of a comparison: repeated splits, sentences on what may mislead, and one fit to labeled and unlabeled points."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Self, cast

import joblib
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from dsgcore import __version__
from dsgcore.comparing.methods import METHODS, Method, in_units, kind_of, scores_of
from dsgcore.core.cost import per_cent
from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import auc, auc_half_width, scores_of_chance
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import OF_OWN, Dataset
from dsgcore.data.reading import LOCAL, Features, Recipe
from dsgcore.data.reading.cells import listed
from dsgcore.data.reading.columns import leaks
from dsgcore.data.reading.labels import known_order
from dsgcore.data.splits import Split, hide_labels
from dsgcore.estimators.inputs import encode
from dsgcore.jobs.memory import forget_peak, peak
from dsgcore.solver.problem import UNLABELED

# Share of the known labels that are held out for testing, and their largest number.
TEST_SHARE, MOST_TEST = OF_OWN["test_share"], 4000
# Larger data are thinned to so many rows, because a comparison makes more than a hundred fits.
MOST_ROWS = 20_000
CURVE = (20, 50, 100, 200, 500, 1000, 2000, 5000)
# A class with fewer labels is warned of, and so are unlabeled rows that a forest tells from labeled ones better than this.
FEW_OF_CLASS, APART = 5, 0.6
# Most labeled and unlabeled rows of that check, and fewest, its folds, trees of the forest, and its seed.
MOST_CHECKED, FEWEST_CHECKED, FOLDS_OF_CHECK, TREES, SEED = 1000, 10, 3, 50, 0


class ComparisonError(DSGError):
    """A comparison that is not possible. The message says what is wrong and what to do."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Points X (n, d), centred, with class codes y (n,), -1 for unlabeled, and the number of labels that training sets keep.

    Of a table there are the rows and the recipe instead of coordinates, since each split prepares its own.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    kind: str
    n_labeled: int
    table: pd.DataFrame | None = None
    recipe: Recipe | None = None

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        n_labeled: int | None,
        is_ordered: bool,
        recipe: Recipe | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Self:
        """Return the sample of points and labels; raise `ComparisonError` if they cannot be compared on.

        With a recipe, X is a table. With names of the classes, y holds their codes.
        """
        classes, codes = encode(y, is_ordered=True)
        points = _checked(X if recipe is None else np.zeros((len(codes), 1)), len(codes))
        if len(classes) < 2:
            raise ComparisonError(
                f"y must hold labels of at least two classes, and -1 for unlabeled points, got {len(classes)}"
            )
        kind = kind_of(codes, is_ordered=is_ordered)
        rows = thinned(codes)
        try:
            names = tuple(str(one if class_names is None else class_names[int(one)]) for one in classes)
        except (IndexError, ValueError):
            raise ComparisonError(f"class_names must have a name for each code in y, got {class_names}") from None
        points, codes = (points[rows] - points[rows].mean(axis=0)).astype(np.float32), codes[rows].astype(np.int64)
        sample = cls(np.ascontiguousarray(points), codes, names, kind, 0)
        if recipe is not None:
            table = cast(pd.DataFrame, X).iloc[rows].reset_index(drop=True)
            sample = replace(sample, X=sample.X[:, :0], table=table, recipe=recipe)
        if len(tested := np.unique(np.delete(sample.y, sample.lone))) - (UNLABELED in tested) < 2:
            few = " and ".join(
                f"{name!r} ({n})" for name, n in zip(names, np.bincount(codes[codes >= 0]), strict=True) if n < 2
            )
            raise ComparisonError(
                f"a comparison learns from labels of a class and tests on others, so at least two classes must have two "
                f"labels each: label more rows of {few}"
            )
        least, most = len(names), sample.most_labels
        if most < max(least, 2):
            raise ComparisonError(
                f"a comparison holds out {per_cent(TEST_SHARE)} of the labels, and needs at least {least} others, one for each "
                f"class: got {sample.n_known} labels of {least} classes. Add labels"
            )
        given = most if n_labeled is None else n_labeled
        if isinstance(given, bool) or not isinstance(given, int | np.integer) or not least <= given <= most:
            raise ComparisonError(
                f"n_labeled must be a whole number from {least}, one for each class, to {most}, the known labels without "
                f"those held out for testing; got {given!r}"
            )
        return replace(sample, n_labeled=int(given))

    @property
    def n_known(self) -> int:
        """Number of points whose label is known."""
        return int(np.count_nonzero(self.y != UNLABELED))

    @cached_property
    def lone(self) -> NDArray[np.intp]:
        """The rows whose label is the only one of its class: each split learns from them, and none tests on them."""
        labeled = np.flatnonzero(self.y != UNLABELED)
        return labeled[np.bincount(self.y[labeled])[self.y[labeled]] == 1]

    @property
    def n_test(self) -> int:
        """Number of test points in each split."""
        n_lone = len(self.lone)
        return max(len(self.classes) - n_lone, round(self.test_share * (self.n_known - n_lone)))

    @property
    def test_share(self) -> float:
        """Share of the known labels that are held out in each split."""
        return min(TEST_SHARE, MOST_TEST / max(self.n_known, 1))

    @property
    def most_labels(self) -> int:
        """Number of labels that a training set can have."""
        return self.n_known - self.n_test

    def overlap_at(self, n_labeled: int) -> float:
        """Return the correction for labels that splits share: test labels over training labels, or 0 with labels to spare.

        If the training sets take less than half of the labels that they could take, each of them is a fresh draw.
        """
        return self.n_test / self.most_labels if 2 * n_labeled > self.most_labels else 0.0

    def curve(self) -> tuple[int, ...]:
        """Return the numbers of labels of the learning curves, with `n_labeled` among them."""
        some = {n for n in CURVE if len(self.classes) <= n <= self.most_labels} | {self.n_labeled}
        return tuple(sorted(some))

    def split(self, seed: int, n_labeled: int) -> Split:
        """Return the split of a seed, prepared as its training rows say. More labels contain those of fewer labels."""
        names, y = tuple(f"x{j + 1}" for j in range(self.X.shape[1])), self.y.copy()
        y[self.lone] = UNLABELED
        codes = np.unique(y[y != UNLABELED])
        y[y != UNLABELED] = np.searchsorted(codes, y[y != UNLABELED])
        tested = Dataset(
            "sample", self.X, y, names, tuple(self.classes[code] for code in codes), "sample", "not stated"
        )
        scaling, n_drawn = str(OF_OWN["scaling"]), n_labeled - len(self.lone)
        split = hide_labels(tested, n_drawn, self.test_share, seed, scaling=scaling)
        is_learned = (split.y_train != UNLABELED) | np.isin(split.train_rows, self.lone)
        y_train = np.where(is_learned, self.y[split.train_rows], UNLABELED)
        data = replace(tested, y=self.y, class_names=self.classes)
        y_hidden, y_test = self.y[split.train_rows], self.y[split.test_rows]
        split = replace(split, y_train=y_train, y_hidden=y_hidden, y_test=y_test, class_names=self.classes)
        if self.table is None or self.recipe is None:
            return split
        features = Features(self.recipe, LOCAL, scaling).fit(self.table, np.sort(split.train_rows))
        return split.with_points(replace(data, X=features.transform(self.table), feature_names=features.names))

    def points(self) -> NDArray[np.float32]:
        """Return the points, of a table prepared as all of its rows say."""
        if self.table is None or self.recipe is None:
            return self.X
        return Features(self.recipe, LOCAL, str(OF_OWN["scaling"])).fit(self.table).transform(self.table)

    @cached_property
    def sha256(self) -> str:
        """Digest of everything that the fits depend on, except for seed and number of labels."""
        said = repr((self.X.shape, len(self.classes), self.kind, self.test_share)).encode()
        digest = hashlib.sha256(said + self.X.tobytes() + self.y.tobytes())
        if self.table is not None and self.recipe is not None:
            digest.update(repr((self.recipe.to_dict(), [*self.table.columns])).encode())
            digest.update(pd.util.hash_pandas_object(self.table, index=False).to_numpy().tobytes())
        return digest.hexdigest()


def _checked(X: ArrayLike, n: int) -> NDArray[np.float64]:
    try:
        points = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise ComparisonError("X must hold numbers only: encode text and categories first") from None
    if points.ndim != 2 or len(points) != n or not points.shape[1]:
        raise ComparisonError(f"X must have the shape ({n}, d), one row for each label, got {points.shape}")
    if len(beyond := np.argwhere(~(np.abs(points) < np.finfo(np.float32).max / 2))):
        i, j = beyond[0]
        raise ComparisonError(
            f"X must hold finite numbers, got {points[i, j]} in row {i + 1}, column {j + 1}: fill in missing numbers first"
        )
    return points


def thinned(codes: NDArray) -> NDArray[np.intp]:
    """Return the rows to use: all of up to `MOST_ROWS`, else evenly spread ones, the labeled rows first."""
    if len(codes) <= MOST_ROWS:
        return np.arange(len(codes))
    labeled, others = np.flatnonzero(codes != UNLABELED), np.flatnonzero(codes == UNLABELED)
    order = np.random.default_rng(0)
    labeled, others = order.permutation(labeled), order.permutation(others)
    kept = labeled[evenly_spread(len(labeled), MOST_ROWS)]
    return np.sort(np.concatenate([kept, others[evenly_spread(len(others), MOST_ROWS - len(kept))]]))


# A letter or a digit, or a number that names a class: class_0 is no less than class_1.
_NAME = re.compile(r".|(class|cluster|group|kind|label|species|type)[\s_./-]*\d+", re.IGNORECASE)


def about_labels(
    y: NDArray,
    names: Sequence[str],
    frame: pd.DataFrame | None = None,
    recipe: Recipe | None = None,
    *,
    is_ordered: bool = False,
) -> Iterator[str]:
    """Return warnings about class codes y (n,), -1 without a label: rare classes, an order that is not used, and leaks."""
    counts = np.bincount(y[y != UNLABELED], minlength=len(names))
    if few := [name for name, n in zip(names, counts, strict=True) if n < FEW_OF_CLASS]:
        yield f"Warning: fewer than {FEW_OF_CLASS} labels of {listed(few)}: label more of them."
    if lone := [name for name, n in zip(names, counts, strict=True) if n == 1]:
        yield f"Warning: only one label of {listed(lone)}: methods learn from it, but are never tested on such a row."
    if frame is None or recipe is None:
        return
    are_names = all(map(_NAME.fullmatch, names))  # a, b and c may be grades, or just names
    order = recipe.order or (None if are_names else known_order(names))
    if order and len(names) > 2 and not is_ordered:
        said = " < ".join(map(str, order))
        where = "--ordered, or Ordered classes on the page Data"
        have, if_so = ("have", "") if recipe.order else ("may have", "if they have, ")
        yield f"Warning: the classes {have} an order that is not used, {said}: {if_so}say so ({where})."
    features = Features(recipe, LOCAL)
    features.choose(frame)
    yield from leaks(frame, y, features.columns, names)


def about_shift(X: NDArray, codes: NDArray) -> Iterator[str]:
    """Return a warning if the unlabeled points look different from the labeled ones, by the AUC of a forest between them."""
    labeled, others = np.flatnonzero(codes != UNLABELED), np.flatnonzero(codes == UNLABELED)
    rows = np.concatenate([each[evenly_spread(len(each), MOST_CHECKED)] for each in (labeled, others)])
    is_labeled = (codes[rows] != UNLABELED).astype(int)
    if min(np.bincount(is_labeled, minlength=2)) < FEWEST_CHECKED:
        return
    forest = RandomForestClassifier(TREES, min_samples_leaf=5, class_weight="balanced", random_state=SEED)
    order = np.random.default_rng(SEED).permutation(len(rows))
    X, y = X[rows[order]], is_labeled[order]
    f = cross_val_predict(forest, X, y, cv=FOLDS_OF_CHECK, method="predict_proba")[:, 1]
    area, reach = auc(y, f), auc_half_width(y, f, np.zeros(len(f)))
    if area - reach > 0.5 and area > APART:
        yield (
            f"Warning: the unlabeled rows look different from the labeled ones: a forest tells them apart with an AUC of "
            f"{area:.2f} (95 % {area - reach:.2f} to {min(area + reach, 1.0):.2f}; 0.50 if they are alike). What held-out labels "
            "say may not hold for them: label some rows drawn at random."
        )


# --- one fit, in any process: a request is the input, scores, time and memory are the output


# Labels of each class, and unlabeled points, of the short fit that compiles and loads what a fit needs.
WARM_LABELS, WARM_POINTS = 3, 40
# A slow method learns from so many unlabeled points. With ten times as many it would take most of a comparison's time.
MOST_OF_SLOW = 2000
# In the key of a kept fit; it changes with the way of fitting and measuring.
VERSION = 8
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
    chance = in_units(scores_of_chance(split.y_test, split.y_train[split.labeled]), kind)
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
