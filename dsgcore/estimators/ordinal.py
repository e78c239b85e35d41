"""QS3ORAO as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.core.documented import estimator
from dsgcore.core.folds import stratified_folds
from dsgcore.core.parameters import Parameter, ParameterError, choice, like, parameter_like, parameters_of_fields, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.classes import OrderedClassifier, even_chances, spread
from dsgcore.estimators.inputs import POINTS_CUT, labeled_rows, threshold_rows
from dsgcore.estimators.out_of_core import TrainingValues, over_partitions
from dsgcore.estimators.scores import mean_auc_of
from dsgcore.estimators.stopping import AutomaticTolerance
from dsgcore.kernels import Kernel
from dsgcore.problems import Problem
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.near_risks import shares
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.start import AUTOMATIC_START
from dsgcore.solver.task import SAMPLING, SHUFFLED, Task

# Candidate factors of the usual ridge. Factors down to 0.1 were also tried: the stochastic solution gained 2 points on
# one set (kin40k) and lost 0.8 on another (sgemm), where exact solutions gain.
FACTORS = (1.0, 3.0, 10.0)
FOLDS = 4
# Most labels used to choose the factor. Solving the systems for them takes milliseconds.
MOST_LABELS = 300
# Folds, and most labels, for the thresholds from held-out labels.
FOLDS_OF_THRESHOLDS, MOST_HELD_OUT = 5, 600


@estimator
class QS3ORAO(OrderedClassifier, FunctionalGradientEstimator):
    """Semi-supervised ordinal regression by AUC, by quadruply stochastic gradients.

    The method learns a kernel scorer that ranks points of k ordered classes, and thresholds that cut its values into
    the classes. Each iteration draws a mini-batch of every class and of the unlabeled points, and new random features
    of the kernel.

    Parameters
    ----------
    lam
        Ridge. 'auto' is one half over the number of labels of the smallest class, or three or ten times that. The
        factor is the one whose exact solutions rank held-out labels best.
    thresholds
        How the thresholds are chosen. 'hinge' and 'squared' minimise this loss on the labeled points, exactly. 'error'
        is for a small mean absolute error. It takes the mean of the hinge thresholds and of those from held-out labels:
        there, a higher class is as likely as a lower one. Scores are too far apart at points of the fit, and too
        close together at held-out points.
    margin
        Margin of the loss: wanted distance of a value from a threshold, in units of f. None is 0 for the hinge loss,
        and the paper's 1 for the squared loss. With 0 all thresholds of the squared loss would be the mean of f.

    Attributes
    ----------
    thresholds_ : ndarray of shape (k - 1,)
        Thresholds on f that separate the classes, in rising order.

    Warns
    -----
    UserWarning
        From `fit`, if thresholds coincide: then no point can get a class between them.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li and H. Huang, Quadruply Stochastic Gradient Method for Large Scale Nonlinear
    Semi-Supervised Ordinal Regression AUC Optimization, AAAI 2020, (7)-(10) and Algorithms 1 and 2. See
    `dsgcore.problems.ordinal.SemiSupervisedOrdinal` for the objective and for deviations from the paper.

    The paper's theorem is for the schedule "theta/t" with theta * lam in (1, 2).

    The weight gamma is one number, or a list with one for each of the k - 1 cuts of the classes into two groups.

    Labels are sorted to find the order of the classes: numbers by value, text by the alphabet. For text this is rarely
    the intended order. To set the order, pass pandas' ordered categories as `y`. Missing categories are unlabeled.

    Deviation: the paper's thresholds have margin 1. Values of an AUC objective with a ridge spread by less than that,
    and hinge thresholds would follow the classes' sizes more than the values. See `dsgcore.problems.thresholds`.

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
    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()
    is_binary: ClassVar[bool] = False
    is_ranking: ClassVar[bool] = True
    # With 5 % the score was lower: `tests/benchmarks/fast_fits.md`.
    automatic_tol: ClassVar[AutomaticTolerance] = AutomaticTolerance(started=0.03)

    start: str | None = like(AUTOMATIC_START)
    sampling: str = like(SAMPLING, SHUFFLED)
    gamma: float | Sequence[float] = like(SemiSupervisedOrdinal, "gamma", default=0.9)
    pairing: str = like(SemiSupervisedOrdinal, "pairing", default="all")
    thresholds: str = choice("error", options=("error", "hinge", "squared"))
    margin: float | None = real(None, low=0.0, high=1e6, optional=True)

    def _learn(self, *args: Any, **given: Any) -> Self:
        self._checked_cut()  # check before training
        return super()._learn(*args, **given)

    def _checked_cut(self) -> dict[str, Any]:
        """Return the loss and the margin of the thresholds, checked."""
        cut = {name: parameter_like(type(self), name).check(getattr(self, name)) for name in ("thresholds", "margin")}
        if cut["margin"] is None:
            cut["margin"] = 1.0 if cut["thresholds"] == "squared" else 0.0
        elif cut["thresholds"] == "squared" and cut["margin"] == 0.0:
            raise ParameterError(
                "margin must be above 0 with thresholds='squared', got 0: with 0 all thresholds coincide"
            )
        return cut

    def _ridge(
        self, problem: Problem, kernel: Kernel, X: NDArray, labels: NDArray, rows: Mapping[str, NDArray]
    ) -> float:
        is_labeled = labels != UNLABELED
        factor = _held_out_factor(problem, kernel, X[is_labeled], labels[is_labeled])
        return factor * super()._ridge(problem, kernel, X, labels, rows)

    def _rows_placed(self, codes: NDArray) -> NDArray:
        return np.union1d(threshold_rows(len(codes)), labeled_rows(codes, POINTS_CUT))

    def _place(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        cut, labeled = self._checked_cut(), np.flatnonzero(codes != UNLABELED)
        loss = "squared" if cut["thresholds"] == "squared" else "hinge"
        b = thresholds(codes[labeled], values.at(labeled), loss=loss, margin=cut["margin"])
        if cut["thresholds"] == "error" and (held := _held_out(task, codes)) is not None:
            some, (y, f) = values.at(threshold_rows(len(codes))), held
            units = (even_chances(y, f, len(b) + 1) - f.mean()) / spread(f)
            b = (b + np.mean(some, dtype=float) + spread(some) * units) / 2.0
        return {"thresholds_": b}

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean AUC on the labeled points, which the method maximises; see `mean_auc`.

        Points whose label is -1 or missing do not count. The parameters are as in scikit-learn.
        """
        values = self.ranking_function(X)
        return mean_auc_of(self.classes_, values, y, sample_weight)

    @over_partitions
    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,). Larger values belong to later classes."""
        return self._values(X)


def _held_out_factor(problem: Problem, kernel: Kernel, X: NDArray, y: NDArray) -> float:
    """Return the factor of the usual ridge with the best score on held-out labels, from points (n, d) and codes (n,).

    Return 1 if a class has too few labels, or if the equations have no solution in float64 (huge kernel values).
    """
    rows = evenly_spread(len(y), MOST_LABELS)
    points, labels = np.asarray(X[rows], dtype=float), y[rows]
    if np.bincount(labels)[np.unique(y)].min() < FOLDS:
        return 1.0
    folds = stratified_folds(labels, FOLDS)
    K = kernel.matrix(points, points)
    try:
        scores = np.mean([_scores(problem.baseline(), K, labels, train, held) for train, held in folds], axis=0)
    except np.linalg.LinAlgError:
        return 1.0
    return FACTORS[int(np.argmax(scores))]


def _scores(problem: Problem, K: NDArray, y: NDArray, train: NDArray, held: NDArray) -> list[float]:
    """Return each factor's score on the held-out points, from exact solutions on the others: (QK + lam) a = -l."""
    bound = problem.bind(y[train])
    rows = bound.rows(y[train])
    risk, usual = bound.near_risk(), bound.usual_ridge(rows)
    assert risk is not None
    M, of_train = shares(rows.values(), len(train)), K.take(train, axis=1)
    inside, outside = of_train.take(train, axis=0), of_train.take(held, axis=0)
    return [bound.score(y[held], outside @ risk.solution(M, inside, factor * usual, np.float32)) for factor in FACTORS]


def _held_out(task: Task, codes: NDArray) -> tuple[NDArray, NDArray] | None:
    """Return class codes and exact values at labels that were held out; None if the labels do not allow it."""
    rows = labeled_rows(codes, MOST_HELD_OUT)
    y = codes[rows]
    counts = np.bincount(y)
    if counts[counts > 0].min() < 2:
        return None
    X, f = np.asarray(task.X[rows], dtype=float), np.empty(len(y))
    K = task.kernel.matrix(X, X)
    for train, held in stratified_folds(y, min(FOLDS_OF_THRESHOLDS, int(counts.max()))):
        bound = task.problem.baseline().bind(y[train])
        risk = bound.near_risk()
        assert risk is not None
        of_train = K.take(train, axis=1)
        M = shares(bound.rows(y[train]).values(), len(train))
        try:
            alone = risk.solution(M, of_train.take(train, axis=0), task.plan.lam, np.float32)
        except np.linalg.LinAlgError:  # huge kernel values
            return None
        f[held] = of_train.take(held, axis=0) @ alone
    return (y, f) if np.isfinite(f).all() else None
