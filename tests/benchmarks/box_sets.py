"""Data sets of `out_of_the_box.py`: from a folder, from scikit-learn and generated, with their hidden labels."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from dsgcore.data import load

BINARY, MULTICLASS, ORDINAL, PAIRS = "binary", "multi-class", "ordinal", "pairs"
BUNDLED = {
    "breast_cancer": BINARY,
    "digits": BINARY,
    "iris": MULTICLASS,
    "wine": MULTICLASS,
    "ten_digits": MULTICLASS,
    "diabetes": ORDINAL,
}
# Classes that are the positive ones where a set of many classes serves as one of two.
EVEN_OR_ODD = {"usps": (0, 2, 4, 6, 8)}
POSITIVE_IN_PAIRS = {"shuttle": (0,), "pendigits": (0, 1, 2), "usps": (0, 1, 2)}
# Nearer to one half the share of positives leaves hardly anything of similar pairs.
LEAST_IMBALANCE = 0.1
N_PAIRS, N_UNLABELED = 500, 2500
N_LABELED, N_LABELED_ORDINAL, SHARE_LABELED = 200, 500, 0.3
SHARE_TEST, MOST_TEST = 0.3, 4000
LABELS_OF_EACH = 2
SCALERS = {"standardised": StandardScaler, "to [0, 1]": MinMaxScaler}
# Columns of the made sets, and how much of their logit is linear.
MADE = {"like SUSY (made)": (18, 1.6, 0.8), "like HIGGS (made)": (28, 0.5, 1.6)}
MADE_TEST = 10_000


@dataclass(frozen=True, eq=False)
class Split:
    """Training points with their visible labels, and test points."""

    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray
    prior: float = 0.5  # of positives, for similar pairs


@dataclass(frozen=True)
class Source:
    """A set of some kind: where its points and class codes come from, and how many there are."""

    name: str
    kind: str
    n: int
    read: Callable[[], tuple[NDArray, NDArray]]

    @property
    def title(self) -> str:
        """The name, and the positive class if the set's own is replaced."""
        positive = {BINARY: EVEN_OR_ODD, PAIRS: POSITIVE_IN_PAIRS}.get(self.kind, {}).get(self.name)
        return self.name if positive is None else f"{self.name} ({', '.join(map(str, positive))})"


def sources(folder: Path | None) -> list[Source]:
    """Return all sets of a folder of .npz files with X and y (and y5, for ordered classes), and the bundled ones."""
    found = [_bundled(name, kind) for name, kind in BUNDLED.items()]
    for path in sorted(folder.glob("*.npz")) if folder else []:
        found += _of_file(path)
    return found


# Keep the last sets: a process forked from one that has read a set need not read it again.
@lru_cache(maxsize=2)
def _points(place: Path | str) -> NDArray:
    if isinstance(place, str):
        return load(place).X
    with np.load(place, allow_pickle=False) as file:
        return file["X"]


def _bundled(name: str, kind: str) -> Source:
    y = load(name).y
    return Source(name, kind, len(y), lambda: (_points(name), y))


def _of_file(path: Path) -> list[Source]:
    """Return what a file can serve as."""
    with np.load(path, allow_pickle=False) as held:
        is_ordinal = "y5" in held
        codes = np.unique(held["y5" if is_ordinal else "y"], return_inverse=True)[1]
    name = path.stem

    def source(kind: str, positive: tuple[int, ...] | None = None) -> Source:
        y = codes if positive is None else np.isin(codes, positive).astype(int)
        return Source(name, kind, len(y), lambda: (_points(path), y))

    if is_ordinal:
        return [source(ORDINAL)]
    if codes.max() == 1:
        fits_pairs = abs(2 * codes.mean() - 1) > 2 * LEAST_IMBALANCE and len(codes) >= 2 * N_PAIRS + 2 * N_UNLABELED
        return [source(BINARY), source(PAIRS)] if fits_pairs else [source(BINARY)]
    served = {BINARY: EVEN_OR_ODD.get(name), PAIRS: POSITIVE_IN_PAIRS.get(name)}
    return [source(MULTICLASS), *(source(kind, positive) for kind, positive in served.items() if positive)]


def drawn(source: Source, *, seed: int, n: int, scaling: str, n_labeled: int | None = None) -> Split:
    """Return a split of a set: its rows in random order, `n` of them at most for training, and scaled by these.

    Parameters
    ----------
    source : Source
    seed : int
        Draws the order of the rows, and which ones are labeled.
    n : int
    scaling : str
        One of `SCALERS`.
    n_labeled : int, optional
        Default: what the kind of set says.
    """
    X, y = source.read()
    rng = np.random.default_rng([seed, zlib.crc32(source.name.encode())])
    order = rng.permutation(len(y))
    n_test = min(int(SHARE_TEST * len(y)), MOST_TEST)
    test, rest = order[:n_test], order[n_test:]
    if source.kind == PAIRS:
        train, seen = _pairs(y, rest, rng)
    else:
        train = rest[:n]
        seen = _hidden(y[train], _count(source.kind, len(train)) if n_labeled is None else n_labeled, rng)
    scaler = SCALERS[scaling]().fit(X[train].astype(float))
    points, others = (scaler.transform(X[rows].astype(float)) for rows in (train, test))
    return Split(points, seen, others, y[test], float(np.mean(y == 1)))


def _count(kind: str, n: int) -> int:
    """Return how many of n training points are labeled."""
    if kind == MULTICLASS:
        return int(SHARE_LABELED * n)
    return min(N_LABELED if kind == BINARY else N_LABELED_ORDINAL, n // 2)


def _hidden(y: NDArray, count: int, rng: np.random.Generator) -> NDArray:
    """Hide all labels but `count`: two of each class, which some methods cannot do without, and others at random."""
    order = rng.permutation(len(y))
    first = [order[y[order] == label][:LABELS_OF_EACH] for label in np.unique(y)]
    kept = np.unique(np.concatenate(first))
    others = order[~np.isin(order, kept)][: max(0, count - len(kept))]
    seen = np.full(len(y), -1)
    seen[kept], seen[others] = y[kept], y[others]
    return seen


def _pairs(y: NDArray, rows: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return the rows of similar pairs and of unlabeled points, and their pair ids."""
    share = float(np.mean(y == 1))
    left = {label: list(rows[y[rows] == label]) for label in (0, 1)}
    both_positive = rng.random(N_PAIRS) < share**2 / (share**2 + (1 - share) ** 2)
    members = [left[int(label)].pop() for label in np.repeat(both_positive, 2)]
    others = rng.permutation(np.concatenate([left[0], left[1]]).astype(int))[:N_UNLABELED]
    ids = np.concatenate([np.repeat(np.arange(N_PAIRS), 2), np.full(len(others), -1)])
    return np.concatenate([members, others]).astype(int), ids


def made(name: str, *, seed: int, n: int, n_labeled: int) -> Split:
    """Return points that nature did not make: as many columns as SUSY or HIGGS has, and about as hard.

    Half of the columns are skewed as energies are, half symmetric as angles. The logit of a point's class is a linear
    part, and cosines of a few directions and products of columns, which no linear method can have.
    """
    d, linear, curved = MADE[name]
    fixed = np.random.default_rng(zlib.crc32(name.encode()))  # the same law for every seed
    w, V = fixed.normal(size=d), fixed.normal(size=(d, 6)) / np.sqrt(d)
    w, first, second = w / np.linalg.norm(w), fixed.permutation(d)[:6], fixed.permutation(d)[:6]
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n + MADE_TEST, d), dtype=np.float32)
    logit = linear * (Z @ w) + curved * (np.cos(2.0 * Z @ V).mean(axis=1) + (Z[:, first] * Z[:, second]).mean(axis=1))
    y = (rng.random(len(Z)) < 1.0 / (1.0 + np.exp(-2.0 * (logit - np.median(logit))))).astype(int)
    Z[:, : d // 2] = np.exp(0.5 * Z[:, : d // 2])
    Z = (Z - Z[:n].mean(axis=0)) / Z[:n].std(axis=0)
    return Split(Z[:n], _hidden(y[:n], n_labeled, rng), Z[n:], y[n:])
