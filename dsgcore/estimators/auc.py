"""QSG-S2AUC as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from dsgcore.core.documented import estimator
from dsgcore.core.parameters import Real, like
from dsgcore.core.sampling import evenly_spread
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.estimators.classes import decision_threshold
from dsgcore.estimators.inputs import LABELED_CUT, POINTS_CUT, TrainingValues, labeled_rows
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.solver.task import FEW_LABELS, Task

SHARE = Real("positive_share", "labels", low=0.0, high=1.0, optional=True, words=("labels", "estimate"))


@estimator
class QSGS2AUC(BinaryEstimator):
    """Semi-supervised AUC optimisation by quadruply stochastic gradients.

    The method learns a kernel scorer that ranks positives above negatives, from a few labels and many unlabeled
    points. Each iteration draws a mini-batch of positives, negatives and unlabeled points, and new random features of
    the kernel. Memory is O(n_iter * n_features) for any number of points.

    Parameters
    ----------
    lam
        Ridge. 'auto' is 3 over the number of labels, and at least 0.01. For r times 1,024 labels it is 0.01 / r^(5/4).
    is_pooled
        Weigh the scores' spread within a class by its share of the labels, and let all labels decide on the ridge.
        This helps if one class has only a few labels. It changes nothing if both classes have equally many. The paper
        does not pool.
    positive_share
        Share of positives among the points to predict. `predict` calls this share of the training points positive.
        'labels' takes the share among the labeled points; with more than 1,024 of them, `predict` has it among these.
        'estimate' is for labels that were picked by class: it compares the distribution of the scores with that of the
        labels (`dsgcore.prior.energy_class_prior`). None maximises the balanced accuracy on the labeled points.

    Attributes
    ----------
    threshold_ : float
        Decision threshold: `predict` returns the positive class for scores above it. See `positive_share`.

    Notes
    -----
    Source: W. Shi, B. Gu, X. Li, X. Geng and H. Huang, Quadruply Stochastic Gradients for Large Scale Nonlinear
    Semi-Supervised AUC Optimization, IJCAI 2019, (8), (9) and Algorithms 1 and 2. See
    `dsgcore.problems.SemiSupervisedAUC`. The paper's theorem is for the schedule "theta/t" with theta * lam in (1, 2).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import QSGS2AUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # nine labels of ten hidden
    >>> model = QSGS2AUC(sigma=0.5, random_state=0).fit(X, few)
    >>> bool(roc_auc_score(y, model.decision_function(X)) > 0.98)
    True
    """

    problem_class: ClassVar[type[SemiSupervisedAUC]] = SemiSupervisedAUC
    is_ranking = True

    gamma: float = like(SemiSupervisedAUC, "gamma", default=0.9)
    pairing: Literal["triplets", "all"] = like(SemiSupervisedAUC, "pairing", default="all")
    is_pooled: bool = like(SemiSupervisedAUC, "is_pooled", default=True)
    positive_share: float | Literal["labels", "estimate"] | None = like(SHARE)

    def _thresholds(self, task: Task, codes: NDArray, values: TrainingValues) -> dict[str, Any]:
        labeled, share = labeled_rows(codes, LABELED_CUT), self.positive_share
        # With many labels, the share is known exactly among points with labels.
        is_known = share == "labels" and len(labeled) > FEW_LABELS
        some = values.at(labeled if is_known else evenly_spread(len(codes), POINTS_CUT))
        return {"threshold_": decision_threshold(share, codes[labeled], values.at(labeled), some)}
