"""The reader of `.npz` files with X and y, which uses no recipe and replaces nothing; each fault is a `DataError`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.binary import LABELS, POINTS, Source, read_arrays
from dsgcore.data.reading.features import Features
from dsgcore.data.reading.label_kinds import check_exact
from dsgcore.data.reading.labels import class_codes
from dsgcore.data.reading.limits import LOCAL, Limits
from dsgcore.data.reading.names import printable, written
from dsgcore.data.reading.numerals import LARGEST
from dsgcore.data.reading.recipe import Recipe
from dsgcore.data.reading.unlabeled import AUTO, NONE

MAX_BYTES = 2**30


def load_npz(path: str | os.PathLike[str], **given: Any) -> Dataset:
    """Read a data set from a file that `numpy.savez` wrote, with arrays X (n, d) and y (n,).

    `given` are arguments of `parse_npz`. Raises `DataError` if the file cannot be read, lacks one of the arrays, or holds
    unusable values.
    """
    with Source.of_path(path).open() as stream:
        content = stream.read()
    return parse_npz(content, name=Path(path).stem, **given)


def parse_npz(
    content: bytes,
    *,
    name: str,
    positive: int | float | str | None = None,
    is_binary: bool = True,
    target: str = LABELS,
    unlabeled: str | None = AUTO,
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """Read a data set of that name from the bytes of an archive with X and labels.

    Parameters
    ----------
    content : bytes
    name : str
    positive : label or None, default None
        The positive label; all others are negative (one against the rest). None takes the largest label, and requires
        exactly two. Text is compared with the label as written, so ``"3"`` finds the number 3.
    is_binary : bool, default True
        True makes a binary task. If False, the labels become the codes 0..K-1 in increasing order.
    target : str, default "y"
        Name of the array that holds the labels.
    unlabeled : str or None, default "auto"
        The label that means "not labeled". "auto" takes -1 if there are two or more other labels. None: every label is
        a class.
    max_bytes : int, default 1 GiB
        Both arrays together may take so much once unpacked: a small file can claim to hold huge ones.

    Returns
    -------
    Dataset
        Its `sha256` is the digest of the file's bytes.
    """
    source, what = Source.of_bytes(content, name), printable(target)
    arrays = read_arrays(source, Limits(unpacked=max_bytes), POINTS, target)
    _check_points(arrays[POINTS])
    labels = pd.Series(_checked_labels(arrays[target], what, len(arrays[POINTS])), name=what)
    chosen = None if positive is None else _written(positive)
    recipe = Recipe(format="npz", missing_words=(), unlabeled=NONE if unlabeled is None else unlabeled, positive=chosen)
    y, class_names, said = class_codes(labels, recipe, "binary" if is_binary else "classes")
    table = pd.DataFrame(arrays[POINTS], copy=False)
    table.columns = pd.Index([f"x{j + 1}" for j in range(table.shape[1])])
    features = Features(recipe, LOCAL).fit(table)
    return Dataset(
        name=name,
        X=features.transform(table),
        y=y,
        feature_names=features.names,
        class_names=class_names,
        source=f"file {name}.npz",
        licence="not stated",
        sha256=source.sha256(),
        report=(*said, *features.sentences()),
    )


def _check_points(X: NDArray) -> None:
    """Raise an error for a missing, infinite or huge number. One pass is enough in the usual case; NaN fails both comparisons."""
    if not (X.max() <= LARGEST and X.min() >= -LARGEST):
        i, j = np.argwhere(~(np.abs(X) <= LARGEST))[0]
        raise DataError(
            f"X must be finite and at most {LARGEST:g} in size, got {X[i, j]} in row {i + 1}, column {j + 1}"
        )


def _checked_labels(labels: NDArray, what: str, n: int) -> NDArray:
    if labels.shape != (n,):
        raise DataError(f"{what} must have shape ({n},), one label for each row of X, got {labels.shape}")
    if labels.dtype.kind not in "biufU":
        raise DataError(f"{what} must hold whole numbers or text, got the type {printable(str(labels.dtype))}")
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    if labels.dtype.kind == "U":
        return _checked_text(labels, what)
    if labels.dtype.kind != "f":
        return labels
    is_whole = np.isfinite(labels) & (labels == np.round(labels))
    if not is_whole.all():
        i = int(np.argmin(is_whole))
        raise DataError(f"{what} must hold whole numbers or text, got {labels[i]} in row {i + 1}")
    check_exact(labels, what)
    return labels.astype(np.int64)


def _checked_text(labels: NDArray, what: str) -> NDArray:
    try:
        names = tuple(str(value) for value in np.unique(labels))
    except (ValueError, SystemError) as error:  # code points that are not characters
        raise DataError(f"{what} holds text that is not valid Unicode") from error
    for name in names:
        if not name.isprintable() or not name.strip():
            raise DataError(f"{what} must hold printable labels, got {quoted(name)}")
    return labels.astype(object)


def _written(label: int | float | str) -> str:
    """Return a label as text: true as 1, 3.0 as 3."""
    return str(int(label)) if isinstance(label, (bool, np.bool_)) else written(label)
