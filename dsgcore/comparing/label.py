"""Labels for the unlabeled rows of a table: class and probability of each, and how many of them to expect to be right."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils import gen_batches

from dsgcore.comparing.fits import training_rows
from dsgcore.comparing.methods import BINARY, CLASSES, ORDINAL, Method, suited
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.rounds import compare
from dsgcore.comparing.samples import ComparisonError, thinned
from dsgcore.core.metrics import Z, auc, auc_half_width
from dsgcore.core.parameters import Integer, ParameterError, Real, quoted
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import OF_OWN, DataError
from dsgcore.data.reading import LOCAL, Features, File, Recipe
from dsgcore.data.reading.cells import check_column, listed
from dsgcore.data.reading.columns import leaks
from dsgcore.data.reading.file import is_whole
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.calibrated import Confidence
from dsgcore.tuning.folds import FoldError, LabeledFolds

ASK = Integer("ask", 0, low=0, high=100_000)
SECONDS = Real("seconds", 60.0, low=1.0, high=86_400.0)
# Variance of the share that is right at held-out labels, over that of as many independent ones.
INFLATION = 1.3
ROW, CLASS, PROBABILITY = COLUMNS = ("row", "class", "probability")
# The method of each kind of labels, if no comparison names one.
USUAL = {BINARY: "SafeTSGS3VM", CLASSES: "SafePS3VT", ORDINAL: "SafeQS3ORAO"}
SEED = 0  # as of `dsg-lab fit`
# Folds of up to so many labels, and of more; least number of them, whatever the time.
FEW, FOLDS_OF_FEW, FOLDS, LEAST_FOLDS = 200, 10, 5, 2
# Values of the points that are read and predicted at a time.
VALUES_AT_A_TIME = 4_000_000
# A class with fewer labels is warned of, and so are unlabeled rows that a forest tells from labeled ones better than this.
FEW_OF_CLASS, APART = 5, 0.6
# Most labeled and unlabeled rows of that check, and fewest, its folds, and trees of the forest.
MOST_CHECKED, FEWEST_CHECKED, FOLDS_OF_CHECK, TREES = 1000, 10, 3, 50
Report = Callable[[str], object]


@dataclass(frozen=True)
class Expected:
    """Share of right labels to expect, with the 95 % interval for the unlabeled rows; NaN if too few labels are held out.

    Attributes
    ----------
    mean, low, high : float
    n : int
        Number of labels that were held out, each once.
    """

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0

    @classmethod
    def of(cls, hits: NDArray[np.bool_], n_unlabeled: int) -> Expected:
        """Return what hits at held-out labels say about so many other rows.

        Notes
        -----
        Wilson's interval of a share, with as many labels as give the variance of the difference of two shares: that of the
        held-out labels and that of the unlabeled rows. The variance is 1.3 times as large, because the folds' fits share
        labels: in 321 runs on 20 sets, on which 1.3 was chosen, the interval without that holds in 90 %, this one in 94 %.

        Source: S. Bates, T. Hastie and R. Tibshirani, Cross-validation: what does it estimate and how well does it do it?,
        JASA, 2024.
        """
        if not len(hits):
            return cls()
        n, share = len(hits) * n_unlabeled / (len(hits) + n_unlabeled) / INFLATION, float(hits.mean())
        centre, reach = share + Z**2 / (2.0 * n), Z * math.sqrt(share * (1.0 - share) / n + (Z / (2.0 * n)) ** 2)
        low, high = ((centre + side * reach) / (1.0 + Z**2 / n) for side in (-1.0, 1.0))
        return cls(share, max(low, 0.0), min(high, 1.0), len(hits))


@dataclass(frozen=True, eq=False)
class Labeled:
    """Labels of the unlabeled rows of a table, and a report.

    Attributes
    ----------
    table : DataFrame
        For every unlabeled row `row`, its number counted from 0 as pandas does, `class`, `probability` of this class, and
        the columns to keep.
    ask : tuple of int
        The rows whose labels would tell most, the least sure one first.
    method, why : str
        The method, and the reason for it.
    expected : Expected
        Share of right labels to expect.
    n_labels : int
        Number of labels that the method learned from.
    warnings : tuple of str
    notes : tuple of str
        What was done with the columns.
    comparison : Comparison or None
        The comparison that chose the method.
    """

    table: pd.DataFrame = field(repr=False)
    ask: tuple[int, ...]
    method: str
    why: str
    expected: Expected
    n_labels: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), repr=False)
    comparison: Comparison | None = field(default=None, repr=False)

    @property
    def sentence(self) -> str:
        """The result in a sentence or two."""
        n = len(self.table)
        said = f"{self.method} gives {n:,} row{'s' * (n != 1)} a class, from {self.n_labels:,} labels."
        e = self.expected
        if not e.n:
            return f"{said} How many are right is not known, because the labels are too few to hold some out."
        return (
            f"{said} Expect {100 * e.mean:.1f} % of them to be right (95 % interval {100 * e.low:.1f} to "
            f"{100 * e.high:.1f} %), as {e.n:,} held-out labels say."
        )

    @property
    def report(self) -> str:
        """The sentence, the reason for the method, the classes' shares, warnings, and the rows to label next."""
        shares = self.table[CLASS].value_counts(normalize=True)
        counted = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.head(12).items())
        more = f" and {len(shares) - 12} more" if len(shares) > 12 else ""
        said = [self.sentence, f"The method: {self.why}", f"Classes of these rows: {counted}{more}.", *self.warnings]
        said.append(f"`{ROW}` counts the rows of the data from 0, as pandas does.")
        if self.ask:
            said.append(f"Label next, the least sure first: rows {', '.join(map(str, self.ask))}.")
        return "\n".join(said)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>{self.table.head(20).to_html(index=False)}"

    def to_csv(self) -> str:
        """Return the table as CSV."""
        return self.table.to_csv(index=False, lineterminator="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data for JSON; NaN becomes None."""
        numbers = {f"expected_{name}": value for name, value in vars(self.expected).items() if name != "n"}
        known = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        verdict = None if self.comparison is None else self.comparison.verdict.to_dict()
        facts = {"method": self.method, "why": self.why, "n_labels": self.n_labels, "n_rows": len(self.table)}
        counts = {str(name): int(n) for name, n in self.table[CLASS].value_counts().items()}
        more = {"warnings": list(self.warnings), "notes": list(self.notes), "ask": list(self.ask), "verdict": verdict}
        return facts | known | {"held_out": self.expected.n, "classes": counts} | more


def label(
    data: pd.DataFrame | str | os.PathLike[str],
    target: str | None = None,
    *,
    method: str | None = None,
    ordered: bool = False,
    ask: int = 0,
    keep: Sequence[str] = (),
    seconds: float = 60.0,
    report: Report = lambda doing: None,
    **reading: Any,
) -> Labeled:
    """Label the unlabeled rows of a table, and say how many of the labels to expect to be right.

    Parameters
    ----------
    data : DataFrame or path
        A table in memory, or a file or a folder that ``dsg-lab fit`` reads.
    target : str, optional
        The label column; rows without a label in it are labeled. By default it is guessed.
    method : str, optional
        A key of `dsgcore.comparing.METHODS`. By default the one that a comparison on the labels recommends.
    ordered : bool, default False
        True if the classes have an order.
    ask : int, default 0
        Number of rows to name whose labels would tell most.
    keep : sequence of str
        Columns of the data that the result has, too.
    seconds : float, default 60
        Approximate time limit of the comparison; the fits without held-out labels get as much again.
    report : callable, optional
        Called with a few words about what is being done.
    **reading : object
        What the columns mean: `features`, `drop`, `roles`, `order`, `positive`, `bins`, `unlabeled`, `missing` and others, as
        ``dsg-lab fit`` has them.

    Returns
    -------
    Labeled
        Has `table`, `expected`, `report`, `to_csv` and `to_dict`.

    Raises
    ------
    DSGError
        If the data cannot be used, or if no row is unlabeled.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dsgcore import label
    >>> frame = load_iris(as_frame=True).frame
    >>> frame["target"] = frame["target"].where(frame.index % 3 == 0)  # two thirds are not labeled
    >>> found = label(frame, "target", method="LogisticRegression")
    >>> list(found.table), len(found.table)
    (['row', 'class', 'probability'], 100)
    >>> bool(found.expected.low < found.expected.mean <= found.expected.high)
    True
    """
    report("reading the table")
    file = _file_of(data)
    labels = "ordinal" if ordered else "classes"
    recipe = file.recipe(labels, target=target, is_asked=True, **reading)
    kept, found = file.kept(recipe), file.labels(recipe, labels)
    options: dict[str, Any] = {"method": method, "ordered": ordered, "ask": ask, "keep": keep, "seconds": seconds}
    return label_rows(kept, recipe, found.y, found.class_names, **options, report=report)


def label_rows(
    frame: pd.DataFrame,
    recipe: Recipe,
    y: NDArray[np.int64],
    class_names: Sequence[str],
    *,
    method: str | None = None,
    why: str = "it was asked for.",
    ordered: bool = False,
    ask: int = 0,
    keep: Sequence[str] = (),
    seconds: float = 60.0,
    report: Report = lambda doing: None,
) -> Labeled:
    """Label the rows of a table that has been read, with class codes y (n,), -1 for unlabeled; as `label` does."""
    n_asked, limit = int(ASK.check(ask) or 0), float(SECONDS.check(seconds) or 1.0)
    kind = BINARY if len(class_names) == 2 else ORDINAL if ordered else CLASSES
    _check_kept(keep, frame)
    unlabeled = np.flatnonzero(y == UNLABELED)
    if not len(unlabeled):
        raise DataError(
            f"every row has a label in {recipe.label()!r}, so there is none to give a class: leave the label of other rows "
            "empty, or name the one that means “not labeled” (--unlabeled)"
        )
    if method is not None and method not in suited(kind):
        raise ParameterError(f"method must be one of {', '.join(suited(kind))} for these labels, got {quoted(method)}")
    report("preparing the columns")
    features = Features(recipe, LOCAL, str(OF_OWN["scaling"])).fit(frame)
    compared = None
    if method is None:
        method, why, compared = _choose(frame, recipe, y, kind, limit, report)
    chosen = suited(kind)[method]
    rows = thinned(y)
    X, codes = features.transform(frame.iloc[rows]), y[rows]
    hits, margins = _held_out(chosen, X, codes, limit, report)
    report(f"fitting {method} to all labels")
    model = _fitted(chosen, X, codes)
    confidence, values = Confidence(len(class_names)).fit(margins, hits), []
    for part in gen_batches(len(unlabeled), max(1, VALUES_AT_A_TIME // max(1, len(features.names)))):
        report(f"labeling rows, {part.start:,} of {len(unlabeled):,} are done")
        values.append(_predicted(model, features.transform(frame.iloc[unlabeled[part]])))
    predicted, apart = (np.concatenate(each) for each in zip(*values, strict=True))
    report("checking the data")
    names: list[Any] = [int(name) if is_whole(class_names) else name for name in class_names]
    made = {ROW: frame.index.to_numpy()[unlabeled], CLASS: np.array(names)[predicted]}
    made[PROBABILITY] = confidence.probability(apart)
    table = pd.DataFrame(made | {name: frame[name].to_numpy()[unlabeled] for name in keep})
    unsure = table.iloc[np.argsort(apart, kind="stable")[:n_asked]]
    return Labeled(
        table=table,
        ask=tuple(map(int, unsure[ROW])),
        method=method,
        why=why,
        expected=Expected.of(hits, len(unlabeled)),
        n_labels=int(np.sum(codes != UNLABELED)),
        warnings=tuple(_warnings(frame, y, features, class_names, X, codes)),
        notes=tuple(features.sentences("all rows")),
        comparison=compared,
    )


def label_in_job(
    frame: pd.DataFrame,
    recipe: Recipe,
    y: NDArray[np.int64],
    class_names: Sequence[str],
    options: dict[str, Any],
    *,
    report: Report,
) -> Labeled:
    """Do `label_rows` in a background job, whose arguments have no names."""
    return label_rows(frame, recipe, y, class_names, **options, report=report)


def _file_of(data: Any) -> File:
    """Return the reader of a path, or of a table in memory, whose rows count from 0."""
    if not isinstance(data, pd.DataFrame):
        return File.of_path(data)
    names = [str(name) for name in data.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the columns of the table must have different names, got {twice!r} twice")
    return File.of_frame(data.set_axis(names, axis=1).reset_index(drop=True), "table")


def _check_kept(keep: Sequence[str], frame: pd.DataFrame) -> None:
    for name in keep:
        check_column(name, [str(one) for one in frame.columns])
        if name in COLUMNS:
            raise DataError(f"the column {name!r} cannot be kept, because the result has one of that name: rename it")


def _choose(
    frame: pd.DataFrame, recipe: Recipe, y: NDArray, kind: str, seconds: float, report: Report
) -> tuple[str, str, Comparison | None]:
    """Return the method that a comparison recommends, or else the usual one, with the reason."""

    def tell(so_far: Comparison) -> None:
        report(f"comparing methods, {len(so_far.fits)} fits are done")

    try:
        found = compare(
            *(frame.reset_index(drop=True), y), recipe=recipe, ordered=kind == ORDINAL, seconds=seconds, curves=False,
            callback=tell,
        )  # fmt: skip
    except ComparisonError as error:
        return USUAL[kind], f"it is the usual one for such labels; a comparison is not possible: {error}.", None
    if (name := found.verdict.recommended) is None:
        return USUAL[kind], f"it is the usual one for such labels. {found.verdict.sentence}", found
    return name, f"the comparison's verdict. {found.verdict.sentence}", found


def _fitted(method: Method, X: NDArray, codes: NDArray) -> Any:
    rows = training_rows(method, codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a method that has not converged shows it at held-out labels
        return method.make(SEED).fit(X[rows], codes[rows])


def _predicted(model: Any, X: NDArray) -> tuple[NDArray[np.int64], NDArray]:
    """Return the predicted class codes (n,), and by how much each is ahead of the next one."""
    f = np.asarray(model.decision_function(X), dtype=float)
    if f.ndim == 1:
        return model.classes_[(f > 0).astype(int)], np.abs(f)
    two = np.partition(f, -2, axis=1)[:, -2:]
    return model.classes_[f.argmax(axis=1)], two[:, 1] - two[:, 0]


def _held_out(
    method: Method, X: NDArray, codes: NDArray, seconds: float, report: Report
) -> tuple[NDArray[np.bool_], NDArray]:
    """Return where labels are right that the method has not seen, and by how much each is ahead; within the time.

    Each fold hides labels. Its points stay, unlabeled, as those of the rows to label do.
    """
    labeled = np.flatnonzero(codes != UNLABELED)
    n_tested = int(np.sum(np.bincount(codes[labeled])[codes[labeled]] > 1))  # a class's only label is never held out
    n_splits = max(2, min(FOLDS_OF_FEW if len(labeled) <= FEW else FOLDS, n_tested))
    hits, margins, end = [np.zeros(0, dtype=bool)], [np.zeros(0)], time.monotonic() + seconds
    try:
        for number, (_, test) in enumerate(
            LabeledFolds(n_splits, unlabeled="train", random_state=SEED).split(X, codes)
        ):
            report(f"holding out labels, {number} of {n_splits} folds are done")
            if number >= LEAST_FOLDS and time.monotonic() > end:
                break
            hidden = codes.copy()
            hidden[test] = UNLABELED
            predicted, apart = _predicted(_fitted(method, X, hidden), X[test])
            hits.append(predicted == codes[test])
            margins.append(apart)
    except FoldError:
        pass
    return np.concatenate(hits), np.concatenate(margins)


def _warnings(
    frame: pd.DataFrame, y: NDArray, features: Features, names: Sequence[str], X: NDArray, codes: NDArray
) -> Iterator[str]:
    """Return sentences about what may make the labels worse than they look."""
    counts = np.bincount(y[y != UNLABELED], minlength=len(names))
    if few := [name for name, n in zip(names, counts, strict=True) if n < FEW_OF_CLASS]:
        yield f"Warning: fewer than {FEW_OF_CLASS} labels of {listed(few)}: label more of them."
    yield from leaks(frame, y, features.columns, names)
    yield from about_shift(X, codes)
    if features.recipe.missing == "drop":
        yield "Warning: rows with missing numbers are left out, and have no class."


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
