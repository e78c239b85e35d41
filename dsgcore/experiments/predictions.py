"""Predicted classes of a run, with thresholds from its labeled points."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.classes import share_threshold
from dsgcore.estimators.inputs import POINTS_CUT
from dsgcore.experiments.run import Run
from dsgcore.problems.thresholds import classify, thresholds


def predicted_classes(run: Run, values: NDArray) -> NDArray[np.int64]:
    """Return the code of the predicted class, int64 (n,), for these values of a run's result.

    Parameters
    ----------
    run : Run
        A run that has begun.
    values : ndarray of shape (n,), or (n, K) for classes without an order

    Notes
    -----
    The estimators use the same rules:

    - Classes without an order: the class with the highest score.
    - Ordered classes: the thresholds from the labeled points.
    - AUC: a threshold that gives the training points the share of positives among the labeled points.
    - Other settings: positive above 0.
    """
    decision = run.problem.decision
    if decision == "highest":
        return values.argmax(axis=1)
    y, f = run.split.y_train[run.labeled_rows], run.result_labeled_values
    if decision == "ranks":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for thresholds that coincide: the map shows this
            return classify(values, thresholds(y, f, margin=0.0))
    if decision == "cut":
        return (values > share_threshold(_some_values(run), float(np.mean(y)))).astype(np.int64)
    return (values + run.result_shift >= 0).astype(np.int64)


def right_test_points(run: Run) -> NDArray[np.bool_]:
    """Return True for each test point whose predicted class is its true class; `run` has begun."""
    right: NDArray[np.bool_] = predicted_classes(run, run.result_test_values) == run.split.y_test
    return right


def _some_values(run: Run) -> NDArray:
    """Return the result's values at points like future ones, a share of which is to be positive."""
    if run.spec.solver.average is not None:
        X = run.split.X_train
        return run.result_at(X[evenly_spread(len(X), POINTS_CUT)])
    every = run.test_values if run.training_values is None else run.training_values
    return every[evenly_spread(len(every), POINTS_CUT)]
