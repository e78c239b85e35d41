"""TSGS3VM as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import NDArray

from dsgcore.core.documented import documented
from dsgcore.core.expansion import Expansion
from dsgcore.core.parameters import Choice, as_said, derived, field_as_in
from dsgcore.core.solver_parameters import SolverParameters
from dsgcore.core.task import Task
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.estimators.elsewhere import values_of
from dsgcore.problems import Problem
from dsgcore.problems.s3vm import SemiSupervisedSVM

# What the unlabeled points weigh together, of what the labeled ones do.
UNLABELED_PART = 0.1
PER = Choice("C_per", "point", options=("point", "mean"))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class TSGS3VM(BinaryEstimator):
    """Semi-supervised support vector machine, by triply stochastic gradients.

    A kernel classifier whose boundary keeps labeled points on their side and runs where unlabeled points are few. Each
    iteration draws a mini-batch of positives, negatives and unlabeled points, and fresh random features of the kernel.

    Parameters
    ----------
    C
        Weight of each labeled point's hinge loss, as in scikit-learn's SVC; see C_per.
    C_star
        Weight of each unlabeled point's loss, 0 leaves them out. None gives all of them together a tenth of the labeled
        points' weight; with C_per='mean' each of them a labeled point's, C_star = C n_l / n_u.
    C_per
        What C and C_star weigh: each point's loss, so that one value suits 20 labels and 20,000, or as in the paper the
        mean losses: its C is C n_l here, its C_star is C_star n_u.
    balance
        Shift f so that its mean over the unlabeled points is the mean label (+1, -1) of the labeled ones, in training
        and after it.
    lam
        Ridge. The paper's objective has 1: other values stand for its C / lam, C_star / lam, step_size * lam.

    Attributes
    ----------
    shift_ : float
        What `decision_function` adds to f: with `balance` so much that the mean over the unlabeled points given last is
        as wanted, else 0.

    Notes
    -----
    Source: X. Geng, B. Gu, X. Li, W. Shi, G. Zheng and H. Huang, Scalable Semi-Supervised SVM via Triply Stochastic
    Gradients, IJCAI 2019, (1), (3)-(7), Table 2 and Algorithm 1. See `dsgcore.problems.s3vm.SemiSupervisedSVM` for the
    objective and for where we leave the paper.

    The paper's theorem is for the schedule "theta/T^(3/4)" and the last iterate, average=None. With "theta/t" and
    theta * lam = 1 the model is the mean of what the iterations added, whatever C: its first values are near C n_l, and it
    forgets them in as many iterations only.

    Where the unlabeled points weigh as much as the labeled ones each, as in the paper, they move the boundary before the labels
    have had their say, and on sets without a gap between the classes that costs more than it brings: together a tenth of the
    labels' weight was better than none and than that.

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

    C: float = field_as_in(SemiSupervisedSVM, "C", default=5.0)
    C_star: float | None = field_as_in(SemiSupervisedSVM, "C_star")
    C_per: str = as_said(PER)
    loss: str = field_as_in(SemiSupervisedSVM, "loss")
    s: float = field_as_in(SemiSupervisedSVM, "s")
    balance: bool = field_as_in(SemiSupervisedSVM, "is_balanced")
    lam: float = field_as_in(SolverParameters, "lam", default=1.0)

    def _problem(self, labels: NDArray) -> Problem:
        """Return the problem with the weights of mean losses that C and C_star come to with these labels."""
        problem = SemiSupervisedSVM(**super()._problem_parameters(is_balanced=self.balance))
        if PER.check(self.C_per) == "mean":
            return problem
        rows = problem.rows(labels)
        C = problem.C * (len(rows["positive"]) + len(rows["negative"]))
        C_star = UNLABELED_PART * C if problem.C_star is None else problem.C_star * len(rows["unlabeled"])
        return derived(problem, C=C, C_star=C_star)

    def _place(self, task: Task, codes: NDArray, model: Expansion) -> None:
        problem = task.problem
        self.shift_ = problem.shift(values_of(model, task.X, task.rows["unlabeled"])) if problem.is_shifted else 0.0

    def _cut(self, f: NDArray) -> NDArray:
        return f + self.shift_
