"""Safe scores: the mean of a method's, a linear model's and a neighbour graph's, weighted by held-out labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.documented import described
from dsgcore.core.folds import Fold, stratified_folds
from dsgcore.core.parameters import Flag
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.likelihood import likeliest_weights, log_shares
from dsgcore.estimators.neighbours import Graph, Neighbours, graph_rows, labeled_rows, threshold_rows
from dsgcore.estimators.out_of_core import TrainingValues, validated_points
from dsgcore.estimators.scaled import at_scaled, scaled, scaler_of
from dsgcore.problems.thresholds import mean_auc
from dsgcore.solver.logistic import held_out_scores, logistic_weights
from dsgcore.solver.model import Expansion
from dsgcore.solver.near_risks import MARGIN_ERROR, shares
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import Task

SAFE = Flag("safe", True)
# Labels for the choice, and for the linear model. With more labels both change little.
MOST_OF_CHOICE, MOST_LABELS = 600, 5000
FOLDS = 5
# Smallest share of a model's weight, and smallest variance of a score: few labels are easily all right.
LEAST, LEAST_VARIANCE = 0.05, 0.01
# Largest mean derivative of the final linear model.
EXACT = 1e-9
# Values at each fold's held-out rows, of models that learn from its training rows: (n_held,) or (n_held, K).
Values = Callable[[Sequence[Fold]], list[NDArray]]


class Parts(NamedTuple):
    """Factors in the score: of the method's values, the linear model's, the neighbours', and the classes' log shares."""

    own: float
    linear: float
    neighbours: float
    shares: float = 0.0

    @property
    def own_share(self) -> float:
        """The method's weight, as a share of the three models'."""
        return float(self.own / sum(self[:3]))

    def per(self, spreads: Sequence[float]) -> Parts:
        """Return the factors for values with these spreads, so that the score has the units of the own ones."""
        return Parts(*(part * spreads[0] / each for part, each in zip(self, (*spreads, 1.0), strict=True)))

    def of(self, values: Sequence[NDArray | None]) -> NDArray:
        """Return the score from all values, which may be None where the factor is 0."""
        return np.asarray(sum(part * each for part, each in zip(self, values, strict=True) if each is not None))


OWN, EQUAL = Parts(1.0, 0.0, 0.0), Parts(1 / 3, 1 / 3, 1 / 3)


@dataclass(frozen=True, eq=False)
class Companion:
    """Two models beside a method, and the factors of the three in the score.

    Attributes
    ----------
    machine : object
        scikit-learn's linear model on the labeled points, with its scaling.
    neighbours : dsgcore.estimators.neighbours.Neighbours
        The labels, spread over a graph of neighbours.
    shares : ndarray of shape (K,)
        Logarithms of the classes' shares among the labels.
    parts : Parts
        The factors convert to the units of the method's values.
    """

    machine: Any
    neighbours: Neighbours
    shares: NDArray
    parts: Parts

    @classmethod
    def of(
        cls, machine: Any, choice: HeldOut, own: TrainingValues, X: Any, codes: NDArray
    ) -> tuple[Companion, TrainingValues]:
        """Return the companion of a method that has these own values at training points X (n, d), and the scores there."""
        placed, some = graph_rows(codes), threshold_rows(len(codes))
        near = choice.graph.learned(codes[placed])
        others = (
            TrainingValues(lambda rows: linear_values(machine, np.asarray(X[rows]))),
            TrainingValues(
                lambda rows: near.at(np.asarray(X[rows], dtype=float)), placed, choice.graph.at_own_points(near.values)
            ),
        )
        parts = choice.preferred.per([spread(values.at(some)) for values in (own, *others)])
        found = cls(machine, near, log_shares(codes[codes != UNLABELED], int(codes.max()) + 1), parts)
        linear, nearby = (values.at for values in others)
        return found, TrainingValues(lambda rows: found.mean(own.at(rows), rows, (linear, nearby)))

    @property
    def is_used(self) -> bool:
        """True if the score is not the method's values alone."""
        return any(self.parts[1:])

    def score(self, f: NDArray, X: NDArray) -> NDArray:
        """Return the scores of points (n, d) at which the method has the values f, (n,) or (n, K)."""
        return self.mean(f, X, (partial(linear_values, self.machine), self.neighbours.at))

    def mean(self, f: NDArray, at: NDArray, others: Sequence[Callable[[NDArray], NDArray]]) -> NDArray:
        """Return the scores from the method's values f and functions for the two others; unused ones are not called."""
        values = [other(at) if part else None for part, other in zip(self.parts[1:3], others, strict=True)]
        return self.parts.of([f, *values, self.shares if self.parts.shares else None]).astype(f.dtype, copy=False)


@dataclass(eq=False, repr=False, kw_only=True)
class SafeParameters:
    """The parameter of a safe estimator.

    Parameters
    ----------
    safe
        Score points by a weighted mean of three models' values, each divided by its spread: the method's, those of a
        linear model on the labels, and those of the labels spread over a graph of neighbours. The linear model is a
        logistic regression, or for ordered classes a ridge regression of their numbers. Held-out labels give the
        weights. A model's weight falls by a factor of e for each standard error by which it is behind the best one. With
        several classes, the weights maximise the likelihood of these labels, and the log shares of the classes get a weight
        too. So with few labels the score seldom loses to a simple model. False gives the method as it is.

    Attributes
    ----------
    companion_ : object or None
        The other models as `machine` and `neighbours`, and as `parts` the factors of the three models' values. None if
        `safe` is False, and after `partial_fit`.
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

    def _rows_placed(self, codes: NDArray) -> NDArray:
        return threshold_rows(len(codes)) if self.safe and not self._is_part else super()._rows_placed(codes)

    def _part(self, choice: HeldOut | None) -> float:
        return 1.0 if not self.safe or choice is None else choice.preferred.own_share

    def _safe_scores(
        self, task: Task, codes: NDArray, values: TrainingValues, choice: HeldOut | None
    ) -> TrainingValues:
        """Set the companion, and return the scores of training points, before the decision threshold."""
        self.companion_: Companion | None = None
        if not self.safe or self._is_part or choice is None:
            return values
        rows = labeled_rows(codes, MOST_LABELS)
        machine = linear(np.asarray(task.X[rows], dtype=float), codes[rows], is_ordered=self.is_ordered)
        self.companion_, scores = Companion.of(machine, choice, values, task.X, codes)
        return scores

    def _held_out(self, task: Task, codes: NDArray) -> HeldOut:
        """Return the models' values at held-out labels. Only the graph has unlabeled points."""
        placed = graph_rows(codes)
        known = placed[codes[placed] != UNLABELED]
        rows = known[evenly_spread(len(known), MOST_OF_CHOICE)]
        X, y = np.asarray(task.X[rows], dtype=float), codes[rows]
        graph = Graph(np.asarray(task.X[placed], dtype=float), is_ordered=self.is_ordered)
        K = task.kernel.matrix(X, X)

        def own(folds: Sequence[Fold]) -> list[NDArray]:
            found = []
            for train, held in folds:
                of_train = K.take(train, axis=1)  # rows and columns at once take three times as long
                alone = self._alone(of_train.take(train, axis=0), y[train], task.plan.lam)
                found.append(of_train.take(held, axis=0) @ alone)
            # The signs of smaller values are unsure: the solution has such errors, and random features larger ones.
            return found if self.is_ranking else [np.where(np.abs(f) > MARGIN_ERROR, f, 0.0) for f in found]

        models = own, linear_on(X, y, is_ordered=self.is_ordered), graph.on(np.searchsorted(placed, rows), y)
        return held_out(y, models, graph, is_ranking=self.is_ranking)

    def _alone(self, K: NDArray, y: NDArray, lam: float) -> NDArray:
        """Return the a (n,) with which K a are the values of the method's exact minimiser on labels y (n,) alone."""
        problem = self._problem(y).baseline().bind(y)
        risk = problem.near_risk()
        assert risk is not None  # as each safe method's problem has one
        return risk.solution(shares(problem.rows(y).values(), len(y)), K, lam, np.float32)

    @property
    def _own_part(self) -> float:
        """The factor of the method's own values."""
        return 1.0 if self.companion_ is None else self.companion_.parts.own

    def _values(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "model_")
        companion = self.companion_
        if companion is None or not companion.is_used:
            return super()._values(X)
        points = validated_points(self, X)
        # Where the others are used alone, the method's values are not needed.
        f = super()._values(X) if companion.parts.own else np.zeros(len(points), dtype=self.model_.dtype)
        return companion.score(f, points)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Values of three models at labels that they have not seen; empty if the labels or the equations do not allow it.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Class codes.
    values : tuple of ndarray of shape (n,) or (n, K)
        Values of the method, of the linear model and of the neighbours.
    graph : Graph
        The neighbours' graph.
    is_ranking : bool
        True if the mean AUC decides, False for the accuracy.
    """

    y: NDArray
    values: tuple[NDArray, ...]
    graph: Graph
    is_ranking: bool

    @cached_property
    def preferred(self) -> Parts:
        """Weights of the models: each falls by a factor of e for each standard error by which its score is behind.

        With several classes, the weights maximise the likelihood of the held-out labels, and the log shares get one too.
        Weights of models below `LEAST` are 0, and without held-out labels they are equal.
        """
        if not len(self.y):
            return EQUAL
        if self.values[0].ndim > 1:
            *models, shares = likeliest_weights(self.y, [values / spread(values) for values in self.values])
            own, linear, neighbours = (weight if weight >= LEAST else 0.0 for weight in models)
            return Parts(own, linear, neighbours, float(shares))
        scores = np.array([self._score(values) for values in self.values])
        weights = np.exp((scores - scores.max()) / self._error(scores.max()))
        weights[weights < LEAST * weights.sum()] = 0.0
        return Parts(*(weights / weights.sum()))

    def score(self, parts: Parts) -> NDArray:
        """Return the score for some parts, in the units of the own values."""
        factors = parts.per([spread(values) for values in self.values])
        return factors.of([*self.values, log_shares(self.y, self.values[0].shape[-1]) if factors.shares else None])

    def _score(self, values: NDArray) -> float:
        return mean_auc(self.y, values) if self.is_ranking else float(np.mean(_predicted(values) == self.y))

    def _error(self, score: float) -> float:
        """Return the standard error of a score. An AUC's is at most that of a share of the smaller class's points."""
        n = len(self.y)
        if self.is_ranking:
            above = np.bincount(self.y)[::-1].cumsum()[::-1][1:]
            n = max(1, int(np.mean(np.minimum(above, n - above))))
        return float(np.sqrt(max(score * (1.0 - score), LEAST_VARIANCE) / n))


def held_out(y: NDArray, models: Sequence[Values], graph: Graph, *, is_ranking: bool) -> HeldOut:
    """Return the models' values at held-out labels y (n,). Each class needs two labels."""
    counts = np.bincount(y)
    nothing = HeldOut(y[:0], (), graph, is_ranking)
    if np.count_nonzero(counts) < 2 or counts[counts > 0].min() < 2:
        return nothing
    folds = stratified_folds(y, min(FOLDS, int(counts.max())))
    try:
        found = [model(folds) for model in models]
    except np.linalg.LinAlgError:  # huge kernel values
        return nothing
    order = np.argsort(np.concatenate([held for _, held in folds]))
    values = tuple(np.concatenate(parts)[order] for parts in found)
    return HeldOut(y, values, graph, is_ranking) if np.isfinite(values[0]).all() else nothing


def _predicted(scores: NDArray) -> NDArray:
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def linear(X: NDArray, y: NDArray, *, is_ordered: bool = False) -> Any:
    """Return scikit-learn's linear model of points (n, d) with class codes y (n,), with its scaling.

    The regression is the exact one of scikit-learn's default arguments. For a few hundred points scikit-learn's own
    solvers take several times as long.
    """
    scaler, machine = scaler_of(X), Ridge() if is_ordered else LogisticRegression()
    points, machine.n_features_in_ = scaled(X, scaler), X.shape[1]
    if is_ordered:
        machine.coef_, machine.intercept_ = _ridge_regression(points, y)
        return make_pipeline(scaler, machine)
    machine.classes_ = classes = np.unique(y)
    targets = np.eye(len(classes))[np.searchsorted(classes, y)][:, None]
    coef, intercept = logistic_weights(
        points, targets if len(classes) > 2 else targets[..., 1:], np.ones((len(y), 1)), 1.0, EXACT
    )
    machine.coef_, machine.intercept_ = coef[:, 0].T.copy(), intercept[0]
    return make_pipeline(scaler, machine)


def linear_on(X: NDArray, y: NDArray, *, is_ordered: bool = False) -> Values:
    """Return the linear model's values at held-out rows of points (n, d), scaled by all of them."""
    points = scaled(X, scaler_of(X))
    if is_ordered:
        return lambda folds: [_ridge_values(points[train], y[train], points[held]) for train, held in folds]
    return lambda folds: held_out_scores(points, y, folds, ridge=1.0)


def _ridge_values(X: NDArray, y: NDArray, others: NDArray) -> NDArray:
    """Return the values at other points of a ridge regression."""
    coef, intercept = _ridge_regression(X, y)
    return others @ coef + intercept


def _ridge_regression(X: NDArray, y: NDArray) -> tuple[NDArray, float]:
    """Return the coefficients (d,) and the intercept of scikit-learn's ridge regression with its default arguments."""
    n, d = X.shape
    centred, above = X - X.mean(axis=0), y - y.mean()
    if d > n:  # equations for the points are fewer
        coef = centred.T @ np.linalg.solve(centred @ centred.T + np.eye(n), above)
    else:
        coef = np.linalg.solve(centred.T @ centred + np.eye(d), centred.T @ above)
    return coef, float(y.mean() - X.mean(axis=0) @ coef)


def linear_values(machine: Any, X: NDArray) -> NDArray:
    """Return the values of `linear` at points (n, d), of shape (n,) or (n, K)."""
    scaler, model = machine
    values = at_scaled(X, scaler, lambda points: points @ model.coef_.T + model.intercept_)
    return values[:, 0] if values.ndim > 1 and values.shape[1] == 1 else values


def spread(values: NDArray) -> float:
    """Return the standard deviation of values (n,), or of those (n, K) less their row means; 1 instead of 0."""
    centred = values if values.ndim == 1 else values - values.mean(axis=1, keepdims=True)
    return float(np.std(centred, dtype=float)) or 1.0
