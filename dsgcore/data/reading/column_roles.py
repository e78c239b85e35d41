"""Guess of the columns' roles in a table: the label, pair ids, an index, and the kinds of features."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from dsgcore.data.reading.indexes import is_index
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import written
from dsgcore.data.reading.numerals import MOSTLY, decimal_mark, is_numeric, is_time, numeric
from dsgcore.data.reading.parquet import NESTED
from dsgcore.data.reading.recipe import MARKS, Recipe

_LABEL_NAMES = ("label", "labels", "class", "target", "y", "outcome", "species", "diagnosis", "category", "quality")
_PAIR_NAMES = ("pair", "pair_id", "pairid", "pair id", "similar_pair")
# Arrays of an archive that are not features: other labels, and test rows.
_ARCHIVE_LABEL = re.compile(r"x\d+")
MAX_CLASSES_OF_A_GUESS = 30
# In ticket numbers, a third may start with letters; the others are not mistakes.
_NEARLY_ALL, _FEW_MISTAKES = 0.9, 20
_WORDS_OF_TEXT, _FEW_CATEGORIES = 3.0, 20


def guess_roles(frame: pd.DataFrame, recipe: Recipe, limits: Limits, alone: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe with the most likely roles of a table's columns; `alone` has those of `guess_role`."""
    if recipe.format == "svmlight":
        return recipe
    candidates = frame[[name for name, c in frame.items() if not _is_index(c, recipe)]]
    label, pair = _guessed_label(frame, candidates, recipe), _named(frame, _PAIR_NAMES)
    single = {label: "label"} | ({pair: "pair"} if pair not in (None, label) and frame[pair].notna().any() else {})
    if alone is None:
        alone = {str(name): guess_role(c, recipe, limits) for name, c in frame.items() if str(name) not in single}
    return recipe.with_roles({**alone, **{name: role for name, role in single.items() if name is not None}})


def guess_role(column: pd.Series, recipe: Recipe, limits: Limits) -> str:
    """Return the most likely role of a column that is neither the label nor a pair id."""
    if _is_index(column, recipe):
        return "index"
    return feature_role(column, recipe, limits)


def feature_role(column: pd.Series, recipe: Recipe, limits: Limits) -> str:
    """Return the role of a column that is not an index: a kind of feature if possible."""
    if recipe.format == "npz" and not _ARCHIVE_LABEL.fullmatch(str(column.name)):
        return "ignore"
    if is_numeric(column):
        return "number"
    present = column.dropna()
    if not len(present):
        return "number"  # an empty column, which is left out
    if is_time(column) or present.iloc[0] == NESTED or isinstance(present.iloc[0], bytes):
        return "ignore"
    mark = decimal_mark(present, recipe.decimal)
    if _is_of_numbers(present, numeric(present, mark)):
        return next((role for role, own in MARKS.items() if own == mark), "number")
    has_sentences = present.head(200).map(written).str.split().str.len().mean() >= _WORDS_OF_TEXT
    most = _FEW_CATEGORIES if has_sentences else limits.categories
    if present.nunique() <= min(most, max(len(present) / 2, 2)):
        return "category"
    return "text" if has_sentences else "ignore"


def _named(frame: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    by_lower = {str(name).lower().strip("# "): str(name) for name in reversed(frame.columns)}
    return next((by_lower[name] for name in names if name in by_lower), None)


def _guessed_label(table: pd.DataFrame, candidates: pd.DataFrame, recipe: Recipe) -> str | None:
    """Return the column named as a label; else the last or first candidate with few values; else the last column."""
    frame = candidates if candidates.shape[1] else table
    called = _named(table, ("y", *_LABEL_NAMES) if recipe.format == "npz" else _LABEL_NAMES)
    if called is not None or frame.shape[1] < 2 or recipe.format == "npz":
        return called
    for j in (-1, 0):
        column = frame.iloc[:, j]
        if 2 <= column.nunique() <= min(MAX_CLASSES_OF_A_GUESS, len(frame) / 2):
            return str(frame.columns[j])
    texts = [str(n) for n, c in frame.items() if not is_numeric(c) and 2 <= c.nunique() <= MAX_CLASSES_OF_A_GUESS]
    return texts[-1] if texts else str(frame.columns[-1])


def _is_index(column: pd.Series, recipe: Recipe) -> bool:
    name = str(column.name)
    return recipe.role(name) == "index" or is_index(name, column)


def _is_of_numbers(present: pd.Series, numbers: pd.Series) -> bool:
    """Return True if most cells are numbers, and the others are mistakes: very few, or few different words."""
    others = present[numbers.isna().to_numpy()]
    share = 1.0 - len(others) / len(present)
    return share >= _NEARLY_ALL or (share > MOSTLY and others.nunique() <= _FEW_MISTAKES)
