"""Shared parts of the tests of data sets: random sets, common properties, and the number of examples."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from dsgcore.data import Dataset

seeds = st.integers(0, 2**32 - 1)
few_examples = settings(max_examples=25, deadline=None)  # the machine may be busy


def assert_well_formed(data: Dataset) -> None:
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.y.dtype == np.int64
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(np.unique(data.y)) == set(range(len(data.class_names)))
    assert np.isfinite(data.X).all()


def labeled_data(counts: list[int], d: int = 3, seed: int = 0) -> Dataset:
    """Return random points with given class counts, sorted by class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = (rng.standard_normal((len(y), d)) * 50 + 7).astype(np.float32)
    names = tuple(f"x{j}" for j in range(d))
    return Dataset("made", X, y, names, tuple("abcdefgh"[: len(counts)]), "test", "none")


def similar_pairs(prior, n_pairs=150, n_unlabeled=400, seed=0):
    """Draw unlabeled points with their hidden classes, and similar pairs, as learning from pairs assumes them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_unlabeled) < prior).astype(int)
    of_pair = (rng.random(n_pairs) < prior**2 / (prior**2 + (1 - prior) ** 2)).astype(int)
    points = rng.normal(size=(n_unlabeled, 2)) + 3.0 * y[:, None]
    return points, y, rng.normal(size=(n_pairs, 2, 2)) + 3.0 * of_pair[:, None, None]
