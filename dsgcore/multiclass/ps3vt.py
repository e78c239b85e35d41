"""PS3VT as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.core.documented import documented
from dsgcore.multiclass.estimator import Graph, MultiClassEstimator, Tail


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PS3VT(Graph, Tail, MultiClassEstimator):
    """Multi-class classification with unlabeled points and a low-rank pull, by singular value thresholding.

    A linear classifier (or one on random Fourier features) with the multi-class logistic or hinge loss, a graph that makes close
    points, labeled or not, score alike, and a penalty on the smaller singular values of its coefficients.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Algorithm 1 and Table 2. See `dsgcore.multiclass.problem.MultiClass` for the objective and for where
    we leave the paper.

    The defaults are ours: what is "auto", the intercept and the average. The paper's Algorithm 1 as printed has numbers for the
    weights, `loss="hinge"`, `step_size=` its 1/mu, `average=None`, `tol=None` and `fit_intercept=False`; the authors'
    program besides `variant="released"`, with a step of some 1000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from dsgcore import PS3VT
    >>> X, y = load_wine(return_X_y=True)
    >>> X = MinMaxScaler().fit_transform(X)
    >>> few = np.where(np.arange(len(y)) % 3 == 0, y, -1)  # two labels of three hidden
    >>> model = PS3VT(random_state=0).fit(X, few)
    >>> model.decision_function(X).shape
    (178, 3)
    """
