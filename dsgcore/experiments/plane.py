"""A plane through the data, to look at a function of many coordinates: where points fall on it, and a grid of points on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.expansion import Expansion

MARGIN = 0.06
# Enough rows for two stable principal axes.
MAX_ROWS_FOR_AXES = 5000


@dataclass(frozen=True, eq=False)
class Plane:
    """The points origin + a * axes[0] + b * axes[1].

    Attributes
    ----------
    origin : ndarray of shape (d,)
    axes : ndarray of shape (2, d)
        Orthonormal.
    low, high : ndarray of shape (2,)
        The rectangle that holds the data, with a margin.
    names : tuple of two str
        What the two coordinates are.
    """

    origin: NDArray
    axes: NDArray
    low: NDArray
    high: NDArray
    names: tuple[str, str]

    @classmethod
    def through(cls, X: NDArray) -> Plane:
        """Return the plane of two-dimensional points itself; for more coordinates, that of the first two principal axes."""
        d = X.shape[1]
        if d <= 2:
            origin, axes = np.zeros(d), np.eye(2, d)
            names = ("x₁", "x₂")
        else:
            with single_threaded_blas():  # several threads take longer for so little, and disturb the other sessions
                pca = PCA(n_components=2, svd_solver="full").fit(X[:MAX_ROWS_FOR_AXES])
            origin, axes = pca.mean_, pca.components_
            names = ("first principal axis", "second principal axis")
        xy = (X - origin) @ axes.T
        low, high = xy.min(axis=0), xy.max(axis=0)
        margin = MARGIN * np.maximum(high - low, 1e-6)
        return cls(origin, axes, low - margin, high + margin, names)

    def project(self, X: NDArray) -> NDArray:
        """Return the coordinates on the plane of the points nearest to the rows of `X`, of shape (n, 2)."""
        return (X - self.origin) @ self.axes.T

    def grid(self, size: int) -> NDArray:
        """Return size * size points of the plane, of shape (size^2, d), row by row from the lower left."""
        a, b = (np.linspace(self.low[i], self.high[i], size) for i in range(2))
        xy = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
        return self.origin + xy @ self.axes

    def spacing(self, size: int) -> NDArray:
        """Return the distance between neighbouring grid points along both axes."""
        return (self.high - self.low) / (size - 1)


class Surface:
    """f on a grid of the plane, brought up to date only when it is looked at."""

    def __init__(self, points: NDArray, model: Expansion) -> None:
        self.points = np.ascontiguousarray(points, dtype=model.dtype)
        self._restart()

    def _restart(self) -> None:
        self.t = 0
        self.values_now = np.zeros(len(self.points), dtype=self.points.dtype)

    def values(self, model: Expansion) -> NDArray:
        """Return f at the grid points now, adding the blocks that are new since the last look."""
        if len(model) < self.t:  # the run went back to its last good state
            self._restart()
        model.update(self.values_now, self.points, self.t, len(model))
        self.t = len(model)
        return self.values_now
