"""Encoding of columns as features: numbers, categories (one column each) and text (singular directions)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.centring import Spread
from dsgcore.data.reading.labels import ordered_names
from dsgcore.data.reading.left_out import LeftOut, counted
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.missing import replacement
from dsgcore.data.reading.names import as_cell, listed, printable
from dsgcore.data.reading.numerals import (
    Mistakes,
    numbers,
    numbers_and,
    numeric,
    reading_of_adorned,
)
from dsgcore.data.reading.recipe import MARKS, Recipe
from dsgcore.data.reading.tables import labels_of

# The randomised method of Halko, Martinsson and Tropp (2011) finds the directions, with this seed.
_SEED = 0
NO_ROW_LEFT = "no row is left once those with missing numbers are dropped: replace the numbers instead"
_Fitted = NDArray[np.bool_] | None


# scikit-learn's SimpleImputer and OneHotEncoder learn from one table; these classes also learn from its pieces.
@dataclass
class _Encoder:
    """Encoder of one column: it sees the column piece by piece, is settled, and then writes columns of the points."""

    name: str
    recipe: Recipe
    limits: Limits
    n_missing: int = 0
    names: tuple[str, ...] = ()

    def is_missing(self, column: pd.Series) -> NDArray[np.bool_]:
        return column.isna().to_numpy()

    def sentence(self, fitted: str) -> str:
        return ""


@dataclass
class _Numbers(_Encoder):
    """Encoder of a column of numbers, which replaces missing ones."""

    mark: str | None = None
    total: float = 0.0
    count: int = 0
    seen: list[NDArray] = field(default_factory=list)
    mistakes: Mistakes = field(default_factory=Mistakes)
    adorned: str = ""
    spread: Spread = field(default_factory=Spread)
    fill: float = np.nan

    def is_missing(self, column: pd.Series) -> NDArray[np.bool_]:
        return np.isnan(numbers(column, self.mark))

    def look(self, column: pd.Series, is_fitted: _Fitted) -> None:
        values = numbers_and(self.mistakes, column, self.mark)
        self.adorned = self.adorned or reading_of_adorned(column, values)
        self.n_missing += int(np.isnan(values).sum())
        self.spread.look(values)
        present = values if is_fitted is None else values[is_fitted]
        present = present[~np.isnan(present)]
        self.total, self.count = self.total + float(present.sum()), self.count + len(present)
        if self.recipe.missing in ("median", "most frequent"):
            self.seen.append(present)

    def settle(self) -> None:
        self.mistakes.check(self.name)
        if not self.count:
            return
        self.names = (as_cell(self.name),)
        if self.seen:
            self.fill, self.seen = replacement(np.concatenate(self.seen), self.recipe.missing), []
        else:
            self.fill = self.total / self.count

    def sentence(self, fitted: str) -> str:
        said = [f"{self.name!r}: {self.adorned}."] if self.adorned else []
        return " ".join([*said, *filter(None, [self.spread.sentence(repr(self.name))])])

    def write(self, column: pd.Series, into: NDArray[np.float32]) -> None:
        values = numbers(column, self.mark)
        into[:, 0] = np.where(np.isnan(values), self.fill, values) - self.spread.centre


@dataclass
class _Categories(_Encoder):
    """Encoder of a column of categories: one column of the points for each; all are 0 if the category is missing."""

    found: set[str] = field(default_factory=set)
    categories: list[str] = field(default_factory=list)

    def look(self, column: pd.Series, is_fitted: _Fitted) -> None:
        written = labels_of(column, self.recipe.missing_words)
        self.n_missing += int(pd.isna(written).sum())
        self.found |= {label for label in written if label is not None}
        if len(self.found) > self.limits.categories:
            raise DataError(
                f"column {self.name!r} must have at most {self.limits.categories} categories, got {len(self.found)}: make it "
                "text or ignore it"
            )

    def settle(self) -> None:
        self.categories = ordered_names(self.found)
        self.names = tuple(as_cell(printable(f"{self.name}: {category}")) for category in self.categories)

    def write(self, column: pd.Series, into: NDArray[np.float32]) -> None:
        codes = pd.Index(self.categories, dtype=object).get_indexer(labels_of(column, self.recipe.missing_words))
        into[:] = 0.0
        rows = np.flatnonzero(codes >= 0)
        into[rows, codes[rows]] = 1.0

    def sentence(self, fitted: str) -> str:
        without = f"; {self.n_missing:,} rows without one have 0 in all" if self.n_missing else ""
        return f"{self.name!r}: {len(self.categories)} categories, a column each{without}."


@dataclass
class _Words(_Encoder):
    """Encoder of a column of text: TF-IDF, then the leading singular directions, as in the protocol of QS3ORAO."""

    seen: list[NDArray] = field(default_factory=list)

    def look(self, column: pd.Series, is_fitted: _Fitted) -> None:
        texts = _texts(column)
        self.n_missing += int(column.isna().sum())
        self.seen.append(texts if is_fitted is None else texts[is_fitted])

    def settle(self) -> None:
        self._words = TfidfVectorizer(max_features=self.limits.words, dtype=np.float64, sublinear_tf=False)
        try:
            weights = self._words.fit_transform(np.concatenate(self.seen))
        except ValueError:
            raise DataError(
                f"column {self.name!r} must hold words of two letters and more to be text: ignore it"
            ) from None
        self.seen = []
        n_words, d = weights.shape[1], min(self.recipe.text_dimensions, *weights.shape)
        self._directions = TruncatedSVD(d, random_state=_SEED) if d < n_words else None
        if self._directions is not None:
            with single_threaded_blas():
                self._directions.fit(weights)
        self.names = tuple(as_cell(printable(f"{self.name}: direction {j + 1}")) for j in range(d))

    def write(self, column: pd.Series, into: NDArray[np.float32]) -> None:
        weights = self._words.transform(_texts(column))
        with single_threaded_blas():
            into[:] = weights.toarray() if self._directions is None else self._directions.transform(weights)

    def sentence(self, fitted: str) -> str:
        learned = f"{len(self.names)} singular directions, both learned from {fitted}"
        return f"{self.name!r}: text as TF-IDF of its words, then {learned}."


def _texts(column: pd.Series) -> NDArray[np.object_]:
    return np.array(["" if gone else str(v) for v, gone in zip(column, column.isna(), strict=True)], dtype=object)


class Features:
    """Encoder of a table's columns as points: fitted on one table or on its pieces, then applied to any piece."""

    def __init__(self, recipe: Recipe, limits: Limits) -> None:
        self.recipe, self.limits = recipe, limits
        self._encoders: list[_Numbers | _Categories | _Words] = []
        self._left_out = LeftOut()

    def fit(self, frames: Iterable[pd.DataFrame], is_fitted: NDArray[np.bool_] | None = None) -> Features:
        """Learn replacements of missing numbers, categories and text directions from a table or its pieces.

        For one table, `is_fitted` of shape (n,) can mark the rows from which means and directions are learned. Default:
        all.
        """
        for frame in frames:
            if not self._encoders:
                self._begin(frame)
            for encoder in self._encoders:
                encoder.look(frame[encoder.name], is_fitted)
        n_columns = 0
        for encoder in self._encoders:
            encoder.settle()
            n_columns += len(encoder.names)
            self.limits.check_columns(n_columns, "the points")  # settle now: each column of many texts takes long
        self.names = tuple(name for encoder in self._encoders for name in encoder.names)
        if not self.names:
            raise DataError(self._left_out.nothing_left(self._empty))
        return self

    def _begin(self, frame: pd.DataFrame) -> None:
        known = {str(name) for name in frame.columns}
        for name, role in self.recipe.roles:
            if name not in known:
                raise DataError(f"the recipe gives {quoted(name)} the role {role}, and the table has no such column")
        for name in map(str, frame.columns):
            role = self.recipe.role(name)
            if role == "number" or role in MARKS:
                self._encoders.append(_Numbers(name, self.recipe, self.limits, mark=MARKS.get(role)))
            elif role in ("category", "text"):
                kind = _Categories if role == "category" else _Words
                self._encoders.append(kind(name, self.recipe, self.limits))
            elif role in ("index", "ignore"):
                self._left_out.add(frame[name], role)

    def is_kept(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Mark the rows to keep: all rows, or only complete ones if rows with missing features are dropped."""
        kept = np.ones(len(frame), dtype=bool)
        for encoder in self._encoders if self.recipe.missing == "drop" else ():
            if encoder.n_missing and encoder.names:
                kept &= ~encoder.is_missing(frame[encoder.name])
        return kept

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Return the points of a piece of the table, of shape (n, d), float32 and C-contiguous."""
        self.limits.check_points(len(frame), len(self.names))
        into = np.empty((len(frame), len(self.names)), dtype=np.float32)
        start = 0
        for encoder in self._encoders:
            if encoder.names:
                encoder.write(frame[encoder.name], into[:, start : start + len(encoder.names)])
            start += len(encoder.names)
        return into

    @property
    def _empty(self) -> list[str]:
        return [e.name for e in self._encoders if isinstance(e, _Numbers) and not e.count]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that the points do not use, though they are neither label nor pair id."""
        return (*self._left_out.names, *self._empty)

    @property
    def depends_on_rows(self) -> bool:
        """True if the points depend on the fitted rows: with text, or with missing numbers that are replaced."""
        has_text = any(isinstance(e, _Words) for e in self._encoders)
        return has_text or (self.recipe.missing != "drop" and bool(self._gaps))

    @property
    def _gaps(self) -> list[_Numbers]:
        return [e for e in self._encoders if isinstance(e, _Numbers) and e.n_missing and e.count]

    def left_out_sentences(self) -> Iterator[str]:
        """Return sentences about the columns that are left out, with reasons."""
        yield from self._left_out.sentences()
        if self._empty:
            one, several = "column holds no value and is left out", "columns hold no value and are left out"
            yield f"{counted(len(self._empty), one, several)}: {listed(self._empty)}."

    def sentences(self, fitted: str = "the training rows") -> Iterator[str]:
        """Return sentences about the encoding of the columns; `fitted` names the rows that it is learned from."""
        yield from self.left_out_sentences()
        for role, mark in MARKS.items():
            columns = [e.name for e in self._encoders if isinstance(e, _Numbers) and e.mark == mark]
            if columns:
                form = role.removeprefix("number ")
                yield f"{listed(columns)}: numbers written like {form}, which is read as {numeric(pd.Series([form]), mark)[0]}."
        yield from (told for encoder in self._encoders if (told := encoder.sentence(fitted)))
        if self._gaps:
            n = sum(e.n_missing for e in self._gaps)
            where = f"{n:,} missing {'number' if n == 1 else 'numbers'} in {listed(e.name for e in self._gaps)}"
            is_dropped = self.recipe.missing == "drop"
            replaced = f"replaced by the column's {self.recipe.missing} over {fitted}"
            yield f"{where}: {'the rows with them are dropped' if is_dropped else replaced}."
