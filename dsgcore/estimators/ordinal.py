"""QS3ORAO as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray

from dsgcore.core.expansion import Expansion
from dsgcore.core.parameters import Choice, Parameter, ParameterError, Real, check_all
from dsgcore.core.problem import UNLABELED
from dsgcore.core.solver import Task
from dsgcore.estimators.base import FunctionalGradientEstimator, evaluate
from dsgcore.estimators.classes import OrderedClassifier
from dsgcore.estimators.inputs import ordered_labels
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.thresholds import thresholds

# How the values are cut into classes.
_CUT: tuple[Parameter, ...] = (
    Choice("thresholds", "hinge", options=("hinge", "squared")),
    Real("margin", None, low=0.0, high=1e6, optional=True),
)


@dataclass(eq=False, repr=False, kw_only=True)
class QS3ORAO(OrderedClassifier, FunctionalGradientEstimator):
    """Semi-supervised ordinal regression by AUC, by quadruply stochastic gradients.

    A kernel scorer that ranks points of k ordered classes, and thresholds that cut its values into the classes. Each
    iteration draws a mini-batch of every class and of the unlabeled points, and fresh random features of the kernel.

    Parameters
    ----------
    kernel, sigma, length, nu, power, n_iter, n_features, batch_size, dtype, random_state
        As in `dsgcore.QSGS2AUC`.
    gamma : float in [0, 1], or k - 1 of them, default=0.5
        Weight of the labeled pairs, in all or in each of the k - 1 places where the classes can be cut in two; 1 - gamma is
        that of the pairs with unlabeled points.
    pairing : {"paired", "all"}, default="paired"
        Pairs within a mini-batch: one by one, or all of them.
    thresholds : {"hinge", "squared"}, default="hinge"
        Loss that the thresholds minimise on the labeled points, exactly.
    margin : float in [0, 1e6] or None, default=None
        How far from a threshold that loss wants a value, in units of f. None is 0 for the hinge and the paper's 1 for the
        squared loss, whose thresholds would all be the mean of f with 0.
    lam : float in [0, 1000], default=1e-2
        Ridge.
    step_size : float in [1e-6, 1e6], default=0.5
        Step eta, or the schedule's constant theta. The dot product kernel, which is not bounded, may need a smaller one.
    schedule : {"constant", "theta/t", "theta/sqrt(T)", "theta/T^(3/4)"}, default="constant"
        How the step depends on the iteration t and the length T of the run. The paper's theorem is for
        "theta/t" with theta * lam in (1, 2).

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels in their order.
    thresholds_ : ndarray of shape (k - 1,)
        Values of f, in rising order, that separate the classes.
    model_, n_iter_, n_features_in_
        As in `dsgcore.QSGS2AUC`.

    Warns
    -----
    UserWarning
        From `fit`, if thresholds coincide: no point then gets the classes between them.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li and H. Huang, Quadruply Stochastic Gradient Method for Large Scale Nonlinear
    Semi-Supervised Ordinal Regression AUC Optimization, AAAI 2020, (7)-(10) and Algorithms 1 and 2. See
    `dsgcore.problems.ordinal.SemiSupervisedOrdinal` for the objective and for where we leave the paper.

    Labels are put in order by sorting them: numbers as numbers, text by the alphabet, which is rarely what is meant. Where
    `y` is of pandas' ordered categories (missing ones unlabeled), the order is that of the categories.

    Deviation: the paper's thresholds have margin 1. Values of an AUC objective with a ridge spread by less than that,
    and hinge thresholds would then follow the classes' sizes more than the values; see `dsgcore.problems.thresholds`.

    Examples
    --------
    >>> import numpy as np
    >>> from dsgcore import QS3ORAO
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    >>> y = np.digitize(np.linalg.norm(X, axis=1), [0.5, 0.9])  # three rings, from the centre outwards
    >>> few = np.where(np.arange(600) < 60, y, -1)
    >>> model = QS3ORAO(sigma=2.0, random_state=0).fit(X, few)
    >>> model.mean_auc(X, y) > 0.95
    True
    >>> model.thresholds_.shape
    (2,)
    """

    problem_class: ClassVar[type[SemiSupervisedOrdinal]] = SemiSupervisedOrdinal
    is_binary: ClassVar[bool] = False

    gamma: float | Sequence[float] = 0.5
    pairing: str = "paired"
    thresholds: str = "hinge"
    margin: float | None = None

    def _labels(self, y: ArrayLike) -> tuple[ArrayLike, NDArray | None]:
        return ordered_labels(y)

    def _learn(self, X: NDArray, classes: NDArray, codes: NDArray, model: Expansion | None) -> Self:
        self._checked_cut()  # before the training
        return super()._learn(X, classes, codes, model)

    def _checked_cut(self) -> dict[str, Any]:
        """Return how the values are cut into classes, checked."""
        cut = check_all(_CUT, {p.name: getattr(self, p.name) for p in _CUT}, type(self).__name__)
        if cut["margin"] is None:
            cut["margin"] = 0.0 if cut["thresholds"] == "hinge" else 1.0
        elif cut["thresholds"] == "squared" and cut["margin"] == 0.0:
            raise ParameterError(
                "margin must be above 0 with thresholds='squared', which all coincide otherwise, got 0"
            )
        return cut

    def _place(self, task: Task, codes: NDArray, model: Expansion) -> None:
        cut, is_labeled = self._checked_cut(), codes != UNLABELED
        values = evaluate(model, task.X[is_labeled])
        self.thresholds_ = thresholds(codes[is_labeled], values, loss=cut["thresholds"], margin=cut["margin"])

    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,): the higher, the later in the order of the classes."""
        return self._values(X)
