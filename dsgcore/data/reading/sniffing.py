"""The most likely recipe of a file, guessed from its bytes. Each of its fields can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError
from dsgcore.data.reading.column_roles import feature_role, guess_role, guess_roles
from dsgcore.data.reading.delimited import head_text, sniff_delimited, sniffed_encoding
from dsgcore.data.reading.labels import BINARY, DEFAULT_BINS, suited
from dsgcore.data.reading.limits import IN_PIECES, Limits
from dsgcore.data.reading.names import as_number, check_column
from dsgcore.data.reading.parquet import index_columns
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sources import Source, binary_format
from dsgcore.data.reading.svmlight import TARGET, is_svmlight, zero_is_unlabeled
from dsgcore.data.reading.unlabeled import AUTO


def sniff_format(source: Source) -> Recipe:
    """Return the recipe for the format of an unpacked file; raise `DataError` if it cannot be read.

    Only roles that the format itself gives are set: the label, or the index.
    """
    found = binary_format(source)
    if found == "parquet":
        return Recipe(format=found).with_roles(dict.fromkeys(index_columns(source), "index"))
    if found is not None:
        return Recipe(format=found)
    encoding = sniffed_encoding(source)
    if is_svmlight(head_text(source, encoding)):
        if encoding not in ("utf-8", "utf-8-sig"):
            raise DataError(f"LIBSVM text must be in UTF-8, and this file is in {encoding}: save it as UTF-8")
        unlabeled = "0" if zero_is_unlabeled(source) else AUTO
        return Recipe(format="svmlight", roles=((TARGET, "label"),), unlabeled=unlabeled)
    return sniff_delimited(source)


def guessed(frame: pd.DataFrame, recipe: Recipe, labels: str, limits: Limits, label: str | None = None) -> Recipe:
    """Return the recipe with roles, and settings for the labels; `label` names their column."""
    if label is not None:
        check_column(label, [str(name) for name in frame.columns])
    recipe = guess_roles(frame, recipe, limits)
    before = recipe.column("label")
    if label is not None and before != label:
        others = {} if before is None else {before: guess_role(frame[before], recipe, limits)}
        recipe = recipe.with_roles({**dict(recipe.roles), **others, label: "label"})
    return suit(recipe, frame, labels)


def choose(
    recipe: Recipe, frame: pd.DataFrame, features: Sequence[str] | None, category: Sequence[str], drop: Sequence[str]
) -> Recipe:
    """Return a recipe with only these columns as features, with these categories, and without the dropped columns."""
    known, label = [str(name) for name in frame.columns], recipe.column("label")
    for name in (*(features or ()), *category, *drop):
        check_column(name, known)
        if name == label:
            raise DataError(f"column {quoted(name)} is the label: it can be neither a feature nor left out")
    roles = dict(recipe.roles)
    if features is not None:
        singles = (label, recipe.column("pair"))
        roles |= {name: "ignore" for name in known if name not in singles}
        roles |= {name: feature_role(frame[name], recipe, IN_PIECES) for name in features}
    return recipe.with_roles(roles | dict.fromkeys(category, "category") | dict.fromkeys(drop, "ignore"))


def suit(recipe: Recipe, frame: pd.DataFrame, labels: str) -> Recipe:
    """Return the recipe with the label settings that a setting needs, unless the recipe has them.

    A label with many different numbers is cut into bins, two of them for a binary task. If a binary task has more than
    two classes, the most frequent one is positive.
    """
    label = recipe.column("label")
    if label is None or label not in frame.columns:
        return recipe
    values, is_continuous = suited(frame[label], recipe)
    if recipe.bins is None and is_continuous:
        return replace(recipe, bins=2 if labels in BINARY else DEFAULT_BINS, positive=None, order=())
    counts = pd.Series(values).value_counts()
    if recipe.bins is None and recipe.positive is None and labels in BINARY and len(counts) > 2:
        # Among equally frequent classes, take the first in their order: the count alone does not decide.
        most = [str(name) for name in counts.index[counts == counts.iloc[0]]]
        return replace(recipe, positive=min(most, key=lambda name: (as_number(name) or 0.0, name)))
    return recipe
