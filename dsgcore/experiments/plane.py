"""Plane through the data, on which a function of many coordinates is drawn: projections of points, and a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from dsgcore.core.threads import single_threaded_blas
from dsgcore.solver.model import Expansion

MARGIN = 0.06
PRINCIPAL_AXES = ("first principal axis", "second principal axis")
# Enough rows for two stable principal axes.
MAX_ROWS_FOR_AXES = 5000


@dataclass(frozen=True, eq=False)
class Plane:
    """Two coordinates, a = axes[0] . (x - origin) and b = axes[1] . (x - origin), and the plane that they span.

    Attributes
    ----------
    origin : ndarray of shape (d,)
    axes : ndarray of shape (2, d)
    low, high : ndarray of shape (2,)
        The rectangle that holds the data, with a margin. For two-dimensional points it is a square.
    names : tuple of two str
        The names of the two coordinates.
    """

    origin: NDArray
    axes: NDArray
    low: NDArray
    high: NDArray
    names: tuple[str, str]

    @classmethod
    def through(cls, X: NDArray, features: Sequence[int | None] = (None, None), names: Sequence[str] = ()) -> Plane:
        """Return a plane through points: their own if they are two-dimensional, otherwise that of two coordinates.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        features : sequence of two int or None
            The column of each coordinate. None: a principal axis of the columns, each scaled by its range.
        names : sequence of str
            Names of the columns.

        Returns
        -------
        Plane
        """
        d = X.shape[1]
        if d <= 2:
            return cls._around(X, np.zeros(d), np.eye(2, d), ("x₁", "x₂"), is_square=True)
        named = tuple(p if f is None else names[f] for p, f in zip(PRINCIPAL_AXES, features, strict=True))
        principal = _principal_axes(X[:MAX_ROWS_FOR_AXES]) if None in features else np.zeros((2, d))
        axes = np.stack([p if f is None else np.eye(1, d, f)[0] for p, f in zip(principal, features, strict=True)])
        return cls._around(X, X[:MAX_ROWS_FOR_AXES].mean(axis=0), axes, (named[0], named[1]))

    @classmethod
    def _around(
        cls, X: NDArray, origin: NDArray, axes: NDArray, names: tuple[str, str], *, is_square: bool = False
    ) -> Plane:
        xy = (X - origin) @ axes.T
        low, high = xy.min(axis=0), xy.max(axis=0)
        width = np.maximum(high - low, 1e-6)
        half = (0.5 + MARGIN) * (width.max() if is_square else width)
        return cls(origin, axes, (low + high) / 2 - half, (low + high) / 2 + half, names)

    def project(self, X: NDArray) -> NDArray:
        """Return the coordinates, of shape (n, 2), of the points of the plane that are nearest to the rows of `X`."""
        return (X - self.origin) @ self.axes.T

    def grid(self, size: int) -> NDArray:
        """Return size * size points of the plane, of shape (size^2, d), row by row from the lower left."""
        a, b = (np.linspace(self.low[i], self.high[i], size) for i in range(2))
        xy = np.stack(np.meshgrid(a, b), axis=-1).reshape(-1, 2)
        return self.origin + xy @ np.linalg.pinv(self.axes).T


def _principal_axes(X: NDArray) -> NDArray:
    """Return the first two principal axes, of shape (2, d), of columns scaled by their range.

    Columns with two values are ignored if there are others. Otherwise the columns of categories would dominate, and the
    points would fall on a few dots.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    is_two_valued = ((low == X) | (high == X)).all(axis=0)
    is_used = ~is_two_valued if (~is_two_valued).sum() >= 2 else high > low
    scale = np.where(is_used, 1 / np.where(high > low, high - low, 1), 0)
    with single_threaded_blas():  # several threads are slower for such small work, and disturb other sessions
        return PCA(n_components=2, svd_solver="full").fit(X * scale).components_ * scale


class Surface:
    """f on a grid of the plane, updated only when it is needed."""

    def __init__(self, points: NDArray, model: Expansion) -> None:
        self.points = np.ascontiguousarray(points, dtype=model.dtype)
        self._restart()

    def _restart(self) -> None:
        self.t = 0
        self.values_now = np.zeros(len(self.points), dtype=self.points.dtype)

    def values(self, model: Expansion) -> NDArray:
        """Return f at the grid points now; add the blocks that are new since the last call."""
        if len(model) < self.t:  # the run went back to its last good state
            self._restart()
        model.update(self.values_now, self.points, self.t, len(model))
        self.t = len(model)
        return self.values_now
