"""The four estimators that the solver trains, made small, points with few labels, and similar pairs."""

import numpy as np
from sklearn.datasets import make_moons

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU

FOUR = (QSGS2AUC, TSGSU, TSGS3VM, QS3ORAO)
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "tol": None, "random_state": 0}


def make(cls=QSGS2AUC, **parameters):
    """Make an estimator that learns from class labels; what is not given is small."""
    of_classes = {"y_holds": "classes", "prior": 0.7} if cls is TSGSU else {}
    return cls(**{**SMALL, **of_classes, **parameters})


def same(one, other):
    """Fail unless two models are bit-for-bit identical."""
    assert one.decays == other.decays
    assert all(np.array_equal(a, b) for a, b in zip(one.blocks, other.blocks, strict=True))


def moons_with_few_labels(n=300, noise=0.15, n_labeled=40):
    """Return points, their classes, and the classes of the first ones with -1 for the others."""
    X, y = make_moons(n, noise=noise, random_state=0)
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def similar_pairs(prior, n_pairs=150, n_unlabeled=400, seed=0):
    """Draw unlabeled points with their hidden classes, and similar pairs, as learning from pairs assumes them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_unlabeled) < prior).astype(int)
    of_pair = (rng.random(n_pairs) < prior**2 / (prior**2 + (1 - prior) ** 2)).astype(int)
    points = rng.normal(size=(n_unlabeled, 2)) + 3.0 * y[:, None]
    return points, y, rng.normal(size=(n_pairs, 2, 2)) + 3.0 * of_pair[:, None, None]
