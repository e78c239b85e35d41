"""Factor of the ridge chosen by held-out labels, with logistic regressions on the other labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from dsgcore.core.sampling import evenly_spread
from dsgcore.solver.logistic import FoldRegressions

# Candidate factors of the usual ridge, about the square root of ten apart.
FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 4
# Most labels and coordinates used for the choice. With more labels the ridge matters less.
MOST_LABELS, FEWEST_LABELS, MOST_NUMBERS = 600, 200, 200_000


def held_out_factor(X: NDArray, y: NDArray, usual: float) -> float:
    """Return the factor of the usual ridge that held-out labels clearly favour; 1 if none is clearly better.

    The search goes downhill from 1 to the smallest mean loss. Between that factor and 1 it takes the one nearest to 1
    whose loss is at most one standard error higher, paired over the points. It returns 1 if the result makes more
    mistakes than 1.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labeled points.
    y : ndarray of shape (n,)
        Their classes.
    usual : float
        The ridge times n, for an objective of the mean loss over n points plus the ridge times the squared weights.
    """
    rows = evenly_spread(len(y), most_labels(X.shape[1]))
    # Scale the points so that the usual ridge is half of the squared weights, for any unit of the points.
    points, labels = (X[rows] - X[rows].mean(axis=0)) / np.sqrt(2.0 * usual), y[rows]
    if len(rows) < 2 * FOLDS:
        return 1.0
    folds = [fold for fold in KFold(FOLDS, shuffle=True, random_state=0).split(points) if _is_fit(labels, *fold)]
    if not folds:
        return 1.0

    regressions = FoldRegressions(points, labels, folds)

    @cache
    def held_out(place: int) -> tuple[NDArray, int]:
        said = _losses(labels, folds, regressions.scores(FACTORS[place]))
        return np.concatenate([losses for losses, _ in said]), sum(mistakes for _, mistakes in said)

    usual_place = FACTORS.index(1.0)
    place = _nearest(usual_place, _downhill(usual_place, lambda p: held_out(p)[0].mean()), lambda p: held_out(p)[0])
    return FACTORS[place] if held_out(place)[1] <= held_out(usual_place)[1] else 1.0


def most_labels(d: int) -> int:
    """Return the number of labels that a choice uses, for points with d coordinates."""
    return int(np.clip(MOST_NUMBERS // d, FEWEST_LABELS, MOST_LABELS))


def _downhill(place: int, height: Callable[[int], float]) -> int:
    """Return the place of a local minimum, by moving from `place` upwards, or downwards if the first place up is higher."""
    for way in 1, -1:
        best = place
        while 0 <= best + way < len(FACTORS) and height(best + way) < height(best):
            best += way
        if best != place:
            return best
    return place


def _nearest(usual: int, best: int, losses: Callable[[int], NDArray]) -> int:
    """Return the place nearest to the usual one, on the way to the best, whose losses are not clearly above the best's."""
    for place in range(usual, best, 1 if best > usual else -1):
        above = losses(place) - losses(best)
        if above.mean() <= above.std(ddof=1) / np.sqrt(len(above)):
            return place
    return best


def _is_fit(y: NDArray, train: NDArray, held: NDArray) -> bool:
    """Return True if the training labels have several classes, and some held-out labels are of these classes."""
    return len(np.unique(y[train])) > 1 and bool(np.isin(y[held], y[train]).any())


def _losses(y: NDArray, folds: list[tuple[NDArray, NDArray]], of_folds: list[NDArray]) -> list[tuple[NDArray, int]]:
    """Return each fold's losses from the held-out points' scores, and the number of mistakes; unseen classes do not count."""
    classes, codes = np.unique(y, return_inverse=True)
    found = []
    for (train, held), scores in zip(folds, of_folds, strict=True):
        if len(classes) == 2:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        seen = np.isin(codes[held], codes[train])
        right, scores = codes[held][seen], scores[seen]
        losses = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(right)), right]
        found.append((losses, int(np.count_nonzero(scores.argmax(axis=1) != right))))
    return found
