"""Doubly stochastic gradients as scikit-learn estimators: for two classes, and for several with the softmax loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from dsgcore.core.documented import SEED, described, estimator
from dsgcore.core.errors import DivergedError, DSGError
from dsgcore.core.parameters import check_all, flag, like, parameters_of, real
from dsgcore.core.sampling import batch_rows
from dsgcore.estimators.base import BinaryEstimator
from dsgcore.estimators.classes import HighestScore, check_classes
from dsgcore.estimators.inputs import (
    SIGMA,
    EstimatorBase,
    all_or_nothing,
    points_and_classes,
    seed_of,
    validated_points,
    width,
)
from dsgcore.kernels import Gaussian
from dsgcore.kernels.kernels import check_values, too_far
from dsgcore.multiclass.features import FixedFeatures, Weights
from dsgcore.multiclass.softmax import Draw, each_frequencies, fixed_weights, softmax_blocks, weighted_blocks
from dsgcore.problems.supervised import Supervised
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import FIXED, tail_start


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


@estimator
class DSGSoftmax(HighestScore, EstimatorBase):
    """Kernel classification of several classes, by doubly stochastic gradients of the softmax loss.

    The method learns from labels alone. Each iteration draws a mini-batch of labeled points, and new random features of the
    Gaussian kernel. Unlabeled points are not used.

    Parameters
    ----------
    sigma
        Inverse bandwidth of the kernel exp(-sigma ||x - x'||^2). 'scale' is 1 / (n_features_in_ * X.var()).
    step_size
        Size of the first step, about. The step of iteration t is step_size / (1 + step_decay * t).
    step_decay
        Speed at which the steps become smaller.
    is_preconditioned
        Multiply each step by the inverse of its features' second moments in the mini-batch, as the authors' program does.
        Then few iterations are enough. Without it, the iteration is the paper's.
    average
        Iterate averaging. 'tail' gives the mean of the second half of the iterates, None the last iterate.
    random_state
        Seed for mini-batches and random features. Pass an int for the same result at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (n_iter, 2 * n_features, K)
        Coefficients of each iteration's features, cosines first; of one iteration if the features are fixed.
    seed_ : int
        Seed of the features.
    sigma_ : float
        Inverse bandwidth that was used.
    n_features_in_ : int
        Number of coordinates d of a point.

    Notes
    -----
    Source: Dai et al., NIPS 2014, Algorithms 1 and 2, as of `dsgcore.DSG`; the step sizes, and the preconditioner, which the
    paper does not have, are those of the authors' program.

    Deviation: that program does not apply the ridge to its scores of test points. Here they are those of the coefficients.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dsgcore import DSGSoftmax
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> DSGSoftmax(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    sigma: float | Literal["scale"] = described("scale", f"{SIGMA.allowed()}, or 'scale'")
    lam: float = like(SolverParameters, "lam", default=1e-3)
    n_iter: int = like(SolverParameters, "n_iter", default=100)
    n_features: int = like(SolverParameters, "n_features", default=64)
    features: Literal["fresh", "fixed"] = like(SolverParameters, "features")
    batch_size: int = like(SolverParameters, "batch_size", default=256)
    step_size: float = real(0.5, low=1e-6, high=1e6)
    step_decay: float = real(1e-4, low=0.0, high=1e6)
    is_preconditioned: bool = flag(True)
    average: Literal["tail"] | None = like(SolverParameters, "average", default="tail")
    random_state: int | np.random.RandomState | None = described(None, SEED)

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Labels of two classes or more. Points whose label is -1 or missing are not used.

        Raises
        ------
        ValueError
            If a parameter is out of range, if there are fewer than two classes, or if the run diverges.
        """
        points, classes, codes = points_and_classes(self, X, y)
        own, name = parameters_of(DSGSoftmax), type(self).__name__
        s = check_all(own, {p.name: getattr(self, p.name) for p in own}, name)
        check_classes(classes)
        self.classes_, self.seed_, self.sigma_ = classes, seed_of(self.random_state), width(SIGMA, self.sigma, points)
        if said := too_far(points, Gaussian(self.sigma_)):
            raise DSGError(said)
        labeled, n, is_fixed = points[codes != UNLABELED], s["n_iter"], s["features"] == FIXED
        features = FixedFeatures("fourier", self.sigma_, s["n_features"], self.seed_, n_blocks=int(is_fixed))

        def draws() -> Iterator[Draw]:
            for t, frequencies in each_frequencies(features, self.n_features_in_, n):
                rows = batch_rows(self.seed_, "labeled", t, np.arange(len(labeled)), s["batch_size"])
                yield rows, frequencies, s["step_size"] / (1.0 + s["step_decay"] * t), s["lam"]

        with np.errstate(over="ignore", invalid="ignore"):  # the values show divergence
            blocks = softmax_blocks(
                labeled, codes[codes != UNLABELED], len(classes), draws(), is_preconditioned=s["is_preconditioned"]
            )
            first, steps = (
                n - 1 if s["average"] is None else tail_start(n),
                ((block.W, block.decay) for block in blocks),
            )
            self.coef_ = fixed_weights(steps, n, first)[None] if is_fixed else weighted_blocks(list(steps), first)
        if not np.isfinite(self.coef_).all():
            raise DivergedError(f"{name} diverged: step_size {s['step_size']:g} is too big; try half of it")
        return self

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the classes' scores at the rows of `X`, of shape (n, K).

        For two classes return the second class's score minus the first's, of shape (n,).
        """
        check_is_fitted(self)
        n, width, K = self.coef_.shape
        features = FixedFeatures("fourier", self.sigma_, width // 2, self.seed_, n_blocks=n)
        model = Weights(features, self.coef_.reshape(-1, K), self.n_features_in_)
        scores = model.evaluate(validated_points(self, X, np.float64))
        return check_values(scores if len(self.classes_) > 2 else scores[:, 1] - scores[:, 0])

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return the softmax of the scores, of shape (n, K). It is too sure of itself unless the ridge is large."""
        scores = self.decision_function(X)
        return softmax(scores if scores.ndim == 2 else np.stack([0.0 * scores, scores], axis=1), axis=1)
