"""What the comparison methods share: parameters, memory, progress, and the three kinds of labels they learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from dsgcore.baselines.basis import HasMatrix, Linear
from dsgcore.baselines.memory import BYTES_PER_NUMBER, Memory
from dsgcore.baselines.progress import Callback, Watch
from dsgcore.core.documented import told
from dsgcore.core.far_points import check_sizes, check_values
from dsgcore.core.kernels import KERNELS
from dsgcore.core.parameters import Choice, Parameter, Real, check_all, parameters_of_fields
from dsgcore.core.problem import UNLABELED
from dsgcore.estimators.classes import OrderedClassifier, check_some_classes, check_two_classes
from dsgcore.estimators.inputs import encode, seed_of
from dsgcore.estimators.kernel import SIGMA, make_kernel
from dsgcore.estimators.scores import ScoredOnLabels

MEMORY_LIMIT = Real("memory_limit", 4.0, low=1e-3, high=1e6)
# Labels, codes and row numbers that a fit holds per point, more or less.
NUMBERS_PER_POINT = 8


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianOrLinear:
    """What a method says of its kernel that has no other than these.

    Parameters
    ----------
    kernel
        The kernel.
    sigma
        Sharpness of the Gaussian kernel exp(-sigma ||x - x'||^2). 'scale' is 1 / (n_features_in_ * X.var()).
    """

    kernels: ClassVar[tuple[str, ...]] = ("gaussian", "linear")

    kernel: str = told("gaussian", "one of {cls.kernels}", kw_only=False)
    sigma: float | str = told("scale", f"{SIGMA.allowed()}, or 'scale'")


class HasValues(Protocol):
    """What is learned: real values at points."""

    def evaluate(self, X: NDArray) -> NDArray:
        """Return f at each row of `X`, of shape (n,)."""


@dataclass(eq=False, repr=False, kw_only=True)
class _Limited:
    """What every method has.

    Parameters
    ----------
    memory_limit
        GB that a fit may take; one that needs more is refused before it starts.
    """

    memory_limit: float = told(MEMORY_LIMIT.default, MEMORY_LIMIT.allowed())


class Baseline(_Limited, BaseEstimator):
    """Shell of a comparison method.

    A subclass is a dataclass: it names itself, has its own parameters as fields beside the kernel's and `memory_limit`,
    says what memory it needs (`_memory`) and learns (`_learn`): from validated float64 points and codes, with
    `watch.step(objective)` after each outer step, `watch.give_up(reason)` where it does not converge, and `model_` as
    what it leaves.

    `title`, `citation` and `sentence` are for pages and docs: a name, the source, and what it does in one sentence
    ("learns ..."); `parameters` are those of its fields that are parameters, `kernels` what `kernel` may be.

    Attributes
    ----------
    model_ : object
        What is learned: `evaluate(X)` gives its values.
    objectives_ : ndarray of shape (s,)
        Objective after each outer step that knew it.
    converged_ : bool
        Whether the fit came to its end.
    n_iter_ : int
        Outer steps.
    memory_ : int
        Bytes that the fit needed beside the points, as it said beforehand.
    n_features_in_ : int
        Number of coordinates d of a point.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    sentence: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()
    kernels: ClassVar[tuple[str, ...]] = ("linear", *KERNELS)
    is_everyday: ClassVar[bool] = False  # what people install, and no paper's competitor
    copies: ClassVar[int] = 2  # of the points: in another order, and those of each kind

    model_: HasValues
    memory_: int
    objectives_: NDArray
    converged_: bool
    n_iter_: int

    def estimate_memory(self, n: int, d: int) -> int:
        """Return what a fit to n points of d coordinates will hold at its peak beside them, in bytes.

        All points count, labeled or not (members of similar pairs too), with the least favourable labels.
        """
        return self._need(n, d, self._checked(), None).bytes

    def _memory(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        """Return the need for memory at checked parameters `s`, beside copies of the points.

        `y` is what `_learn` gets; where it is None, the need at the least favourable one.
        """
        raise NotImplementedError

    def _need(self, n: int, d: int, s: dict[str, Any], y: NDArray | None) -> Memory:
        """Return the need for memory with that for copies of the points and for their labels."""
        return self._memory(n, d, s, y).with_more(BYTES_PER_NUMBER * n * (self.copies * d + NUMBERS_PER_POINT))

    def _allowed(self, X: NDArray, y: NDArray) -> tuple[dict[str, Any], int]:
        """Return the checked parameters and the need for memory in bytes; raise if it is above the limit."""
        s = self._checked()
        need = self._need(X.shape[0], X.shape[1], s, y)
        need.check(s["memory_limit"], type(self).__name__)
        return s, need.bytes

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
        return make_kernel(kernel, self, X)

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", None))

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        """Check parameters and memory, learn, and note what is known of every fit."""
        s, need = self._allowed(X, y)
        watch = Watch(callback, type(self).__name__)
        self._learn(X, y, s, watch)
        self.memory_, self.converged_ = need, watch.is_converged
        self.objectives_, self.n_iter_ = watch.objectives(), watch.steps
        return self

    def _values(self, X: ArrayLike) -> NDArray:
        """Return f at the rows of `X`, after validation; raise if it is not finite there."""
        check_is_fitted(self, "model_")
        points = validate_data(self, X, reset=False, dtype=np.float64)
        check_sizes(points)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the values
            return check_values(self.model_.evaluate(points))


class LabelsBaseline(ScoredOnLabels, Baseline):
    """Shell of a method that learns from labels of classes, and -1 for unlabeled.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels in their order.
    """

    is_ordered: ClassVar[bool] = False

    classes_: NDArray

    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn from labeled and unlabeled points.

        Parameters
        ----------
        X, y : array-like
            As in `dsgcore.QSGS2AUC`. Ordered classes are in their order when sorted, or pandas' ordered categories.
        callback : callable, optional
            Gets a `dsgcore.baselines.Progress` between outer steps; returns True to cancel.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the labels are too few or not of as many classes as are wanted.
        MemoryLimitError
            If the fit needs more than `memory_limit`.
        Cancelled
            If the callback returned True.
        """
        classes, codes = encode(y, is_ordered=self.is_ordered)
        points, codes = validate_data(self, X, codes, dtype=np.float64)
        check_sizes(points)
        self._run(points, self._targets(classes, codes), callback)
        self.classes_ = classes
        return self

    def _targets(self, classes: NDArray, codes: NDArray) -> NDArray:
        """Return what `_learn` gets for codes 0 .. k - 1, and -1 for unlabeled: these; raise DSGError for other classes."""
        check_some_classes(classes)
        return codes


class LabelsAlone(Baseline):
    """Shell of a method that learns from the labeled points only."""

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        is_labeled = y != UNLABELED
        return super()._run(X[is_labeled], y[is_labeled], callback)


class BinaryBaseline(LabelsBaseline):
    """Shell of a method that learns from labels of two classes and -1 for unlabeled; `_learn` gets y in {1, -1, 0}.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    """

    threshold_: float

    def __sklearn_tags__(self) -> Tags:
        """Say that two classes are wanted."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _targets(self, classes: NDArray, codes: NDArray) -> NDArray:
        check_two_classes(classes)
        return np.array([-1.0, 1.0, 0.0])[codes]  # a code of -1 is the last

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return how strongly each row of `X` belongs to the second class, of shape (n,); see `threshold_`."""
        return self._values(X) - getattr(self, "threshold_", 0.0)

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted label of each row of `X`, of shape (n,)."""
        is_second = self.decision_function(X) > 0
        return self.classes_[is_second.astype(int)]


class OrdinalBaseline(OrderedClassifier, LabelsBaseline):
    """Shell of a method that learns from ordered classes; `_learn` gets codes 0 .. k - 1 and -1, sets `thresholds_`."""

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,): the higher, the later in the order of the classes."""
        return self._values(X)
