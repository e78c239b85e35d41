"""What PS3VT and its special cases share as scikit-learn estimators: validation, training, scores of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.core.parameters import check_all
from dsgcore.estimators.inputs import encode, seed_of, width
from dsgcore.multiclass.loop import FixedFeatures, MultiClassTask, make_task, train
from dsgcore.multiclass.problem import MultiClass

# Numbers of features that are held at a time when a model is evaluated.
MAX_VALUES = 2**24
_SIGMA = next(p for p in MultiClass.parameters if p.name == "sigma")
_WITHOUT = {"tau_I": 0.0, "tau_S": 0.0}


@dataclass(kw_only=True, eq=False, repr=False)
class Graph:
    """The parameters of the graph."""

    tau_I: float = 1e-6
    n_neighbors: int = 10


@dataclass(kw_only=True, eq=False, repr=False)
class Tail:
    """The parameters of the pull to low rank."""

    tau_S: float = 1e-3
    theta: float = 0.5


@dataclass(kw_only=True, eq=False, repr=False)
class MultiClassEstimator(ClassifierMixin, BaseEstimator):
    """Shell of the four, with what all of them have; a weight that a subclass does not have is zero."""

    tau_A: float = 1e-6
    step_size: float = 0.03
    radius: float | None = None
    batch_size: int | None = 32
    n_iter: int = 1000
    variant: str = "paper"
    features: str = "linear"
    sigma: float | str = "scale"
    n_features: int = 256
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points. There is no intercept: scale them first, or add a column of ones.
        y : array-like of shape (n,)
            Labels of two classes or more, and -1 for unlabeled points (in an object array where labels are strings).
            Without any -1 the graph is that of the labeled points.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are fewer than two classes, or the run diverges.
        """
        points, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = encode(labels)
        task = make_task(self._problem(points), points, codes, seed_of(self.random_state))
        self.feature_map_: FixedFeatures = task.features
        self.coef_ = self._train(task).T.copy()
        return self

    def _problem(self, X: NDArray) -> MultiClass:
        names = {p.name for p in MultiClass.parameters}
        given: dict[str, Any] = {name: value for name, value in self.get_params().items() if name in names}
        if given["sigma"] == "scale" and given["features"] == "linear":
            given["sigma"] = MultiClass.sigma  # not used
        else:
            given["sigma"] = width(_SIGMA, given["sigma"], X)
        return MultiClass(**check_all(MultiClass.parameters, {**_WITHOUT, **given}, type(self).__name__))

    def _train(self, task: MultiClassTask) -> NDArray:
        W, self.n_iter_ = train(task)
        if self.n_iter_ < task.problem.n_iter:
            raise ValueError(
                f"{type(self).__name__} diverged at iteration {self.n_iter_ + 1}: step_size {task.problem.step_size:g} "
                "is too big for points of this size; scale them, or try a smaller one"
            )
        return W

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the classes' scores at the rows of `X`, (n, K); for two classes the second's minus the first's, (n,)."""
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float64)
        size = max(1, MAX_VALUES // self.coef_.shape[1])
        pieces = (points[start : start + size] for start in range(0, len(points), size))
        scores = np.concatenate([self.feature_map_(piece) @ self.coef_.T for piece in pieces])
        return scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0]

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label with the highest score for each row of `X`, of shape (n,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
