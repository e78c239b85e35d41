"""From a file's bytes to a data set, in one call; and the steps of it for a page that shows them."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.conversions import LABELS
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.labels import class_codes, pair_ids
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sniffing import check_label, guess_roles, sniff_format, suit
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table


def sniff(content: bytes, name: str, *, labels: str = "binary", limits: Limits | None = None) -> Recipe:
    """Guess how a file is to be read, and what its columns are.

    Parameters
    ----------
    content : bytes
    name : str
        The file's name. The format is told from the bytes, not from it.
    labels : {"binary", "pairs", "ordinal", "classes"}
        What the setting learns from.
    limits : Limits, optional

    Returns
    -------
    Recipe
        Each of its fields can be set otherwise.

    Raises
    ------
    DataError
        Where the bytes cannot be read as a table.
    """
    limits = limits or Limits()
    source = unpacked(Source.of_bytes(content, name), limits)
    recipe = sniff_format(source)
    table = read_table(source, recipe, limits)
    return suit(guess_roles(table.frame, recipe, limits), table.frame, labels)


def preview(content: bytes, name: str, recipe: Recipe, *, limits: Limits | None = None) -> Table:
    """Read a file as a table, for showing its first rows (`Table.head`) and its columns.

    Parameters
    ----------
    content, name, recipe, limits
        As in `read`; the recipe's roles are not looked at.

    Returns
    -------
    Table
    """
    limits = limits or Limits()
    return read_table(unpacked(Source.of_bytes(content, name), limits), recipe, limits)


def read(
    content: bytes,
    recipe: Recipe,
    *,
    name: str = "file",
    labels: str = "binary",
    limits: Limits | None = None,
    fitted_rows: NDArray[np.int64] | None = None,
) -> Dataset:
    """Read a data set from a file's bytes: the same bytes and recipe give the same bits.

    Parameters
    ----------
    content : bytes
    recipe : Recipe
    name : str
        The file's name.
    labels : {"binary", "pairs", "ordinal", "classes"}
        What the setting learns from.
    limits : Limits, optional
    fitted_rows : ndarray of shape (n_fitted,), int64, optional
        Rows of the data set that means of missing numbers and directions of text are learned from. Default: all.

    Returns
    -------
    Dataset
        Its `report` says what was done, a sentence each.

    Raises
    ------
    DataError
        With one sentence naming the problem, and where possible the row and column.
    """
    table = preview(content, name, recipe, limits=limits)
    source = Source.of_bytes(content, name)
    return dataset_of(table, recipe, source, labels=labels, limits=limits, fitted_rows=fitted_rows)


def dataset_of(
    table: Table,
    recipe: Recipe,
    source: Source,
    *,
    labels: str = "binary",
    limits: Limits | None = None,
    fitted_rows: NDArray[np.int64] | None = None,
) -> Dataset:
    """Make a data set of a table that was read already; parameters as in `read`."""
    if labels not in LABELS:
        raise DataError(f"labels must be one of {', '.join(LABELS)}, got {quoted(labels)}")
    check_label(recipe)
    frame = table.frame
    features = Features(recipe, limits or Limits()).fit([frame])
    kept = features.is_kept(frame)
    if not kept.any():
        raise DataError("no row is left once those with missing numbers are dropped: replace the numbers instead")
    if fitted_rows is not None:
        is_fitted = np.zeros(len(frame), dtype=bool)
        is_fitted[np.flatnonzero(kept)[fitted_rows]] = True
        features = Features(recipe, limits or Limits()).fit([frame], is_fitted)
    frame = frame[kept] if not kept.all() else frame
    label, pair = str(recipe.column("label")), recipe.column("pair")
    y, class_names, sentences = class_codes(frame[label], recipe, labels)
    pairs = pair_ids(frame[pair], recipe) if pair is not None and labels == "pairs" else None
    dropped = (f"{np.sum(~kept):,} of {len(kept):,} rows are dropped.",) if not kept.all() else ()
    return Dataset(
        name=printable(os.path.splitext(source.name)[0]) or "file",
        X=features.transform(frame),
        y=y,
        feature_names=features.names,
        class_names=class_names,
        source=f"file {printable(source.name)}",
        licence="not stated",
        sha256=source.sha256(),
        pairs=pairs,
        report=(*table.notes, *sentences, *features.sentences(), *dropped, *_pair_sentence(pairs)),
        left_out=features.left_out,
        depends_on_rows=features.depends_on_rows,
    )


def _pair_sentence(pairs: NDArray[np.int64] | None) -> tuple[str, ...]:
    return () if pairs is None else (f"{int(pairs.max()) + 1:,} similar pairs are given by the file.",)
