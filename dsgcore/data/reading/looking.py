"""What is asked of a file while somebody says how it is to be read; each answer brings those that are usually asked for next.

All are plain data: whoever asks need not have the table, and leaves its reading to another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.labels import BINARY, MAX_CLASSES, label_names
from dsgcore.data.reading.limits import UPLOADED, Limits
from dsgcore.data.reading.reader import dataset_of
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sniffing import guess_role, guess_roles, sniff_format, suit
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table

FIRST_ROWS = 50
# Of a recipe, what the table depends on; columns with a decimal mark of their own are read as text.
OF_FORMAT = ("format", "delimiter", "header", "decimal", "encoding", "missing_words")


@dataclass(frozen=True, eq=False)
class Look:
    """A table as it is shown before it becomes points.

    Parameters
    ----------
    n : int
        How many rows it has.
    first : DataFrame
        The first rows, as text that is safe to show.
    names : tuple of str
        Of the columns.
    recipe : Recipe
        With the roles that the columns most likely have.
    alone : tuple of str
        The role of each column where it is neither the label nor a pair id.
    """

    n: int
    first: pd.DataFrame
    names: tuple[str, ...]
    recipe: Recipe
    alone: tuple[str, ...]


@dataclass(frozen=True)
class Classes:
    """What the labels are: the recipe with what a setting needs of them, and their names as they are written."""

    recipe: Recipe
    names: tuple[str, ...]


class File:
    """A file whose bytes are unpacked and read once for all questions."""

    def __init__(self, content: bytes, name: str, limits: Limits, report: Callable[[str], Any]) -> None:
        self.packed, self.limits, self.report = Source.of_bytes(content, name), limits, report
        self._unpacked: Source | None = None
        self._tables: dict[Recipe, Table] = {}

    def source(self) -> Source:
        """Return the bytes, unpacked."""
        if self._unpacked is None:
            self._unpacked = unpacked(self.packed, self.limits)
        return self._unpacked

    def table(self, recipe: Recipe) -> Table:
        """Return the table that a recipe reads; what a recipe says besides its format does not count."""
        key = as_read(recipe)
        if key not in self._tables:
            self.report("reading its rows")
            self._tables = {key: read_table(self.source(), recipe, self.limits)}
        return self._tables[key]


def as_read(recipe: Recipe) -> Recipe:
    """Return a recipe with nothing but what the table depends on."""
    return replace(Recipe(), roles=recipe.marked(), **{field: getattr(recipe, field) for field in OF_FORMAT})


@dataclass(frozen=True)
class AskFormat:
    """Ask which recipe goes with the bytes."""

    labels: str
    is_large: ClassVar[bool] = False

    def answer(self, file: File) -> Recipe:
        """Return the recipe, without roles."""
        file.report("finding out what it is")
        return sniff_format(file.source())

    def next(self, recipe: Recipe) -> Question:
        """Return what is usually asked next."""
        return AskLook(recipe, self.labels)


@dataclass(frozen=True)
class AskLook:
    """Ask what is in the table that a recipe reads."""

    recipe: Recipe
    labels: str
    is_large: ClassVar[bool] = False

    def answer(self, file: File) -> Look:
        """Return the first rows and the columns' roles."""
        table = file.table(self.recipe)
        file.report("looking at its columns")
        frame, names = table.frame, tuple(str(name) for name in table.frame.columns)
        alone = tuple(guess_role(column, self.recipe, file.limits) for _, column in frame.items())
        guessed = guess_roles(frame, self.recipe, file.limits, dict(zip(names, alone, strict=True)))
        return Look(len(frame), table.head(FIRST_ROWS), names, guessed, alone)

    def next(self, look: Look) -> Question:
        """Return what is usually asked next; where no column is called a label, the last is taken for it."""
        guessed = look.recipe
        if guessed.column("label") is None:
            guessed = guessed.with_roles(dict(guessed.roles) | {look.names[-1]: "label"})
        return AskClasses(guessed, self.labels)


@dataclass(frozen=True)
class AskClasses:
    """Ask what the labels are, and what a setting needs of them."""

    recipe: Recipe
    labels: str
    is_large: ClassVar[bool] = False

    def answer(self, file: File) -> Classes:
        """Return the recipe with a positive class where two are asked for, and the names of all."""
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
        """Return what is usually asked next."""
        return AskPoints(classes.recipe, self.labels)


@dataclass(frozen=True)
class AskPoints:
    """Ask which points and labels the table becomes.

    `rows` are the bytes of the rows, int64, that means and directions are learned from; None: all.
    """

    recipe: Recipe
    labels: str
    rows: bytes | None = None
    is_large: ClassVar[bool] = True

    def answer(self, file: File) -> Dataset:
        """Return the points."""
        table = file.table(self.recipe)
        file.report("making points of its columns")
        rows = None if self.rows is None else np.frombuffer(self.rows, dtype=np.int64)
        return dataset_of(table, self.recipe, file.packed, labels=self.labels, limits=file.limits, fitted_rows=rows)

    def next(self, dataset: Dataset) -> None:
        """Return None: that is the last question."""


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
    """Answer a question about a file, and those that usually follow; the last answer may be the `DataError` that ended it.

    Parameters
    ----------
    content : bytes
    name : str
        The file's name.
    question : AskFormat, AskLook, AskClasses or AskPoints
    limits : Limits, optional
    report : callable, optional
        Told what is being done.
    """
    return list(_answered(File(content, name, limits, report), question))


def _answered(file: File, question: Question | None) -> Iterator[Answer]:
    while question is not None:
        answer: Any
        try:
            answer = question.answer(file)
        except DataError as error:
            yield question, DataError(str(error))  # without what led to it, which holds the table
            return
        yield question, answer
        question = question.next(answer)
