"""Labels for the unlabeled rows of a table: class and probability of each, and how many of them to expect to be right."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from dsgcore.comparing.methods import BINARY, CLASSES, ORDINAL, Method, kind_of, suited
from dsgcore.comparing.result import Comparison
from dsgcore.comparing.rounds import compare
from dsgcore.comparing.samples import ComparisonError, about_labels, about_part, about_shift, thinned, training_rows
from dsgcore.core.cost import per_cent
from dsgcore.core.metrics import INFLATION, Difference, accuracy_half_width, hits_of_one_class, share_interval
from dsgcore.core.parameters import Integer, ParameterError, Real, counted, finite, quoted
from dsgcore.data.datasets import OF_OWN, DataError
from dsgcore.data.reading import LOCAL, Features, File, Recipe
from dsgcore.data.reading.binary import NESTED, is_large
from dsgcore.data.reading.cells import check_column
from dsgcore.data.reading.file import is_whole
from dsgcore.data.rows import PartedTable
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.calibrated import Confidence
from dsgcore.tuning.folds import FoldError, LabeledFolds

ASK = Integer("ask", 0, low=0, high=100_000)
SECONDS = Real("seconds", 60.0, low=1.0, high=86_400.0)
ROW, CLASS, PROBABILITY = COLUMNS = ("row", "class", "probability")
# The method of each kind of labels, if no comparison names one.
USUAL = {BINARY: "SafeTSGS3VM", CLASSES: "SafePS3VT", ORDINAL: "SafeQS3ORAO"}
SEED = 0  # as of `dsg-lab fit`
# Folds of up to so many labels, and of more; least number of them, whatever the time.
FEW, FOLDS_OF_FEW, FOLDS, LEAST_FOLDS = 200, 10, 5, 2
# Values of the points that are read and predicted at a time.
VALUES_AT_A_TIME = 4_000_000
DROPPED = "Warning: rows with missing numbers are left out, and have no class."
Report = Callable[[str], object]


def expected_share(hits: NDArray[np.bool_], n_unlabeled: int) -> Difference:
    """Return the share of right labels to expect of so many other rows, with its 95 % interval; NaN without hits.

    `hits` (n,) are True where a held-out label was predicted.

    Notes
    -----
    Wilson's interval of a share, with as many labels as give the variance of the difference of two shares: that of the held-out
    labels and that of the unlabeled rows. The variance is 1.5 times as large, because the folds' fits share labels.

    Source: S. Bates, T. Hastie and R. Tibshirani, Cross-validation: what does it estimate and how well does it do it?,
    JASA, 2024.
    """
    if not len(hits):
        return Difference(unit="labels")
    n, share = len(hits) * n_unlabeled / (len(hits) + n_unlabeled) / INFLATION, float(hits.mean())
    return Difference(share, *share_interval(share, n), len(hits), "labels")


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
    expected : Difference
        Share of right labels to expect, with its 95 % interval and the number of held-out labels; NaN if they are too few.
    n_labels : int
        Number of labels that the method learned from.
    warnings, notes : tuple of str
        What may mislead, and what was done with the columns.
    comparison : Comparison or None
        The comparison that chose the method.
    """

    table: pd.DataFrame = field(repr=False)
    ask: tuple[int, ...]
    method: str
    why: str
    expected: Difference
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
            f"{said} Expect {per_cent(e.mean, 1)} of them to be right (95 % interval {100 * e.low:.1f} to "
            f"{100 * e.high:.1f} %), as {e.n:,} held-out labels say."
        )

    @property
    def promise(self) -> str:
        """What labels of the asked rows would add, by the comparison's learning curve; an empty text if that is not known."""
        n, score = len(self.ask), None if self.comparison is None else self.comparison.score
        gain = Difference() if self.comparison is None else self.comparison.gain_of_labels(self.method, n)
        if not n or score is None or not math.isfinite(gain.low):
            return ""
        gain = -gain if score.is_loss else gain  # a better error is a smaller one
        mean, low, high = map(score.signed, (gain.mean, gain.low, gain.high))
        return (
            f"By the learning curve, {n} labels more of rows drawn at random change the {score.title} by {mean} {score.unit} "
            f"(95 % {low} to {high})."
        )

    @property
    def report(self) -> str:
        """The sentence, the reason for the method, the classes' shares, warnings, and the rows to label next."""
        shares = self.table[CLASS].value_counts(normalize=True)
        counted = ", ".join(f"{name} {per_cent(share)}" for name, share in shares.head(12).items())
        more = f" and {len(shares) - 12} more" if len(shares) > 12 else ""
        said = [self.sentence, f"The method: {self.why}", f"Classes of these rows: {counted}{more}.", *self.warnings]
        said.append(f"`{ROW}` counts the rows of the data from 0, as pandas does.")
        if self.ask:
            said.append(f"Label next, the least sure first: rows {', '.join(map(str, self.ask))}.")
            said += [self.promise] if self.promise else []
        return "\n".join(said)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>{self.table.head(20).to_html(index=False)}"

    def to_csv(self) -> str:
        """Return the table as CSV."""
        return self.table.to_csv(index=False, lineterminator="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data for JSON; NaN becomes None."""
        said: dict[str, Any] = {"method": self.method, "why": self.why, "n_labels": self.n_labels}
        said |= {f"expected_{name}": getattr(self.expected, name) for name in ("mean", "low", "high")}
        said |= {"held_out": self.expected.n, "n_rows": len(self.table), "ask": self.ask, "promise": self.promise}
        said |= {"classes": self.table[CLASS].value_counts().to_dict(), "warnings": self.warnings, "notes": self.notes}
        return finite(said | {"verdict": self.comparison and self.comparison.verdict.to_dict()})


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
    target, keep = None if target is None else str(target), [keep] if isinstance(keep, str) else [*map(str, keep)]
    ordered = ordered or bool(reading.get("order"))
    labels = "ordinal" if ordered else "classes"
    options: dict[str, Any] = {"method": method, "ordered": ordered, "ask": ask, "keep": keep}
    options |= {"seconds": seconds, "report": report}
    if isinstance(data, str | os.PathLike) and Path(data).exists() and is_large(Path(data)):
        large = PartedTable.of(data)
        made = large.prepared(labels, str(OF_OWN["scaling"]), target=target, **reading)
        recipe, rows = made.features.recipe, thinned(made.y)
        numbers = np.delete(np.arange(len(large.parts)), made.left_out)
        _check_asked(made.y, recipe)  # the rows to learn from may all have labels
        frame = large.some(numbers[rows], [*large.kinds]).table(recipe).frame
        _check_kept(keep, frame)
        is_asked = np.zeros(len(large.parts), dtype=bool)
        is_asked[numbers[made.y == UNLABELED]] = True
        parts = (own[is_asked[own.index]] for own in (part() for _, part in large.frames(made.features, keep)))
        given = frame, recipe, made.y[rows], made.classes
        return replace(label_rows(*given, **options, features=made.features, unlabeled=parts), notes=tuple(made.notes))
    file = File.of_path(data) if isinstance(data, str | os.PathLike) else File.of_table(data)
    recipe = file.recipe(labels, target=target, is_asked=True, **reading)
    found, table = file.labels(recipe, labels), file.table(recipe)
    said = *table.notes[1:], *table.about_missing(recipe.label(), recipe.column("pair")), *found.report
    labeled = label_rows(file.kept(recipe), recipe, found.y, found.class_names, **options)
    return replace(labeled, notes=(*said, *labeled.notes))


def label_rows(
    frame: pd.DataFrame,
    recipe: Recipe,
    y: NDArray[np.int64],
    class_names: Sequence[str],
    *,
    method: str | None = None,
    found: Comparison | None = None,
    ordered: bool = False,
    ask: int = 0,
    keep: Sequence[str] = (),
    seconds: float = 60.0,
    report: Report = lambda doing: None,
    features: Features | None = None,
    unlabeled: Iterable[pd.DataFrame] | None = None,
) -> Labeled:
    """Label the rows of a table that has been read, with class codes y (n,), -1 for unlabeled; as `label` does.

    A comparison on them that was made before chooses the method. Of a table that is larger than memory, `frame` holds rows to
    learn from, `features` the preparation, and `unlabeled` yields the rows to label.
    """
    n_asked, limit = int(ASK.check(ask) or 0), float(SECONDS.check(seconds) or 1.0)
    kind = kind_of(y, is_ordered=ordered)
    if unlabeled is None:
        _check_kept(keep, frame)
        _check_asked(y, recipe)
    if method is not None and method not in suited(kind):
        raise ParameterError(f"method must be one of {', '.join(suited(kind))} for these labels, got {quoted(method)}")
    report("preparing the columns")
    if features is None:
        features = Features(recipe, LOCAL, str(OF_OWN["scaling"])).fit(frame)
    why = "it was asked for."
    if method is None:
        method, why = USUAL[kind], "it is the usual one for such labels"
        options: dict[str, Any] = {"ordered": kind == ORDINAL}
        options |= {"recipe": recipe, "class_names": class_names, "seconds": limit, "curves": n_asked > 0}
        try:
            found = found or compare(
                *(frame.reset_index(drop=True), y),
                callback=lambda so_far: report(f"comparing methods, {counted(len(so_far.fits), 'fit')} done"),
                **options,
            )
            why = f"{'the verdict of a comparison' if found.verdict.recommended else why}. {found.verdict.sentence}"
            method = found.verdict.recommended or method
        except ComparisonError as error:
            why += f"; a comparison is not possible: {error}."
    chosen, rows = suited(kind)[method], thinned(y)
    X, codes = features.transform(frame.iloc[rows]), y[rows]
    hits, margins, same = _held_out(chosen, X, codes, limit, report)
    report(f"fitting {method} to all labels")
    model = _fitted(chosen, X, codes)
    names: list[Any] = [int(name) if is_whole(class_names) else name for name in class_names]
    parts = [frame[y == UNLABELED]] if unlabeled is None else unlabeled
    table = _with_classes(parts, model, features, np.array(names), keep, report)
    unsure = table[ROW].to_numpy()[np.argsort(table[PROBABILITY].to_numpy(), kind="stable")[:n_asked]]
    confidence = Confidence(len(class_names)).fit(margins, hits)
    table[PROBABILITY] = confidence.probability(table[PROBABILITY].to_numpy())
    report("checking the data")
    if found is None:
        about = *about_labels(y, class_names, frame, recipe, is_ordered=ordered), *about_shift(X, codes)
    else:
        about = found.warnings
    if part := about_part(chosen, codes[training_rows(chosen, codes)], len(table), "rows"):
        about = *about, f"Warning: {method} {part}."
    at_once = 1 if found is None else found.n_scored  # the comparison chose the best one of so many by these labels
    if len(hits) and not hits.mean() - same.mean() > np.nan_to_num(accuracy_half_width(hits, same, at_once)):
        least = f"one class for all rows, which is right for {per_cent(same.mean(), 1)} of the held-out labels"
        why_not = "the columns may not tell the label, the labels may be too few, or a class too rare to be predicted"
        about = *about, f"Warning: {method} is not clearly better than {least}: {why_not}."
    return Labeled(
        table=table,
        ask=tuple(map(int, unsure)),
        method=method,
        why=why,
        expected=expected_share(hits, len(table)),
        n_labels=int(np.sum(codes != UNLABELED)),
        warnings=(*about, *[DROPPED] * (recipe.missing == "drop")),
        notes=tuple(features.sentences("all rows")),
        comparison=found,
    )


def label_in_job(given: tuple[Any, ...], options: Mapping[str, Any], *, report: Report) -> Labeled:
    """Do `label_rows` in a background job, whose arguments have no names."""
    return label_rows(*given, **options, report=report)


def _check_asked(y: NDArray[np.int64], recipe: Recipe) -> None:
    if not (y == UNLABELED).any():
        raise DataError(
            f"every row has a label in {recipe.label()!r}, so there is none to give a class: leave the label of other rows "
            "empty, or name the one that means “not labeled” (--unlabeled)"
        )


def _check_kept(keep: Sequence[str], frame: pd.DataFrame) -> None:
    for name in keep:
        check_column(name, [str(one) for one in frame.columns])
        if (frame[name].astype(object) == NESTED).any():
            raise DataError(f"the column {name!r} cannot be kept, because it holds lists or other nested values")
        if name in COLUMNS:
            raise DataError(f"the column {name!r} cannot be kept, because the result has one of that name: rename it")


def _fitted(method: Method, X: NDArray, codes: NDArray) -> Any:
    rows = training_rows(method, codes)
    with warnings.catch_warnings(action="ignore"):  # a method that has not converged shows it at held-out labels
        return method.make(SEED).fit(X[rows], codes[rows])


def _predicted(model: Any, X: NDArray) -> tuple[NDArray[np.int64], NDArray]:
    """Return the predicted class codes (n,), and by how much each is ahead of the next one."""
    f = np.asarray(model.decision_function(X), dtype=float)
    if f.ndim == 1:
        return model.classes_[(f > 0).astype(int)], np.abs(f)
    two = np.partition(f, -2, axis=1)[:, -2:]
    return model.classes_[f.argmax(axis=1)], two[:, 1] - two[:, 0]


def _with_classes(
    parts: Iterable[pd.DataFrame], model: Any, features: Features, names: NDArray, keep: Sequence[str], report: Report
) -> pd.DataFrame:
    """Return the rows of some parts with their classes, by how much each is ahead as its probability, and columns to keep."""
    made, size = list[pd.DataFrame](), max(1, VALUES_AT_A_TIME // max(1, len(features.names)))
    for part in parts:
        for rows in gen_batches(len(part), size) if len(part) else ():  # a part of a file may have only labeled rows
            report(f"labeling rows, {sum(map(len, made)):,} are done")
            own = part.iloc[rows]
            predicted, ahead = _predicted(model, features.transform(own))
            columns = {ROW: own.index.to_numpy(), CLASS: names[predicted], PROBABILITY: ahead}
            made.append(pd.DataFrame(columns | {name: own[name].to_numpy() for name in keep}))
    return pd.concat(made, ignore_index=True)


def _held_out(
    method: Method, X: NDArray, codes: NDArray, seconds: float, report: Report
) -> tuple[NDArray[np.bool_], NDArray, NDArray[np.bool_]]:
    """Return where labels are right that the method has not seen, by how much each is ahead, and where the commonest class is.

    It ends within the time. Each fold hides labels. Its points stay, unlabeled, as those of the rows to label do.
    """
    labeled = np.flatnonzero(codes != UNLABELED)
    n_tested = int(np.sum(np.bincount(codes[labeled])[codes[labeled]] > 1))  # a class's only label is never held out
    n_splits = max(2, min(FOLDS_OF_FEW if len(labeled) <= FEW else FOLDS, n_tested))
    found, end = [(np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0, dtype=bool))], time.monotonic() + seconds
    folds = LabeledFolds(n_splits, unlabeled="train", random_state=SEED)
    with suppress(FoldError):
        for number, (_, test) in enumerate(folds.split(X, codes)):
            report(f"holding out labels, {number} of {n_splits} folds are done")
            if number >= LEAST_FOLDS and time.monotonic() > end:
                break
            hidden = codes.copy()
            hidden[test] = UNLABELED
            predicted, apart = _predicted(_fitted(method, X, hidden), X[test])
            same = hits_of_one_class(codes[test], hidden[hidden != UNLABELED])
            found.append((predicted == codes[test], apart, same))
    hits, margins, same = map(np.concatenate, zip(*found, strict=True))
    return hits, margins, same
