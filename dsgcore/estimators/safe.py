"""Safe scores: the mean of a method's and a linear model's, unless held-out labels clearly prefer one of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.documented import described
from dsgcore.core.metrics import accuracy_error, auc, auc_error
from dsgcore.core.parameters import Flag
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.estimators.out_of_core import POINTS_CUT, validated_points, values_of
from dsgcore.solver.model import Expansion
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import Task

SAFE = Flag("safe", True)
# Labels for the choice, and for the linear model. With more labels both change little.
MOST_OF_CHOICE, MOST_LABELS = 600, 5000
FOLDS = 5
# The SVM that stands for a method with a hinge loss.
COST, MOST_STEPS = 5.0, 20_000


class Parts(NamedTuple):
    """Factors of the method's own values and of the linear model's values in the score."""

    own: float
    linear: float


OWN, MEAN, LINEAR = Parts(1.0, 0.0), Parts(0.5, 0.5), Parts(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Companion:
    """Linear model beside a method, and the factors of the two.

    Attributes
    ----------
    machine : object
        scikit-learn's logistic regression on the labeled points, with its scaling.
    parts : Parts
        The linear factor converts to the units of the method's values.
    """

    machine: Any
    parts: Parts

    def score(self, f: NDArray, X: NDArray) -> NDArray:
        """Return the score of points (n, d) at which the method has the values f (n,)."""
        if not self.parts.linear:
            return f
        return self.parts.own * f + self.parts.linear * self.machine.decision_function(X)


@dataclass(eq=False, repr=False, kw_only=True)
class SafeEstimator(BinaryEstimator):
    """Base class of estimators whose score is safe by default.

    Parameters
    ----------
    safe
        Score points by the mean of the method's values and those of a logistic regression on the labels, each divided
        by its spread. If held-out labels clearly prefer one of the two, it is used alone. With few labels, on data where
        the kernel does not suit, this avoids losing to a linear model. False gives the method as it is.

    Attributes
    ----------
    companion_ : object or None
        The linear model as `machine`, and as `parts` the factors of the method's and of its values. None if `safe` is
        False, and after `partial_fit`.
    """

    is_ranking: ClassVar[bool] = False

    safe: bool = described(True, "True or False")

    def _learn(self, X: NDArray, classes: NDArray, codes: NDArray, model: Expansion | None) -> Self:
        SAFE.check(self.safe)  # check before training
        return super()._learn(X, classes, codes, model)

    def _place(self, task: Task, codes: NDArray, model: Expansion) -> None:
        is_safe = self.safe and not self._is_part
        companion = _companion(task, codes, model, is_ranking=self.is_ranking) if is_safe else None
        self.companion_: Companion | None = companion

    @property
    def _own_part(self) -> float:
        """The factor of the method's own values."""
        return 1.0 if self.companion_ is None else self.companion_.parts.own

    def _scores(self, task: Task, model: Expansion, rows: NDArray) -> NDArray:
        """Return the scores of training points, before the decision threshold."""
        f = values_of(model, task.X, rows)
        return f if self.companion_ is None else self.companion_.score(f, task.X[rows])

    def _values(self, X: ArrayLike) -> NDArray:
        f, companion = super()._values(X), self.companion_
        if companion is None or not companion.parts.linear:
            return f
        return companion.score(f, validated_points(self, X)).astype(f.dtype, copy=False)


def _companion(task: Task, codes: NDArray, model: Expansion, *, is_ranking: bool) -> Companion:
    labeled = np.flatnonzero(codes != UNLABELED)
    rows = labeled[evenly_spread(len(labeled), MOST_LABELS)]
    some = evenly_spread(len(codes), POINTS_CUT)
    with single_threaded_blas():  # the same result for any number of threads
        machine = _fitted(_linear(), np.asarray(task.X[rows], dtype=float), codes[rows])
        chosen = rows[evenly_spread(len(rows), MOST_OF_CHOICE)]
        parts = choose(task, np.asarray(task.X[chosen], dtype=float), codes[chosen], is_ranking=is_ranking)
        spread = _spread(values_of(model, task.X, some)) / _spread(machine.decision_function(np.asarray(task.X[some])))
    return Companion(machine, Parts(parts.own, parts.linear * spread))


def choose(task: Task, X: NDArray, y: NDArray, *, is_ranking: bool) -> Parts:
    """Return which of the two models held-out labels clearly prefer to their mean; the mean if neither.

    "Clearly" is by more than one standard error of the paired difference, over the held-out points.

    Parameters
    ----------
    task : Task
        Its kernel and problem stand for the method. The unlabeled points have no part in the choice.
    X : ndarray of shape (n, d)
        Labeled points.
    y : ndarray of shape (n,)
        Their codes, 0 and 1.
    is_ranking : bool
        True compares the AUC, False the accuracy.
    """
    fewest = int(np.bincount(y, minlength=2).min())
    if fewest < 2:
        return MEAN
    K, own, linear = task.kernel.matrix(X, X), np.empty(len(y)), np.empty(len(y))
    for train, held in StratifiedKFold(min(FOLDS, fewest), shuffle=True, random_state=0).split(X, y):
        try:
            own[held] = _own_values(task, K[np.ix_(train, train)], y[train], K[np.ix_(held, train)])
        except np.linalg.LinAlgError:  # huge kernel values
            return MEAN
        linear[held] = _fitted(_linear(), X[train], y[train]).decision_function(X[held])
    mean = own / _spread(own) + linear / _spread(linear)
    gain_of = _auc_gain if is_ranking else _accuracy_gain
    gains = [(*gain_of(y, values, mean), parts) for values, parts in ((own, OWN), (linear, LINEAR))]
    gain, error, parts = max(gains, key=lambda one: one[0])
    return parts if gain > error else MEAN


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
    machine = _fitted(SVC(C=COST, kernel="precomputed", max_iter=MOST_STEPS), K / size, y)
    return machine.decision_function(outside / size)


def _auc_gain(y: NDArray, values: NDArray, mean: NDArray) -> tuple[float, float]:
    """Return the gain in AUC, and its standard error."""
    return auc(y, values) - auc(y, mean), auc_error(y, values, mean)


def _accuracy_gain(y: NDArray, values: NDArray, mean: NDArray) -> tuple[float, float]:
    """Return the gain in accuracy, and its standard error."""
    hits, others = (values > 0) == y, (mean > 0) == y
    return float(hits.mean() - others.mean()), accuracy_error(hits, others)


def _linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))


def _fitted(machine: Any, X: NDArray, y: NDArray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough solution suffices
        return machine.fit(X, y)


def _spread(values: NDArray) -> float:
    return float(np.std(values, dtype=float)) or 1.0
