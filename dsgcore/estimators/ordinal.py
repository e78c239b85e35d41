"""QS3ORAO as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold

from dsgcore.core.documented import estimator
from dsgcore.core.parameters import Parameter, ParameterError, choice, like, parameter_like, parameters_of_fields, real
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.classes import OrderedClassifier, even_chances, spread
from dsgcore.estimators.inputs import LABELED_CUT, POINTS_CUT, TrainingValues, labeled_rows, over_partitions
from dsgcore.kernels import Kernel
from dsgcore.problems import Problem
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.start import shares
from dsgcore.solver.task import Task

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
        From `fit`, if thresholds coincide: then no point can get a class between them. Also if three or more words get
        the order of the alphabet, and that is not a known order of them.

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
    is_ranking = True
    # With 5 % the score was lower: `.github/docs/notes/fast_fits.md`.
    tol_started: ClassVar[float] = 0.03

    gamma: float | Sequence[float] = like(SemiSupervisedOrdinal, "gamma", default=0.9)
    pairing: Literal["paired", "all"] = like(SemiSupervisedOrdinal, "pairing", default="all")
    thresholds: Literal["error", "hinge", "squared"] = choice("error", options=("error", "hinge", "squared"))
    margin: float | None = real(None, low=0.0, high=1e6, optional=True)

    def _checked(self) -> dict[str, Any]:
        self._checked_cut()  # check before training
        return super()._checked()

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
        usual, labeled = super()._ridge(problem, kernel, X, labels, rows), labels != UNLABELED
        some = evenly_spread(int(labeled.sum()), MOST_LABELS)
        points, y = np.asarray(X[labeled][some], dtype=float), labels[labeled][some]
        if np.bincount(y)[np.unique(y)].min() < FOLDS:
            return usual
        held_out = _held_out_values(problem, kernel, points, y, FOLDS, lambda own: [factor * own for factor in FACTORS])
        scores = [[problem.score(y[held], f) for f in values] for held, values in held_out]
        if not scores:
            return usual
        return FACTORS[int(np.argmax(np.mean(scores, axis=0)))] * usual  # the best on held-out labels

    def _thresholds(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        cut, labeled = self._checked_cut(), labeled_rows(codes, LABELED_CUT)
        loss = "squared" if cut["thresholds"] == "squared" else "hinge"
        b = thresholds(codes[labeled], values.at(labeled), loss=loss, margin=cut["margin"])
        rows = labeled_rows(codes, MOST_HELD_OUT)
        y = codes[rows]
        counts = np.bincount(y)
        if cut["thresholds"] != "error" or counts[counts > 0].min() < 2:
            return {"thresholds_": b}
        points, n_folds = np.asarray(task.X[rows], dtype=float), min(FOLDS_OF_THRESHOLDS, int(counts.max()))
        held_out = _held_out_values(task.problem, task.kernel, points, y, n_folds, lambda usual: [task.plan.lam])
        f = np.full(len(y), np.nan)
        for held, (own,) in held_out:
            f[held] = own
        if np.isfinite(f).all():
            some, units = values.at(evenly_spread(len(codes), POINTS_CUT)), even_chances(y, f, len(b) + 1)
            b = (b + np.mean(some, dtype=float) + spread(some) * ((units - f.mean()) / spread(f))) / 2.0
        return {"thresholds_": b}

    @over_partitions
    def ranking_function(self, X: ArrayLike) -> NDArray:
        """Return f(x), of shape (n,). Larger values belong to later classes."""
        return self._values(X)


def _held_out_values(
    problem: Problem,
    kernel: Kernel,
    X: NDArray,
    y: NDArray,
    n_folds: int,
    ridges: Callable[[float], Sequence[float]],
) -> list[tuple[NDArray, list[NDArray]]]:
    """Return each stratified fold's held-out rows, and the values there of the exact solutions on the others.

    They solve (QK + lam) a = -l, one for each of the ridges, which may follow from the usual one. There are none if the equations
    have no solution in float64, as with huge kernel values.
    """
    K, found, folds = kernel.matrix(X, X), [], StratifiedKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # A fold may hold out none of a class with few.
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(folds.split(y, y))
    for train, held in splits:
        bound = problem.baseline().bind(y[train])
        rows, risk = bound.rows(y[train]), bound.near_risk()
        assert risk is not None
        M, of_train = shares(rows.values(), len(train)), K.take(train, axis=1)
        inside, outside = of_train.take(train, axis=0), of_train.take(held, axis=0)
        try:
            values = [outside @ risk.solution(M, inside, lam) for lam in ridges(bound.usual_ridge(rows))]
        except np.linalg.LinAlgError:
            return []
        found.append((held, values))
    return found
