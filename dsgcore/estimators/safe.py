"""Safe scores: the mean of a method's and a linear model's, unless held-out labels clearly prefer one of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.documented import described
from dsgcore.core.logistic import Fold, held_out_scores
from dsgcore.core.metrics import accuracy_error, auc_error
from dsgcore.core.parameters import Flag
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.out_of_core import POINTS_CUT, TrainingValues, validated_points
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import Task

SAFE = Flag("safe", True)
# Labels for the choice, and for the linear model. With more labels both change little.
MOST_OF_CHOICE, MOST_LABELS = 600, 5000
FOLDS = 5
# The SVM that stands for a method with a hinge loss.
COST, MOST_STEPS = 5.0, 20_000
# Values at each fold's held-out rows, of models that learn from its training rows: (n_held,) or (n_held, K).
Values = Callable[[Sequence[Fold]], list[NDArray]]


class Parts(NamedTuple):
    """Factors of the method's own values and of the linear model's values in the score."""

    own: float
    linear: float

    def of(self, own: NDArray, linear: NDArray) -> NDArray:
        """Return the score from both values."""
        return self.own * own + self.linear * linear

    def per(self, own: NDArray, linear: NDArray) -> Parts:
        """Return the factors for values with these spreads, so that the score has the units of the own ones."""
        return Parts(self.own, self.linear * spread(own) / spread(linear))


OWN, MEAN, LINEAR = Parts(1.0, 0.0), Parts(0.5, 0.5), Parts(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Companion:
    """Linear model beside a method, and the factors of the two.

    Attributes
    ----------
    machine : object
        scikit-learn's linear model on the labeled points, with its scaling.
    parts : Parts
        The linear factor converts to the units of the method's values.
    """

    machine: Any
    parts: Parts

    def score(self, f: NDArray, X: NDArray) -> NDArray:
        """Return the scores of points (n, d) at which the method has the values f, (n,) or (n, K)."""
        return self.parts.of(f, linear_values(self.machine, X)) if self.parts.linear else f


@dataclass(eq=False, repr=False, kw_only=True)
class SafeParameters:
    """The parameter of a safe estimator.

    Parameters
    ----------
    safe
        Score points by the mean of the method's values and those of a linear model on the labels, each divided by its
        spread. The linear model is a logistic regression, or for ordered classes a ridge regression of their numbers.
        If held-out labels clearly prefer one of the two, it is used alone. With few labels, on data where the method
        does not suit, this avoids losing to a linear model. False gives the method as it is.

    Attributes
    ----------
    companion_ : object or None
        The linear model as `machine`, and as `parts` the factors of the method's and of its values. None if `safe` is
        False, and after `partial_fit`.
    """

    safe: bool = described(True, "True or False")


@dataclass(eq=False, repr=False, kw_only=True)
class SafeEstimator(SafeParameters, FunctionalGradientEstimator):
    """Base class of the solver's estimators whose score is safe by default."""

    is_ranking: ClassVar[bool] = False

    def _learn(self, X: NDArray, classes: NDArray, codes: NDArray, model: Expansion | None) -> Self:
        SAFE.check(self.safe)  # check before training
        return super()._learn(X, classes, codes, model)

    def _choose(self, task: Task, codes: NDArray) -> HeldOut | None:
        return self._held_out(task, codes) if self.safe and not self._is_part else None

    def _is_used(self, choice: HeldOut | None) -> bool:
        return not self.safe or choice is None or choice.preferred.own > 0.0

    def _place(self, task: Task, codes: NDArray, values: TrainingValues, choice: HeldOut | None) -> None:
        self.companion_: Companion | None = None
        if self.safe and choice is not None:
            self.companion_ = self._companion(task, codes, values, choice.preferred)

    def _companion(self, task: Task, codes: NDArray, values: TrainingValues, parts: Parts) -> Companion:
        rows = labeled_rows(codes, MOST_LABELS)
        some = evenly_spread(len(codes), POINTS_CUT)
        with single_threaded_blas():  # the same result for any number of threads
            machine = fitted(linear(is_ordered=self.is_ordered), np.asarray(task.X[rows], dtype=float), codes[rows])
            return Companion(machine, parts.per(values.at(some), linear_values(machine, np.asarray(task.X[some]))))

    def _held_out(self, task: Task, codes: NDArray) -> HeldOut:
        """Return both models' values at held-out labels. The unlabeled points have no part in it."""
        rows = labeled_rows(codes, MOST_OF_CHOICE)
        X, y = np.asarray(task.X[rows], dtype=float), codes[rows]
        with single_threaded_blas():
            K = task.kernel.matrix(X, X)

            def own(folds: Sequence[Fold]) -> list[NDArray]:
                return [_own_values(task, K[np.ix_(t, t)], y[t], K[np.ix_(held, t)]) for t, held in folds]

            return held_out(y, own, linear_on(X, y, is_ordered=self.is_ordered), is_ranking=self.is_ranking)

    @property
    def _own_part(self) -> float:
        """The factor of the method's own values."""
        return 1.0 if self.companion_ is None else self.companion_.parts.own

    def _scores(self, task: Task, values: TrainingValues, rows: NDArray) -> NDArray:
        """Return the scores of training points, before the decision threshold."""
        f = values.at(rows)
        return f if self.companion_ is None else self.companion_.score(f, task.X[rows])

    def _values(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "model_")
        companion = self.companion_
        if companion is None or not companion.parts.linear:
            return super()._values(X)
        points = validated_points(self, X)
        # A linear model that is used alone needs no other values.
        f = super()._values(X) if companion.parts.own else np.zeros(len(points), dtype=self.model_.dtype)
        return companion.score(f, points).astype(f.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Values of two models at labels that they have not seen; empty if the labels or the equations do not allow it.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Class codes.
    own, linear : ndarray of shape (n,) or (n, K)
        Values of the method and of the linear model.
    is_ranking : bool
        True if the mean AUC decides between them, False for the accuracy.
    """

    y: NDArray
    own: NDArray
    linear: NDArray
    is_ranking: bool

    @cached_property
    def preferred(self) -> Parts:
        """The model that the held-out labels clearly prefer to the mean of both; the mean if neither.

        "Clearly" is by more than one standard error of the paired difference, over the held-out points.
        """
        if not len(self.y):
            return MEAN
        mean = self.score(MEAN)
        gain_of = _auc_gain if self.is_ranking else _accuracy_gain
        gains = [(*gain_of(self.y, values, mean), parts) for values, parts in ((self.own, OWN), (self.linear, LINEAR))]
        gain, error, parts = max(gains, key=lambda one: one[0])
        return parts if gain > error else MEAN

    def score(self, parts: Parts) -> NDArray:
        """Return the score for some factors, in the units of the own values."""
        return parts.per(self.own, self.linear).of(self.own, self.linear)


def held_out(y: NDArray, own: Values, linear: Values, *, is_ranking: bool) -> HeldOut:
    """Return the values of two models at held-out labels y (n,). Each class needs two labels."""
    counts = np.bincount(y)
    nothing = HeldOut(y[:0], np.empty(0), np.empty(0), is_ranking)
    if np.count_nonzero(counts) < 2 or counts[counts > 0].min() < 2:
        return nothing
    folds = StratifiedKFold(min(FOLDS, int(counts.max())), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer labels than folds
        pairs = list(folds.split(y, y))
    try:
        both = own(pairs), linear(pairs)
    except np.linalg.LinAlgError:  # huge kernel values
        return nothing
    order = np.argsort(np.concatenate([held for _, held in pairs]))
    ours, theirs = (np.concatenate(parts)[order] for parts in both)
    return HeldOut(y, ours, theirs, is_ranking) if np.isfinite(ours).all() else nothing


def labeled_rows(codes: NDArray, most: int) -> NDArray:
    """Return the labeled rows, or as many of them, evenly spread."""
    labeled = np.flatnonzero(codes != UNLABELED)
    return labeled[evenly_spread(len(labeled), most)]


def _own_values(task: Task, K: NDArray, y: NDArray, outside: NDArray) -> NDArray:
    """Return the values at other points of the method's exact minimiser on the labels alone.

    `K` (n, n) is the kernel matrix of the labeled points, and `outside` (m, n) that of the other points with
    them. A hinge loss has no closed form, so an SVM with scikit-learn's solver replaces it.
    """
    problem = task.problem.baseline().bind(y)
    quadratic = problem.quadratic(problem.rows(y), len(y))
    if quadratic is not None:
        return outside @ np.linalg.solve(quadratic[0] @ K + task.plan.lam * np.eye(len(y)), -quadratic[1])
    size = float(np.mean(np.diagonal(K))) or 1.0
    machine = fitted(SVC(C=COST, kernel="precomputed", max_iter=MOST_STEPS), K / size, y)
    return machine.decision_function(outside / size)


def _auc_gain(y: NDArray, values: NDArray, mean: NDArray) -> tuple[float, float]:
    """Return the gain in mean AUC, and its standard error."""
    return mean_auc(y, values) - mean_auc(y, mean), auc_error(y, values, mean)


def _accuracy_gain(y: NDArray, values: NDArray, mean: NDArray) -> tuple[float, float]:
    """Return the gain in accuracy, and its standard error."""
    hits, others = (_predicted(scores) == y for scores in (values, mean))
    return float(hits.mean() - others.mean()), accuracy_error(hits, others)


def _predicted(scores: NDArray) -> NDArray:
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def linear(*, is_ordered: bool = False) -> Any:
    """Return the unfitted linear model, with its scaling."""
    return make_pipeline(StandardScaler(), Ridge() if is_ordered else LogisticRegression(max_iter=200))


def linear_on(X: NDArray, y: NDArray, *, is_ordered: bool = False) -> Values:
    """Return the linear model's values at held-out rows of points (n, d), scaled by all of them."""
    points = StandardScaler().fit_transform(X)
    if is_ordered:
        return lambda folds: [_ridge_values(points[train], y[train], points[held]) for train, held in folds]
    return lambda folds: held_out_scores(points, y, folds, ridge=1.0)


def _ridge_values(X: NDArray, y: NDArray, others: NDArray) -> NDArray:
    """Return the values at other points of a ridge regression as scikit-learn's."""
    centre = X.mean(axis=0)
    moments = (X - centre).T @ (X - centre) + np.eye(X.shape[1])
    return (others - centre) @ np.linalg.solve(moments, (X - centre).T @ (y - y.mean())) + y.mean()


def linear_values(machine: Any, X: NDArray) -> NDArray:
    """Return the values of a fitted linear model at points (n, d), of shape (n,) or (n, K)."""
    return machine.predict(X) if is_regressor(machine) else machine.decision_function(X)


def fitted(machine: Any, X: NDArray, y: NDArray) -> Any:
    """Fit a model, and return it. A rough solution suffices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(X, y)


def spread(values: NDArray) -> float:
    """Return the standard deviation of values (n,), or of those (n, K) less their row means; 1 instead of 0."""
    centred = values if values.ndim == 1 else values - values.mean(axis=1, keepdims=True)
    return float(np.std(centred, dtype=float)) or 1.0
