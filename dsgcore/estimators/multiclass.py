"""PS3VT and the three methods that it holds as special cases, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.estimators.base import _scale
from dsgcore.parameters import check_all
from dsgcore.problems.base import UNLABELED
from dsgcore.problems.multiclass import MultiClass
from dsgcore.proximal import FeatureMap, Task, make_task, solve
from dsgcore.sampling import MAX_SEED

# Numbers of features that are held at a time when a model is evaluated.
MAX_VALUES = 2**24


class _MultiClassEstimator(ClassifierMixin, BaseEstimator):
    """Shell of the four: a subclass has the parameters that it offers, and says what the others are."""

    absent: ClassVar[dict[str, float]] = {}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points. There is no intercept: scale them first, or add a column of ones.
        y : array-like of shape (n,)
            Labels of two classes or more, and -1 for unlabeled points (in an object array where labels are strings).
            Without any -1 the graph is that of the labeled points.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are fewer than two classes, or the run diverges.
        """
        points, labels = validate_data(self, X, y, dtype=np.float64)
        task = make_task(self._problem(points), points, self._encode(labels), self._seed())
        self.feature_map_: FeatureMap = task.features
        self.coef_ = self._train(task).T.copy()
        return self

    def _encode(self, y: NDArray) -> NDArray:
        """Set `classes_`, and return codes 0 .. K - 1, and -1 for unlabeled."""
        is_labeled = y != UNLABELED
        labels = np.array(y[is_labeled].tolist()) if y.dtype == object else y[is_labeled]
        if len(labels):
            check_classification_targets(labels)
        codes = np.full(len(y), UNLABELED)
        self.classes_, codes[is_labeled] = np.unique(labels, return_inverse=True)
        return codes

    def _problem(self, X: NDArray) -> MultiClass:
        names = {p.name for p in MultiClass.parameters}
        given: dict[str, Any] = {name: value for name, value in self.get_params().items() if name in names}
        if given["sigma"] == "scale" and given["features"] == "linear":
            given["sigma"] = MultiClass.sigma  # not used
        elif isinstance(given["sigma"], str):
            given["sigma"] = _scale(given["sigma"], X)
        given |= self.absent
        return MultiClass(**check_all(MultiClass.parameters, given, type(self).__name__))

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer) and 0 <= self.random_state <= MAX_SEED:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _train(self, task: Task) -> NDArray:
        W, self.n_iter_ = task.start(), 0
        for iterate in solve(task):
            W, self.n_iter_ = iterate.W, iterate.t
        if self.n_iter_ < task.problem.n_iter:
            raise ValueError(
                f"{type(self).__name__} diverged at iteration {self.n_iter_ + 1}: step_size {task.problem.step_size:g} "
                "is too big for points of this size; scale them, or try a smaller one"
            )
        return W

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            The higher, the more that class; for two classes the second one's score minus the first one's.
        """
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


class PS3VT(_MultiClassEstimator):
    """Multi-class classification with unlabeled points and a low-rank pull, by singular value thresholding.

    A linear classifier (or one on random Fourier features) with the multi-class hinge loss, a graph that makes close
    points, labeled or not, score alike, and a penalty on the smaller singular values of its coefficients.

    Parameters
    ----------
    tau_A : float >= 0, default=1e-6
        Ridge.
    tau_I : float >= 0, default=1e-6
        Weight of the graph: how much neighbouring points, labeled or not, should score alike.
    tau_S : float >= 0, default=1e-3
        Weight of the tail of singular values: how strongly the coefficients are pulled to low rank.
    theta : float in [0, 1], default=0.5
        Share of the singular values, the largest, that the pull to low rank leaves alone (rounded up to a number).
    step_size : float > 0, default=0.03
        The paper's 1/mu; for the released variant, some 1000.
    radius : float > 0 or None, default=None
        The Frobenius norm of the coefficients is cut to this. None is 1 in the paper's variant, 1 / sqrt(tau_A) in the
        released one.
    batch_size : int >= 1 or None, default=32
        Labeled points drawn per iteration; None takes all of them.
    n_iter : int >= 1, default=1000
        Number of iterations.
    n_neighbors : int >= 1, default=10
        Neighbours of a point in the graph (at most n - 1).
    variant : {"paper", "released"}, default="paper"
        The paper's Algorithm 1, or what the authors' public program does.
    features : {"linear", "fourier"}, default="linear"
        The coordinates themselves, or random Fourier features of them, drawn once.
    sigma : float or "scale", default="scale"
        Sharpness of the kernel exp(-sigma ||x - x'||^2) of the Fourier features, in [1e-6, 1e6]; "scale" is
        1 / (n_features_in_ * X.var()).
    n_features : int >= 1, default=256
        Number m of random frequencies; the Fourier features are 2m numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of mini-batches and Fourier features; an int gives the same numbers at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (K, d), or (K, 2m) with Fourier features
        The paper's W, transposed; two rows for two classes.
    feature_map_ : dsgcore.proximal.FeatureMap
        From points to what `coef_` multiplies.
    n_iter_ : int
        Iterations made.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Algorithm 1 and Table 2. See `dsgcore.problems.multiclass.MultiClass` for the objective and for where
    we leave the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import PS3VT
    >>> X, y = load_wine(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 3 == 0, y, -1)  # two labels of three hidden
    >>> model = PS3VT(random_state=0).fit(X, few)
    >>> model.decision_function(X).shape
    (178, 3)
    """

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        tau_I: float = 1e-6,
        tau_S: float = 1e-3,
        theta: float = 0.5,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        n_neighbors: int = 10,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.tau_I = tau_I
        self.tau_S = tau_S
        self.theta = theta
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state


class LinearMC(_MultiClassEstimator):
    """Max-margin multi-class classification: PS3VT without graph and without pull to low rank.

    Unlabeled points are accepted; they play no part (but in sigma="scale").

    Parameters
    ----------
    tau_A, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features, random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_I": 0.0, "tau_S": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state


class LRCMC(_MultiClassEstimator):
    """Multi-class classification with a pull to low rank: PS3VT without the graph.

    The pull stands for the local Rademacher complexity. Unlabeled points are accepted; they play no part but in
    sigma="scale".

    Parameters
    ----------
    tau_A, tau_S, theta, step_size, radius, batch_size, n_iter, variant, features, sigma, n_features,
    random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_I": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        tau_S: float = 1e-3,
        theta: float = 0.5,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.tau_S = tau_S
        self.theta = theta
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state


class SSMC(_MultiClassEstimator):
    """Semi-supervised multi-class classification: PS3VT without the pull to low rank.

    A graph makes close points, labeled or not, score alike.

    Parameters
    ----------
    tau_A, tau_I, step_size, radius, batch_size, n_iter, n_neighbors, variant, features, sigma, n_features,
    random_state
        As in `PS3VT`.

    Attributes
    ----------
    classes_, coef_, feature_map_, n_iter_, n_features_in_
        As in `PS3VT`.

    Notes
    -----
    Source: Table 2 of the PS3VT paper. See `PS3VT`.
    """

    absent: ClassVar[dict[str, float]] = {"tau_S": 0.0}

    def __init__(
        self,
        *,
        tau_A: float = 1e-6,
        tau_I: float = 1e-6,
        step_size: float = 0.03,
        radius: float | None = None,
        batch_size: int | None = 32,
        n_iter: int = 1000,
        n_neighbors: int = 10,
        variant: str = "paper",
        features: str = "linear",
        sigma: float | str = "scale",
        n_features: int = 256,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.tau_A = tau_A
        self.tau_I = tau_I
        self.step_size = step_size
        self.radius = radius
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.features = features
        self.sigma = sigma
        self.n_features = n_features
        self.random_state = random_state
