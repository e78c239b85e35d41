"""Reading a file's bytes into a data set: in one call, or question by question while the user edits the recipe.

Questions and answers are plain data. So the caller need not hold the table, and another process can read it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.conversions import LABELS
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.features import NO_ROW_LEFT, Features
from dsgcore.data.reading.labels import BINARY, MAX_CLASSES, class_codes, label_names, pair_ids
from dsgcore.data.reading.limits import UPLOADED, Limits
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sniffing import guess_role, guess_roles, guessed, sniff_format, suit
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table

# The recipe fields that the table depends on. Columns with their own decimal mark are read as text.
OF_FORMAT = ("format", "delimiter", "header", "decimal", "encoding", "missing_words")


class File:
    """A file whose bytes are unpacked and read once for all questions."""

    def __init__(self, content: bytes, name: str, limits: Limits, report: Callable[[str], Any]) -> None:
        self.packed, self.limits, self.report = Source.of_bytes(content, name), limits, report
        self._tables: dict[Recipe, Table] = {}

    @cached_property
    def source(self) -> Source:
        """The bytes, unpacked."""
        return unpacked(self.packed, self.limits)

    def table(self, recipe: Recipe) -> Table:
        """Return the table that a recipe reads; only the recipe's format fields matter."""
        key = as_read(recipe)
        if key not in self._tables:
            self.report("reading its rows")
            self._tables = {key: read_table(self.source, recipe, self.limits)}
        return self._tables[key]


def as_read(recipe: Recipe) -> Recipe:
    """Return a recipe with only the fields that the table depends on."""
    return replace(Recipe(), roles=recipe.marked(), **{field: getattr(recipe, field) for field in OF_FORMAT})


def sniff(content: bytes, name: str, *, labels: str = "binary", limits: Limits = UPLOADED) -> Recipe:
    """Guess a file's format and its columns' roles, as a recipe whose fields can all be changed.

    Parameters as in `read`. The bytes decide the format, not the file's name. Raises `DataError` if the bytes
    cannot be read as a table.
    """
    source = unpacked(Source.of_bytes(content, name), limits)
    recipe = sniff_format(source)
    return guessed(read_table(source, recipe, limits).frame, recipe, labels, limits)


def preview(content: bytes, name: str, recipe: Recipe, *, limits: Limits = UPLOADED) -> Table:
    """Read a file as a table, to show its first rows (`Table.head`) and its columns; parameters as in `read`.

    Of the recipe's roles, only numbers with their own decimal mark are used.
    """
    return read_table(unpacked(Source.of_bytes(content, name), limits), recipe, limits)


def read(
    content: bytes,
    recipe: Recipe,
    *,
    name: str = "file",
    labels: str = "binary",
    limits: Limits = UPLOADED,
    fitted_rows: NDArray[np.int64] | None = None,
) -> Dataset:
    """Read a data set from a file's bytes. The same bytes and recipe give bit-for-bit identical data.

    Parameters
    ----------
    content : bytes
    recipe : Recipe
    name : str
        The file's name.
    labels : {"binary", "pairs", "ordinal", "classes"}
        The kind of labels that the setting learns from.
    limits : Limits, optional
    fitted_rows : ndarray of shape (n_fitted,), int64, optional
        Rows of the data set from which means of missing numbers and directions of text are learned. Default: all.

    Raises `DataError` if the data cannot be used. The message names the problem and, if possible, the row and column.
    """
    table, source = preview(content, name, recipe, limits=limits), Source.of_bytes(content, name)
    return dataset_of(table, recipe, source, labels=labels, limits=limits, fitted_rows=fitted_rows)


def dataset_of(
    table: Table,
    recipe: Recipe,
    source: Source,
    *,
    labels: str = "binary",
    limits: Limits = UPLOADED,
    fitted_rows: NDArray[np.int64] | None = None,
) -> Dataset:
    """Return a data set made of a table in memory; parameters as in `read`."""
    if labels not in LABELS:
        raise DataError(f"labels must be one of {', '.join(LABELS)}, got {quoted(labels)}")
    label, pair, frame = recipe.label(), recipe.column("pair"), table.frame
    features, kept = _fitted(frame, recipe, limits, fitted_rows)
    frame = frame[kept] if not kept.all() else frame
    y, class_names, sentences = class_codes(frame[label], recipe, labels)
    pairs = pair_ids(frame[pair], recipe) if pair is not None and labels == "pairs" else None
    return Dataset(
        name=printable(os.path.splitext(source.name)[0]) or "file",
        X=features.transform(frame),
        y=y,
        feature_names=features.names,
        class_names=class_names,
        source=f"file {printable(source.name)}",
        licence="not stated",
        sha256=source.sha256(),
        pairs=pairs,
        report=(*table.notes, *sentences, *features.sentences(), *_counts(kept, pairs)),
        left_out=features.left_out,
        depends_on_rows=features.depends_on_rows,
    )


def _fitted(
    frame: pd.DataFrame, recipe: Recipe, limits: Limits, rows: NDArray[np.int64] | None
) -> tuple[Features, NDArray[np.bool_]]:
    """Return the features, fitted on all kept rows or on some of them, and a mask of the kept rows."""
    features = Features(recipe, limits).fit([frame])
    kept = features.is_kept(frame)
    if not kept.any():
        raise DataError(NO_ROW_LEFT)
    if rows is not None:
        is_fitted = np.zeros(len(frame), dtype=bool)
        is_fitted[np.flatnonzero(kept)[rows]] = True
        features = Features(recipe, limits).fit([frame], is_fitted)
    return features, kept


def _counts(kept: NDArray[np.bool_], pairs: NDArray | None) -> Iterator[str]:
    """Return sentences about the numbers of dropped rows and of pairs."""
    if not kept.all():
        yield f"{np.sum(~kept):,} of {len(kept):,} rows are dropped."
    if pairs is not None:
        yield f"{int(pairs.max()) + 1:,} similar pairs are given by the file."


@dataclass(frozen=True, eq=False)
class Look:
    """View of a table before it becomes points."""

    n: int  # number of rows
    first: pd.DataFrame  # the first rows, as text that is safe to show
    names: tuple[str, ...]  # of the columns
    recipe: Recipe  # with the most likely role of each column
    alone: tuple[str, ...]  # the role of each column if it is neither the label nor a pair id
    missing: str = ""  # words that were read as missing, and the number of cells


@dataclass(frozen=True)
class Classes:
    """Classes of the label column."""

    recipe: Recipe  # with the fields that a setting needs for them
    names: tuple[str, ...]  # as text


# `is_large` of a question is True if its answer takes much memory.
@dataclass(frozen=True)
class AskFormat:
    """Question about the recipe that fits the bytes."""

    labels: str
    is_large: ClassVar[bool] = False

    def answer(self, file: File) -> Recipe:
        """Return the recipe, without roles."""
        file.report("finding out what it is")
        return sniff_format(file.source)

    def next(self, recipe: Recipe) -> Question:
        """Return the usual next question."""
        return AskLook(recipe, self.labels)


@dataclass(frozen=True)
class _OfRecipe:
    recipe: Recipe
    labels: str
    is_large: ClassVar[bool] = False


class AskLook(_OfRecipe):
    """Question about the contents of the table that a recipe reads."""

    def answer(self, file: File) -> Look:
        """Return the first rows and the columns' roles."""
        table = file.table(self.recipe)
        file.report("looking at its columns")
        frame, names = table.frame, tuple(str(name) for name in table.frame.columns)
        alone = tuple(guess_role(column, self.recipe, file.limits) for _, column in frame.items())
        recipe = guess_roles(frame, self.recipe, file.limits, dict(zip(names, alone, strict=True)))
        return Look(len(frame), table.head(), names, recipe, alone, table.missing)

    def next(self, look: Look) -> Question:
        """Return the usual next question. If no column is named as a label, the last one is taken as the label."""
        recipe = look.recipe
        if recipe.column("label") is None:
            recipe = recipe.with_roles(dict(recipe.roles) | {look.names[-1]: "label"})
        return AskClasses(recipe, self.labels)


class AskClasses(_OfRecipe):
    """Question about the classes, and the recipe fields that a setting needs for them."""

    def answer(self, file: File) -> Classes:
        """Return the recipe, with a positive class if two are needed, and the names of all classes."""
        frame = file.table(self.recipe).frame
        label = str(self.recipe.column("label"))
        if label not in frame.columns:
            raise DataError("the recipe's label is no column of the table")
        recipe = suit(self.recipe, frame, self.labels)
        names = tuple(label_names(frame[label], recipe))
        is_asked = self.labels in BINARY and recipe.bins is None and 2 <= len(names) <= MAX_CLASSES
        if is_asked and recipe.positive not in names:
            recipe = replace(recipe, positive=names[-1])
        return Classes(recipe, names)

    def next(self, classes: Classes) -> Question:
        """Return the usual next question."""
        return AskPoints(classes.recipe, self.labels)


@dataclass(frozen=True)
class AskPoints(_OfRecipe):
    """Question about the points and labels that the table becomes.

    `rows` are the bytes of the rows, int64, from which means and directions are learned; None: all.
    """

    rows: bytes | None = None
    is_large: ClassVar[bool] = True

    def answer(self, file: File) -> Dataset:
        """Return the points."""
        table = file.table(self.recipe)
        file.report("making points of its columns")
        rows = None if self.rows is None else np.frombuffer(self.rows, dtype=np.int64)
        return dataset_of(table, self.recipe, file.packed, labels=self.labels, limits=file.limits, fitted_rows=rows)

    def next(self, dataset: Dataset) -> None:
        """Return None: this is the last question."""


Question = AskFormat | AskLook | AskClasses | AskPoints
Answer = tuple[Question, Any]


def answers(
    content: bytes,
    name: str,
    question: Question,
    *,
    limits: Limits = UPLOADED,
    report: Callable[[str], Any] = lambda doing: None,
) -> list[Answer]:
    """Answer a question about a file, and the usual next ones. The last answer may be a `DataError` that ends them.

    Parameters as in `read`. `report` is called with the name of the current step.
    """
    file, found = File(content, name, limits, report), list[Answer]()
    asked: Question | None = question
    while asked is not None:
        answer: Any
        try:
            answer = asked.answer(file)
        except DataError as error:
            # without its traceback, which would keep the table in memory
            return [*found, (asked, DataError(str(error)))]
        found.append((asked, answer))
        asked = asked.next(answer)
    return found
