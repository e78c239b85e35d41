"""The columns of a table as points: numbers, dates, categories and text, prepared by one scikit-learn pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import SHARE_OF_WIDTH, evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data.datasets import SCALING, DataError, checked
from dsgcore.data.reading.binary import NESTED
from dsgcore.data.reading.cells import (
    as_cell,
    as_number,
    check_column,
    date_role,
    dates,
    is_duration,
    is_numeric,
    is_time,
    listed,
    numbers,
    numeric,
    printable,
    reading_of_adorned,
    written,
)
from dsgcore.data.reading.labels import labels_of, ordered_names
from dsgcore.data.reading.recipe import DATE, DATES, DAY_FIRST, MARKS, MONTH_FIRST, Limits, Recipe

# What depends on rows, a kernel's "scale" too, is learned from at most so many, evenly spread, wherever the rows are.
SAMPLE = 65_536
ROWS_AT_A_TIME = 16_384
STEP = float(np.finfo(np.float32).eps)
_FEWEST_FAR = 0.01  # share of numbers far from the training rows that is no chance
_COMPARED = 50  # rows that show if two columns may be the same
_SEED = 0  # of the randomised method of Halko, Martinsson and Tropp (2011), which finds the directions of text
_STRATEGIES = {"mean": "mean", "median": "median", "most frequent": "most_frequent", "drop": "mean"}


class Features:
    """Preparation of a table's columns, fitted on some rows and then applied to any table with these columns.

    Missing numbers are replaced (`SimpleImputer`), categories become a column each (`OneHotEncoder`; all are 0 for one
    that is missing or unknown), text becomes the leading singular directions of its TF-IDF weights, and a date the number
    of days since 1970. Then columns are scaled as `scaling`, one of "none", "unit" and "standard", says. The points have the
    type `dtype`. `names` are those of their columns, and `missing` counts the missing values of the table's.
    """

    def __init__(self, recipe: Recipe, limits: Limits, scaling: str = "none", dtype: DTypeLike = np.float32) -> None:
        self.recipe, self.limits, self.dtype = recipe, limits, np.dtype(dtype)
        self.scaling = str(checked(SCALING, scaling))

    def fit(self, frame: pd.DataFrame, rows: NDArray[np.int64] | None = None) -> Features:
        """Learn from rows of a table (default: all) what replaces missing numbers, the directions of text, the scaling.

        Categories are those of all rows, so that the number of columns does not depend on the rows. If rows with missing
        numbers are dropped, `rows` are numbers among those that are left.
        """
        cells = self.choose(frame)
        if self.recipe.missing == "drop":
            cells = cells[self.is_kept(frame)]
            if not len(cells):
                raise DataError("no row is left once those with missing numbers are dropped: replace them instead")
        self._centre = self._centres(cells)
        self._ends = {name: (cells[name].min(), cells[name].max()) for name in self._signs}
        fitted = np.arange(len(cells)) if rows is None else rows
        some = cells.iloc[fitted[evenly_spread(len(fitted), SAMPLE)]]
        scalers = {"unit": MinMaxScaler(), "standard": StandardScaler(), "none": "passthrough"}
        with single_threaded_blas():
            self._pipeline = Pipeline([("columns", self._columns(cells, some)), ("scaling", scalers[self.scaling])])
            self._pipeline.fit(self._given(some))
        made = [f"{name}: {one}" for name in self._categories for one in self._known[name]]
        made += [f"{name}: direction {j + 1}" for name in self._texts for j in range(self._sizes[name])]
        self.names: tuple[str, ...] = (*map(as_cell, self._numbers), *(as_cell(printable(name)) for name in made))
        return self

    def _given(self, cells: pd.DataFrame) -> Any:
        """Return cells as the pipeline takes them: numbers alone as an array, since a table of many columns is slow."""
        return cells if self._categories or self._texts else np.ascontiguousarray(cells[self._numbers].to_numpy())

    def choose(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Choose a table's columns and count their gaps, which `is_kept` needs; return the cells."""
        known, roles = [str(name) for name in frame.columns], dict(self.recipe.roles)
        if strange := set(roles) - set(known):
            name = min(strange)
            raise DataError(f"the recipe gives {quoted(name)} the role {roles[name]}, and the table has no such column")
        self._numbers = [name for name in known if roles.get(name, "number") in ("number", *DATES, *MARKS)]
        self._categories, self._texts, self._index, ignored = (
            [name for name in known if roles.get(name) == role] for role in ("category", "text", "index", "ignore")
        )
        self._ignored = {name: _held(frame[name]) for name in ignored}  # with the contents that rule a column out
        cells = self._cells(frame)
        self.missing = Counter({name: int(n) for name, n in cells.isna().sum().items() if n})
        self._empty = [name for name in self._numbers if self.missing[name] == len(cells)]
        self._numbers = [name for name in self._numbers if self.missing[name] < len(cells)]
        plain = [name for name in self._numbers if self.recipe.role(name) not in DATES]
        self._signs = {name: reading_of_adorned(frame[name], self._mark(name)) for name in plain}
        days = [name for name in self._numbers if self.recipe.role(name) in (DAY_FIRST, MONTH_FIRST)]
        self._slashed = {name: "/" in written(frame[name].dropna().iloc[0]) for name in days}
        self._notes = [*self._adornments(frame), *self._repetitions(cells)]
        return cells

    def transform(self, frame: pd.DataFrame, *, keeps_gaps: bool = False) -> NDArray[np.floating]:
        """Return the points of a table, of shape (n, d), C-contiguous. With `keeps_gaps` a missing number is NaN."""
        self._check_columns(frame)
        self.limits.check_points(len(frame), len(self.names))
        points = np.empty((len(frame), len(self.names)), dtype=self.dtype)
        for start in range(0, len(frame), ROWS_AT_A_TIME):
            cells = self._cells(frame.iloc[start : start + ROWS_AT_A_TIME])
            with single_threaded_blas():
                points[start : start + len(cells)] = self._pipeline.transform(self._given(cells))
            if keeps_gaps:
                numbers = points[start : start + len(cells), : len(self._numbers)]
                numbers[cells[self._numbers].isna().to_numpy()] = np.nan
        return points

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns that the points are made of."""
        return (*self._numbers, *self._categories, *self._texts)

    def words(self) -> list[str]:
        """Return the columns of categories that are words, so that TRUE and 01 beside them may be words, too."""
        words = {name: {*self._known[name]} - {"True", "False"} for name in self._categories}
        return [name for name, own in words.items() if any(as_number(one) is None for one in own)]

    def unknown(self, frame: pd.DataFrame, name: str) -> set[str]:
        """Return the labels of a table's column that are none of the categories."""
        return {label for label in labels_of(frame[name]) if label is not None}.difference(self._known[name])

    def _check_columns(self, frame: pd.DataFrame) -> None:
        """Raise `DataError` for a table without a column that the points are made of."""
        for name in self.columns:
            if name not in frame.columns:
                check_column(name, [str(one) for one in frame.columns])

    def is_kept(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Mark the rows to keep: all rows, or only complete ones if rows with missing features are dropped."""
        if self.recipe.missing != "drop":
            return np.ones(len(frame), dtype=bool)
        with_gaps = [name for name in (*self._numbers, *self._categories) if self.missing[name]]
        return self._cells(frame)[with_gaps].notna().all(axis=1).to_numpy()

    def unseen(self, frame: pd.DataFrame) -> Iterator[str]:
        """Return sentences about gaps and categories of a table that the fitted one does not have."""
        self._check_columns(frame)
        gaps = [name for name in self._numbers if not self.missing[name] and frame[name].isna().any()]
        if gaps:
            replaced = f"replaced by the column's {self.recipe.missing} over the training rows"
            yield f"Missing numbers in {listed(gaps)}, where the training rows had none: {replaced}."
        for name, (there, sign) in self._signs.items():
            here, own = reading_of_adorned(frame[name], self._mark(name))
            if own != sign and not (sign == "words" and pd.api.types.is_bool_dtype(frame[name])):
                here, there = here or "they are plain", there or "they are plain"
                yield f"The numbers in {name!r}: {here}, and in the training rows {there}: are they in one unit?"
            (low, high), values = self._ends[name], numbers(frame[name], self._mark(name))
            far, n = values[np.maximum(low - values, values - high) > high - low], int(np.sum(~np.isnan(values)))
            if len(far) and (len(far) == n or len(far) >= max(2, _FEWEST_FAR * n)):
                some = "All" if len(far) == n else f"{len(far):,} of {n:,}"
                ends = " to ".join(dict.fromkeys(f"{end:g}" for end in (far.min(), far.max())))
                yield (
                    f"{some} numbers in {name!r}, {ends}, are far from those of the training rows, "
                    f"{low:g} to {high:g}: check the unit, the decimal mark (--decimal), and numbers that mean missing."
                )
        # 1/5/2020 may be of another order than 05.01.2020
        for name, had_slash in self._slashed.items():
            role, days = self.recipe.role(name), frame[name].dropna()
            if len(days) and ("/" in written(days.iloc[0])) != had_slash and date_role(days) not in (None, DATE, role):
                first = "day" if role == DAY_FIRST else "month"
                yield f"{name!r}: as in the training rows the {first} is first{_such(days, role)}."
        for name in self._categories:
            if others := self.unknown(frame, name):
                was, counts = ("was", "counts") if len(others) == 1 else ("were", "count")
                yield f"{name!r}: {listed(sorted(others))} {was} not among the training rows, and {counts} as no category."

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that the points do not use, though they are neither label nor pair id."""
        return (*self._index, *self._ignored, *self._empty)

    def left_out_sentences(self) -> Iterator[str]:
        """Return sentences about the columns that are left out, with reasons."""
        if self._index:
            one = "names or numbers the rows, so it is no feature (name it among the features to use it)"
            several = "name or number the rows, so they are no features (name them among the features to use them)"
            yield f"{listed(self._index)} {one if len(self._index) == 1 else several}."
        if n := len(self._ignored):
            yield f"{n} {'column is' if n == 1 else 'columns are'} ignored: {listed(self._ignored, self._ignored)}."
        if n := len(self._empty):
            what = "column holds no value and is left out" if n == 1 else "columns hold no value and are left out"
            yield f"{n} {what}: {listed(self._empty)}."

    def sentences(self, fitted: str = "the training rows") -> Iterator[str]:
        """Return sentences about the encoding of the columns; `fitted` names the rows that it is learned from."""
        yield from self.left_out_sentences()
        yield from self._notes
        for name in self._categories:
            k, n = len(self._known[name]), self.missing[name]
            without = f"; {n:,} {'rows without one have' if n > 1 else 'row without one has'} 0 in all" if n else ""
            yield f"{name!r}: {k} {'categories, a column each' if k > 1 else 'category, in one column'}{without}."
        for name in self._texts:
            learned = f"{self._sizes[name]} singular directions, both learned from {fitted}"
            yield f"{name!r}: text as TF-IDF of its words, then {learned}."
        if gaps := [name for name in self._numbers if self.missing[name]]:
            n = sum(self.missing[name] for name in gaps)
            done = f"replaced by the column's {self.recipe.missing} over {fitted}"
            done = "the rows with them are dropped" if self.recipe.missing == "drop" else done
            yield f"{n:,} missing {'number' if n == 1 else 'numbers'} in {listed(gaps)}: {done}."

    def _adornments(self, frame: pd.DataFrame) -> Iterator[str]:
        """Return sentences about numbers and dates that are not written as plain numbers."""
        roles = dict(self.recipe.roles)
        for role, mark in MARKS.items():
            if columns := [name for name in self._numbers if roles.get(name) == role]:
                form = role.removeprefix("number ")
                yield f"{listed(columns)}: numbers written like {form}, which is read as {numeric(pd.Series([form]), mark)[0]}."
        days = [name for name in self._numbers if roles.get(name) in DATES]
        for kind, are_durations in (("dates as the number of days since 1970", False), ("durations as days", True)):
            if own := [name for name in days if is_duration(frame[name]) == are_durations]:
                such = "" if are_durations else _such(frame[own[0]].dropna(), roles[own[0]])
                yield f"{listed(own)}: {kind}{such}."
        for name, (read, sign) in self._signs.items():
            what = "time" if sign == ":" else "number" if sign.endswith((*"kKMB",)) else ""
            no = f": if it is no {what}, make it a category (--category)" if what else ""
            yield from [f"{name!r}: {read}{no}."] * bool(read)

    def _repetitions(self, cells: pd.DataFrame) -> Iterator[str]:
        """Return sentences about columns of one number, and about those with the same cells."""
        values, first = cells[self._numbers].to_numpy(), cells.iloc[:_COMPARED]
        is_one = (values == values[:1]).all(axis=0) & (len(cells) > 1)
        if one := [name for name, is_own in zip(self._numbers, is_one, strict=True) if is_own]:
            yield f"{listed(one)}: one number in all {len(cells):,} rows, which tells nothing (--drop)."
        alike, before, twins = dict[int, list[str]](), dict[int, str](), dict[str, str]()
        constant = {*one}
        for name in (*self._numbers, *self._categories):
            if name not in constant:
                alike.setdefault(_digest(first[name]), []).append(name)
        for name in (name for names in alike.values() if len(names) > 1 for name in names):
            if (other := before.setdefault(_digest(cells[name]), name)) != name:
                twins[name] = f"as in {printable(other)!r}"
        if twins:
            yield f"{listed(twins, twins)}: the same in each row as in another column, which tells nothing new (--drop)."

    def _mark(self, name: str) -> str | None:
        """Return the decimal mark of a column's numbers; None if it is the point, and nothing sets thousands apart."""
        return MARKS.get(self.recipe.role(name), None if self.recipe.decimal == "." else self.recipe.decimal)

    def _cells(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the chosen columns as numbers (float64, NaN if missing), and as text (None if missing)."""
        roles, known = dict(self.recipe.roles), self._numbers
        values = np.empty((len(frame), len(known)), order="F")
        kinds = dict(zip(map(str, frame.columns), frame.dtypes, strict=True))
        if all(roles.get(name) is None and kinds[name].kind in "biuf" for name in known):
            values = frame[known].to_numpy(dtype=np.float64)
            largest = np.fmax.reduce(np.abs(values), axis=None) if values.size else 0.0
            if not largest <= np.finfo(np.float32).max ** 0.75:
                for name in known:
                    numbers(frame[name])  # raises an error for the one that is too large
        else:
            for j, name in enumerate(known):
                role = roles.get(name, "number")
                values[:, j] = dates(frame[name], role) if role in DATES else numbers(frame[name], self._mark(name))
        cells = pd.DataFrame(values, columns=known, index=frame.index, copy=False)
        texts: dict[str, Any] = {n: labels_of(frame[n]) for n in self._categories}
        texts |= {name: ["" if pd.isna(cell) else str(cell) for cell in frame[name]] for name in self._texts}
        return pd.concat([cells, pd.DataFrame(texts, index=frame.index, dtype=object)], axis=1) if texts else cells

    def _centres(self, cells: pd.DataFrame) -> NDArray[np.float64]:
        """Return the mean of each column of numbers that float32 would round to steps near its own spread; 0 for others."""
        if self.scaling != "none" or not self._numbers or self.dtype != np.float32:
            return np.zeros(len(self._numbers))
        values = cells[self._numbers].to_numpy(dtype=np.float64)
        first = np.nanmax(values, axis=0)
        off = values - first  # sums of squares of large numbers would lose the differences
        spread, mean, largest = np.nanstd(off, axis=0), np.nanmean(off, axis=0), np.nanmax(np.abs(values), axis=0)
        is_lost = (spread > 0) & (SHARE_OF_WIDTH * spread < STEP * largest)
        centres: NDArray[np.float64] = np.where(is_lost, first + mean, 0.0)
        for j in np.flatnonzero(is_lost):
            self._notes.append(
                f"{self._numbers[j]!r}: its mean, {centres[j]:.10g}, is subtracted from every row. Without that, float32 would "
                f"round the numbers to steps of {STEP * largest[j]:.2g}."
            )
        return centres

    def _columns(self, cells: pd.DataFrame, some: pd.DataFrame) -> Any:
        """Return the steps of each kind of column."""
        steps: list[tuple[str, Any, Sequence[str] | str]] = []
        if self._numbers:
            fill: Any = SimpleImputer(strategy=_STRATEGIES[self.recipe.missing], keep_empty_features=True)
            if self._centre.any():
                fill = Pipeline(
                    [("fill", fill), ("less", FunctionTransformer(_less, kw_args={"centre": self._centre}))]
                )
            steps.append(("numbers", fill, self._numbers))
        self._known, self._sizes = dict[str, list[str]](), dict[str, int]()
        for name in self._categories:
            values = set(cells[name].dropna())
            if len(values) > self.limits.categories:
                most = f"at most {self.limits.categories} categories, got {len(values)}"
                raise DataError(f"column {name!r} must have {most}: make it text (--role), or ignore it (--drop)")
            self._known[name] = ordered_names(values)
        if self._categories:
            one_hot = OneHotEncoder(
                categories=[np.array(values, dtype=object) for values in self._known.values()],
                handle_unknown="ignore",
                sparse_output=False,
            )
            steps.append(("categories", one_hot, self._categories))
        n_columns = len(self._numbers) + sum(map(len, self._known.values()))
        self.limits.check_columns(n_columns, "the points")
        for name in self._texts:
            directions = _directions(some[name], self.recipe.text_dimensions, self.limits.words)
            steps.append((f"text {name}", FrozenEstimator(directions), name))
            self._sizes[name] = directions.transform(some[name][:1]).shape[1]
            n_columns += self._sizes[name]
            self.limits.check_columns(n_columns, "the points")
        if not steps:
            reasons = dict.fromkeys(self._empty, "no value") | dict.fromkeys(self._index, "names or numbers the rows")
            reasons |= {name: held or "ignored" for name, held in self._ignored.items()}
            others = f"besides the label, the table has {listed(reasons, reasons)}"
            raise DataError(f"no column of features is left: {others if reasons else 'the label is the only column'}")
        if not (self._categories or self._texts):
            return steps[0][1]
        return ColumnTransformer(steps, sparse_threshold=0, verbose_feature_names_out=False)


def _directions(column: pd.Series, most: int, words: int) -> Pipeline:
    """Return a column of text as the leading singular directions of its TF-IDF weights; rows and words limit their number."""
    weigh = TfidfVectorizer(max_features=words)
    try:
        weights = weigh.fit_transform(column)
    except ValueError:
        raise DataError(
            f"column {str(column.name)!r} must hold words of two letters and more to be text: ignore it (--drop)"
        ) from None
    n = min(most, *weights.shape)
    turn: Any = TruncatedSVD(n, random_state=_SEED) if n < weights.shape[1] else FunctionTransformer(_dense)
    return Pipeline([("words", weigh), ("directions", turn.fit(weights))])


def _such(days: pd.Series, role: str) -> str:
    """Return how the first one of dates as text is read."""
    if not len(days) or is_time(days):
        return ""
    first = np.datetime64(int(dates(days[:1], role)[0] // 1), "D")
    return f", such as {first} for {printable(written(days.iloc[0]))!r}"


def _digest(column: pd.Series) -> int:
    values = column.to_numpy()
    return hash(tuple(values) if values.dtype == object else values.tobytes())


# The names of these two stand in the files that `dsg-lab fit` has written.
def _dense(weights: Any) -> NDArray[np.float64]:
    dense: NDArray[np.float64] = weights.toarray()
    return dense


def _less(X: NDArray, centre: NDArray) -> NDArray:
    return X - centre


def _held(column: pd.Series) -> str:
    """Return a description of contents that cannot be a feature by themselves; empty if they can."""
    present = column.dropna()
    first = present.iloc[0] if len(present) else None
    if isinstance(first, bytes) or first == NESTED:
        return "bytes" if isinstance(first, bytes) else "lists or other nested values"
    if is_time(column) or np.iscomplexobj(column):
        return "dates or durations" if is_time(column) else "complex numbers"
    return "" if first is None or is_numeric(column) else f"text, such as {printable(written(first))!r}"
