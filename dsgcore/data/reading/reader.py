"""Reading of a file: guess its recipe, preview its table, name its classes, make its points."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.conversions import LABELS
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.column_roles import guess_role, guess_roles
from dsgcore.data.reading.features import NO_ROW_LEFT, Features
from dsgcore.data.reading.labels import BINARY, MAX_CLASSES, class_codes, label_names, pair_ids
from dsgcore.data.reading.limits import UPLOADED, Limits
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sniffing import guessed, sniff_format, suit
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table


@dataclass(frozen=True, eq=False)
class Preview:
    """View of a table before it becomes points."""

    n: int  # number of rows
    first: pd.DataFrame  # the first rows, as text that is safe to show
    names: tuple[str, ...]  # of the columns
    recipe: Recipe  # with the most likely role of each column; one of them is the label
    alone: tuple[str, ...]  # the role of each column if it is neither the label nor a pair id
    missing: str = ""  # words that were read as missing, and the number of cells


@dataclass(frozen=True)
class Classes:
    """Classes of the label column."""

    recipe: Recipe  # with the fields that a setting needs for them
    names: tuple[str, ...]  # as text


class File:
    """A file whose bytes are unpacked and parsed once, however much is read from it.

    Its methods raise `DataError` if the data cannot be used. The message names the problem and, if possible, the row and
    the column.

    Parameters
    ----------
    packed : Source
    limits : Limits, optional
    report : callable, optional
        Called with the name of the current step.
    """

    def __init__(
        self, packed: Source, limits: Limits = UPLOADED, report: Callable[[str], Any] = lambda doing: None
    ) -> None:
        self.packed, self.limits, self.report = packed, limits, report
        self._tables: dict[Recipe, Table] = {}

    @cached_property
    def source(self) -> Source:
        """The bytes, unpacked."""
        return unpacked(self.packed, self.limits)

    def table(self, recipe: Recipe) -> Table:
        """Return the table that a recipe reads; only the recipe's format fields matter."""
        key = recipe.of_format()
        if key not in self._tables:
            self.report("reading its rows")
            self._tables = {key: read_table(self.source, recipe, self.limits)}
        return self._tables[key]

    def sniff(self) -> Recipe:
        """Guess the format. The bytes decide it, not the file's name."""
        self.report("finding out what it is")
        return sniff_format(self.source)

    def preview(self, recipe: Recipe) -> Preview:
        """Return the first rows and the most likely role of each column."""
        table = self.table(recipe)
        self.report("looking at its columns")
        frame, names = table.frame, tuple(str(name) for name in table.frame.columns)
        alone = tuple(guess_role(column, recipe, self.limits) for _, column in frame.items())
        recipe = guess_roles(frame, recipe, self.limits, dict(zip(names, alone, strict=True)))
        if recipe.column("label") is None:
            recipe = recipe.with_roles({**dict(recipe.roles), names[-1]: "label"})
        return Preview(len(frame), table.head(), names, recipe, alone, table.missing)

    def classes(self, recipe: Recipe, labels: str) -> Classes:
        """Return the names of all classes, and the recipe with a positive class if the labels must be binary."""
        frame, label = self.table(recipe).frame, str(recipe.column("label"))
        if label not in frame.columns:
            raise DataError("the recipe's label is no column of the table")
        recipe = suit(recipe, frame, labels)
        names = tuple(label_names(frame[label], recipe))
        has_positive = labels in BINARY and recipe.bins is None and 2 <= len(names) <= MAX_CLASSES
        if has_positive and recipe.positive not in names:
            recipe = replace(recipe, positive=names[-1])
        return Classes(recipe, names)

    def points(self, recipe: Recipe, labels: str, fitted_rows: NDArray[np.int64] | None = None) -> Dataset:
        """Return the data set. The same bytes and recipe give bit-for-bit identical data. Parameters as in `read`."""
        if labels not in LABELS:
            raise DataError(f"labels must be one of {', '.join(LABELS)}, got {quoted(labels)}")
        table = self.table(recipe)
        self.report("making points of its columns")
        label, pair, frame = recipe.label(), recipe.column("pair"), table.frame
        features, kept = self._fitted(frame, recipe, fitted_rows)
        frame = frame[kept] if not kept.all() else frame
        y, class_names, sentences = class_codes(frame[label], recipe, labels)
        pairs = pair_ids(frame[pair], recipe) if pair is not None and labels == "pairs" else None
        return Dataset(
            name=printable(os.path.splitext(self.packed.name)[0]) or "file",
            X=features.transform(frame),
            y=y,
            feature_names=features.names,
            class_names=class_names,
            source=f"file {printable(self.packed.name)}",
            licence="not stated",
            sha256=self.packed.sha256(),  # of the file itself, packed or not
            pairs=pairs,
            report=(*table.notes, *sentences, *features.sentences(), *_counts(kept, pairs)),
            left_out=features.left_out,
            depends_on_rows=features.depends_on_rows,
        )

    def _fitted(
        self, frame: pd.DataFrame, recipe: Recipe, rows: NDArray[np.int64] | None
    ) -> tuple[Features, NDArray[np.bool_]]:
        """Return the features, fitted on all kept rows or on some of them, and a mask of the kept rows."""
        features = Features(recipe, self.limits).fit([frame])
        kept = features.is_kept(frame)
        if not kept.any():
            raise DataError(NO_ROW_LEFT)
        if rows is not None:
            is_fitted = np.zeros(len(frame), dtype=bool)
            is_fitted[np.flatnonzero(kept)[rows]] = True
            features = Features(recipe, self.limits).fit([frame], is_fitted)
        return features, kept


def _counts(kept: NDArray[np.bool_], pairs: NDArray | None) -> Iterator[str]:
    """Return sentences about the numbers of dropped rows and of pairs."""
    if not kept.all():
        yield f"{np.sum(~kept):,} of {len(kept):,} rows are dropped."
    if pairs is not None:
        yield f"{int(pairs.max()) + 1:,} similar pairs are given by the file."


def sniff(content: bytes, name: str, *, labels: str = "binary", limits: Limits = UPLOADED) -> Recipe:
    """Guess a file's format and its columns' roles, as a recipe whose fields can all be changed.

    Parameters as in `read`. Raises `DataError` if the bytes cannot be read as a table.
    """
    file = File(Source.of_bytes(content, name), limits)
    recipe = file.sniff()
    return guessed(file.table(recipe).frame, recipe, labels, limits)


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

    Raises `DataError` as `File` does.
    """
    return File(Source.of_bytes(content, name), limits).points(recipe, labels, fitted_rows)


STEPS = ("sniff", "preview", "classes", "points")


@dataclass(frozen=True)
class Step:
    """A step of a file's reading, named like the method of `File` that takes it, and all that its result depends on."""

    name: str
    labels: str
    recipe: Recipe | None = None
    rows: bytes | None = None  # the fitted rows, as the bytes of int64


def take_steps(
    content: bytes,
    name: str,
    first: Step,
    *,
    limits: Limits = UPLOADED,
    report: Callable[[str], Any] = lambda doing: None,
) -> list[tuple[Step, Any]]:
    """Take a step and, while the table is in memory, the usual next ones; return each with its result.

    The last result may be a `DataError`, after which there is no next step. Other parameters as in `read` and `File`.
    """
    file, results, step = File(Source.of_bytes(content, name), limits, report), list[tuple[Step, Any]](), first
    for own in STEPS[STEPS.index(first.name) :]:
        step = replace(step, name=own)
        try:
            result, recipe = _taken(file, step)
        except DataError as error:
            # without its traceback, which would keep the table in memory
            return [*results, (step, DataError(str(error)))]
        results.append((step, result))
        step = replace(step, recipe=recipe)
    return results


def _taken(file: File, step: Step) -> tuple[Any, Recipe]:
    """Return the result of a step, and the recipe of the next one."""
    if step.recipe is None:
        recipe = file.sniff()
        return recipe, recipe
    if step.name == "points":
        rows = None if step.rows is None else np.frombuffer(step.rows, np.int64)
        return file.points(step.recipe, step.labels, rows), step.recipe
    found = file.preview(step.recipe) if step.name == "preview" else file.classes(step.recipe, step.labels)
    return found, found.recipe
