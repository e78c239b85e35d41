"""Edits that a lesson starts with or that reach its goal, made for the points of any seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.threads import single_threaded_openmp
from dsgcore.data.edits import ALL, ERASE, LABEL, PAINT, Edit
from dsgcore.data.options import check_whole, keyed_generator
from dsgcore.data.splits import Split
from dsgcore.solver.problem import UNLABELED

NO_LABELS = (Edit(LABEL, ALL),)
# Points of each class on the drawn sheet, without and with a label.
N_PAINTED, N_LABELED = 250, 10
MOST_CENTRES = 50  # labels at centres: their search takes time and memory with each


def at_centres(split: Split, n_labeled: int) -> tuple[Edit, ...]:
    """Return edits that label the middle of each group of points, and the point farthest from these labels."""
    return (*NO_LABELS, *_labels(split, _centres(split, n_labeled)))


def one_wrong(split: Split, n_labeled: int) -> tuple[Edit, ...]:
    """Return the same edits, with a wrong label in the middle of the group that is farthest from the last label."""
    chosen = _centres(split, n_labeled)
    X = split.X_train[chosen]
    wrong = chosen[int(np.argmax(np.sum((X[:-1] - X[-1]) ** 2, axis=1)))]
    to = (int(split.y_hidden[wrong]) + 1) % len(split.class_names)
    return (*NO_LABELS, *_labels(split, chosen), Edit(LABEL, (int(split.train_rows[wrong]),), to))


def misleading_rows(_split: Split, _n_labeled: int) -> tuple[Edit, ...]:
    """Return edits that draw a sheet: the classes are left and right, but the gap lies between above and below."""
    rng = keyed_generator(0, "edits/rows")
    halves = [_half(rng, to, is_labeled) for to in (0, 1) for is_labeled in (False, True)]
    return (Edit(ERASE, ALL), *halves)


def _half(rng: np.random.Generator, to: int, is_labeled: bool) -> Edit:
    """Return painted points of one class, densest at the other class, in two rows."""
    n = N_LABELED if is_labeled else N_PAINTED
    across = 0.5 * (1 - np.sqrt(rng.uniform(size=n)))
    x = 0.5 + np.where(to, across, -across) + 0.03 * rng.standard_normal(n)
    y = rng.choice([0.25, 0.75], size=n) + 0.03 * rng.standard_normal(n)
    at = np.stack([x, y], axis=1).round(3).ravel().tolist()
    return Edit(PAINT, at=tuple(at), to=to, is_labeled=is_labeled)


EDITS = "edits"  # the name in a lesson's values
AS_GENERATED = "as generated"
UNMARKED = "no labels"  # the choice with which a reader places all labels
DRAWN = ("misleading rows",)  # the choices that draw other points
CHOICES: dict[str, Callable[[Split, int], tuple[Edit, ...]]] = {
    AS_GENERATED: lambda _split, _n_labeled: (),
    "empty sheet": lambda _split, _n_labeled: (Edit(ERASE, ALL),),
    UNMARKED: lambda _split, _n_labeled: NO_LABELS,
    "centres": at_centres,
    "one wrong": one_wrong,
    "misleading rows": misleading_rows,
}


def _centres(split: Split, n_labeled: int) -> NDArray[np.intp]:
    """Return the known training points nearest to the centres of all but one group, and the point farthest from them."""
    from sklearn.cluster import KMeans  # slow to import, and only lessons need it

    check_whole("n_labeled", n_labeled, 2, MOST_CENTRES, "where a lesson labels the centres of groups")
    known = np.flatnonzero(split.y_hidden != UNLABELED)
    X = split.X_train[known].astype(np.float64)
    with single_threaded_openmp():
        centres = KMeans(n_labeled - 1, n_init=5, random_state=0).fit(split.X_train).cluster_centers_
    chosen = np.argmin(_squared(centres, X), axis=1)
    farthest = np.argmax(_squared(X, X[chosen]).min(axis=1))
    return known[np.append(chosen, farthest)]


def _squared(A: NDArray, B: NDArray) -> NDArray:
    squared: NDArray = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return squared


def _labels(split: Split, chosen: NDArray[np.intp]) -> list[Edit]:
    return [Edit(LABEL, (int(split.train_rows[i]),), int(split.y_hidden[i])) for i in chosen]
