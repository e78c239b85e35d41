"""PS3VT as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.core.documented import documented
from dsgcore.multiclass.estimator import GraphParameters, MultiClassEstimator, RankParameters, with_old_names


@with_old_names
@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PS3VT(GraphParameters, RankParameters, MultiClassEstimator):
    """Multi-class classification with unlabeled points and a low-rank pull, by singular value thresholding.

    The method learns a linear classifier, or one on random Fourier features. It combines three terms:

    - the multi-class logistic or hinge loss of the labeled points;
    - a graph that makes close points, labeled or not, score alike;
    - a penalty on the smaller singular values of the coefficients.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Algorithm 1 and Table 2. See `dsgcore.multiclass.problem.MultiClass` for the objective and for
    deviations from the paper.

    The defaults differ from the paper: 'auto' values, the intercept and the average. To get the paper's Algorithm 1 as
    printed, set numbers for the weights, `loss="hinge"`, `step_size=` its 1/mu, `average=None`, `tol=None` and
    `fit_intercept=False`. To get the authors' program, also set `variant="released"` and a step of about 1000.

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
