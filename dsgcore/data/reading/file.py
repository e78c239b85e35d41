"""A user's file as points and labels, the one way of the app, all commands and Python.

======================  ==========================================  ============================================
`File.source`           its bytes, unpacked                         sources.py
`sniff_format`          how it is written: the recipe of a format   sniffing.py, or the first bytes
`read_table`            its rows and the types of its columns       parse.py for text, svmlight.py, binary.py
`File.recipe`, `look`   what each column is: the whole recipe       columns.py
`File.prepared`         class codes y and points X                  labels.py, features.py
======================  ==========================================  ============================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import counted, quoted
from dsgcore.core.sampling import UNLABELED
from dsgcore.data.datasets import LABELS, DataError, Dataset
from dsgcore.data.reading.binary import as_in_parquet, index_columns, read_binary, read_parquet_folder
from dsgcore.data.reading.cells import (
    THOUSANDS_POINT,
    Seen,
    about_missing,
    as_cell,
    as_label,
    as_number,
    blanked,
    check_column,
    decimal_mark,
    is_numeric,
    named,
    numbers_among,
    printable,
    suspicions,
    with_columns,
    written,
)
from dsgcore.data.reading.columns import choose, guess_each, guess_roles, leaks, with_order
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.labels import (
    BINARY,
    DEFAULT_BINS,
    MAX_CLASSES,
    class_codes,
    label_names,
    label_text,
    pair_ids,
    suited,
)
from dsgcore.data.reading.parse import NoRowsError, read_delimited, rows_below
from dsgcore.data.reading.recipe import AUTO, DELIMITERS, LOCAL, MARKS, OF_FILE, UPLOADED, Limits, Recipe
from dsgcore.data.reading.sniffing import head_text, sniff_delimited, sniffed_encoding
from dsgcore.data.reading.sources import Source, about_others, binary_format, files_of, telling, unpacked
from dsgcore.data.reading.svmlight import TARGET, is_svmlight, read_svmlight, zero_is_unlabeled
from dsgcore.data.reading.unlabeled import is_doubtful, number_of_label

_FORMAT_NAMES = {
    "parquet": "Parquet",
    "svmlight": "LIBSVM text, made dense",
    "npz": "a NumPy archive",
    "arrow": "an Arrow file",
    "orc": "ORC",
    "json": "JSON records",
}
OTHER_COLUMNS = "its columns are not those of the first file of the folder: each must have the same"


@dataclass(frozen=True, eq=False)
class Table:
    """A table, and notes on its reading."""

    frame: pd.DataFrame  # its columns have the names that roles refer to; its index counts the rows from 0
    notes: tuple[str, ...]  # the steps of the reading, one sentence each
    seen: Seen = field(default_factory=Seen)  # the cells that were read as missing, by word and column
    n_read: int = 0  # number of rows, with those that were left out because they have no value

    def head(self, rows: int = 50) -> pd.DataFrame:
        """Return the first rows as text that is safe to show and to save, counted from 1."""
        first = self.frame.head(rows)
        texts = first.astype(object).map(lambda cell: as_cell(printable(written(cell)))).mask(first.isna(), "")
        return texts.set_axis([as_cell(str(name)) for name in first.columns], axis=1).set_axis(first.index + 1)

    def about_missing(self, label: str | None, pair: str | None = None) -> list[str]:
        """Return sentences about cells that were read as missing, or should be; labels count apart, and ids of pairs do not."""
        cells = Seen({key: n for key, n in self.seen.items() if key[1] not in (label, pair)})
        labels = Seen({key: n for key, n in self.seen.items() if key[1] == label and key[0]})
        said = [about_missing(cells), about_missing(labels, "missing labels")]
        return [*filter(None, said), *suspicions(self.frame, label, self.seen)]


def sniff_format(source: Source, others: Iterable[Source] = (), **given: Any) -> Recipe:
    """Return the recipe for the format of an unpacked file; raise `DataError` if it cannot be read.

    Only roles that the format itself gives are set: the label, or the index. `others` are the other files of its folder, whose
    labels tell which one of LIBSVM's means unlabeled. `given` are fields of the recipe.
    """
    Recipe.from_dict({"format": "delimited", **given})  # refuses values that are not allowed
    found = binary_format(source)
    if found is not None:
        roles = dict.fromkeys(index_columns(source), "index") if found == "parquet" else {}
        return with_fields(Recipe(format=found).with_roles(roles), given)
    encoding = given.get("encoding") or source.known.get("encoding") or sniffed_encoding(source)
    if is_svmlight(text := head_text(source, encoding)):
        if encoding not in ("utf-8", "utf-8-sig"):
            raise DataError(f"LIBSVM text must be in UTF-8, and this file is in {encoding}: save it as UTF-8")
        unlabeled = "0" if zero_is_unlabeled(chain([source], others)) else AUTO
        return with_fields(Recipe(format="svmlight", roles=((TARGET, "label"),), unlabeled=unlabeled), given)
    if binary_format(Source.of_bytes(text.encode(), source.name)) == "json":
        raise DataError(f"JSON must be in UTF-8, and this file is in {encoding}: save it as UTF-8")
    delimiter = source.known.get("delimiter", given.get("delimiter"))
    return with_fields(replace(sniff_delimited(source, encoding, delimiter), **source.known), given, source.known)


def with_fields(recipe: Recipe, given: Mapping[str, Any], known: Collection[str] = ()) -> Recipe:
    """Return the recipe with given fields; raise `DataError` for one of text if the file is none, or decides it (`known`)."""
    known = known if recipe.format == "delimited" else OF_FILE
    if said := [name for name in given if name in known and (name, recipe.format) != ("encoding", "svmlight")]:
        option = "no-header" if given[said[0]] is False else said[0]
        raise DataError(
            f"{said[0]} (--{option}) tells how a text such as CSV is written, and this file is none: leave it out"
        )
    if given.get("below") and not given.get("header", recipe.header):
        raise DataError(
            "below (--below) counts lines below the names, and the table has no names (--header): leave it out"
        )
    return replace(recipe, **given)


def read_table(source: Source, recipe: Recipe, limits: Limits) -> Table:
    """Read a whole unpacked table, or a folder of tables, into memory; raise `DataError` with the row and column if possible."""
    seen, is_text = Seen(), recipe.format in ("delimited", "svmlight")
    if source.path is None:
        found = binary_format(source)
        if found != (None if is_text else recipe.format):
            raise DataError(f"the recipe is for the format {recipe.format}, and the file is {found or 'text'}")
    elif recipe.format not in ("parquet", "svmlight"):
        return _read_files(source.path, recipe, limits)
    if recipe.format == "svmlight":  # whose files have the width of the widest one
        texts = [source] if source.path is None else list(_unpacked_files(source.path, limits, "svmlight"))
        frame, notes = read_svmlight(texts, limits, recipe.first_index, recipe.n_indices)
    elif source.path is not None:
        frame, notes = read_parquet_folder(source.path, limits)
    elif recipe.format == "delimited":
        frame, notes = read_delimited(source, recipe, limits, seen)
    else:
        frame, notes = read_binary(source, recipe.format, limits)
    frame.index = pd.RangeIndex(len(frame))
    said = _about_folder(source.path, len(texts)) if is_text and source.path else [_sentence(frame, recipe, source)]
    said += [*source.notes, *notes]
    return _without_gaps(frame, recipe, said, seen, is_text=is_text)


def _without_gaps(frame: pd.DataFrame, recipe: Recipe, said: list[str], seen: Seen, *, is_text: bool) -> Table:
    """Return a table without its words for missing values, which those of a text are already, and without empty rows."""
    words = recipe.missing_words
    known = {
        name: own
        for name, column in frame.items()
        if not is_text or (numbers_among(words) and is_numeric(column))
        if (own := blanked(column, words, seen)) is not column
    }
    whole = with_columns(frame, known)
    is_full = whole.notna().any(axis=1).to_numpy()
    if recipe.format == "svmlight" or is_full.all() or not is_full.any():
        return Table(whole, tuple(said), +seen, len(frame))
    for name in frame.columns:
        seen["", str(name)] -= int(np.sum(~is_full))
    return Table(whole[is_full], (*said, *about_empty_rows(int(np.sum(~is_full)))), +seen, len(frame))


def about_empty_rows(n: int) -> list[str]:
    """Return a sentence about rows that are left out, if there are any."""
    return [f"{n:,} {'row without any value is' if n == 1 else 'rows without any value are'} left out."] * (n > 0)


def _unpacked_files(folder: Path, limits: Limits, format: str = "") -> Iterator[Source]:
    """Yield the unpacked files of a folder; raise `DataError` for one that is no text of this format."""
    for file in files_of(folder):
        with named(file.name):
            text = unpacked(file, limits)
            if format and (found := binary_format(text)) is not None:
                raise DataError(f"the recipe is for the format {format}, and the file is {found}")
        yield text


def _read_files(folder: Path, recipe: Recipe, limits: Limits) -> Table:
    """Read the files of text of a folder as one table."""
    read, first = list[Table](), list[str]()
    for file in files_of(folder):
        with named(file.name):
            try:
                table = read_table(unpacked(file, limits), recipe, limits)
                names = list(map(str, table.frame.columns))
            except NoRowsError as error:  # as an empty part of Spark's, which has the names alone
                table, names = None, error.names
            if names != (first := first or names):
                raise DataError(OTHER_COLUMNS)
        if table is not None:
            keys = {name: np.nan if value is None else value for name, value in file.keys.items() if name not in names}
            read.append(replace(table, frame=with_columns(table.frame, keys)))
            if list(read[-1].frame.columns) != list(read[0].frame.columns):
                raise DataError(f"{file.name}: {OTHER_COLUMNS}")
    if not read:
        raise DataError("the table has no rows")
    cells = {name: (table.frame[name] for table in read if table.frame[name].notna().any()) for name in first}
    kinds = {
        name: {column.dtype.kind.replace("i", "f").replace("u", "f") for column in own} for name, own in cells.items()
    }
    if recipe.format == "delimited" and (mixed := [name for name, own in kinds.items() if len(own) > 1]):
        # As text, which the whole table would have: 01 is not 1 because only another file has A1 beside it.
        roles = {**dict(recipe.roles), **dict.fromkeys(mixed, next(iter(MARKS)))}
        return _read_files(folder, recipe.with_roles(roles), limits)
    begins = np.cumsum([0, *(table.n_read for table in read)])  # rows are counted over the files as they are
    frame = pd.concat([t.frame.set_axis(t.frame.index + n) for t, n in zip(read, begins[:-1], strict=True)])
    frame.attrs["keys"] = tuple(keys)
    limits.check_rows(len(frame))
    seen, said = sum((table.seen for table in read), Seen()), _about_folder(folder, len(read))
    said += [one for one in read[0].notes[1:] if one not in about_empty_rows(read[0].n_read - len(read[0].frame))]
    return Table(frame, (*said, *about_empty_rows(int(begins[-1]) - len(frame))), seen, int(begins[-1]))


def _about_folder(folder: Path, n: int) -> list[str]:
    read = "1 file of a folder is read." if n == 1 else f"{n} files of a folder are read as one table."
    return [read, *about_others(folder)]


def _sentence(frame: pd.DataFrame, recipe: Recipe, source: Source) -> str:
    size = f"{counted(len(frame), 'row')} and {counted(frame.shape[1], 'column')}"
    if recipe.format != "delimited":
        return f"Read as {_FORMAT_NAMES[recipe.format]}: {size}."
    line = "the first line" if not recipe.above else f"line {recipe.above + 1}"
    header = f"names in {line}" if recipe.header else "no names"
    mark = {".": "point", ",": "comma"}[recipe.decimal]
    if source.known:  # of a workbook or ARFF
        return f"Read as a table: {size}; {header}."
    how = f"cells separated by {DELIMITERS[recipe.delimiter]}, {header}, decimal {mark}, {recipe.encoding}"
    return f"Read as text: {size}; {how}."


@dataclass(frozen=True, eq=False)
class Look:
    """View of a table before it becomes points."""

    begun: Recipe  # as it is sniffed or given
    recipe: Recipe  # with the most likely role of each column, and the fields that a setting needs for the classes
    first: pd.DataFrame  # the first rows, as text that is safe to show
    names: tuple[str, ...]  # of the columns
    alone: tuple[str, ...]  # the role of each column if it is neither the label nor a pair id
    classes: tuple[str, ...]  # of the label, as text
    asks: str = ""  # the question which of several columns holds the labels


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
        self._given: tuple[pd.DataFrame, frozenset[str]] | None = None

    @classmethod
    def of_frame(cls, frame: pd.DataFrame, name: str, index: Collection[str] = ()) -> File:
        """Return a table in memory, such as some rows of one that is larger; `index` are its declared index columns."""
        file = cls(Source.of_bytes(b"", name), LOCAL)
        file._given = frame, frozenset(index)
        return file

    @classmethod
    def of_table(cls, table: pd.DataFrame) -> File:
        """Return a person's table in memory, whose rows count from 0. Its columns mean what they do in a Parquet file."""
        if not isinstance(table, pd.DataFrame):
            raise DataError(f"data must be a DataFrame, or the path of a file or a folder, got {type(table).__name__}")
        names = [str(name) for name in table.columns]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"the columns of the table must have different names, got {twice!r} twice")
        return cls.of_frame(as_in_parquet(table.set_axis(names, axis=1)), "table")

    @classmethod
    def of_path(cls, path: str | os.PathLike[str]) -> File:
        """Return a file or a folder of files on this machine."""
        return cls(Source.of_path(path), LOCAL)

    @cached_property
    def source(self) -> Source:
        """The bytes, unpacked."""
        return unpacked(self.packed, self.limits)

    def table(self, recipe: Recipe) -> Table:
        """Return the table that a recipe reads; only the recipe's format fields matter."""
        key = recipe.of_format()
        if key not in self._tables:
            self.report("reading its rows")
            if self._given is None:
                table = read_table(self.source, recipe, self.limits)
            else:
                table = _without_gaps(self._given[0], recipe, [""], Seen(), is_text=False)
            self._tables = {key: table}
        return self._tables[key]

    def sniff(self, **given: Any) -> Recipe:
        """Guess the format. The bytes decide it, not the file's name. `given` are fields of the recipe that are known."""
        if self._given is not None:
            frame, index = self._given
            roles = {str(name): "index" for name in frame.columns if name in index}
            return with_fields(Recipe(format="parquet").with_roles(roles), given)
        self.report("finding out what it is")
        folder = self.source.path
        others = () if folder is None else _unpacked_files(folder, self.limits)
        return sniff_format(self._first, others, **given)

    @cached_property
    def _first(self) -> Source:
        if self.source.path is None:
            return self.source
        return telling(_unpacked_files(self.source.path, self.limits))

    def sniff_like(self, trained: Recipe, names: Collection[str], **given: Any) -> Recipe:
        """Return a training table's recipe for a file with its columns `names`, in the file's own format; `given` as in `sniff`."""
        own = self.sniff(**given)
        is_alike = own.delimiter == trained.delimiter
        if own.format == trained.format == "delimited" and not self._first.known:
            is_unicode = own.encoding.startswith("utf") or trained.encoding.startswith("utf")  # which a guess finds
            alike = {name: getattr(trained, name) for name in ("delimiter", "header", "encoding")[: 3 - is_unicode]}
            with suppress(DataError):  # as of a delimiter that it does not have
                is_named = own.header and {*names} <= {*rows_below(self._first, own, self.limits)[0]}  # such as x1, x2
                other = self.sniff(
                    **{"encoding": own.encoding} | alike | ({"header": True} if is_named else {}) | given
                )
                own = other if {*names} <= {*rows_below(self._first, other, self.limits)[0]} else own
            is_alike = own.delimiter == trained.delimiter or "," not in (own.decimal, own.delimiter)
            own = replace(own, decimal=given.get("decimal", trained.decimal if is_alike else own.decimal))
        if own.format == "delimited" and (not is_alike or "decimal" in given):  # another program's numbers
            columns, _, _, head = rows_below(self._first, own, self.limits)
            given_cells = (
                cell.strip() for row in head for name, cell in zip(columns, row, strict=False) if name in names
            )
            plain = {cell: cell.replace(own.decimal, ".") for cell in given_cells if own.decimal in cell}
            doubtful = [cell for cell, text in plain.items() if THOUSANDS_POINT.fullmatch(text)]
            is_sure = any(as_number(plain[cell]) is not None for cell in plain if cell not in doubtful)
            is_known = is_sure or "decimal" in given or self._first.known or own.decimal == trained.decimal
            if doubtful and not is_known:
                raise DataError(
                    f"{doubtful[0]!r} may be a fraction or thousands, and the training file has another decimal mark: say that of "
                    "this file (--decimal . or --decimal ,)"
                )
            marked, roles = dict(trained.marked()), dict(trained.roles)
            frame = self.table(own.with_roles(marked)).frame
            for name in marked.keys() & frame.columns:
                mark = decimal_mark(frame[name], own.decimal)
                roles[name] = next((role for role, one in MARKS.items() if one == mark), "number")
            trained = trained.with_roles(roles)
        return replace(trained, **{name: getattr(own, name) for name in OF_FILE})

    def recipe(
        self,
        labels: str,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        drop: Collection[str] = (),
        roles: Mapping[str, str] | None = None,
        is_asked: bool = False,
        **given: Any,
    ) -> Recipe:
        """Return the recipe that a person's choices and guesses give.

        Parameters
        ----------
        labels : {"binary", "pairs", "ordinal", "classes", "none"}
            "none": no column holds labels, all may be features.
        target : str, optional
            The label column. By default it is guessed.
        features : sequence of str, optional
            The columns that become features, also an index if it is named. By default all possible columns.
        drop : collection of str
            Columns to leave out.
        roles : mapping of str to str, optional
            Roles of columns.
        is_asked : bool, default False
            True to raise `DataError` if the table does not decide what a person must say: which column holds the labels,
            or which of several classes is positive.
        **given : object
            Other fields of the recipe, such as `header` or `missing`. Those that are None are guessed.
        """
        given = {name: value for name, value in given.items() if value is not None}
        if given.get("unlabeled") == AUTO:  # which SVMlight's text decides by its signs
            del given["unlabeled"]
        if "missing_words" in given:
            given["missing_words"] = tuple(dict.fromkeys(["", *given["missing_words"]]))
        text = {name: given[name] for name in OF_FILE if name in given}
        recipe = Recipe.from_dict(self.sniff(**text).to_dict() | given)
        frame = self.table(recipe).frame
        alone = guess_each(frame, recipe, self.limits) if recipe.format != "svmlight" else {}
        if labels == "none":
            return choose(recipe.with_roles({**alone, **dict(recipe.roles)}), frame, self.limits, features, drop, roles)
        recipe, asks = guess_roles(frame, recipe, alone)
        if target is not None:
            check_column(target, list(map(str, frame.columns)))
            before = recipe.column("label")
            was = {} if before is None else {before: alone.get(before, "number")}  # it becomes a feature
            recipe = recipe.with_roles({**dict(recipe.roles), **was, target: "label"})
        elif is_asked and asks:
            raise DataError(asks.rstrip("."))
        recipe = choose(with_order(recipe, frame), frame, self.limits, features, drop, roles)
        return suit(recipe, frame, labels, is_asked=is_asked)

    def look(self, labels: str, recipe: Recipe | None = None) -> Look:
        """Return the first rows, the roles of the columns (guessed if the recipe has no label), and the classes."""
        recipe = begun = self.sniff() if recipe is None else recipe
        table = self.table(recipe)
        self.report("looking at its columns")
        frame, asks, classes = table.frame, "", list[str]()
        alone = guess_each(frame, recipe, self.limits)
        if recipe.column("label") is None:
            recipe, asks = guess_roles(frame, recipe, alone)
        if (label := recipe.column("label")) is not None:
            if label not in frame.columns:
                raise DataError("the recipe's label is no column of the table")
            recipe = suit(with_order(recipe, frame), frame, labels)
            classes = label_names(label_text(frame[label], recipe)[0], labels)
            has_positive = labels in BINARY and recipe.bins is None and 2 <= len(classes) <= MAX_CLASSES
            if has_positive and recipe.positive not in classes:
                recipe = replace(recipe, positive=classes[-1])
        return Look(begun, recipe, table.head(), tuple(alone), tuple(alone.values()), tuple(classes), asks)

    def labels(self, recipe: Recipe, labels: str, frame: pd.DataFrame | None = None) -> Dataset:
        """Return the data set without its points: the labels of the rows that are kept, which `frame` may hold already."""
        frame = self.kept(recipe) if frame is None else frame
        y, class_names, sentences = class_codes(frame[recipe.label()], recipe, labels)
        pair = recipe.column("pair") if labels == "pairs" else None
        return Dataset(
            name=printable(os.path.splitext(self.packed.name)[0]) or "file",
            X=np.empty((len(frame), 0), np.float32),
            y=y,
            feature_names=(),
            class_names=class_names,
            source=f"file {printable(self.packed.name)}",
            licence="not stated",
            pairs=None if pair is None else pair_ids(frame[pair]),
            report=sentences,
        )

    def kept(self, recipe: Recipe) -> pd.DataFrame:
        """Return the rows of the table that are kept."""
        features, frame = Features(recipe, self.limits), self.table(recipe).frame
        if recipe.missing != "drop":
            return frame
        features.choose(frame)
        return frame[features.is_kept(frame)]

    def prepared(
        self, recipe: Recipe, labels: str, fitted_rows: NDArray[np.int64] | None = None, scaling: str = "none"
    ) -> tuple[Dataset, Features]:
        """Return the data set, with scaled features, and the preparation that made it.

        The same bytes and recipe give bit-for-bit identical data; `fitted_rows` are those to learn from (default: all).
        """
        if labels not in LABELS:
            raise DataError(f"labels must be one of {', '.join(LABELS)}, got {quoted(labels)}")
        table = self.table(recipe)
        self.report("making points of its columns")
        if table.frame.shape[1] == 1 and recipe.format == "delimited":
            name = quoted(str(table.frame.columns[0]))
            raise DataError(
                f"the table has one column, {name}, and there must be a label and a feature: if it holds several cells, name "
                "what separates them (--delimiter), and take quotes around whole lines away"
            )
        label, frame = recipe.label(), table.frame
        features = Features(recipe, self.limits, scaling).fit(frame, fitted_rows)
        kept = features.is_kept(frame)
        frame = frame[kept] if not kept.all() else frame
        data = self.labels(recipe, labels, frame)
        report = [*table.notes, *table.about_missing(label, recipe.column("pair")), *data.report, *features.sentences()]
        if not kept.all():
            report.append(f"{np.sum(~kept):,} of {len(kept):,} rows are dropped.")
        if data.pairs is not None:
            report.append(f"{int(data.pairs.max()) + 1:,} similar pairs are given by the file.")
        if labels != "pairs":
            report += leaks(frame, data.y, features.columns, data.class_names)
        points, sha256 = features.transform(frame), self.packed.sha256()  # of the file itself, packed or not
        made: dict[str, Any] = {"X": points, "feature_names": features.names, "left_out": features.left_out}
        return replace(data, report=tuple(report), sha256=sha256, **made), features


def suit(recipe: Recipe, frame: pd.DataFrame, labels: str, *, is_asked: bool = False) -> Recipe:
    """Return the recipe with the label settings that a setting needs, unless the recipe has them.

    A label with many different numbers is cut into bins, two of them for a binary task. If a binary task has more than
    two classes, the most frequent one that surely is a class is positive, or with `is_asked` a person must name it.
    """
    label = recipe.column("label")
    if label is None or label not in frame.columns:
        return recipe
    values, is_continuous = suited(frame[label], recipe)
    if recipe.bins is None and is_continuous:
        return replace(recipe, bins=2 if labels in BINARY else DEFAULT_BINS, positive=None, order=())
    counts = pd.Series(values).value_counts()
    if recipe.bins is None and recipe.positive is None and labels in BINARY and len(counts) > 2 and not is_asked:
        # Among equally frequent classes, take the first in their order: the count alone does not decide.
        sure = counts[[not is_doubtful(str(name)) for name in counts.index]]
        counts = sure if len(sure) else counts
        most = [str(name) for name in counts.index[counts == counts.iloc[0]]]
        return replace(recipe, positive=min(most, key=lambda name: (number_of_label(name) or 0.0, name)))
    return recipe


def training_labels(
    y: NDArray[np.integer], names: Sequence[str], *, is_ordered: bool = False
) -> tuple[Any, list[Any] | None]:
    """Return class codes as labels for an estimator's `fit`, with whole numbers as numbers and -1 for unlabeled rows.

    If -1 is a class, they are masked instead. If the estimator would put the classes in another order, the labels are their
    codes, and the classes are returned too.
    """
    are_numbers, mask = is_whole(names), y == UNLABELED
    classes: list[Any] = [int(name) if are_numbers else as_label(name) for name in names]
    if is_ordered and not are_numbers:
        return pd.Series(pd.Categorical.from_codes(y, classes, ordered=True)), None
    if classes != sorted(classes):
        return np.ma.MaskedArray(y, mask), classes
    largest = max(map(abs, classes)) if are_numbers else 0
    found = np.array(classes, np.min_scalar_type(-largest - 1) if are_numbers else object)[np.where(mask, 0, y)]
    if UNLABELED in classes:
        return np.ma.MaskedArray(found, mask), None
    found[mask] = UNLABELED
    return found, None


def is_whole(names: Sequence[str]) -> bool:
    """Return True if all classes are whole numbers, as text."""
    return all(name.lstrip("-").isdigit() and str(int(name)) == name for name in names)


@dataclass(frozen=True)
class Step:
    """A step of a file's reading, named like the method of `File` that takes it, and all that its result depends on."""

    name: str  # "format", "look", "points" or "kept"
    labels: str
    recipe: Recipe | None = None
    rows: bytes | None = None  # the fitted rows, as the bytes of int64
    scaling: str = "none"


def take_steps(
    content: bytes,
    name: str,
    first: Step,
    *,
    limits: Limits = UPLOADED,
    report: Callable[[str], Any] = lambda doing: None,
) -> list[tuple[Step, Any]]:
    """Take a step; after a look, while the table is in memory, make the points, too. Return each step with its result.

    The last result may be a `DataError`. Other parameters as in `File`.
    """
    file, results, step = File(Source.of_bytes(content, name), limits, report), list[tuple[Step, Any]](), first
    try:
        if step.recipe is None:
            results = [(replace(step, name="format"), file.sniff())]  # which a page shows if the reading fails
        if step.name == "look":
            look = file.look(step.labels, step.recipe or results[0][1])
            # What a page asks for next, as long as nothing is changed.
            usual = replace(look.begun, roles=look.recipe.roles)
            asked = dict.fromkeys((step.recipe, look.begun, usual, look.recipe))
            results += [(replace(step, recipe=one), look) for one in asked]
            step = replace(step, name="points", recipe=look.recipe)
        if step.recipe is None:
            return results
        if step.name == "kept":
            return [*results, (step, file.kept(step.recipe))]
        rows = None if step.rows is None else np.frombuffer(step.rows, np.int64)
        return [*results, (step, file.prepared(step.recipe, step.labels, rows, step.scaling)[0])]
    except DataError as error:
        return [*results, (step, DataError(str(error)))]  # without its traceback, which would keep the table in memory
