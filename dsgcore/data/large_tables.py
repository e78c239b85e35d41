"""A table of Parquet files that is not read whole: its meaning from some rows, its labels in one pass, its points as needed."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import check_columns, dataset_of, frame_of_table, part_columns
from dsgcore.data.reading.cells import Seen, blanked, readable
from dsgcore.data.reading.columns import ROWS, is_index, may_be_index
from dsgcore.data.reading.features import SAMPLE, Features
from dsgcore.data.reading.file import File
from dsgcore.data.reading.labels import class_codes, labels_of, pair_ids
from dsgcore.data.reading.recipe import LOCAL, Recipe
from dsgcore.data.reading.sources import Source as Bytes
from dsgcore.data.row_sources import Callback, Columns, Part, Source
from dsgcore.data.rows import Rows


@dataclass(frozen=True, eq=False)
class Group:
    """A row group of a file of the table."""

    name: str
    n: int
    fragment: Any
    kinds: Mapping[str, Any]  # the types of all columns

    def read(self, names: Sequence[str], rows: NDArray | None = None) -> Any:
        """Return some columns as an Arrow table, by default all rows."""
        with readable(self.name):
            table = part_columns(self.fragment, {name: self.kinds[name] for name in names})
        return table if rows is None else table.take(rows)

    def frame(self, names: Sequence[str], words: tuple[str, ...], rows: NDArray | None = None) -> pd.DataFrame:
        """Return some columns as a table is read whole; these words mean a missing value."""
        frame, _ = frame_of_table(self.read(names, rows), LOCAL)
        return frame.assign(**{name: blanked(column, words, Seen()) for name, column in frame.items()})


class LargeTable:
    """A Parquet file, or a folder of them, whose recipe and features are those that it would have if it were read whole.

    Features are learned from 65,536 rows, evenly spread, as those of a table in memory are.
    """

    def __init__(self, path: Path, callback: Callback = lambda name, done, of: None) -> None:
        self.path, self.callback, self.dataset = path, callback, dataset_of(path)
        schema = self.dataset.schema
        self.kinds, self.groups = dict(zip(schema.names, schema.types, strict=True)), list[Group]()
        for fragment in self.dataset.get_fragments():
            with readable(name := Path(fragment.path).name):
                check_columns(fragment, self.kinds)
                groups = fragment.split_by_row_group()
            for number, group in enumerate(groups):
                called = f"{name}, row group {number}" if len(groups) > 1 else name
                self.groups.append(Group(called, sum(one.num_rows for one in group.row_groups), group, self.kinds))
        self.starts = np.cumsum([0, *(group.n for group in self.groups)])

    def _at(self, rows: NDArray) -> Any:
        """Return all columns at ascending rows, as an Arrow table."""
        edges, found = np.searchsorted(rows, self.starts), []
        for number in np.flatnonzero(np.diff(edges)):
            own = rows[edges[number] : edges[number + 1]] - self.starts[number]
            found.append(self.groups[number].read(list(self.kinds), own))
        return pyarrow.concat_tables(found)

    @cached_property
    def _sample(self) -> NDArray:
        return evenly_spread(int(self.starts[-1]), SAMPLE)

    def _file_of(self, table: Any) -> File:
        """Return some rows of the table as a file, which the one reader reads."""
        content = io.BytesIO()
        table = table.unify_dictionaries().replace_schema_metadata(self.dataset.schema.metadata)
        pyarrow.parquet.write_table(table, content)
        return File(Bytes.of_bytes(content.getvalue(), self.path.name), LOCAL)

    def prepared(self, labels: str, scaling: str, **given: Any) -> tuple[Rows, NDArray, list[str], Features, list[str]]:
        """Return the rows, their class codes, the classes' names, the preparation, and notes.

        Parameters
        ----------
        labels : {"binary", "pairs", "ordinal", "classes"}
            Of pairs, the codes are ids, and there are no classes.
        scaling : str
        **given : object
            As in `File.recipe`.

        Raises
        ------
        DataError
            As the reader does for a table in memory.
        """
        sample = self._at(self._sample)
        file = self._file_of(sample)
        recipe = file.recipe(
            "classes" if labels == "pairs" else labels, is_asked=True, **given | {"roles": self._roles(given)}
        )
        if recipe.missing == "drop":
            raise DataError(
                "rows with missing numbers cannot be left out of a table that is not read whole: replace the numbers "
                "(--missing mean)"
            )
        others = self._rows_of_other_categories(recipe, file.table(recipe).frame)
        if len(others):
            file = self._file_of(pyarrow.concat_tables([sample, self._at(others)]))
        frame = file.table(recipe).frame
        features = Features(recipe, LOCAL, scaling).fit(frame, np.arange(len(self._sample)))
        y, classes, notes = self._labels(recipe, labels)
        return self._rows(features), y, classes, features, [*notes, *features.sentences("evenly spread rows")]

    def _roles(self, given: Mapping[str, Any]) -> dict[str, str]:
        """Return the given roles, and that of an index, which counts up by one only in rows that follow each other."""
        said = dict(given.get("roles") or {})
        names = [name for name in self.kinds if may_be_index(name) and name not in said]
        if given.get("features") is not None or not names:
            return said
        first, _ = frame_of_table(self._at(np.arange(min(ROWS, int(self.starts[-1])))).select(names), LOCAL)
        return {name: "index" for name in names if name != given.get("target") and is_index(name, first[name])} | said

    def _rows_of_other_categories(self, recipe: Recipe, frame: pd.DataFrame) -> NDArray:
        """Return ascending rows with the categories that the sample does not have, one for each, found in one pass."""
        names = [name for name, role in recipe.roles if role == "category"]
        known = {name: {*labels_of(frame[name], recipe.missing_words)} for name in names}
        found = set[int]()
        for number, group in enumerate(self.groups if names else ()):
            own = group.frame(names, recipe.missing_words)
            for name in names:
                if len(known[name]) > LOCAL.categories + 1:  # the preparation says so
                    continue
                different = own[name].drop_duplicates()
                for row, one in zip(different.index, labels_of(different, recipe.missing_words), strict=True):
                    if one is not None and one not in known[name]:
                        known[name].add(one)
                        found.add(int(self.starts[number]) + int(row))
            self.callback(f"categories of {group.name}", number + 1, len(self.groups))
        return np.array(sorted(found), dtype=np.int64)

    def _labels(self, recipe: Recipe, labels: str) -> tuple[NDArray, list[str], tuple[str, ...]]:
        """Return all class codes, the classes' names, and sentences; the column is read alone, in one pass."""
        label, is_whole = recipe.label(), labels == "pairs" or recipe.bins is not None
        values, numbers = dict[Any, int](), list[Any]()
        counts = np.zeros(0, dtype=np.int64)
        for number, group in enumerate(self.groups):
            column = group.frame([label], recipe.missing_words)[label]
            if is_whole:
                numbers.append(column)
                continue
            codes, different = pd.factorize(column, use_na_sentinel=True)
            places = [values.setdefault(value, len(values)) for value in different]
            numbers.append(np.array([*places, -1], dtype=np.min_scalar_type(-max(1, len(values))))[codes])
            counts = np.pad(counts, (0, len(values) - len(counts)))
            counts += np.bincount(numbers[-1][codes >= 0], minlength=len(values))
            self.callback(f"labels of {group.name}", number + 1, len(self.groups))
        if labels == "pairs":
            return pair_ids(pd.concat(numbers, ignore_index=True), recipe), [], ()
        if is_whole:
            y, classes, notes = class_codes(pd.concat(numbers, ignore_index=True), recipe, labels)
            return y, list(classes), notes
        order = np.argsort(-counts, kind="stable")  # of several forms of a class the most frequent one is its name
        column = pd.Series(list(values), name=label).iloc[order]
        codes, classes, notes = class_codes(column, recipe, labels)
        of_value = np.full(len(values) + 1, -1, dtype=np.min_scalar_type(-max(1, len(classes))))
        of_value[order] = codes
        return np.concatenate([of_value[places] for places in numbers]), list(classes), notes

    def _rows(self, features: Features) -> Rows:
        """Return the points of all rows, prepared when they are read."""
        parts = [Part(group.name, group.n, partial(_points, group, features)) for group in self.groups]
        columns = Columns(tuple(features.names), np.dtype(np.float32))
        source = Source(parts, len(features.names), np.dtype(np.float32), columns=columns)
        source.callback = self.callback
        return Rows(source, np.dtype(np.float32))

    def frames(self, features: Features, keep: Sequence[str]) -> list[tuple[str, Callable[[], pd.DataFrame]]]:
        """Return the name of each row group, and a function that reads its columns of features and those to keep."""
        names = list(dict.fromkeys([*features.columns, *keep]))
        words = features.recipe.missing_words
        return [(group.name, partial(group.frame, names, words)) for group in self.groups]


def _points(group: Group, features: Features, rows: NDArray) -> NDArray:
    return features.transform(group.frame(features.columns, features.recipe.missing_words, rows))
