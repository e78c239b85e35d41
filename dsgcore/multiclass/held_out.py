"""How much a ridge is to count, as labels say that are held out: of logistic regressions on the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from dsgcore.core.sampling import evenly_spread

# What the usual ridge may be multiplied by, about the square root of ten apart.
FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
FOLDS = 4
# At so many labels and coordinates of them it is looked at: with more labels the ridge matters less.
MOST_LABELS, FEWEST_LABELS, MOST_NUMBERS = 600, 200, 200_000
# A choice between factors that lie far apart needs no more.
TOLERANCE, MOST_STEPS = 1e-2, 60


def held_out_factor(X: NDArray, y: NDArray, usual: float) -> float:
    """Return the factor of the usual ridge that labels which were held out ask for; 1 where they do not say so clearly.

    Going downhill from 1, the one with the smallest mean loss; between it and 1 the nearest to 1 whose loss is no more than
    one standard error above, paired over the points; and 1 where that makes fewer mistakes.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Labeled points.
    y : ndarray of shape (n,)
        Their classes.
    usual : float
        The ridge times n, where the mean loss over n points plus the ridge times the weights' square is minimised.
    """
    rows = evenly_spread(len(y), int(np.clip(MOST_NUMBERS // X.shape[1], FEWEST_LABELS, MOST_LABELS)))
    # So that the usual ridge is half of the weights' square, whatever the points' unit.
    points, labels = (X[rows] - X[rows].mean(axis=0)) / np.sqrt(2.0 * usual), y[rows]
    if len(rows) < 2 * FOLDS:
        return 1.0
    folds = [fold for fold in KFold(FOLDS, shuffle=True, random_state=0).split(points) if _is_fit(labels, *fold)]
    if not folds:
        return 1.0

    @cache
    def held_out(place: int) -> tuple[NDArray, int]:
        said = [_losses(points, labels, train, held, 1.0 / FACTORS[place]) for train, held in folds]
        return np.concatenate([losses for losses, _ in said]), sum(mistakes for _, mistakes in said)

    usual_place = FACTORS.index(1.0)
    place = _nearest(usual_place, _downhill(usual_place, lambda p: held_out(p)[0].mean()), lambda p: held_out(p)[0])
    return FACTORS[place] if held_out(place)[1] <= held_out(usual_place)[1] else 1.0


def _downhill(place: int, height: Callable[[int], float]) -> int:
    """Return the place that is not above its neighbours, going from one to the lower one."""
    while True:
        best = min((p for p in (place, place - 1, place + 1) if 0 <= p < len(FACTORS)), key=height)
        if best == place:
            return place
        place = best


def _nearest(usual: int, best: int, losses: Callable[[int], NDArray]) -> int:
    """Return the place nearest to the usual one, on the way to the best, that is not clearly above the latter."""
    for place in range(usual, best, 1 if best > usual else -1):
        above = losses(place) - losses(best)
        if above.mean() <= above.std(ddof=1) / np.sqrt(len(above)):
            return place
    return best


def _is_fit(y: NDArray, train: NDArray, held: NDArray) -> bool:
    """Whether there are classes to be told apart, and some of them held out."""
    return len(np.unique(y[train])) > 1 and bool(np.isin(y[held], y[train]).any())


def _losses(X: NDArray, y: NDArray, train: NDArray, held: NDArray, C: float) -> tuple[NDArray, int]:
    """Return the logistic losses of the points held out, but those of classes that were not seen, and the mistakes in them."""
    model = LogisticRegression(C=C, tol=TOLERANCE, max_iter=MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    held = held[np.isin(y[held], model.classes_)]
    chances = model.predict_log_proba(X[held])
    right = np.searchsorted(model.classes_, y[held])
    return -chances[np.arange(len(held)), right], int(np.count_nonzero(chances.argmax(axis=1) != right))
