"""A method whose scores are averaged with those of two simple models, as held-out labels advise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse.csgraph import laplacian
from scipy.special import expit, log_softmax, softmax
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import auc_error
from dsgcore.core.parameters import AUTOMATIC, Integer
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas, single_threaded_openmp
from dsgcore.estimators.classes import (
    HighestScore,
    OrderedClassifier,
    ScoredOnLabels,
    auc_of,
    decision_threshold,
    even_chances,
    fitted_classifier,
    spread,
)
from dsgcore.estimators.inputs import EstimatorBase, all_or_nothing, encode, in_memory, labeled_rows, validated_points
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.kernels.kernels import check_sizes, check_values
from dsgcore.problems.thresholds import mean_auc, thresholds
from dsgcore.solver.problem import UNLABELED
from dsgcore.tuning.folds import FoldError, LabeledFolds

N_NEIGHBORS = Integer("n_neighbors", 7, low=1, high=1000)
PARTS = ("estimator", "linear", "neighbours")
# Most labeled points and most others of which the models beside the method learn, most others in the method's fits without
# a fold, which only give weights, and points at which spreads and thresholds are measured.
MOST, MOST_UNLABELED, POINTS = 2000, 500, 1000
# Tolerance of those fits.
ROUGH = 0.3
# Most weights of a logistic regression that takes Newton's method.
MOST_NEWTON = 150
# Share of a point's label that comes from its neighbours, and steps after which next to nothing of a label goes on.
TRUST, STEPS = 0.2, 8
# A model with a smaller share of the weights gets none.
LEAST = 0.05
# With several classes: strength of the pull towards equal weights, in log-likelihood units, and the smallest weight.
PULL, SMALLEST = 0.3, 1e-3


def _is_of_ordered(model: Any) -> bool:
    return hasattr(getattr(model, "estimator_", model.estimator), "ranking_function")


@dataclass(eq=False, repr=False)
class Safe(MetaEstimatorMixin, ScoredOnLabels, EstimatorBase):
    """A method whose score is averaged with a linear model's and with its neighbours', as held-out labels advise.

    With few labels a method seldom loses to a simple model in this way. The score is a weighted sum of three models'
    values, each divided by its spread:

    - `estimator`;
    - scikit-learn's `LogisticRegression` on the labeled points; for ordered classes a `Ridge` regression of their numbers;
    - labels spread over a graph of nearest neighbours, labeled or not, as by scikit-learn's `LabelSpreading`.

    Each fold of the labels is held out once, and the models' values there give the weights.

    Parameters
    ----------
    estimator : estimator
        A classifier or ranker that accepts -1 for unlabeled points, for two classes, several, or ordered ones. It is not
        changed. Methods that learn from similar pairs are refused, because a simple model needs labels.
    n_splits : int, default=3
        Number of folds, each of which is one more fit.
    n_neighbors : int, default=7
        Number of neighbours in the graph.
    random_state : int, RandomState instance or None, default=0
        Seed for the folds.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, trained on all points.
    classes_ : ndarray of shape (k,)
        The labels in the estimator's order.
    weights_ : dict of str to float
        Weights of "estimator", "linear" and "neighbours"; their sum is 1. They are equal if the labels are too few to be
        held out.
    simple_ : object
        The models beside the estimator: `linear`, and `graphs` of neighbours with the classes' `shares`.
    threshold_ : float
        Threshold of the score for two classes, if the estimator is a ranker. Otherwise 0.
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds of the score between ordered classes.

    Notes
    -----
    Two classes and ordered classes: a model's weight falls by a factor of e for each standard error of the paired
    difference by which it is behind the best one. The score is the (mean) AUC for rankers, and otherwise the accuracy.
    Several classes: the weights maximise the likelihood of the held-out labels, and the classes' log shares get a weight, too.

    There are two graphs, of standardised points and of the points as they are, and the mean of both counts.

    At points that no label reaches over the graph, the neighbours' value is the classes' shares.

    The probabilities are a logistic function of the score, or its softmax, with the scale that suits the held-out labels.
    The scale takes each of n such labels to be right with a chance of (n + 1) / (n + 2), so that it stays finite.

    Source: D. Wolpert, Stacked Generalization, Neural Networks 5, 1992; C. Guo et al., On Calibration of Modern Neural
    Networks, ICML 2017, for the scale; J. Platt, Advances in Large Margin Classifiers, 1999, for the labels' targets.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from dsgcore import TSGS3VM, Safe
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> few = np.where(np.arange(len(y)) < 100, y, -1)
    >>> model = Safe(TSGS3VM(random_state=0)).fit(X, few)
    >>> model.score(X, y) > 0.9
    True
    >>> list(model.weights_)
    ['estimator', 'linear', 'neighbours']
    """

    estimator: Any
    _: KW_ONLY
    n_splits: int = 3
    n_neighbors: int = 7
    random_state: int | np.random.RandomState | None = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare what the estimator declares of classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = get_tags(getattr(self, "estimator_", self.estimator)).classifier_tags
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the estimator and the two models beside it, and weigh them; `y` has -1 for unlabeled points.

        Raises
        ------
        ValueError
            If the estimator learns from pairs, or raises an error itself.
        """
        n_neighbors, own = N_NEIGHBORS.check(self.n_neighbors), _last(self.estimator)
        if hasattr(own, "y_holds"):
            raise DSGError(
                "Safe needs class labels for the models beside the method, and "
                f"{type(own).__name__} learns from similar pairs: fit it alone"
            )
        X = in_memory(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        (y,) = indexable(y)  # what is only an array by `__array__` becomes one, since folds take rows of it
        self.estimator_ = fitted_classifier(self.estimator, X, y)
        self.classes_ = self.estimator_.classes_
        codes = encode(y, self.classes_)[1].astype(np.intp)
        points = self._numbers(X)
        check_sizes(points)
        of_all = evenly_spread(len(codes), MOST)  # as all points are
        rows = np.union1d(labeled_rows(codes, MOST), of_all)
        some = of_all[evenly_spread(len(of_all), POINTS)]
        with single_threaded_blas(), single_threaded_openmp():  # many small systems: threads would wait for each other
            self.simple_ = SimpleModels(points[rows], len(self.classes_), n_neighbors, is_ordered=_is_of_ordered(self))
            held = self._held_out(_safe_indexing(X, rows), _safe_indexing(y, rows), codes[rows])
            self._choose(*held, codes[rows])
            known = np.union1d(rows[codes[rows] != UNLABELED], some)
            beside = [each[np.searchsorted(rows, known)] for each in self.simple_.fit(codes[rows]).values()]
            is_used = self.weights_["estimator"] > 0.0  # with 100 columns its values take a tenth of this method
            own = _values(self.estimator_, _safe_indexing(X, known)) if is_used else np.zeros_like(beside[0])
            values = [own, *beside]
            some = np.searchsorted(known, some)
            self._spreads = [spread(each[some]) for each in values]
            self._place(codes[known], self._mean(values), some, *held)
        return self

    def _numbers(self, X: Any) -> NDArray:
        """Return the points (n, d) for the models beside the method. Steps of a pipeline are the method's alone."""
        try:
            return validate_data(self, X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            if not isinstance(self.estimator, Pipeline):
                raise
            raise DSGError(
                f"the models beside the method get X as it is, and need numbers ({str(error).partition(chr(10))[0]}): put the "
                "steps that make numbers before Safe, as in make_pipeline(step, Safe(method))"
            ) from error

    @property
    def is_ranking(self) -> bool:  # type: ignore[override]
        """True if the order of the scores is what counts: then held-out labels are compared by the (mean) AUC."""
        return _is_of_ordered(self) or bool(
            getattr(_last(getattr(self, "estimator_", self.estimator)), "is_ranking", False)
        )

    def _held_out(self, X: Any, y: Any, codes: NDArray) -> tuple[NDArray, tuple[NDArray, ...]]:
        """Return codes of held-out labels and the three models' values there; none if the labels are too few."""
        others = np.flatnonzero(codes == UNLABELED)
        rows = np.union1d(np.flatnonzero(codes != UNLABELED), others[evenly_spread(len(others), MOST_UNLABELED)])
        folds = LabeledFolds(self.n_splits, unlabeled="train", random_state=self.random_state)
        try:
            splits = [(rows[train], rows[test]) for train, test in folds.split(rows, _safe_indexing(y, rows))]
        except FoldError:
            return codes[:0], ()
        parts = []
        for train, test in splits:
            method = clone(self.estimator)  # for its values alone: with a larger tolerance, and without thresholds
            own = _last(method)
            if getattr(own, "tol", None) == AUTOMATIC:
                own.set_params(tol=ROUGH)
            if isinstance(own, QS3ORAO) and own.thresholds == "error":
                own.set_params(thresholds="hinge")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # the fit to all points has warned already
                method.fit(_safe_indexing(X, train), _safe_indexing(y, train))
            seen = codes.copy()
            seen[test] = UNLABELED
            beside = [each[test] for each in self.simple_.fit(seen).values()]
            parts.append((_values(method, _safe_indexing(X, test)), *beside))
        tested = np.concatenate([test for _, test in splits])
        return codes[tested], tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def _choose(self, y: NDArray, values: tuple[NDArray, ...], codes: NDArray) -> None:
        """Set the weights of the three models and of the log shares, from values at held-out labels."""
        self._log_shares, self._of_shares = _log_shares(codes[codes != UNLABELED], len(self.classes_)), 0.0
        weights = np.full(len(PARTS), 1.0 / len(PARTS))
        if len(y) and values[0].ndim > 1:
            *found, self._of_shares = _likeliest_weights(y, [each / spread(each) for each in values]).tolist()
            weights = np.array(found)
        elif len(y):
            weights = _weights(y, values, by_auc=self.is_ranking)
        weights = np.where(weights < LEAST * weights.sum(), 0.0, weights)
        self.weights_ = dict(zip(PARTS, (weights / weights.sum()).tolist(), strict=True))

    def _mean(self, values: Sequence[NDArray], spreads: Sequence[float] | None = None) -> NDArray:
        """Return the weighted sum of values divided by their spreads."""
        spreads = self._spreads if spreads is None else spreads
        total = sum(w * v / s for w, v, s in zip(self.weights_.values(), values, spreads, strict=True) if w)
        return np.asarray(total + self._of_shares * self._log_shares if self._of_shares else total)

    def _place(self, codes: NDArray, f: NDArray, some: NDArray, y: NDArray, values: tuple[NDArray, ...]) -> None:
        """Set the thresholds and the scale of the probabilities, from the scores f and from values at held-out labels."""
        cuts, self.threshold_, self._scale, labeled = None, 0.0, 1.0, codes != UNLABELED
        unseen = self._mean(values, [spread(each) for each in values]) if len(y) else None
        if _is_of_ordered(self):
            self.thresholds_ = thresholds(codes[labeled], f[labeled], loss="hinge", margin=0.0)
            if unseen is not None:
                cuts = even_chances(y, unseen, len(self.classes_))
                moved = f[some].mean() + spread(f[some]) * (cuts - unseen.mean()) / spread(unseen)
                self.thresholds_ = (self.thresholds_ + moved) / 2.0
        elif self.is_ranking:
            share = getattr(_last(self.estimator_), "positive_share", "labels")
            self.threshold_ = decision_threshold(share, codes[labeled], f[labeled], f[some])
            if unseen is not None:
                unseen = unseen - decision_threshold("labels", y, unseen, unseen)
        if unseen is not None:
            # Platt's targets, which are not quite 0 and 1, keep the scale finite if all of these labels are right.
            wanted = np.full((len(y), len(self.classes_)), 1.0 / (len(y) + 2.0) / (len(self.classes_) - 1))
            wanted[np.arange(len(y)), y] = (len(y) + 1.0) / (len(y) + 2.0)

            def loss(log_scale: float) -> float:
                found = _probabilities(unseen, np.exp(log_scale), cuts)
                return -float(np.sum(wanted * np.log(np.maximum(found, np.finfo(float).tiny))))

            self._scale = float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x))

    def _score(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "simple_")
        X = in_memory(X)
        points = validated_points(self, X, np.float64)
        with single_threaded_blas(), single_threaded_openmp():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")  # it has been said above
                own = _values(self.estimator_, X if hasattr(X, "shape") else np.asarray(X))
            return check_values(self._mean([own, *self.simple_.values(points)]))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores at the rows of `X`: (n,) for two classes, positive for the second one, else (n, k)."""
        if _is_of_ordered(self):
            return np.asarray(OrderedClassifier.decision_function(self, X))
        f = self._score(X)
        return f - self.threshold_

    @available_if(_is_of_ordered)
    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return the score at the rows of `X`, of shape (n,), for ordered classes. Larger values belong to later ones."""
        return self._score(X)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        return (OrderedClassifier if _is_of_ordered(self) else HighestScore).predict(self, X)

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return the probability of each class at the rows of `X`, of shape (n, k)."""
        f = self._score(X)
        return _probabilities(f - self.threshold_, self._scale, self.thresholds_ if _is_of_ordered(self) else None)

    @available_if(_is_of_ordered)
    def mean_auc(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean AUC over the cuts of the ordered classes, as `dsgcore.QS3ORAO.mean_auc` does."""
        return auc_of(self.classes_, self._score(X), y)


class SimpleModels:
    """The two models beside a method: `linear`, on standardised points, and the neighbours in two `graphs`.

    Standardised coordinates suit columns of different units, and pixels tell more as they are. Few labels cannot choose, so the
    neighbours' value is the mean over both graphs. `shares` (m,) or (m, K) is for each graph what its labels say about its points:
    for two classes the second one's share less the first one's, for ordered classes their mean number, else all shares.
    """

    def __init__(self, points: NDArray, n_classes: int, n_neighbors: int, *, is_ordered: bool) -> None:
        self.n_classes, self.is_ordered = n_classes, is_ordered
        # Arrays, whatever scikit-learn's setting `transform_output` says.
        scalers = [StandardScaler(with_std=each).set_output(transform="default") for each in (True, False)]
        self.graphs = [_Graph(points, scaler, n_neighbors) for scaler in scalers]
        self._points = self.graphs[0].scaler.transform(points)
        # What the classes' shares become: a mean number, a difference, or all of them.
        two = np.array([-1.0, 1.0]) if n_classes == 2 else np.eye(n_classes)
        self._of_classes = np.arange(n_classes, dtype=float) if is_ordered else two

    def fit(self, codes: NDArray) -> Self:
        """Learn from class codes (m,) of the points, -1 for unlabeled; the graphs stay as they are."""
        labeled, marks = codes != UNLABELED, (codes[:, None] == np.arange(self.n_classes)).astype(float)
        # With few weights Newton's method is twice as fast as the default one.
        solver = "newton-cholesky" if self._points.shape[1] * self.n_classes <= MOST_NEWTON else "lbfgs"
        machine = Ridge() if self.is_ordered else LogisticRegression(max_iter=1000, solver=solver)
        self.linear = machine.fit(self._points[labeled], codes[labeled])
        self.shares = [graph.spread(marks) @ self._of_classes for graph in self.graphs]
        return self

    def values(self, points: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """Return the linear model's values and the neighbours', (n,) or (n, K), at points (n, d), by default the fit's own."""
        near = [graph.mean(of, points) for graph, of in zip(self.graphs, self.shares, strict=True)]
        scaled = self._points if points is None else self.graphs[0].scaler.transform(points)
        linear = self.linear.predict(scaled) if self.is_ordered else self.linear.decision_function(scaled)
        return linear, np.mean(near, axis=0)


class _Graph:
    """Graph of the nearest neighbours among some scaled points, on which labels spread."""

    def __init__(self, points: NDArray, scaler: StandardScaler, n_neighbors: int) -> None:
        self.scaler, scaled = scaler, scaler.fit_transform(points)
        self.nearest = NearestNeighbors(n_neighbors=min(n_neighbors, len(points)), algorithm="brute").fit(scaled)
        self.links = self.nearest.kneighbors_graph(scaled)
        self.passed_on = -laplacian(self.links, normed=True).tocsr()
        self.passed_on.setdiag(0.0)

    def spread(self, marks: NDArray) -> NDArray:
        """Return the classes' shares (m, K) at the points, from a one in the class of each labeled point, as LabelSpreading does.

        Where no label arrives they are those of all labels.
        """
        found = marks
        for _ in range(STEPS):
            found = TRUST * (self.passed_on @ found) + (1.0 - TRUST) * marks
        total = found.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, found / np.where(total > 0.0, total, 1.0), marks.sum(axis=0) / marks.sum())

    def mean(self, values: NDArray, points: NDArray | None) -> NDArray:
        """Return the mean of values at the graph's points over the neighbours of each of some points, or of these."""
        new = points is not None
        links = self.nearest.kneighbors_graph(self.scaler.transform(points)) if new else self.links
        return links @ values / self.nearest.n_neighbors


def _last(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _values(method: Any, X: Any) -> NDArray:
    """Return a fitted method's values at points: (n,) for two classes or ordered ones, else (n, K)."""
    if hasattr(method, "ranking_function"):
        return np.asarray(method.ranking_function(X), dtype=float)
    if hasattr(method, "decision_function"):
        return np.asarray(method.decision_function(X), dtype=float)
    shares = method.predict_proba(X)
    shares = np.where(np.isnan(shares), 1.0 / shares.shape[1], shares)  # of LabelSpreading, if no label reaches a point
    logs = np.log(np.maximum(shares, 1e-12))
    return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs


def _log_shares(codes: NDArray, n_classes: int) -> NDArray:
    """Return the logarithms (K,) of the classes' shares among codes (n,). A class without codes counts as half a point."""
    return np.log(np.maximum(np.bincount(codes, minlength=n_classes), 0.5) / max(1, len(codes)))


def _weights(y: NDArray, values: tuple[NDArray, ...], *, by_auc: bool) -> NDArray:
    """Return the models' weights: e to the minus number of standard errors by which each is behind the best one.

    The (mean) AUC decides, or the accuracy.
    """
    hits = [(each > 0 if each.ndim == 1 else each.argmax(axis=1)) == y for each in values]
    scores = np.array([mean_auc(y, each) for each in values] if by_auc else np.mean(hits, axis=1))
    best, fewest = int(np.argmax(scores)), np.bincount(y)[np.unique(y)].min()
    if by_auc:
        errors = np.maximum(np.nan_to_num([auc_error(y, values[best], each) for each in values]), 1.0 / fewest)
    else:  # a point is added to each kind of disagreement, as by Bonett and Price
        errors = np.sqrt([np.sum(hits[best] != hit) + 2.0 for hit in hits]) / len(y)
    return np.exp((scores - scores[best]) / errors)


def _likeliest_weights(y: NDArray, values: list[NDArray]) -> NDArray:
    """Return weights of the models, and that of the classes' log shares, which maximise the likelihood of labels.

    The probabilities are the softmax of the weighted sum of values (n, K). A pull draws the models' weights together.
    """
    n, n_classes, m = len(y), values[0].shape[1], len(values)
    every, own = np.stack([*values, np.tile(_log_shares(y, n_classes), (n, 1))]), (np.arange(n), y)

    def loss(weights: NDArray) -> tuple[float, NDArray]:
        logs = log_softmax(np.tensordot(weights, every, 1), axis=1)
        excess = np.exp(logs)
        excess[own] -= 1.0
        apart = np.append(weights[:m] - weights[:m].mean(), 0.0)
        slopes = np.tensordot(every, excess, 2) / n + 2.0 * PULL / n * apart
        return PULL / n * float(apart @ apart) - float(logs[own].mean()), slopes

    start, ends = np.append(np.full(m, 1.0 / m), 0.0), [(SMALLEST, None)] * m + [(0.0, None)]
    found = minimize(loss, start, jac=True, bounds=ends, method="L-BFGS-B").x
    return found / found[:m].sum()


def _probabilities(f: NDArray, scale: float, cuts: NDArray | None) -> NDArray:
    """Return the classes' probabilities (n, K) for scores, and thresholds between ordered classes."""
    if cuts is None:
        return softmax(scale * (np.column_stack([-f, f]) / 2.0 if f.ndim == 1 else f), axis=1)
    above = expit(scale * (f[:, None] - cuts))
    return -np.diff(np.column_stack([np.ones(len(f)), above, np.zeros(len(f))]), axis=1)
