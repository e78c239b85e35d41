"""Similar pairs and unlabeled points of two of the sets of `similar_unlabeled_real.md`, as its script drew them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of
from sklearn.preprocessing import normalize


@dataclass(frozen=True, eq=False)
class Sample:
    """Members of similar pairs, two after two, unlabeled points, and test points with their classes in {0, 1}."""

    similar: NDArray
    unlabeled: NDArray
    test: NDArray
    classes: NDArray
    prior: float


def load(name: str) -> tuple[NDArray, NDArray]:
    """Return the points, scaled to [0, 1] (images: to length 1), and whether each is of the class 1."""
    arrays = arrays_of(name.removesuffix("-unit"))
    X, y = arrays["X"].astype(np.float32), arrays["y"] == 1
    if name.endswith("-unit"):
        return np.ascontiguousarray(normalize(X / X.max())), y.astype(int)
    width = np.ptp(X, axis=0)
    return np.ascontiguousarray((X - X.min(axis=0)) / np.where(width > 0, width, 1)), y.astype(int)


def draw(X: NDArray, y: NDArray, n_unlabeled: int, n_pairs: int, seed: int) -> Sample:
    """Draw disjoint test points, unlabeled points and similar pairs, each with its expected share of positives."""
    order, prior = np.random.default_rng(seed).permutation(len(y)), float(y.mean())
    left = {c: order[y[order] == c] for c in (1, 0)}

    def take(n: int, share: float) -> NDArray:
        counts = {1: round(n * share), 0: n - round(n * share)}
        taken = np.concatenate([left[c][: counts[c]] for c in left])
        left.update({c: left[c][counts[c] :] for c in left})
        return taken

    test, unlabeled = take(n_unlabeled // 3, prior), take(n_unlabeled, prior)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    n_fitting = int(min(len(left[1]) / share, len(left[0]) / (1 - share))) // 2 - 1
    # Both members of a pair are of one class: an even number of each.
    n_positive = 2 * round(min(n_pairs, n_fitting) * share)
    similar = np.concatenate([left[1][:n_positive], left[0][: 2 * min(n_pairs, n_fitting) - n_positive]])
    return Sample(X[similar], X[unlabeled], X[test], y[test], prior)
