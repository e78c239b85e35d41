"""What the comparison methods share: parameters, memory, progress, and the three kinds of labels they learn from."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.baselines.basis import HasMatrix, Linear
from dsgcore.baselines.memory import Memory
from dsgcore.baselines.progress import Callback, Watch
from dsgcore.estimators.inputs import encode, ordered_labels, seed_of, width
from dsgcore.kernels import KERNELS
from dsgcore.parameters import Choice, Parameter, Real, check_all
from dsgcore.problems.base import UNLABELED
from dsgcore.problems.thresholds import classify, mean_auc

MEMORY_LIMIT = Real(
    "memory_limit",
    4.0,
    low=1e-3,
    high=1e6,
    scale="log",
    usual=(0.5, 16.0),
    label="Memory limit",
    sentence="GB that a fit may take; one that needs more is refused before it starts.",
)


class HasValues(Protocol):
    """What is learned: real values at points."""

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,)."""
        ...


class Baseline(BaseEstimator):
    """Shell of a comparison method.

    A subclass names itself, declares its own parameters beside the kernel's and `memory_limit`, says what memory it
    needs (`_memory`) and learns (`_learn`): from validated float64 points and codes, with `watch.step(objective)` after
    each outer step, `watch.give_up(reason)` where it does not converge, and `model_` as what it leaves.

    Attributes
    ----------
    title, citation, sentence : str
        For pages and docs: a name, the source, and what it does in one sentence ("learns ...").
    parameters : tuple of Parameter
        Its own parameters, with range, symbol and sentence.
    kernels : tuple of str
        What `kernel` may be.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    sentence: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    kernels: ClassVar[tuple[str, ...]] = ("linear", *KERNELS)

    model_: HasValues
    memory_: int
    objectives_: NDArray
    converged_: bool
    n_iter_: int

    def estimate_memory(self, n: int, d: int) -> int:
        """Return what a fit will hold at its peak beside the points, in bytes.

        Parameters
        ----------
        n : int
            Number of points, labeled or not (members of similar pairs too).
        d : int
            Number of their coordinates.
        """
        return self._memory(n, d, self._checked()).bytes

    def _memory(self, n: int, d: int, s: dict[str, Any]) -> Memory:
        """Return the need for memory at checked parameters `s`."""
        raise NotImplementedError

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        """Set `model_` from points (n, d) and what the subclass's kind of labels becomes, at checked parameters `s`."""
        raise NotImplementedError

    def _checked(self) -> dict[str, Any]:
        """Return the parameters but the kernel's, checked."""
        declared = (*self.parameters, MEMORY_LIMIT)
        given = {p.name: getattr(self, p.name) for p in declared}
        return check_all(declared, given, type(self).__name__)

    def _kernel(self, X: NDArray) -> HasMatrix | None:
        """Return the kernel, its "scale" taken from the points; None for "lm", a model that is linear without one."""
        kernel = Choice("kernel", "gaussian", options=self.kernels).check(getattr(self, "kernel", None))
        if kernel in ("linear", "lm"):
            return Linear() if kernel == "linear" else None
        kind = KERNELS[kernel]
        given = {p.name: getattr(self, p.name) for p in kind.parameters}
        for p in kind.parameters:
            is_choice = isinstance(p, Choice)
            given[p.name] = p.check(str(given[p.name])) if is_choice else width(p, given[p.name], X, kernel)
        return kind(**given)

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", None))

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        """Check parameters and memory, learn, and note what is known of every fit."""
        s, name = self._checked(), type(self).__name__
        need = self._memory(X.shape[0], X.shape[1], s)
        need.check(s["memory_limit"], name)
        watch = Watch(callback, name)
        self._learn(X, y, s, watch)
        self.memory_, self.converged_ = need.bytes, watch.is_converged
        self.objectives_, self.n_iter_ = watch.objectives(), watch.steps
        return self

    def _values(self, X: ArrayLike) -> NDArray:
        """Return f at the rows of `X`, after validation."""
        check_is_fitted(self, "model_")
        return self.model_.evaluate(validate_data(self, X, reset=False, dtype=np.float64))


class BinaryBaseline(ClassifierMixin, Baseline):
    """Shell of a method that learns from labels of two classes and -1 for unlabeled; `_learn` gets y in {1, -1, 0}."""

    classes_: NDArray
    threshold_: float

    def __sklearn_tags__(self) -> Tags:
        """Say that two classes are wanted."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn from labeled and unlabeled points.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Labels, and -1 for unlabeled points (in an object array where labels are text). Without any -1 the labeled
            points also serve as the unlabeled sample.
        callback : callable, optional
            Gets a `dsgcore.baselines.Progress` between outer steps; returns True to cancel.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the labels are too few or not of two classes.
        MemoryLimitError
            If the fit needs more than `memory_limit`.
        Cancelled
            If the callback returned True.
        """
        points, given = validate_data(self, X, y, dtype=np.float64)
        classes, codes = encode(given)
        check_two_classes(classes)
        signs = np.array([-1.0, 1.0, 0.0])[codes]  # a code of -1 is the last
        self._run(points, signs, callback)
        self.classes_ = classes
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how strongly each row of `X` belongs to the second class, of shape (n,); see `threshold_`."""
        return self._values(X) - getattr(self, "threshold_", 0.0)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        is_second = self.decision_function(X) > 0
        return self.classes_[is_second.astype(int)]


class OrdinalBaseline(ClassifierMixin, Baseline):
    """Shell of a method that learns from ordered classes; `_learn` gets codes 0 .. k - 1 and -1, sets `thresholds_`."""

    classes_: NDArray
    thresholds_: NDArray

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn from labeled and unlabeled points.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Labels, in their order when sorted, or pandas' ordered categories; -1 for unlabeled points. Without any -1 the
            labeled points also serve as the unlabeled sample, where one is wanted.
        callback : callable, optional
            Gets a `dsgcore.baselines.Progress` between outer steps; returns True to cancel.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, or a class has no labeled point.
        MemoryLimitError
            If the fit needs more than `memory_limit`.
        Cancelled
            If the callback returned True.
        """
        y, order = ordered_labels(y)
        points, given = validate_data(self, X, y, dtype=np.float64)
        classes, codes = encode(given, order)
        check_some_classes(classes)
        self._run(points, codes, callback)
        self.classes_ = classes
        return self

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,): the higher, the later in the order of the classes."""
        return self._values(X)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how far f(x) is inside each class's interval, negative outside; the largest is the predicted class's.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            For two classes f(x) minus the threshold.
        """
        f = self.ranking_function(X)
        above = f[:, None] - self.thresholds_
        if len(self.classes_) == 2:
            return above[:, 0]
        far = np.full((len(f), 1), np.inf)
        return np.minimum(np.hstack([far, above]), np.hstack([-above, far]))

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the label of the interval that f(x) is in, for each row of `X`, of shape (n,)."""
        f = self.ranking_function(X)
        return self.classes_[classify(f, self.thresholds_)]

    def mean_auc(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the mean AUC over the k - 1 places where the classes can be cut in two, ties one half.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            True labels; points with -1 are left out.

        Returns
        -------
        float
            In [0, 1]; NaN if there are labels of one class only.
        """
        f = self.ranking_function(X)
        _, codes = encode(column_or_1d(ordered_labels(y)[0]), self.classes_)
        return mean_auc(codes[codes != UNLABELED], f[codes != UNLABELED])


def unlabeled_rows(is_unlabeled: NDArray) -> NDArray:
    """Return the row numbers of the unlabeled points, or of all points where there is none."""
    return np.flatnonzero(is_unlabeled) if is_unlabeled.any() else np.arange(len(is_unlabeled))


def check_two_classes(classes: NDArray) -> None:
    """Raise ValueError unless there are two classes."""
    if len(classes) != 2:
        raise ValueError(
            "Only binary classification is supported: y must hold two classes (and -1 for unlabeled points), "
            f"got {len(classes)} class{'es' * (len(classes) != 1)}"
        )


def check_some_classes(classes: NDArray) -> None:
    """Raise ValueError unless there are two classes or more."""
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes or more (and -1 for unlabeled points), got {len(classes)} class"
            f"{'es' * (len(classes) != 1)}"
        )
