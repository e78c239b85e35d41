"""PS3VT as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass

from dsgcore.multiclass.estimator import Graph, MultiClassEstimator, Tail


@dataclass(kw_only=True, eq=False, repr=False)
class PS3VT(Graph, Tail, MultiClassEstimator):
    """Multi-class classification with unlabeled points and a low-rank pull, by singular value thresholding.

    A linear classifier (or one on random Fourier features) with the multi-class hinge loss, a graph that makes close
    points, labeled or not, score alike, and a penalty on the smaller singular values of its coefficients.

    Parameters
    ----------
    tau_A : float >= 0, default=1e-6
        Ridge.
    tau_I : float >= 0, default=1e-6
        Weight of the graph: how much neighbouring points, labeled or not, should score alike.
    tau_S : float >= 0, default=1e-3
        Weight of the tail of singular values: how strongly the coefficients are pulled to low rank.
    theta : float in [0, 1], default=0.5
        Share of the singular values, the largest, that the pull to low rank leaves alone (rounded up to a number).
    step_size : float > 0, default=0.03
        The paper's 1/mu; for the released variant, some 1000.
    radius : float > 0 or None, default=None
        The Frobenius norm of the coefficients is cut to this. None is 1 in the paper's variant, 1 / sqrt(tau_A) in the
        released one.
    batch_size : int >= 1 or None, default=32
        Labeled points drawn per iteration; None takes all of them.
    n_iter : int >= 1, default=1000
        Number of iterations.
    n_neighbors : int >= 1, default=10
        Neighbours of a point in the graph (at most n - 1).
    variant : {"paper", "released"}, default="paper"
        The paper's Algorithm 1, or what the authors' public program does.
    features : {"linear", "fourier"}, default="linear"
        The coordinates themselves, or random Fourier features of them, drawn once.
    sigma : float or "scale", default="scale"
        Sharpness of the kernel exp(-sigma ||x - x'||^2) of the Fourier features, in [1e-6, 1e6]; "scale" is
        1 / (n_features_in_ * X.var()).
    n_features : int >= 1, default=256
        Number m of random frequencies; the Fourier features are 2m numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of mini-batches and Fourier features; an int gives the same numbers at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (K, d), or (K, 2m) with Fourier features
        The paper's W, transposed; two rows for two classes.
    feature_map_ : dsgcore.multiclass.loop.FeatureMap
        From points to what `coef_` multiplies.
    n_iter_ : int
        Iterations made.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: J. Li, Y. Liu, R. Yin and W. Wang, Multi-Class Learning using Unlabeled Samples: Theory and Algorithm,
    IJCAI 2019, Algorithm 1 and Table 2. See `dsgcore.multiclass.problem.MultiClass` for the objective and for where
    we leave the paper.

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
