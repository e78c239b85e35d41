"""The label column as class codes for each setting; orders of words that are known without asking; and pair ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.core.sampling import UNLABELED
from dsgcore.data.datasets import DataError, equal_frequency_bins
from dsgcore.data.reading.cells import (
    PAIR_NAMES,
    as_cell,
    date_role,
    dates,
    decimal_mark,
    listed,
    numbers,
    numeric,
    printable,
    tables,
    truths_of,
    written,
)
from dsgcore.data.reading.recipe import DATE, Recipe
from dsgcore.data.reading.unlabeled import (
    about_doubtful,
    about_unlabeled,
    check_exact,
    number_of_label,
    unlabeled_among,
)

MAX_CLASSES = 1000
BINARY, ORDERED = ("binary", "pairs"), "ordinal"
# A label with more different whole numbers than this, or more fractions, is cut into bins, unless the recipe says
# otherwise.
MAX_LEVELS, MAX_FRACTIONS = 30, 10
DEFAULT_BINS = 5
FEWEST_ORDERED = 3  # two classes have no order to learn
_LETTERS = re.compile(r"[a-f][+-]?")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?"
_RANGE = re.compile(rf"[(\[]?\s*({_NUMBER})\s*(?:-|–|—|to|,|;|\.\.|bis|until)\s*({_NUMBER})\s*[)\]]?")
_OPEN_BELOW = re.compile(rf"(?:<=?|≤|under|below|up to|less than|at most|fewer than|unter|bis)\s*({_NUMBER})")
_OPEN_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least|from|über|ab)\s*({_NUMBER})"
    rf"|({_NUMBER})\s*(?:\+|(?:(?:and|or)\s*)?(?:over|above|more|older|higher|up)|plus)"
)
_COUNTED = re.compile(rf"(\D*?)((?<!\w){_NUMBER}|\d+(?:[.,]\d+)?)(\D*)")  # the - of level-1 is no sign
_UNITS = re.compile(r"[$€£](?=\d)|(?<=[\d+])\s*(?:years?|yrs?|y|days?|kg|g|cm|mm|m|km|k|€|\$|%)(?=\W|$)")
# Codes (-1 if there is no label), the classes' names, and sentences about changes.
Coded = tuple[NDArray[np.int64], tuple[str, ...], tuple[str, ...]]


def class_codes(column: pd.Series, recipe: Recipe, labels: str) -> Coded:
    """Return a column as class codes for a setting that learns from such labels: two classes for `BINARY`."""
    refuse_pairs(column)
    found, hidden, forms = label_text(column, recipe)
    coded = _classes(column, found, forms, recipe, labels) if recipe.bins is None else _binned(column, hidden, recipe)
    y, names, sentences = coded[0], coded[1], [*coded[2], *about_unlabeled(hidden, recipe.unlabeled)]
    sentences += about_doubtful(names, recipe.unlabeled, classes=(*recipe.order, recipe.positive or ""))
    if labels in BINARY:
        positive = recipe.positive
        if positive is None and len(names) > 2:
            raise DataError(
                f"a task of two classes, made of {len(names)}, needs the positive one named (--positive): "
                f"{listed(names)}"
            )
        positive = names[-1] if positive is None else positive
        if positive not in names:
            raise DataError(f"the positive label must be one of {listed(names)}, got {quoted(positive)}")
        code, is_several = names.index(positive), len(names) > 2
        negative = f"not {positive}" if is_several else names[1 - code]
        y, names = np.where(y == UNLABELED, UNLABELED, y == code).astype(np.int64), (negative, positive)
        others = "the others are" if is_several else f"{quoted(negative)} is"
        sentences.append(f"{quoted(positive)} is positive, {others} negative.")
    sentences += about_gaps(int(np.sum(y == UNLABELED)))
    shown = [as_cell(printable(name)) for name in names]  # long names may be equal when they are cut
    is_distinct = len(set(shown)) == len(shown)
    shown = [one if is_distinct else f"{one} (class {k + 1})" for k, one in enumerate(shown)]
    return y, tuple(shown), tuple(sentences)


def about_gaps(n: int) -> list[str]:
    """Return a sentence about rows without a label, if there are any."""
    some = "1 row has no label: it is" if n == 1 else f"{n:,} rows have no label: they are"
    return [f"{some} unlabeled and never used for testing."] * (n > 0)


def suited(column: pd.Series, recipe: Recipe) -> tuple[NDArray[np.object_], bool]:
    """Return the labels as text, and True if they are too many different numbers to be classes."""
    (found, _, _), mark = label_text(column, recipe), decimal_mark(column, recipe.decimal)
    values = set(map(str, numeric(column, mark).dropna().unique() if mark else pd.unique(found[pd.notna(found)])))
    if len(values) <= MAX_FRACTIONS or not all(map(_is_number, values)):
        return found, False
    return found, len(values) > MAX_LEVELS or any(not (number_of_label(value) or 0.0).is_integer() for value in values)


def labels_of(column: pd.Series) -> NDArray[np.object_]:
    """Return a column as label text, None for a missing label."""
    codes, values = factorized(column)
    return np.array([written(value) or None for value in values] + [None], dtype=object)[codes]


def factorized(column: pd.Series) -> tuple[NDArray[np.int64], Collection[object]]:
    """Return the codes of a column, -1 for a missing cell, and its values: 0.1 of float32 is not 0.10000000149011612."""
    codes, values = pd.factorize(column, use_na_sentinel=True)
    return codes, np.asarray(values) if column.dtype.kind == "f" else values


def label_text(column: pd.Series, recipe: Recipe) -> tuple[NDArray[np.object_], frozenset[str], dict[str, str]]:
    """Return the labels as text; the labels that mean "not labeled"; and the forms of one word that are one label.

    Missing and hidden labels are None. Forms such as yes, YES and y of Yes are joined. Single letters of two cases stay two.
    """
    codes, names = pd.factorize(labels_of(column), use_na_sentinel=True)
    kept = (*recipe.order, *([] if recipe.positive is None else [recipe.positive]))
    hidden = unlabeled_among(names, recipe.unlabeled, classes=kept)
    counts = dict(zip(names, np.bincount(codes[codes >= 0], minlength=len(names)).tolist(), strict=True))
    words = {name.lower() for name in counts.keys() - hidden}
    truths = truths_of(words)
    groups: dict[object, list[str]] = {}
    for name in sorted((name for name in names if name not in hidden), key=lambda name: -counts[name]):
        key = truths[name.lower()] if truths else name.lower() if len(name) > 1 else name
        groups.setdefault(key, []).append(name)
    forms: dict[str, str] = {}
    for own in groups.values():
        chosen = next((name for name in own if name in kept), own[0])  # else the most frequent
        forms |= {name: chosen for name in own if name != chosen}
    texts = [None if name in hidden else forms.get(name, name) for name in names]
    return np.array([*texts, None], dtype=object)[codes], hidden, forms


def label_names(found: NDArray[np.object_], labels: str) -> list[str]:
    """Return the different labels of a text: by size if all are numbers, by a known order if it matters, else alphabetically."""
    names = ordered_names({*found} - {None})
    is_known = labels == ORDERED and not all(map(_is_number, names))
    return (known_order(names) if is_known else None) or names


def _classes(
    column: pd.Series, found: NDArray[np.object_], forms: dict[str, str], recipe: Recipe, labels: str
) -> Coded:
    label = f"label {str(column.name)!r}"
    check_exact(column.dropna().to_numpy(), f"the {label}")
    names, order = label_names(found, labels), list(recipe.order)
    check_classes(f"the {label}", names)
    if order and sorted(order) != sorted(names):
        raise DataError(f"the order must name each class once, {listed(names)}, got {listed(order)}")
    if labels == ORDERED and not order and not has_known_order(names):
        few = ",".join(f'"{name}"' if "," in name else name for name in names[:3]) + ",..." * (len(names) > 3)
        raise DataError(
            f"the {label} has words without a known order, {listed(names)}: give them from the lowest to the highest "
            + (f"(--order '{few}')" if '"' in few else f'(--order "{few}")')
        )
    names = order or names
    y = pd.Index(names, dtype=object).get_indexer(found)  # -1, unlabeled, if there is none
    first = ", the lowest first" if labels == ORDERED else ""
    sentences = [f"The {label} has {len(names)} classes{first}: {listed(names)}."]
    if forms:
        few = ", ".join(f"{one!r} is {to!r}" for one, to in list(forms.items())[:6])
        sentences.append(f"Forms of one class are joined: {few}.")
    if len(y) > 2 * len(names) and y[0] >= 0 and np.sum(y == y[0]) == 1 and not _is_number(names[y[0]]):
        sentences.append(
            f"The class {names[y[0]]!r} has the first row alone: if it is a line of names, say so (--header) or delete it."
        )
    if (own := str(column.name)) in names and recipe.format == "delimited":
        sentences.append(f"The class {own!r} is called as its column is: if the line of names comes again, delete it.")
    return y.astype(np.int64), tuple(names), tuple(sentences)


def has_known_order(names: Sequence[str]) -> bool:
    """Return True for numbers, for words of a known scale, and for fewer than three classes."""
    return all(map(_is_number, names)) or len(names) < FEWEST_ORDERED or known_order(names) is not None


def check_classes(what: str, names: Sequence[str]) -> None:
    """Raise an error for labels of only one class or of too many; `what` names the labels in the message."""
    if not 2 <= len(names) <= MAX_CLASSES:
        got = listed(names) + " alone" if len(names) == 1 else f"{len(names)}"
        raise DataError(f"{what} must have between 2 and {MAX_CLASSES} classes, got {got}")


def ordered_names(names: set[str]) -> list[str]:
    """Return class names by size if all are numbers, else alphabetically."""
    if all(_is_number(name) for name in names):
        return sorted(names, key=lambda name: (number_of_label(name) or 0.0, name))
    return sorted(names)


def _is_number(name: str) -> bool:
    return (number := number_of_label(name)) is not None and isfinite(number)


def _binned(column: pd.Series, hidden: Collection[str], recipe: Recipe) -> Coded:
    assert recipe.bins is not None
    values = numbers(column, decimal_mark(column, recipe.decimal))
    unlabeled = [number for name in hidden if (number := number_of_label(name)) is not None]
    values = np.where(np.isin(values, unlabeled), np.nan, values)
    labeled = np.flatnonzero(~np.isnan(values))
    if len(labeled) < recipe.bins:
        raise DataError(f"the label must have a number for at least {recipe.bins} rows, one a bin, got {len(labeled)}")
    y = np.full(len(values), UNLABELED, dtype=np.int64)
    y[labeled] = equal_frequency_bins(values[labeled], recipe.bins)
    names = tuple(f"bin {code + 1} (from {values[y == code].min():g})" for code in range(int(y.max()) + 1))
    check_classes(f"the label {str(column.name)!r}, cut into bins,", names)
    few = f", not {recipe.bins}, because equal values stay together" if len(names) < recipe.bins else ""
    said = f"The label {str(column.name)!r} was cut into {len(names)} bins of about equally many rows{few}."
    return y, names, (said,)


# --- orders of words


@cache
def _steps() -> list[dict[str, int]]:
    """Return each known scale as the place of each of its words."""
    scales = tables("scales.toml")["scales"]
    return [{word: place for place, step in enumerate(scale) for word in step.split("|")} for scale in scales]


def known_order(names: Collection[str]) -> list[str] | None:
    """Return words in their known order, the lowest first; None if it is not known.

    Ranges (18-30, <18, [0, 10)) and counted words (1 star, grade 2, T1a) have the order of their numbers, and dates that of
    time. Words that all have, as in Stage II, do not matter.
    """
    plain = {
        name: " ".join(re.sub(r"(?<![\s_./-])[\s_./-]+(?=\w)", " ", name.strip().lower()).split()) for name in names
    }
    if len(set(plain.values())) < len(plain):
        return None
    words = {name: text.split() for name, text in plain.items()}
    for end, others in ((0, slice(1, None)), (-1, slice(None, -1))):
        while min(map(len, words.values())) > 1 and len({own[end].rstrip("s") for own in words.values()}) == 1:
            words = {name: own[others] for name, own in words.items()}
    bare = {name: " ".join(own) for name, own in words.items()}
    scales = [steps for steps in _steps() if len(names) <= len(steps)]
    for texts, steps in product((plain, bare), scales):
        places = {name: steps.get(texts[name], steps.get(name.strip().lower())) for name in names}
        if None not in places.values() and len(set(places.values())) == len(names):
            is_grade = all(_LETTERS.fullmatch(text) for text in texts.values())
            is_sure = "f" in plain.values() or any(name[-1] in "+-" for name in names) or len(names) > 2
            if not is_grade or (is_sure and texts is plain):  # Level A may be the first one
                return sorted(names, key=lambda name: places[name] or 0)
    if date_role(pd.Series(list(names), dtype=object)) == DATE:
        with suppress(DataError):  # as of 31 Feb 2020
            days = dates(pd.Series(list(names), dtype=object))
            return [name for _, name in sorted(zip(days, names, strict=True))]
    keys = {name: _range(_UNITS.sub("", name.strip().lower())) for name in names}
    if None in keys.values():
        found = {name: _COUNTED.fullmatch(name.strip().lower()) for name in names}
        letters = {name: one[3] if one[3] in {*"abcd"} else "" for name, one in found.items() if one}
        ends = {
            (one[1].strip(), one[3].strip().rstrip("s") * (not letters[name])) for name, one in found.items() if one
        }
        if not all(found.values()) or len(ends) > 1:
            return None
        keys = {name: (_value(one[2]), float(ord(letters[name] or "@"))) for name, one in found.items() if one}
    return sorted(names, key=lambda name: keys[name] or (0.0, 0.0)) if len(set(keys.values())) == len(names) else None


def _range(text: str) -> tuple[float, float] | None:
    if one := _RANGE.fullmatch(text):
        return _value(one[1]), _value(one[2])
    if one := _OPEN_BELOW.fullmatch(text):
        return float("-inf"), _value(one[1])
    if one := _OPEN_ABOVE.fullmatch(text):
        return _value(one[1] or one[2]), float("inf")
    return (_value(text), _value(text)) if re.fullmatch(_NUMBER, text) else None


def is_open_range(text: str) -> bool:
    """Return True for a range with one end, such as 3+ or <5."""
    return text == "more" or float("inf") in map(abs, _range(text.strip().lower()) or ())


def _value(text: str) -> float:
    return float(text.replace(",", "."))


# --- pairs


def refuse_pairs(column: pd.Series) -> None:
    """Raise `DataError` if a column of labels is called pair, and holds ids of similar pairs."""
    if str(column.name).lower().strip("# ") not in PAIR_NAMES:
        return
    try:
        pair_ids(column)
    except DataError:
        return
    raise DataError(
        f"column {str(column.name)!r} holds ids of similar pairs, each on two rows, and no labels: name the column that "
        "does (--target), or learn from the pairs alone (dsg-lab fit TSGSU)"
    )


def pair_ids(column: pd.Series) -> NDArray[np.int64]:
    """Return a column as ids of similar pairs, -1 if missing. Each id must be on exactly two rows."""
    check_exact(column.dropna().to_numpy(), f"column {str(column.name)!r}")
    found = labels_of(column)
    found[found == str(UNLABELED)] = None
    codes, names = pd.factorize(found, use_na_sentinel=True)
    if not len(names):
        raise DataError(f"column {str(column.name)!r} must hold pair ids, and it is empty")
    counts = np.bincount(codes[codes >= 0])
    if np.any(counts != 2):
        wrong = int(np.argmax(counts != 2))
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(codes == wrong)[:4])
        raise DataError(
            f"column {str(column.name)!r} must hold pair ids, each on exactly two rows, got {quoted(str(names[wrong]))} on "
            f"{counts[wrong]} (rows {rows}, the header not counted): if it holds classes, say so (y_holds=classes)"
        )
    return codes.astype(np.int64)
