"""Reader of `.npz` files with X and y. It uses no recipe, so its checks are strict; each fault is a `DataError`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.reading.archives import POINTS, read_arrays
from dsgcore.data.reading.centring import Spread
from dsgcore.data.reading.label_kinds import check_exact
from dsgcore.data.reading.labels import against_the_rest, check_classes
from dsgcore.data.reading.limits import Limits
from dsgcore.data.reading.names import printable
from dsgcore.data.reading.numerals import LARGEST
from dsgcore.data.reading.sources import Source
from dsgcore.data.reading.unlabeled import AUTO, about_unlabeled, top_of, unlabeled_among
from dsgcore.solver.problem import UNLABELED

MAX_BYTES = 2**30


def load_npz(
    path: str | os.PathLike[str],
    *,
    positive: int | float | str | None = None,
    is_binary: bool = True,
    target: str = "y",
    unlabeled: str | None = AUTO,
) -> Dataset:
    """Read a data set from a file with the arrays X (n, d) and y (n,).

    Parameters
    ----------
    path : path
        A file that `numpy.savez` or `numpy.savez_compressed` wrote.
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

    Returns
    -------
    Dataset
        Its `sha256` is the digest of the file's bytes.

    Raises
    ------
    DataError
        If the file cannot be read, lacks one of the arrays, or holds unusable values.
    """
    with Source.of_path(path).open() as stream:
        content = stream.read()
    return parse_npz(
        content, name=Path(path).stem, positive=positive, is_binary=is_binary, target=target, unlabeled=unlabeled
    )


def parse_npz(
    content: bytes,
    *,
    name: str,
    positive: int | float | str | None = None,
    is_binary: bool = True,
    target: str = "y",
    unlabeled: str | None = AUTO,
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    """Read a data set of that name from a file's bytes, for instance of an upload.

    The other parameters are those of `load_npz`. Both arrays together may take at most `max_bytes` (1 GiB) once
    unpacked: a small file can claim to hold huge ones.
    """
    source = Source.of_bytes(content, name)
    arrays = read_arrays(source, Limits(unpacked=max_bytes), POINTS, target)
    X, centred = _checked_points(arrays[POINTS])
    what = printable(target)
    chosen = None if positive is None else _written(positive)
    y, class_names, report = _codes(arrays[target], what, len(X), chosen, unlabeled)
    check_classes(what, class_names)
    if is_binary:
        y, class_names = against_the_rest(y, class_names, chosen)
    return Dataset(
        name=name,
        X=X,
        y=y.astype(np.int64),
        feature_names=tuple(f"x{j + 1}" for j in range(X.shape[1])),
        class_names=class_names,
        source=f"file {name}.npz",
        licence="not stated",
        sha256=source.sha256(),
        report=(*report, *centred),
    )


def _codes(
    given: NDArray, what: str, n: int, positive: str | None, unlabeled: str | None
) -> tuple[NDArray[np.int64], tuple[str, ...], tuple[str, ...]]:
    """Return the class codes (-1 for an unlabeled row), the classes' names, and sentences about unlabeled rows."""
    labels = _checked_labels(given, what, n)
    values, known = np.unique(labels, return_inverse=True)
    names = _class_names(values, what)
    hidden = unlabeled_among(names, unlabeled, classes=() if positive is None else (positive,), top=top_of(labels))
    kept = [code for code, name in enumerate(names) if name not in hidden]
    places = np.full(len(names), UNLABELED, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    return places[known], tuple(names[code] for code in kept), about_unlabeled(hidden, unlabeled)


def _checked_points(X: NDArray) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Return the points, centred if float32 would lose differences, and a sentence about each column that is centred."""
    found: list[str] = []
    centre = np.zeros(X.shape[1])
    if X.dtype != np.float32:
        for j in range(X.shape[1]):
            spread = Spread()
            spread.look(X[:, j].astype(np.float64))
            centre[j], said = spread.centre, spread.sentence(f"column {j + 1}")
            found += [said] if said else []
    with np.errstate(over="ignore"):
        points = np.ascontiguousarray(X - centre if found else X, dtype=np.float32)
    # One pass is enough in the usual case; NaN fails both comparisons.
    if not (points.max() <= LARGEST and points.min() >= -LARGEST):
        i, j = np.argwhere(~(np.abs(points) <= LARGEST))[0]
        where = f"row {i + 1}, column {j + 1}"
        raise DataError(f"X must be finite and at most {LARGEST:g} in size, got {X[i, j]} in {where}")
    return points, tuple(found)


def _checked_labels(labels: NDArray, what: str, n: int) -> NDArray:
    if labels.shape != (n,):
        raise DataError(f"{what} must have shape ({n},), one label for each row of X, got {labels.shape}")
    if labels.dtype.kind not in "biufU":
        raise DataError(f"{what} must hold whole numbers or text, got the type {printable(str(labels.dtype))}")
    if labels.dtype.kind == "b":
        return labels.astype(np.int64)
    if labels.dtype.kind != "f":
        return labels
    is_whole = np.isfinite(labels) & (labels == np.round(labels))
    if not is_whole.all():
        i = int(np.argmin(is_whole))
        raise DataError(f"{what} must hold whole numbers or text, got {labels[i]} in row {i + 1}")
    check_exact(labels, what)
    return labels.astype(np.int64)


def _class_names(values: NDArray, what: str) -> tuple[str, ...]:
    try:
        names = tuple(str(value) for value in values)
    except (ValueError, SystemError) as error:  # code points that are not characters
        raise DataError(f"{what} holds text that is not valid Unicode") from error
    for name in names:
        if not name.isprintable() or not name.strip():
            raise DataError(f"{what} must hold printable labels, got {quoted(name)}")
    return names


def _written(label: int | float | str) -> str:
    """Return a label as `_class_names` writes it: true as 1, 3.0 as 3."""
    if isinstance(label, (bool, np.bool_)) or (isinstance(label, float) and label.is_integer()):
        return str(int(label))
    return str(label)
