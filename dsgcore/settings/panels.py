"""A setting's own panels in the tab Theory, as plain data. One page draws them for every setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What panels read: a `Run` with at least one iteration.
Result = Any


@dataclass(frozen=True)
class Role:
    """Role of a drawn thing, which decides its colour. "class" and "rank" have a `number` out of `n`."""

    kind: str
    number: int = 0
    n: int = 1


POSITIVE, NEGATIVE, UNLABELED, INK = Role("positive"), Role("negative"), Role("unlabeled"), Role("ink")


@dataclass(frozen=True)
class Values:
    """Values of some points, or of the iterations. `is_faint` draws an outline without filling, or a thin dotted line."""

    name: str
    values: NDArray
    role: Role
    is_faint: bool = False


@dataclass(frozen=True)
class Mark:
    """Vertical line with a name."""

    x: float
    name: str


@dataclass(frozen=True)
class Histogram:
    """Histogram of several samples, as shares or counts, with marks on the axis and a shaded band."""

    title: str
    axis: str
    samples: Sequence[Values]
    alt: str
    marks: Sequence[Mark] = ()
    band: tuple[float, float] | None = None
    is_share: bool = True


@dataclass(frozen=True)
class Curves:
    """Lines over the iterations t."""

    title: str
    t: NDArray
    lines: Sequence[Values]
    alt: str


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix: true classes against predicted classes."""

    title: str
    y: NDArray
    predicted: NDArray
    names: Sequence[str]


@dataclass(frozen=True)
class Metric:
    """Number with its name."""

    label: str
    value: str


@dataclass(frozen=True)
class OnRequest:
    """Number that takes time to compute. The page shows a button until somebody presses it.

    `compute` returns the number, or raises a DSGError.
    """

    name: str
    button: str
    label: str
    help: str
    compute: Callable[[], float]


# A chart, columns of equal length by name, numbers side by side, or a text in Markdown.
Panel = Histogram | Curves | Confusion | Mapping[str, Sequence[Any]] | tuple[Metric | OnRequest, ...] | str
# Rows of panels. Panels of one row are drawn side by side.
Details = tuple[tuple[Panel, ...], ...]


def confusion(run: Result, predicted: NDArray) -> Confusion:
    """Return the confusion matrix of the test points."""
    return Confusion("Classes given to the test points", run.split.y_test, predicted, run.split.class_names)


def by_class(run: Result) -> list[Values]:
    """Return the values at the test points, in the order of the classes."""
    y, names = run.split.y_test, run.split.class_names
    roles = [NEGATIVE, POSITIVE] if len(names) == 2 else [Role("rank", j, len(names)) for j in range(len(names))]
    f = run.result_test_values
    return [Values(name, f[y == j], role) for j, (name, role) in enumerate(zip(names, roles, strict=True))]


def plain_details(run: Result) -> Details:
    """Return panels that suit any run: scores by class, or the confusion matrix if there are several scores."""
    if run.test_values.ndim > 1:
        return ((confusion(run, np.argmax(run.result_test_values, axis=1)),),)
    return ((Histogram("Scores, test points", "score f", by_class(run), "Histograms of the scores by class."),),)
