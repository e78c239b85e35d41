"""From a file's bytes to a data set, in one call; and the steps of it for a page that shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.conversions import LABELS
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.features import NO_ROW_LEFT, Features
from dsgcore.data.reading.labels import class_codes, pair_ids
from dsgcore.data.reading.limits import UPLOADED, Limits
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.sniffing import check_label, guessed, sniff_format
from dsgcore.data.reading.sources import Source, unpacked
from dsgcore.data.reading.tables import Table, read_table


def sniff(content: bytes, name: str, *, labels: str = "binary", limits: Limits = UPLOADED) -> Recipe:
    """Guess how a file is to be read, and what its columns are: a recipe each of whose fields can be set otherwise.

    Parameters as in `read`; the format is told from the bytes, not from the name. Raises `DataError` where the bytes cannot be
    read as a table.
    """
    source = unpacked(Source.of_bytes(content, name), limits)
    recipe = sniff_format(source)
    return guessed(read_table(source, recipe, limits).frame, recipe, labels, limits)


def preview(content: bytes, name: str, recipe: Recipe, *, limits: Limits = UPLOADED) -> Table:
    """Read a file as a table, for showing its first rows (`Table.head`) and its columns; parameters as in `read`.

    Of the recipe's roles none is looked at but those of numbers in another form than the table's own.
    """
    return read_table(unpacked(Source.of_bytes(content, name), limits), recipe, limits)


def read(
    content: bytes,
    recipe: Recipe,
    *,
    name: str = "file",
    labels: str = "binary",
    limits: Limits = UPLOADED,
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
    table, source = preview(content, name, recipe, limits=limits), Source.of_bytes(content, name)
    return dataset_of(table, recipe, source, labels=labels, limits=limits, fitted_rows=fitted_rows)


def _fitted(
    frame: pd.DataFrame, recipe: Recipe, limits: Limits, rows: NDArray[np.int64] | None
) -> tuple[Features, NDArray[np.bool_]]:
    """Return the features, fitted on all rows or some of those that are kept, and which are kept."""
    features = Features(recipe, limits).fit([frame])
    kept = features.is_kept(frame)
    if not kept.any():
        raise DataError(NO_ROW_LEFT)
    if rows is not None:
        is_fitted = np.zeros(len(frame), dtype=bool)
        is_fitted[np.flatnonzero(kept)[rows]] = True
        features = Features(recipe, limits).fit([frame], is_fitted)
    return features, kept


def _counts(kept: NDArray[np.bool_], pairs: NDArray | None) -> Iterator[str]:
    """Say how many rows are dropped, and how many pairs there are."""
    if not kept.all():
        yield f"{np.sum(~kept):,} of {len(kept):,} rows are dropped."
    if pairs is not None:
        yield f"{int(pairs.max()) + 1:,} similar pairs are given by the file."


def dataset_of(
    table: Table,
    recipe: Recipe,
    source: Source,
    *,
    labels: str = "binary",
    limits: Limits = UPLOADED,
    fitted_rows: NDArray[np.int64] | None = None,
) -> Dataset:
    """Make a data set of a table that was read already; parameters as in `read`."""
    if labels not in LABELS:
        raise DataError(f"labels must be one of {', '.join(LABELS)}, got {quoted(labels)}")
    label, pair, frame = check_label(recipe), recipe.column("pair"), table.frame
    features, kept = _fitted(frame, recipe, limits, fitted_rows)
    frame = frame[kept] if not kept.all() else frame
    y, class_names, sentences = class_codes(frame[label], recipe, labels)
    pairs = pair_ids(frame[pair], recipe) if pair is not None and labels == "pairs" else None
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
        report=(*table.notes, *sentences, *features.sentences(), *_counts(kept, pairs)),
        left_out=features.left_out,
        depends_on_rows=features.depends_on_rows,
    )
