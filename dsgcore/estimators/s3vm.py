"""TSGS3VM as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from dsgcore.core.documented import estimator
from dsgcore.core.parameters import ParameterError, derived, like
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.estimators.inputs import TrainingValues
from dsgcore.problems import Problem
from dsgcore.problems.s3vm import C_STAR, C, SemiSupervisedSVM
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.task import Task

# Total weight of the unlabeled points, as a share of the total weight of the labeled points.
UNLABELED_PART = 0.1
# Weights of one point's loss, and those of mean losses in their place.
REPLACED = {"C": "labeled_weight", "C_star": "unlabeled_weight"}


@estimator
class TSGS3VM(BinaryEstimator):
    """Semi-supervised support vector machine, by triply stochastic gradients.

    The method learns a kernel classifier. Labeled points should be on their side of its boundary, and few unlabeled
    points near it. Each iteration draws a mini-batch of positives, negatives and unlabeled points, and new random
    features of the kernel.

    Parameters
    ----------
    C
        Weight of each labeled point's hinge loss, as in scikit-learn's SVC, so that one value suits 20 labels and 20,000.
        Beside a labeled_weight it must stay at its default, and does not count.
    C_star
        Weight of each unlabeled point's loss. With 0 unlabeled points do not count. None gives all of them together a
        tenth of the labeled points' weight.
    labeled_weight
        Weight of the labeled points' mean loss, the paper's C, in place of C. The same as C = labeled_weight / n_l.
    unlabeled_weight
        Weight of the unlabeled points' mean loss, the paper's C*, in place of C_star. The same as
        C_star = unlabeled_weight / n_u. Beside a labeled_weight, None is the paper's labeled_weight n_l / n_u.
    is_balanced
        Shift f so that its mean over the unlabeled points is the mean label (+1, -1) of the labeled points, during
        training and after it.
    lam
        Ridge. The paper's objective has 1. Another value is the same as its C / lam, C* / lam, step_size * lam.

    Attributes
    ----------
    shift_ : float
        Constant that `decision_function` adds to the score. With `is_balanced` it sets the mean over the unlabeled points that the
        last call drew from, 20,000 at most; otherwise it is 0.

    Notes
    -----
    Source: X. Geng, B. Gu, X. Li, W. Shi, G. Zheng and H. Huang, Scalable Semi-Supervised SVM via Triply Stochastic
    Gradients, IJCAI 2019, (1), (3)-(7), Table 2 and Algorithm 1. See `dsgcore.problems.s3vm.SemiSupervisedSVM` for the
    objective and for deviations from the paper.

    The paper's theorems are for the schedule "theta/T^(3/4)" and the last iterate, average=None.

    If the schedule is "theta/t" and theta * lam = 1, the model is the mean of the iterations' contributions, for any
    C. Its first values are near C n_l, and it needs as many iterations to forget them.

    In the paper, C* = C n_l / n_u weighs the mean loss of the n_u unlabeled points, and C that of the n_l labels. So an
    unlabeled point has (n_l / n_u)^2 of a labeled point's weight, which is next to nothing with few labels. In tests, a
    tenth of the labels' weight for all unlabeled points together was better than no weight.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore import TSGS3VM
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(400) < 40, y, -1)
    >>> model = TSGS3VM(sigma=5.0, random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.9
    True
    """

    problem_class: ClassVar[type[SemiSupervisedSVM]] = SemiSupervisedSVM
    narrows: ClassVar[bool] = True
    # Signs decide: values near 0 must be more accurate than for a ranking.
    tol_started: ClassVar[float] = 0.02

    C: float = like(C, 5.0)
    C_star: float | None = like(C_STAR)
    labeled_weight: float | None = like(SemiSupervisedSVM, "labeled_weight", None, optional=True)
    unlabeled_weight: float | None = like(SemiSupervisedSVM, "unlabeled_weight")
    loss: Literal["symmetric hinge", "squared symmetric hinge", "ramp", "exponential"] = like(SemiSupervisedSVM, "loss")
    s: float = like(SemiSupervisedSVM, "s")
    is_balanced: bool = like(SemiSupervisedSVM, "is_balanced")
    lam: float = like(SolverParameters, "lam", default=1.0)

    def _problem(self, labels: NDArray, **given: object) -> Problem:
        """Return the problem, with C and C_star converted to weights of mean losses for these labels."""
        s = self._checked()
        for point, mean in REPLACED.items():
            if s[mean] is not None and s[point] != type(self).__dataclass_fields__[point].default:
                raise ParameterError(f"{mean} replaces {point}: give one of them, got {s[mean]:g} and {s[point]:g}")
        problem = super()._problem(labels, **dict.fromkeys(REPLACED.values(), 1.0), **given)
        n = {source: len(rows) for source, rows in problem.rows(labels).items()}
        labeled, unlabeled = s["labeled_weight"], s["unlabeled_weight"]
        if s["C_star"] is not None:
            unlabeled = s["C_star"] * n["unlabeled"]
        if labeled is None:
            labeled = s["C"] * (n["positive"] + n["negative"])
            unlabeled = UNLABELED_PART * labeled if unlabeled is None else unlabeled
        return derived(problem, labeled_weight=labeled, unlabeled_weight=unlabeled)

    def _thresholds(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        return {"shift_": task.problem.shift(values.at(task.shift_rows)) if task.problem.is_shifted else 0.0}
