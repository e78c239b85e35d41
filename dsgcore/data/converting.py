"""Conversion of a file on disk to a float32 memory map, and its description; both read in pieces, in bounded memory."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype

from dsgcore.core.parameters import quoted
from dsgcore.core.whole_files import whole_files
from dsgcore.data import conversions
from dsgcore.data.datasets import DataError
from dsgcore.data.reading import IN_PIECES, Recipe, Source, guessed, listed, sniff_format, suit
from dsgcore.data.reading.delimited import head_text
from dsgcore.data.reading.features import NO_ROW_LEFT, Features
from dsgcore.data.reading.label_kinds import INEXACT
from dsgcore.data.reading.labels import class_codes
from dsgcore.data.reading.missing import Seen
from dsgcore.data.reading.missing import sentence as missing_sentence
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.sniffing import choose
from dsgcore.data.reading.sources import streamed
from dsgcore.data.reading.tables import pieces, read_table
from dsgcore.data.reading.unlabeled import AUTO

ROWS = 20_000
HEAD = 2**22
POINTS, LABELS, DESCRIPTION = "X.npy", "y.npy", "data.json"
Progress = Callable[[str, int], None]
_FEWEST_ORDERED = 3
_SHOWN = 12


@dataclass(frozen=True)
class Converted:
    """The result of a conversion."""

    points: Path  # X.npy of shape (n, d), float32
    labels: Path  # y.npy of shape (n,), int64
    description: Path  # data.json with names and recipe
    n: int
    d: int
    report: tuple[str, ...]  # the steps of the conversion, one sentence each


def sniff_file(
    path: str | os.PathLike[str],
    labels: str = "classes",
    target: str | None = None,
    *,
    features: Sequence[str] | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing_words: Sequence[str] | None = None,
    unlabeled: str | None = AUTO,
) -> Recipe:
    """Guess the recipe of a file on disk; its first rows give the roles of its columns.

    Parameters
    ----------
    path : path
    labels : {"binary", "pairs", "ordinal", "classes"}, default "classes"
    target : str, optional
        The label column. By default it is guessed.
    features : sequence of str, optional
        The columns that become features, also an index if it is named. By default all possible columns.
    category : sequence of str
        Columns that are categories. Each becomes a feature.
    drop : sequence of str
        Columns to leave out.
    missing_words : sequence of str, optional
        Cells, besides empty ones, that mean a missing value. By default those of `Recipe`.
    unlabeled : str or None, default "auto"
        The label that means "not labeled", as in `Recipe`.

    Returns
    -------
    Recipe
    """
    source = streamed(Source.of_path(path), IN_PIECES)
    recipe = sniff_format(source)
    if missing_words is not None:
        recipe = replace(recipe, missing_words=tuple(dict.fromkeys(["", *missing_words])))
    if unlabeled != AUTO:
        recipe = replace(recipe, unlabeled=unlabeled)
    frame = _first_rows(source, recipe)
    return choose(guessed(frame, recipe, labels, IN_PIECES, target), frame, features, category, drop)


def _first_rows(source: Source, recipe: Recipe) -> pd.DataFrame:
    """Read the first rows; of text, only the first bytes."""
    if recipe.format not in ("delimited", "svmlight"):
        return next(pieces(source, recipe, IN_PIECES, ROWS))[0]
    text = head_text(source, recipe.encoding, HEAD)
    return read_table(Source.of_bytes(text.encode(), source.name), replace(recipe, encoding="utf-8"), IN_PIECES).frame


def convert_file(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    recipe: Recipe,
    *,
    labels: str = "classes",
    rows: int = ROWS,
    progress: Progress | None = None,
) -> Converted:
    """Write a file's points as a memory map, and its labels.

    The file is read twice: first for the means of missing numbers and the categories, then for the points. Memory holds
    one piece of `rows` rows, and the label column. Columns of text, and medians, need whole columns. An archive is read
    whole.

    Parameters
    ----------
    path : path
    folder : path
        Created if it does not exist. An older conversion in it is replaced once the new one is complete.
    recipe : Recipe
        For instance from `sniff_file`.
    labels : {"binary", "pairs", "ordinal", "classes"}
    rows : int, default 20,000
    progress : callable, optional
        Called with the name of the current step and the number of rows done.

    Returns
    -------
    Converted
    """
    source = streamed(Source.of_path(path), IN_PIECES)
    looked = _look(source, recipe, rows, progress)
    features = looked.features
    with whole_files(folder, (POINTS, LABELS, DESCRIPTION)) as part:
        kept = _write(part / POINTS, features, _frames(source, recipe, rows, "writing", progress), looked.n)
        y, names, sentences = class_codes(looked.label[kept], recipe, labels)
        np.save(part / LABELS, y)
        report = (*looked.notes, *sentences, *features.sentences("all rows"))
        described = {
            "file": source.name,
            "recipe": recipe.to_dict(),
            "class_names": names,
            "feature_names": features.names,
            "report": report,
        }
        (part / DESCRIPTION).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
    to = Path(folder)
    return Converted(to / POINTS, to / LABELS, to / DESCRIPTION, len(y), len(features.names), report)


@dataclass(frozen=True, eq=False)
class _Looked:
    """Result of the first of two passes over a file."""

    features: Features  # fitted on all rows
    label: pd.Series
    missing: dict[str, int]  # number of missing values in each column
    notes: tuple[str, ...]  # words that were read as missing

    @property
    def n(self) -> int:
        return len(self.label)


def _look(source: Source, recipe: Recipe, rows: int, progress: Progress | None = None) -> _Looked:
    """Read a table in pieces to learn what its columns hold, and what replaces missing numbers."""
    label, seen = recipe.label(), Seen()
    frames = _frames(source, recipe, rows, "looking", progress, seen)
    labels: list[pd.Series] = []
    missing: Counter[str] = Counter()

    def looked_at() -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame  # the features come first: they refuse a recipe for other columns
            labels.append(frame[label])
            missing.update({str(name): int(count) for name, count in frame.isna().sum().items()})

    features = Features(recipe, IN_PIECES).fit(looked_at())
    note = missing_sentence(seen)
    return _Looked(features, _joined(labels), dict(missing), (note,) if note else ())


def _joined(labels: list[pd.Series]) -> pd.Series:
    """Return a column's pieces as one column; large whole numbers do not become floats."""
    numbers = [own.dropna().to_numpy() for own in labels if is_integer_dtype(own)]
    is_mixed = len({own.dtype for own in labels}) > 1
    if is_mixed and any(len(own) and max(own.max(), -int(own.min())) >= INEXACT for own in numbers):
        labels = [own.astype(object) for own in labels]
    return pd.concat(labels)


def _frames(
    source: Source,
    recipe: Recipe,
    rows: int,
    doing: str,
    progress: Progress | None = None,
    seen: Seen | None = None,
) -> Iterator[pd.DataFrame]:
    done = 0
    for frame, _ in pieces(source, recipe, IN_PIECES, rows, seen):
        done += len(frame)
        if progress is not None:
            progress(doing, done)
        yield frame


def _write(part: Path, features: Features, frames: Iterator[pd.DataFrame], n: int) -> NDArray[np.bool_]:
    """Write the points of all pieces one after another; return the rows that were kept."""
    kept, d = np.zeros(n, dtype=bool), len(features.names)
    with part.open("wb") as file:
        _write_header(file, n, d)
        for frame in frames:
            kept[frame.index] = mine = features.is_kept(frame)
            file.write(features.transform(frame[mine] if not mine.all() else frame).tobytes())
        if not kept.any():
            raise DataError(NO_ROW_LEFT)
        file.seek(0)
        _write_header(file, int(kept.sum()), d)
    return kept


def _write_header(file: IO[bytes], n: int, d: int) -> None:
    """Write an array's header. NumPy pads it, so its size does not depend on the number of rows."""
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, d)})


@dataclass(frozen=True, eq=False)
class Description:
    """Contents of a file, as its recipe reads them."""

    recipe: Recipe
    looked: _Looked
    class_sizes: dict[str, int]  # labeled rows of each class
    # for each kind of `conversions.LABELS` the reason why it cannot be learned from; "" if it can
    refusals: dict[str, str]

    def sentences(self) -> Iterator[str]:
        """Return sentences that describe the file's contents."""
        features, sizes = self.looked.features, self.class_sizes
        columns = f"{self.looked.n:,} rows, {len(self.looked.missing):,} columns: {len(features.names):,} features"
        left_out = f", {len(features.left_out)} left out ({listed(features.left_out)})" if features.left_out else ""
        yield f"{columns}, the label {self.recipe.column('label')!r}{left_out}."
        shown = ", ".join(f"{printable(name)!r} {size:,}" for name, size in list(sizes.items())[:_SHOWN])
        more = f" and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
        without = self.looked.n - sum(sizes.values())
        yield f"{len(sizes)} {'bins' if self.recipe.bins else 'classes'}: {shown}{more}; {without:,} rows without a label."
        gaps = {
            name: count for name, count in self.looked.missing.items() if count and self.recipe.role(name) != "label"
        }
        few = ", ".join(f"{count:,} in {name!r}" for name, count in list(gaps.items())[:_SHOWN]) or "none"
        yield f"Missing values: {few}{f' and in {len(gaps) - _SHOWN} more' if len(gaps) > _SHOWN else ''}."
        yield from self.looked.notes
        yield from features.left_out_sentences()


def describe_file(path: str | os.PathLike[str], recipe: Recipe, labels: str = "classes") -> Description:
    """Describe the contents of a file on disk. It is read in pieces: memory holds one piece and the label column.

    Parameters as in `convert_file`. `labels` is the kind of labels whose classes are counted.

    Raises
    ------
    DataError
        If nothing can be learned from the file.
    """
    looked = _look(streamed(Source.of_path(path), IN_PIECES), recipe, ROWS)
    if looked.n < 2:
        raise DataError(f"the table must have at least 2 rows, got {looked.n}")
    refusals = {kind: _refusal(looked, recipe, kind) for kind in conversions.LABELS}
    if all(refusals.values()):
        raise DataError(refusals[labels])
    return Description(recipe, looked, _class_sizes(looked, recipe, labels), refusals)


def _class_sizes(looked: _Looked, recipe: Recipe, labels: str) -> dict[str, int]:
    y, names, _ = class_codes(looked.label, recipe, labels)
    return dict(zip(names, np.bincount(y[y >= 0], minlength=len(names)).tolist(), strict=True))


def _refusal(looked: _Looked, recipe: Recipe, labels: str) -> str:
    """Return the reason why labels of a kind cannot be learned from; empty if they can."""
    try:
        sizes = _class_sizes(looked, suit(recipe, looked.label.to_frame(), labels), labels)
    except DataError as error:
        return str(error)
    few = min(sizes, key=lambda name: sizes[name])
    if sizes[few] < 2:
        return f"each class must have at least 2 rows, one of them for testing, got {sizes[few]} of {quoted(few)}"
    if labels == "ordinal" and len(sizes) < _FEWEST_ORDERED:
        return "two classes have no order to learn; use the setting auc (the page Ranking)"
    return ""
