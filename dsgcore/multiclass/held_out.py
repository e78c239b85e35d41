"""How much a ridge is to count, as labels say that are held out: of logistic regressions on the others."""

from __future__ import annotations

import warnings
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
    """Return the factor of the usual ridge with the smallest loss at labels that were held out, going downhill from 1.

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

    @cache
    def loss(place: int) -> float:
        return sum(_loss(points, labels, train, held, 1.0 / FACTORS[place]) for train, held in folds)

    place, inside = FACTORS.index(1.0), range(len(FACTORS))
    while folds:
        best = min((p for p in (place, place - 1, place + 1) if p in inside), key=loss)
        if best == place:
            break
        place = best
    return FACTORS[place]


def _is_fit(y: NDArray, train: NDArray, held: NDArray) -> bool:
    """Whether there are classes to be told apart, and some of them held out."""
    return len(np.unique(y[train])) > 1 and bool(np.isin(y[held], y[train]).any())


def _loss(X: NDArray, y: NDArray, train: NDArray, held: NDArray, C: float) -> float:
    """Return the mean logistic loss of the points held out, but those of classes that were not seen."""
    model = LogisticRegression(C=C, tol=TOLERANCE, max_iter=MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    held = held[np.isin(y[held], model.classes_)]
    chances = model.predict_log_proba(X[held])
    return -float(np.mean(chances[np.arange(len(held)), np.searchsorted(model.classes_, y[held])]))
