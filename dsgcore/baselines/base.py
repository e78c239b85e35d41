"""Base classes of the baselines: shared parameters, progress of a fit, and two kinds of labels."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dsgcore.baselines.basis import CENTERS, Basis, HasMatrix, Linear, choose_centers, make_basis
from dsgcore.core.documented import SEED, described
from dsgcore.core.parameters import Choice, Integer, Parameter, Real, like, parameter_like, parameters_of_fields
from dsgcore.estimators.classes import HighestScore, OrderedClassifier, ScoredOnLabels, check_classes
from dsgcore.estimators.inputs import (
    SIGMA,
    EstimatorBase,
    KernelParameters,
    all_or_nothing,
    make_kernel,
    points_and_classes,
    seed_of,
    validated_points,
)
from dsgcore.kernels import KERNELS
from dsgcore.kernels.kernels import check_sizes, check_values
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED

LAM = parameter_like(
    SolverParameters,
    "lam",
    usual=(1e-4, 10.0),
    label="Regularisation",
    sentence="Strength of the penalty on large weights.",
)
TOL = Real("tol", 1e-5, low=1e-9, high=0.1, scale="log", label="Tolerance")
MAX_ITER = Integer("max_iter", 100, low=1, high=100_000, label="Iterations at most")


@dataclass(frozen=True)
class Progress:
    """Progress of a fit after an outer step.

    Attributes
    ----------
    step : int
        Number of outer steps made, from 1.
    total : int
        Largest number of outer steps.
    objective : float
        Objective after this step. NaN if it was not computed.
    seconds : float
        Time since the fit began, in seconds.
    """

    step: int
    total: int
    objective: float
    seconds: float


Callback = Callable[[Progress], object]


class Watch:
    """Counter of one fit's outer steps, which keeps their objectives and calls the callback with a `Progress`.

    Messages name the estimator by `name`.
    """

    def __init__(self, callback: Callback | None, name: str) -> None:
        self.callback, self.name = callback, name
        self.total, self.steps = 0, 0
        self.objectives: list[float] = []
        self.is_converged = True
        self.start = time.perf_counter()

    def step(self, objective: float = math.nan) -> None:
        """Count an outer step, and keep its objective unless that is NaN."""
        self.steps += 1
        if not math.isnan(objective):
            self.objectives.append(float(objective))
        if self.callback is not None:
            seconds = time.perf_counter() - self.start
            self.callback(Progress(self.steps, max(self.total, self.steps), float(objective), seconds))

    def give_up(self, reason: str) -> None:
        """Record that the fit has not converged, and warn in one sentence with the reason and possible remedies."""
        self.is_converged = False
        warnings.warn(f"{self.name} has not converged: {reason}", ConvergenceWarning, stacklevel=4)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianOrLinear:
    """Kernel parameters of a method with a Gaussian and a linear kernel only.

    Parameters
    ----------
    kernel
        The kernel.
    sigma
        Inverse bandwidth of the Gaussian kernel exp(-sigma ||x - x'||^2). 'scale' is 1 / (n_features_in_ * X.var()).
    """

    kernels: ClassVar[tuple[str, ...]] = ("gaussian", "linear")

    kernel: str = described("gaussian", "one of {cls.kernels}", kw_only=False)
    sigma: float | str = described("scale", f"{SIGMA.allowed()}, or 'scale'")


class Baseline(EstimatorBase):
    """Base class of all baselines.

    A subclass is a dataclass. It adds its own parameters as fields, and implements `_learn`, which sets `model_` from
    validated float64 points and codes. It calls `watch.step(objective)` after each outer step, and
    `watch.give_up(reason)` if it does not converge.

    Pages and docs show the class attributes `title` (a name), `citation` (the source) and `sentence` ("learns ...").
    `parameters` lists the parameters among the fields, and `kernels` the allowed values of `kernel`.

    Attributes
    ----------
    model_ : object
        Fitted model. `evaluate(X)` returns its values.
    objectives_ : ndarray of shape (s,)
        Objective after each outer step. Steps that did not compute it are left out.
    converged_ : bool
        True if the fit converged.
    n_iter_ : int
        Number of outer steps.
    n_features_in_ : int
        Number of coordinates d of a point.

    Warns
    -----
    ConvergenceWarning
        From `fit`, if it did not converge.
    """

    title: ClassVar[str]
    citation: ClassVar[str]
    sentence: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()
    kernels: ClassVar[tuple[str, ...]] = ()
    is_everyday: ClassVar[bool] = False  # True for methods that people install, False for a paper's competitors
    is_supervised: ClassVar[bool] = False  # True for methods that learn from the labeled points only
    growth: ClassVar[float] = 2.0  # power of the number of points with which the time of a long fit grows

    model_: Any
    objectives_: NDArray
    converged_: bool
    n_iter_: int

    def _learn(self, X: NDArray, y: NDArray, s: dict[str, Any], watch: Watch) -> None:
        """Set `model_` from points (n, d), the labels as `_targets` returns them, and checked parameters `s`."""
        raise NotImplementedError

    def _checked(self) -> dict[str, Any]:
        """Return all parameters except the kernel's, checked."""
        return {p.name: p.check(getattr(self, p.name)) for p in self.parameters}

    def _kernel(self, X: NDArray) -> HasMatrix | None:
        """Return the kernel, with the "scale" of sigma computed from the points.

        Return None for "lm", a linear model without a kernel.
        """
        kernel = Choice("kernel", "gaussian", options=self.kernels).check(getattr(self, "kernel", None))
        if kernel in ("linear", "lm"):
            return Linear() if kernel == "linear" else None
        return make_kernel(self, X)

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", 0))  # who draws nothing leaves NumPy's global generator alone

    def _run(self, X: NDArray, y: NDArray, callback: Callback | None) -> Self:
        """Check the parameters, learn, and set the attributes that all baselines have."""
        watch = Watch(callback, type(self).__name__)
        if self.is_supervised:
            X, y = X[y != UNLABELED], y[y != UNLABELED]
        self._learn(X, y, self._checked(), watch)
        self.converged_ = watch.is_converged
        self.objectives_, self.n_iter_ = np.array(watch.objectives), watch.steps
        return self

    def _values(self, X: ArrayLike) -> NDArray:
        """Return f at the rows of `X`, after validation; raise DSGError if a value is not finite."""
        check_is_fitted(self, "model_")
        points = validated_points(self, X, np.float64)
        check_sizes(points)
        with np.errstate(over="ignore", invalid="ignore"):  # check_values reports overflow
            return check_values(self.model_.evaluate(points))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores of the rows of `X`, of shape (n, k), or (n,) for two classes: that of the second one."""
        return self._values(X) - getattr(self, "threshold_", 0.0)


@dataclass(eq=False, repr=False, kw_only=True)
class BasisParameters(KernelParameters, Baseline):
    """Parameters of a method whose features are kernels at centres, or the coordinates themselves.

    Parameters
    ----------
    random_state
        Seed for drawing the centres.
    """

    kernels = ("lm", "linear", *KERNELS)

    lam: float = like(LAM)
    centers: int | ArrayLike | None = like(CENTERS)
    random_state: int | np.random.RandomState | None = described(None, SEED)

    def _basis(self, X: NDArray, s: dict[str, Any], *, has_bias: bool = False) -> Basis:
        """Return the features for the training points, whose weights the penalty counts."""
        centers = choose_centers(X, s["centers"], self._seed())
        return make_basis(self._kernel(X), centers, s.get("penalty", ""), has_bias=has_bias)


class LabelsBaseline(ScoredOnLabels, Baseline):
    """Base class of methods that learn from class labels, with -1 for unlabeled points.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels in their order.
    """

    classes_: NDArray

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, *, callback: Callback | None = None) -> Self:
        """Learn from labeled and unlabeled points.

        Parameters
        ----------
        X, y : array-like
            As in `dsgcore.QSGS2AUC`. The order of ordered classes is their sorted order, or that of pandas' ordered
            categories.
        callback : callable, optional
            Called with a `dsgcore.baselines.Progress` after each outer step.

        Raises
        ------
        ValueError
            If a parameter is out of range, if there are too few labels, or if the number of classes is wrong.
        """
        # Models may keep the points.
        points, classes, codes = points_and_classes(self, X, y, is_ordered=self.is_ordered, is_copied=True)
        self._run(points, self._targets(classes, codes), callback)
        self.classes_ = classes
        return self

    def _targets(self, classes: NDArray, codes: NDArray) -> NDArray:
        """Return the labels for `_learn`: here codes 0 .. k - 1, and -1 for unlabeled points.

        Raise `DSGError` if the method cannot learn from these classes.
        """
        check_classes(classes)
        return codes


class BinaryBaseline(HighestScore, LabelsBaseline):
    """Base class of methods for two classes; `_learn` gets y in {1, -1, 0}, with 0 for unlabeled points.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels. The second one is the positive class.
    """

    threshold_: float

    def __sklearn_tags__(self) -> Tags:
        """Declare that the method needs exactly two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _targets(self, classes: NDArray, codes: NDArray) -> NDArray:
        check_classes(classes, is_binary=True)
        return np.array([-1.0, 1.0, 0.0])[codes]  # an unlabeled point's code -1 picks the last value


class OrdinalBaseline(OrderedClassifier, LabelsBaseline):
    """Base class of methods for ordered classes; `_learn` gets codes 0 .. k - 1 and -1, and sets `thresholds_`."""

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,). Larger values belong to later classes."""
        return self._values(X)
