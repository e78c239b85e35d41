"""What is in a file: its rows, columns, classes and gaps, and what can be learned from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dsgcore.core.parameters import quoted
from dsgcore.data.conversions import LABELS
from dsgcore.data.converting import Looked, look
from dsgcore.data.datasets import DataError
from dsgcore.data.reading import IN_PIECES, Limits, Recipe, Source, suit
from dsgcore.data.reading.labels import class_codes
from dsgcore.data.reading.names import listed, printable
from dsgcore.data.reading.sources import streamed

_FEWEST_ORDERED = 3
_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Description:
    """What a file holds, as its recipe reads it."""

    recipe: Recipe
    looked: Looked
    class_sizes: dict[str, int]  # labeled rows of each class
    refusals: dict[str, str]  # for each kind of `LABELS` why it cannot be learned from; "" where it can

    def sentences(self) -> Iterator[str]:
        """Say what is in the file."""
        features, sizes = self.looked.features, self.class_sizes
        columns = f"{self.looked.n:,} rows, {len(self.looked.missing):,} columns: {len(features.names):,} features"
        left_out = f", {len(features.left_out)} left out ({listed(features.left_out)})" if features.left_out else ""
        yield f"{columns}, the label {self.recipe.column('label')!r}{left_out}."
        shown = ", ".join(f"{printable(name)!r} {size:,}" for name, size in list(sizes.items())[:_SHOWN])
        more = f" and {len(sizes) - _SHOWN} more" if len(sizes) > _SHOWN else ""
        without = self.looked.n - sum(sizes.values())
        yield f"{len(sizes)} {'bins' if self.recipe.bins else 'classes'}: {shown}{more}; {without:,} rows without a label."
        gaps = {
            name: count for name, count in self.looked.missing.items() if count and self.recipe.role(name) != "label"
        }
        yield "Missing values: " + (", ".join(f"{count:,} in {name!r}" for name, count in gaps.items()) or "none") + "."


def describe_file(
    path: str | os.PathLike[str], recipe: Recipe, labels: str = "classes", limits: Limits = IN_PIECES
) -> Description:
    """Look through a file on the disk and say what is in it, in pieces: memory holds one of them and the label's column.

    Parameters as in `converting.convert_file`; `labels` is what its classes are counted for. Raises `DataError` in one
    sentence, where nothing can be learned from it.
    """
    looked = look(streamed(Source.of_path(path), limits), recipe, limits)
    if looked.n < 2:
        raise DataError(f"the table must have at least 2 rows, got {looked.n}")
    refusals = {kind: _refusal(looked, recipe, kind) for kind in LABELS}
    if all(refusals.values()):
        raise DataError(refusals[labels])
    return Description(recipe, looked, _class_sizes(looked, recipe, labels), refusals)


def _class_sizes(looked: Looked, recipe: Recipe, labels: str) -> dict[str, int]:
    y, names, _ = class_codes(looked.label, recipe, labels)
    return dict(zip(names, np.bincount(y[y >= 0], minlength=len(names)).tolist(), strict=True))


def _refusal(looked: Looked, recipe: Recipe, labels: str) -> str:
    """Return why labels of a kind cannot be learned from; empty where they can."""
    try:
        sizes = _class_sizes(looked, suit(recipe, looked.label.to_frame(), labels), labels)
    except DataError as error:
        return str(error)
    few = min(sizes, key=lambda name: sizes[name])
    if sizes[few] < 2:
        return f"each class must have at least 2 rows, one of them for testing, got {sizes[few]} of {quoted(few)}"
    if labels == "ordinal" and len(sizes) < _FEWEST_ORDERED:
        return "two classes have no order to learn: to rank them is the AUC setting"
    return ""
