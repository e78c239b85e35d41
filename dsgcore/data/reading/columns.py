"""The guess of each column's role: the label, pair ids, an index, or a kind of feature; and columns that tell the label."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.binary import NESTED
from dsgcore.data.reading.cells import (
    INDEX_NAMES,
    LABEL_NAMES,
    MOSTLY,
    NEARLY_ALL,
    PAIR_NAMES,
    PERSONS_AND_THINGS,
    are_days,
    are_ratios,
    check_column,
    date_role,
    decimal_mark,
    has_suffixes,
    is_numeric,
    is_one_truth,
    listed,
    numeric,
    printable,
    written,
)
from dsgcore.data.reading.labels import MAX_FRACTIONS, is_open_range
from dsgcore.data.reading.recipe import DATE, DATES, MARKS, ROLES, Limits, Recipe

# Every reader uses at most this many rows to decide if a column numbers the rows.
ROWS = 20_000
_ARCHIVE_FEATURE = re.compile(r"x\d+")
MAX_CLASSES_OF_A_GUESS = 30
# A column is likely to hold the labels if most of its cells are empty, and the others repeat a few values.
_MOST_FILLED, _MOST_VALUES, _REPEATS = 0.5, 20, 2
# In ticket numbers, a third may start with letters; the others are not mistakes.
_FEW_MISTAKES = 20
_LEAST_YEAR = 1000  # that y=2020 may be, in the name of a folder
_WORDS_OF_TEXT, _FEW_CATEGORIES = 3.0, 20
_REPEATS_TO_WARN, _MOST_TO_WARN = 4, 500
_FIRST_TO_WARN = 1000  # rows that show if a column has few values
_FEWEST_TO_WARN = 20  # labels, below which a column may tell all of them by chance
_FEATURE_ROLES = tuple(role for role in ROLES if role not in ("label", "pair"))
# The names that pandas and Dask give to an index without a name.
_ALWAYS = re.compile(r"__index_level_\d+__|__null_dask_index__|Unnamed: 0([._].*)?")
# A column of such a name, without case and punctuation, is an index if its whole numbers count up by one.
_NAMES = re.compile(rf"{INDEX_NAMES}|({PERSONS_AND_THINGS})(id|index|idx)")
_ID = re.compile(r"(?i:.*[ _.-](id|index|idx|uuid))|.*[a-z](Id|ID)", re.DOTALL)  # row_id, PassengerId, Response ID
# Whole numbers of such a name that are all different are an index, too, in any order.
_IDENTITY = re.compile(rf"(?i:(.*[ _.-])?(u|uu|gu)?id|({PERSONS_AND_THINGS})id)|.*[a-z](Id|ID)", re.DOTALL)
_FEWEST_IDS = 20  # below which other whole numbers may all be different, too
_UNNAMED = re.compile(r"column 1|index|level_\d+", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\s._:#-]+")
_ROWS_A_COUNT = 10  # a count that starts again, as in files put one after another, continues for this many rows


# --- roles


def guess_roles(frame: pd.DataFrame, recipe: Recipe, alone: Mapping[str, str]) -> tuple[Recipe, str]:
    """Return the recipe with the most likely roles of a table's columns, and a question if others may hold the labels.

    `alone` has the roles of `guess_each`.
    """
    if recipe.format == "svmlight":
        return recipe, ""
    candidates = label_candidates(frame, recipe, alone)
    label, others, pair = next(iter(candidates), None), candidates[1:], _named(frame, PAIR_NAMES)
    roles = dict(alone)
    if label is not None:
        roles[label] = "label"
    if pair is not None and pair != label and frame[pair].notna().any():
        roles[pair] = "pair"
    if label is not None and not others and not is_numeric(frame[label]) and frame[label].nunique() > len(frame) / 2:
        return recipe.with_roles(roles), "No column looks like labels, which repeat a few values: say which (--target)."
    asks = f"The labels are taken from {label!r}, and {listed(others)} could hold them, too: say which (--target)."
    return recipe.with_roles(roles), asks if others else ""


def guess_each(frame: pd.DataFrame, recipe: Recipe, limits: Limits) -> dict[str, str]:
    """Return the most likely role of each column if it is neither the label nor a pair id."""
    declared, found = {name for name, role in recipe.roles if role == "index"}, dict[str, str]()
    # pandas writes an index in front, and without a header nothing names it.
    called = {"x1": "row"} if recipe.format == "delimited" and not recipe.header else {}
    for name, column in frame.items():
        own = str(name)
        is_no_feature = own in declared or is_index(called.get(own, own), column)
        found[own] = "index" if is_no_feature else feature_role(column, recipe, limits)
    return found


def feature_role(column: pd.Series, recipe: Recipe, limits: Limits) -> str:
    """Return the role of a column that is not an index: a kind of feature if possible."""
    if recipe.format == "npz" and not _ARCHIVE_FEATURE.fullmatch(str(column.name)):
        return "ignore"
    if np.iscomplexobj(column):
        return "ignore"
    if is_numeric(column):
        return DATE if are_days(column) else "number"
    present = column.dropna()
    if not len(present):
        return "number"  # an empty column, which is left out
    if present.iloc[0] == NESTED or isinstance(present.iloc[0], bytes):
        return "ignore"
    if (role := date_role(present)) is not None:
        return role
    mark = decimal_mark(present, recipe.decimal)
    # Mistakes, if they are very few, or few different words.
    others = present if are_ratios(present) else present[numeric(present, mark).isna().to_numpy()]
    share = 1.0 - len(others) / len(present)
    is_number = share >= NEARLY_ALL or (share > MOSTLY and others.nunique() <= _FEW_MISTAKES)
    if is_number and not has_suffixes([*map(written, present.unique())]):
        is_small = len(others) > 0 and present.nunique() <= MAX_FRACTIONS
        if is_small and all(map(is_open_range, others.map(written))):  # such as 3+ beside 0, 1 and 2
            return "category"
        if len(present) < len(column) and is_one_truth(present):
            return "category"  # as of a form's boxes, on or empty: a gap as the mean would be on
        return next((role for role, own in MARKS.items() if own == mark), "number")
    has_sentences = present.head(200).map(written).str.split().str.len().mean() >= _WORDS_OF_TEXT
    most = _FEW_CATEGORIES if has_sentences else limits.categories
    if present.nunique() <= min(most, max(len(present) / 2, 2)):
        return "category"
    return "text" if has_sentences else "ignore"


def _named(frame: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    by_lower = {str(name).lower().strip("# "): str(name) for name in reversed(frame.columns)}
    return next((by_lower[name] for name in names if name in by_lower), None)


def label_candidates(frame: pd.DataFrame, recipe: Recipe, alone: Mapping[str, str]) -> list[str]:
    """Return the columns that may hold the labels, the likeliest first; more than one if the table does not decide.

    A column named as a target, but not a y that is the coordinate beside an x; else the columns that are mostly empty and
    repeat a few values; else the last one, unless only another one repeats a few values.
    """
    known, keys = list(map(str, frame.columns)), frame.attrs.get("keys", ())  # in the names of folders
    named = frame.drop(columns=[key for key in keys if key.lower() == "y" and numeric(frame[key]).min() > _LEAST_YEAR])
    if [str(name).lower() for name in named.columns[:2]] == ["x", "y"] and named.shape[1] > 2:
        y = named.iloc[:, 1]
        named = named.drop(columns=y.name) if is_numeric(y) and y.nunique() > 2 else named
    called = _named(named, ("y", *LABEL_NAMES) if recipe.format == "npz" else LABEL_NAMES)
    others = [name for name in known if alone.get(name) not in ("index", *DATES) and name not in keys]
    others = [name for name in others if frame[name].notna().any()] or known
    if called is not None or recipe.format == "npz":
        return [] if called is None else [called]
    if len(others) < 2:
        return others if frame.shape[1] > 1 else []
    filled = {name: int(frame[name].notna().sum()) for name in others}
    few = [name for name, n in filled.items() if 0 < n < _MOST_FILLED * len(frame)]
    if sparse := [name for name in few if 2 <= frame[name].nunique() <= min(_MOST_VALUES, filled[name] / _REPEATS)]:
        return sparse
    texts = [name for name in reversed(others) if not is_numeric(frame[name])]
    every = () if is_numeric(frame[others[-1]]) else others[::-1]  # numbers at the end may be cut into bins
    for some in (others[-1:], others[:1], texts, every):
        if few := [n for n in some if 2 <= frame[n].nunique() <= min(MAX_CLASSES_OF_A_GUESS, len(frame) / 2)]:
            return few
    return others[-1:]


def check_chosen(
    known: Sequence[str], label: str | None, features: Sequence[str] | None, others: Collection[str]
) -> None:
    """Raise `DataError` unless the label and all chosen columns are there, features once, and none of them is the label."""
    named = list(features or ())
    for name in (*([label] if label is not None else ()), *named, *others):
        check_column(name, known)
    if label in (*named, *others):
        raise DataError(f"column {quoted(label)} is the label: it can be neither a feature nor left out")
    if twice := [name for name in named if named.count(name) > 1]:
        raise DataError(f"the features must name each column once, got {quoted(twice[0])} twice")


def choose(
    recipe: Recipe,
    frame: pd.DataFrame,
    limits: Limits,
    features: Sequence[str] | None = None,
    drop: Collection[str] = (),
    roles: Mapping[str, str] | None = None,
) -> Recipe:
    """Return a recipe with only these columns as features, without the dropped ones, and with these columns' roles."""
    known, label, own = [str(name) for name in frame.columns], recipe.column("label"), dict(roles or {})
    for name, role in own.items():
        if role not in _FEATURE_ROLES:
            raise DataError(
                f"the role of {quoted(name)} must be one of {', '.join(_FEATURE_ROLES)} (--role), got {quoted(role)}"
            )
    check_chosen(known, label, features, (*own, *drop))
    found = dict(recipe.roles)
    if features is not None:
        singles = (label, recipe.column("pair"))
        found |= {name: "ignore" for name in known if name not in singles}
        found |= {name: feature_role(frame[name], recipe, limits) for name in features}
    return recipe.with_roles(found | own | dict.fromkeys(drop, "ignore"))


# --- an index


def may_be_index(name: str) -> bool:
    """Return True if a column of this name may be an index; its values decide."""
    name = name.strip()
    bare = _PUNCTUATION.sub("", name.lower()) or name
    return bool(_ALWAYS.fullmatch(name) or _NAMES.fullmatch(bare) or _ID.fullmatch(name))


def is_index(name: str, column: pd.Series) -> bool:
    """Return True if a column is named as an index, or unnamed, and its first rows count up by one.

    The numbers of a column such as customer_id may have any order if all are different.
    """
    name = name.strip()
    if _ALWAYS.fullmatch(name):
        return True
    if not may_be_index(name):
        return False
    values = column.head(ROWS).dropna()
    if len(values) < 2 or not is_numeric(values) or pd.api.types.is_bool_dtype(values):
        return False
    floats = values.to_numpy(dtype=np.float64)
    if not (np.isfinite(floats) & (floats == np.floor(floats))).all():
        return False
    if _UNNAMED.fullmatch(name) and values.nunique() > MOSTLY * len(values):
        return True  # pandas' own index, perhaps of shuffled or drawn rows
    if _IDENTITY.fullmatch(name) and len(values) >= _FEWEST_IDS and values.is_unique:
        return True
    counted = (values - values.iloc[0]).to_numpy(dtype=np.float64)  # exact, however large the numbers are
    begins_again = np.diff(counted) != 1  # rare new starts are allowed
    return bool((counted[1:][begins_again] == 0).all()) and begins_again.sum() * _ROWS_A_COUNT <= len(counted)


# --- columns that tell the label


def leaks(frame: pd.DataFrame, y: NDArray[np.int64], columns: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Return warnings of columns that give the labels y (codes, -1 without one) away: alone, they tell each class."""
    known = np.flatnonzero(y >= 0)
    codes = y[known]
    if len(known) < _FEWEST_TO_WARN or len(classes := np.unique(codes)) < 2:
        return
    some = frame if len(known) == len(frame) else frame.iloc[known]
    for name in columns[:_MOST_TO_WARN]:
        column, reason = some[name], ""
        filled = column.notna().to_numpy()
        if filled.all():
            reason = "each of its values has one class" if _tells(column, codes, classes) else ""
        elif filled.any() and len(only := np.unique(codes[filled])) == 1 and not np.isin(codes[~filled], only).any():
            reason = f"it is filled for {names[only[0]]!r} alone"
        if reason:
            yield (
                f"Warning: the column {printable(name)!r} gives the label away ({reason}): if it is known only after the "
                "label, leave it out (--drop)."
            )


def _tells(column: pd.Series, codes: NDArray[np.int64], classes: NDArray[np.int64]) -> bool:
    """Return True if few values of a column, or one limit of its numbers, tell every class."""
    most = min(max(_FEW_CATEGORIES, len(classes)), len(codes) / _REPEATS_TO_WARN)
    if column.head(_FIRST_TO_WARN).nunique() <= most:  # all of them take long to count
        values, kinds = pd.factorize(column)
        if len(kinds) <= most:
            return len(np.unique(values * (codes.max() + 1) + codes)) == len(kinds)
    if len(classes) != 2 or not is_numeric(column):
        return False
    numbers = column.to_numpy(dtype=np.float64)
    low, high = (numbers[codes == code] for code in classes)
    return bool(low.max() < high.min() or high.max() < low.min())


def with_order(recipe: Recipe, frame: pd.DataFrame) -> Recipe:
    """Return the recipe with the order that the label's type declares, unless the recipe has one."""
    label = recipe.column("label")
    dtype: Any = frame[label].dtype if label in frame.columns else None
    if recipe.order or not getattr(dtype, "ordered", False):
        return recipe
    used = set(frame[label].dropna())
    return replace(recipe, order=tuple(dict.fromkeys(written(value) for value in dtype.categories if value in used)))
