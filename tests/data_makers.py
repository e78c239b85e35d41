"""Unlabeled points and similar pairs, drawn as learning from pairs assumes them."""

import numpy as np


def similar_pairs(prior, n_pairs=150, n_unlabeled=400, seed=0):
    """Draw unlabeled points with their hidden classes, and similar pairs, as learning from pairs assumes them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_unlabeled) < prior).astype(int)
    of_pair = (rng.random(n_pairs) < prior**2 / (prior**2 + (1 - prior) ** 2)).astype(int)
    points = rng.normal(size=(n_unlabeled, 2)) + 3.0 * y[:, None]
    return points, y, rng.normal(size=(n_pairs, 2, 2)) + 3.0 * of_pair[:, None, None]
