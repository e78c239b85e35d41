"""TSGS3VM as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray

from dsgcore.core.documented import documented
from dsgcore.core.expansion import Expansion
from dsgcore.core.parameters import field_as_in
from dsgcore.core.solver import Task
from dsgcore.core.solver_parameters import SolverParameters
from dsgcore.estimators.base import BinaryEstimator, evaluate
from dsgcore.problems.s3vm import SemiSupervisedSVM


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class TSGS3VM(BinaryEstimator):
    """Semi-supervised support vector machine, by triply stochastic gradients.

    A kernel classifier whose boundary keeps labeled points on their side and runs where unlabeled points are few. Each
    iteration draws a mini-batch of positives, negatives and unlabeled points, and fresh random features of the kernel.

    Parameters
    ----------
    C
        Weight of the labeled points' mean hinge loss (not of their sum, as in scikit-learn's SVC).
    C_star
        Weight of the unlabeled points' mean loss; None is C n_l / n_u, 0 leaves them out.
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

    The paper's theorem is for the schedule "theta/T^(3/4)". With "theta/t" and theta * lam = 1 the model is the mean of what
    the iterations added, whatever C. Its first values are near C, and it forgets them in n_iter >> C iterations only: where C
    is larger than that, "constant" with a step_size of about 4 / C comes closer to the solution.

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

    C: float = field_as_in(SemiSupervisedSVM, "C", default=100.0)
    C_star: float | None = field_as_in(SemiSupervisedSVM, "C_star")
    loss: str = field_as_in(SemiSupervisedSVM, "loss")
    s: float = field_as_in(SemiSupervisedSVM, "s")
    balance: bool = field_as_in(SemiSupervisedSVM, "is_balanced")
    lam: float = field_as_in(SolverParameters, "lam", default=1.0)
    step_size: float | str = field_as_in(SolverParameters, "step_size", default=1.0)
    schedule: str = field_as_in(SolverParameters, "schedule", default="theta/t")

    def _problem_parameters(self, **given: object) -> dict[str, Any]:
        return super()._problem_parameters(is_balanced=self.balance, **given)

    def _place(self, task: Task, codes: NDArray, model: Expansion) -> None:
        problem = task.problem
        assert isinstance(problem, SemiSupervisedSVM)
        unlabeled = task.X[task.rows["unlabeled"]]
        self.shift_ = problem.shift(evaluate(model, unlabeled)) if problem.is_balanced else 0.0

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return f(x) plus the shift, of shape (n,): the higher, the more positive.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        """
        return self._values(X) + self.shift_
