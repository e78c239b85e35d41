"""Doubly stochastic gradients as a scikit-learn estimator, for two classes."""

from __future__ import annotations

from typing import ClassVar, Literal

from dsgcore.core.documented import estimator
from dsgcore.core.parameters import like
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.problems.supervised import Supervised


@estimator
class DSG(BinaryEstimator):
    """Kernel classification of two classes, by doubly stochastic gradients.

    The method learns from labels alone: kernel logistic regression, a support vector machine, or kernel ridge regression of
    the labels 1 and -1. Each iteration draws a mini-batch of each class, and new random features of the kernel. It is the
    algorithm that QSGS2AUC, TSGS3VM, QS3ORAO and TSGSU extend. Unlabeled points are not used.

    Parameters
    ----------
    lam
        Ridge. 'auto' is one half over the number of labels, as in an SVM with C = 2.

    Notes
    -----
    Source: B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan and L. Song, Scalable Kernel Methods via Doubly
    Stochastic Gradients, NIPS 2014, Algorithms 1 and 2. See `dsgcore.problems.supervised.Supervised` for the losses and for
    deviations from the paper. The paper's theorems are for the schedule "theta/t" and start=None.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore import DSG
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> DSG(sigma=5.0, random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    problem_class: ClassVar[type[Supervised]] = Supervised

    loss: Literal["logistic", "hinge", "squared"] = like(Supervised, "loss")
