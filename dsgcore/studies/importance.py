"""Importance of a study's axes, and the score over two of them, by forests that learn the points' means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.studies.results import Results
from dsgcore.studies.study import Axis

FEWEST_POINTS = 20
# With more points, a random part of them is enough, and keeps the time below a second.
MOST_POINTS = 500
# Splits of the points into a part that a forest learns from and a held-out part, and shuffles in each split.
N_SPLITS, N_SHUFFLES, HELD_OUT = 10, 5, 0.3
N_TREES = 30
# Below this share of the held-out variance, a forest knows too little to tell which axis matters.
LEAST_FIT = 0.3
NO_FIT = (
    "The points do not tell. Forests explain {} of the variance of held-out points, and {} are needed. More points "
    "or more seeds can help."
)
GRID = 25


@dataclass(frozen=True, eq=False)
class Importance:
    """Permutation importance of the axes.

    Attributes
    ----------
    shares : ndarray of shape (splits, axes)
        Share of each axis in the loss of R² by shuffling, for each split. A row adds up to 1.
    fit : float
        Mean R² of the forests on the held-out points.
    n : int
        Number of points that have a value.
    """

    shares: NDArray[np.float64]
    fit: float
    n: int

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean share of each axis."""
        return self.shares.mean(axis=0)

    @property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest share of each axis, without the most extreme split on both sides; the mean is between."""
        ordered = np.sort(self.shares, axis=0)
        inside = ordered[1:-1] if len(ordered) > 2 else ordered
        return np.minimum(inside[0], self.mean), np.maximum(inside[-1], self.mean)


@dataclass(frozen=True, eq=False)
class Response:
    """Mean prediction of a forest over two axes, averaged over the points' values on the others.

    Attributes
    ----------
    across, up : tuple
        Values on the two axes.
    values : ndarray of shape (up, across)
    """

    across: tuple[Any, ...]
    up: tuple[Any, ...]
    values: NDArray[np.float64]


def importance(results: Results) -> Importance | str:
    """Return the permutation importance of a study's axes for a measure, or the reason why there is none.

    A forest learns the points' means from the axes' values, from a random part of the points. One axis' values are then
    shuffled among the held-out points. The loss of R² shows how much the forest needs that axis [1]_. This is repeated
    for several splits. Points without a value, such as diverged ones, are left out.

    References
    ----------
    .. [1] L. Breiman, "Random forests", Machine Learning 45, 2001; scikit-learn's `permutation_importance`.
    """
    X, y, reason = _learnable(results)
    if reason:
        return reason
    fit, losses = _split_losses(X, y)
    sums = losses.sum(axis=1, keepdims=True)
    if fit < LEAST_FIT or not sums.any():
        return NO_FIT.format(per_cent(max(fit, 0.0)), per_cent(LEAST_FIT))
    there = sums[:, 0] > 0
    return Importance(losses[there] / sums[there], fit, int(np.isfinite(results.mean).sum()))


def response(results: Results, across: int, up: int) -> Response | str:
    """Return a forest's mean prediction over two axes, given by their places, or the reason why there is none.

    It is the partial dependence of scikit-learn's `partial_dependence`: at each pair of values, the prediction is
    averaged over all points, with these two values in place of their own.
    """
    X, y, reason = _learnable(results)
    if reason:
        return reason
    fit, _ = _split_losses(X, y, n_shuffles=1)
    if fit < LEAST_FIT:
        return NO_FIT.format(per_cent(max(fit, 0.0)), per_cent(LEAST_FIT))
    axes = [results.study.axes[place] for place in (across, up)]
    values = [_grid(axis) for axis in axes]
    codes = [_codes(axis, own) for axis, own in zip(axes, values, strict=True)]
    asked = np.tile(X, (len(codes[0]) * len(codes[1]), 1))
    asked[:, up] = np.repeat(codes[1], len(codes[0]) * len(X))
    asked[:, across] = np.tile(np.repeat(codes[0], len(X)), len(codes[1]))
    predicted = _forest(0).fit(X, y).predict(asked).reshape(len(codes[1]), len(codes[0]), len(X))
    return Response(values[0], values[1], predicted.mean(axis=2))


def encoded(results: Results) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of the points that have a mean as numbers, of shape (points, axes), and their means."""
    known = np.isfinite(results.mean)
    points = [point for point, is_known in zip(results.points, known, strict=True) if is_known]
    axes = results.study.axes
    columns = [_codes(axis, [point[place] for point in points]) for place, axis in enumerate(axes)]
    return np.array(columns, dtype=np.float64).reshape(len(axes), len(points)).T, results.mean[known]


def _codes(axis: Axis, values: Any) -> NDArray[np.float64]:
    """Return values of an axis as numbers; words have the number of their place on the axis."""
    return np.array(values if _is_numbers(axis) else [axis.values.index(value) for value in values], dtype=np.float64)


def _is_numbers(axis: Axis) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in axis.values)


def _grid(axis: Axis) -> tuple[Any, ...]:
    """Return the values of an axis for a response: its own, or evenly spread ones if there are many numbers."""
    own = tuple(dict.fromkeys(axis.values))
    if not _is_numbers(axis) or len(own) <= GRID:
        return tuple(sorted(own)) if _is_numbers(axis) else own
    spread = np.geomspace if min(own) > 0 and max(own) / min(own) > GRID else np.linspace
    return tuple(spread(float(min(own)), float(max(own)), GRID).tolist())


def _learnable(results: Results) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Return the points that forests learn from, or why they say too little about the axes."""
    (X, y), reason = encoded(results), ""
    if len(results.study.axes) < 2:
        reason = "With one slider there is nothing to compare. Vary two or more."
    elif len(y) < FEWEST_POINTS:
        reason = f"There are too few points: {len(y)} have a value, and {FEWEST_POINTS} are needed."
    elif np.ptp(y) == 0.0:
        reason = "All points have the same value."
    if len(y) <= MOST_POINTS:
        return X, y, reason
    places = np.random.default_rng(0).choice(len(y), MOST_POINTS, replace=False)
    return X[places], y[places], reason


def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesRegressor  # here, because it takes a second to import

    return ExtraTreesRegressor(N_TREES, random_state=seed)


def _split_losses(X: NDArray, y: NDArray, n_shuffles: int = N_SHUFFLES) -> tuple[float, NDArray]:
    """Return the mean R² of forests on held-out points, and its losses, at least 0, by shuffling: (splits, axes)."""
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    fits, losses = [], []
    for seed in range(N_SPLITS):
        X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=HELD_OUT, random_state=seed)
        forest = _forest(seed).fit(X_fit, y_fit)
        found = permutation_importance(forest, X_held, y_held, n_repeats=n_shuffles, random_state=seed)
        fits.append(forest.score(X_held, y_held))
        losses.append(found.importances_mean)
    return float(np.mean(fits)), np.maximum(losses, 0.0)
