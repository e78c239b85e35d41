"""Class-prior estimation from a few labels and unlabeled points, by energy distance."""

from __future__ import annotations

from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from dsgcore.prior.samples import PriorError, checked_samples

ROWS_AT_A_TIME = 4096


def energy_class_prior(positive: ArrayLike, negative: ArrayLike, unlabeled: ArrayLike, *, alpha: float = 1.0) -> float:
    """Estimate the share of positives among unlabeled points, by energy distance to the labeled classes.

    Parameters
    ----------
    positive : array-like of shape (n_P, d)
        Points labeled positive.
    negative : array-like of shape (n_N, d)
        Points labeled negative.
    unlabeled : array-like of shape (n_U, d)
        Unlabeled points.
    alpha : float in (0, 2), default 1
        Power of the distance.

    Returns
    -------
    float
        The prior of the positive class, cut to [0, 1].

    Raises
    ------
    PriorError
        If the samples have different numbers of coordinates, are empty or not finite, if both classes have the same
        points, or if `alpha` is out of range.

    Notes
    -----
    At the estimated prior, the mixture of the labeled classes is closest to the unlabeled sample. With D_AB the mean
    of ||a - b||^alpha over all pairs (including each point paired with itself), P(y = -1) = (D_NP - D_PP - D_NU +
    D_PU) / (2 D_NP - D_NN - D_PP).

    Source: H. Kawakubo, M. C. du Plessis and M. Sugiyama, Computationally Efficient Class-Prior Estimation under Class
    Balance Change Using Energy Distance, IEICE Transactions 2016.
    """
    if not 0.0 < alpha < 2.0:
        raise PriorError(f"alpha must be a number between 0 and 2, both excluded, got {alpha!r}")
    P, N, U = checked_samples(positive=positive, negative=negative, unlabeled=unlabeled).values()
    D_NP, D_PP, D_NN = (_mean_power(A, B, alpha) for A, B in ((N, P), (P, P), (N, N)))
    energy = 2.0 * D_NP - D_NN - D_PP
    if not energy > 1e-12 * D_NP:
        raise PriorError("positives and negatives must differ: the energy distance between the two samples is zero")
    negative_share = (D_NP - D_PP - _mean_power(N, U, alpha) + _mean_power(P, U, alpha)) / energy
    return 1.0 - min(1.0, max(0.0, negative_share))


def _mean_power(A: NDArray, B: NDArray, alpha: float) -> float:
    """Return the mean of ||a - b||^alpha over all pairs."""
    pieces = gen_batches(len(A), ROWS_AT_A_TIME)
    return float(sum((cdist(A[rows], B) ** alpha).sum() for rows in pieces) / (len(A) * len(B)))
