"""Conversions of a data set's classes, so that it suits another kind of task."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.parameters import quoted
from dsgcore.data.datasets import DataError, Dataset

AS_IS = "as they are"
ONE_REST = "one against the rest"
EVEN_ODD = "even against odd"
HALVES = "lower against upper half"
IN_ORDER = "in order of their numbers"
BINS = "equal-frequency bins"
# Kinds of data sets: two classes, ordered classes, unordered classes, or a number that is cut into bins.
KINDS = ("binary", "ordinal", "classes", "regression")
# Kinds of labels that a problem learns from.
LABELS = ("binary", "pairs", "ordinal", "classes")


@dataclass(frozen=True)
class Conversion:
    """A conversion of a set's classes: its name in specs and links, and a sentence that explains it."""

    name: str
    sentence: str


CONVERSIONS: dict[str, Conversion] = {
    conversion.name: conversion
    for conversion in (
        Conversion(AS_IS, "The classes are used as they are."),
        Conversion(ONE_REST, "One class is positive, all others together are negative."),
        Conversion(EVEN_ODD, "Classes with even numbers, counted from 0, are positive, the others negative."),
        Conversion(HALVES, "The upper half of the ordered classes is positive, the lower half negative."),
        Conversion(IN_ORDER, "The classes are ranked in the order of their numbers."),
        Conversion(BINS, "The real-valued target is cut into bins that hold equally many rows."),
    )
}


def equal_frequency_bins(values: NDArray, n_bins: int) -> NDArray[np.int64]:
    """Return the bin of each of n values, from 0. Bins have about equal sizes, and equal values are in one bin.

    If more than n / n_bins values are equal, there can be fewer bins.
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2  # of the ranks of equal values
    bins = np.unique(middle * n_bins // len(values), return_inverse=True)[1]
    return bins[place].astype(np.int64)


def conversions_for(kind: str, labels: str, n_classes: int = 2, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the keys of `CONVERSIONS` that make a set suit labels, the usual one first; empty if no conversion makes sense.

    Parameters
    ----------
    kind, n_classes, extra
        The set's kind from `KINDS`, its number of classes or bins, and what its classes' numbers mean, if anything:
        `EVEN_ODD`, `IN_ORDER`.
    labels : str
        One of `LABELS`.
    """
    if labels in ("binary", "pairs"):
        return _to_two(kind, labels, n_classes, extra)
    if kind == "regression":
        return (BINS,)
    if labels == "classes" or kind == "ordinal":
        return (AS_IS,)
    return tuple(name for name in extra if name == IN_ORDER and kind == "classes")


def _to_two(kind: str, labels: str, n_classes: int, extra: tuple[str, ...]) -> tuple[str, ...]:
    if kind == "binary" or n_classes == 2:
        return (AS_IS,)
    if kind in ("ordinal", "regression"):
        return (HALVES,)
    # Even and odd classes are equally frequent, and similar pairs of equally frequent classes hold no information.
    even_odd = tuple(name for name in extra if name == EVEN_ODD and labels != "pairs")
    return (*even_odd, ONE_REST)


def convert(dataset: Dataset, name: str, positive: int | None = None) -> Dataset:
    """Return the data set with converted classes; the points do not change.

    Parameters
    ----------
    dataset : Dataset
    name : str
        A key of `CONVERSIONS`.
    positive : int, 0 <= positive < K, optional
        For `ONE_REST`: the number of the positive class, counted from 0. Default: 0.

    Returns
    -------
    Dataset
        With two classes for `ONE_REST`, `EVEN_ODD` and `HALVES`, otherwise `dataset` itself.

    Raises
    ------
    DataError
        If there is no such conversion or class.
    """
    if name not in CONVERSIONS:
        raise DataError(f"the conversion must be one of {', '.join(CONVERSIONS)}, got {quoted(name)}")
    if name in (AS_IS, IN_ORDER, BINS):
        return dataset
    is_positive = _positive_classes(len(dataset.class_names), name, positive)
    y = np.where(dataset.y < 0, dataset.y, is_positive[dataset.y])  # unlabeled rows stay unlabeled
    return replace(dataset, y=y, class_names=_two_names(dataset.class_names, is_positive, name))


def _positive_classes(k: int, name: str, positive: int | None) -> NDArray[np.bool_]:
    """Mark the classes that become positive."""
    codes, one = np.arange(k), positive or 0
    if name == ONE_REST and not 0 <= one < k:
        raise DataError(f"positive must be the number of a class, between 0 and {k - 1}, got {quoted(positive)}")
    return {EVEN_ODD: codes % 2 == 0, HALVES: codes >= k / 2, ONE_REST: codes == one}[name]


def _two_names(names: tuple[str, ...], is_positive: NDArray[np.bool_], conversion: str) -> tuple[str, str]:
    low, high = ([name for name, p in zip(names, is_positive, strict=True) if p == side] for side in (False, True))
    if conversion == ONE_REST:
        return f"not {high[0]}", high[0]
    if conversion == HALVES:
        return _stretch(low), _stretch(high)
    return ", ".join(low), ", ".join(high)


def _stretch(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
