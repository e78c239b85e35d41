"""Class-prior estimation from similar pairs and unlabeled points, or from a few labels and unlabeled points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from sklearn.utils import check_array, gen_batches

from dsgcore.core.errors import DSGError
from dsgcore.core.sampling import generator
from dsgcore.core.threads import single_threaded_blas
from dsgcore.kernels.kernels import check_sizes, check_unmasked

__all__ = [
    "HullDistance",
    "PriorError",
    "energy_class_prior",
    "mixture_proportion",
    "positive_prior",
    "similar_class_prior",
]
METHODS = ("km1", "km2")
# The search for lambda = 1 / (1 - kappa) ends at this value, with this precision.
MAX_LAMBDA, PRECISION = 8.0, 0.04
# Largest sample that is used completely. A larger one is reduced to this size.
MAX_POINTS = 1000
# Candidate bandwidths of the kernel, as multiples of the square root of the median squared distance.
WIDTH_FACTORS = (0.1, 0.1**0.5, 1.0, 10.0**0.5, 10.0)
# Directions of the kernel matrix with less variance than this are dropped. Distances keep about 7 decimals.
MIN_VARIANCE = 1e-14
# Rows of a sample whose distances to another are in memory at a time.
ROWS_AT_A_TIME = 4096


class PriorError(DSGError):
    """Error: a class prior cannot be estimated. The message states the reason, the value given and the requirement."""


def mixture_proportion(
    mixture: ArrayLike,
    component: ArrayLike,
    *,
    method: str = "km2",
    smallest: float = 0.0,
    max_points: int = MAX_POINTS,
    seed: int = 0,
) -> float:
    """Estimate the share of one component in a mixture, by kernel mean embedding.

    Parameters
    ----------
    mixture : array-like of shape (n, d)
        Points of the mixture F.
    component : array-like of shape (m, d)
        Points of the component H.
    method : {"km2", "km1"}, default "km2"
        Rule for the slope of the distance to the hull at the answer. KM2 takes a mean of the slope at 1 and of D. KM1
        takes a value that depends on the number of points only, or KM2's slope if that value exceeds 0.9 D.
    smallest : float in [0, 0.87], default 0
        Lower bound of the search. Use 0.5 for similar pairs.
    max_points : int >= 2, default 1000
        Most points used of each sample. From a larger sample this many are drawn without replacement.
    seed : int, default 0
        Seed of that draw.

    Returns
    -------
    float
        The proportion kappa, in [smallest, 0.874]. The upper bound is the end of the search at 1 / (1 - kappa) = 8.

    Raises
    ------
    PriorError
        If the samples have different numbers of coordinates or no spread, or if an argument is out of range.

    Notes
    -----
    Source: H. Ramaswamy, C. Scott and A. Tewari, Mixture Proportion Estimation via Kernel Embeddings of Distributions,
    ICML 2016, with the constants of the authors' program.

    The method estimates kappa*, the *largest* share of H that F can hold. It equals the true share only if the rest of
    F holds no H.

    Deviation: the distances are exact (by non-negative least squares). The program's quadratic solver has errors of
    about 1e-4 near zero, which can move KM2's answer by a step of the search (0.01).

    Deviation: samples are capped at `max_points`.
    """
    if method not in METHODS:
        raise PriorError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0.0 <= smallest <= 1.0 - 1.0 / MAX_LAMBDA:
        raise PriorError(f"smallest must be between 0 and {1 - 1 / MAX_LAMBDA:.2f}, got {smallest!r}")
    if max_points < 2:
        raise PriorError(f"max_points must be at least 2, got {max_points!r}")
    samples = checked_samples(mixture=mixture, component=component)
    F, H = (sample[drawn_rows(len(sample), max_points, seed, name)] for name, sample in samples.items())
    with single_threaded_blas():  # bit-for-bit identical for any number of threads
        distance = HullDistance.of(F, H)
        D, steep = distance.separation, min(len(F), len(H)) ** -0.5
        is_km1 = method == "km1" and steep <= 0.9 * D
        # The search stops at nu D.
        slope = steep if is_km1 else 0.8 * (distance(1.05) - distance(1.0)) / 0.05 + 0.2 * D
        lam = _where_slope_exceeds(distance, slope, 1.0 / (1.0 - smallest))
    return (lam - 1.0) / lam


def similar_class_prior(similar: ArrayLike, unlabeled: ArrayLike, *, smallest: float = 0.5, **options: Any) -> float:
    """Estimate the prior of the larger class from similar pairs and unlabeled points.

    Parameters
    ----------
    similar : array-like of shape (2 n_S, d)
        All members of the similar pairs.
    unlabeled : array-like of shape (n_U, d)
        Unlabeled points.
    smallest : float in [0, 0.87], default 0.5
        Lower bound of the search for pi_S, the share of similar pairs. Two classes have a share of at least 0.5, so
        that with the default an answer always exists. With 0, an estimate that contradicts the model raises an error.
    **options
        `method`, `max_points` and `seed`, as in `mixture_proportion`.

    Returns
    -------
    float
        pi_+ in [1/2, 1), the prior of the more frequent class.

    Raises
    ------
    PriorError
        If the estimate of pi_S is below one half, or if `mixture_proportion` raises it.

    Notes
    -----
    Source: H. Bao, G. Niu and M. Sugiyama, Classification from Pairwise Similarity and Unlabeled Data, ICML 2018, with
    the start of the search at pi_S = 1/2 as in the authors' program; the TSGSU paper, Section "Class-prior
    estimation".

    The estimate is biased. The density of unlabeled points is pi_S times that of the similar points plus (1 - pi_S)
    times (p_+ + p_-) / 2. The second part contains similar points too. So mixture proportion estimation converges to a
    value kappa* above pi_S. If the classes do not overlap, kappa* is pi_S / pi_+, and the prior is too large. An
    example with 800 points of each kind, and classes four standard deviations apart per coordinate: the estimates were
    0.92 for 0.6, 0.87 for 0.7, and 0.91 for 0.9. If there are few points, or if the classes overlap, the error can
    have either sign.

    Use the result as a first guess. If you know the true prior, use that instead.
    """
    return positive_prior(mixture_proportion(unlabeled, similar, smallest=smallest, **options))


def positive_prior(pi_S: float) -> float:
    """Return pi_+ = (1 + sqrt(2 pi_S - 1)) / 2 in [1/2, 1], the prior of the larger class.

    Parameters
    ----------
    pi_S : float in [1/2, 1]
        Probability pi_+^2 + pi_-^2 that two independent points have the same class.

    Raises
    ------
    PriorError
        If `pi_S` is out of range.

    Notes
    -----
    Source: the TSGSU paper, after Eq. (12).
    """
    if not 0.5 <= pi_S <= 1.0:  # also raises for NaN
        raise PriorError(
            "the share of similar pairs, the sum of the squared class priors, must be between 0.5 and 1 "
            f"for two classes, got {pi_S:.4g}"
        )
    return (1.0 + math.sqrt(2.0 * pi_S - 1.0)) / 2.0


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


def _where_slope_exceeds(distance: Callable[[float], float], slope: float, left: float) -> float:
    """Bisect for the lambda at which the slope of the distance exceeds `slope`. The distance is convex."""
    right = MAX_LAMBDA
    while right - left > PRECISION:
        t = (left + right) / 2.0
        if (distance(t + PRECISION / 2.0) - distance(t)) / (PRECISION / 2.0) > slope:
            right = t
        else:
            left = t
    return (left + right) / 2.0


@dataclass(frozen=True)
class HullDistance:
    """Distance of the point t mean(F) + (1 - t) mean(H) from the convex hull of all points, in the kernel's space.

    Means are kernel mean embeddings of a mixture F and of one component H of it. The distance is zero up to
    t = 1 / (1 - kappa*), and grows beyond. kappa* is the largest share of H that F can hold.

    Attributes
    ----------
    width : float
        Bandwidth s of the kernel exp(-||x - x'||^2 / (2 s^2)).
    separation : float
        D = ||mean(F) - mean(H)||.
    columns : ndarray of shape (r, n + m)
        All points, F's before H's, in coordinates for which ``columns.T @ columns`` is the kernel matrix.
    n_mixture : int
        Number n of F's points.
    """

    width: float
    separation: float
    columns: NDArray
    n_mixture: int

    @classmethod
    def of(cls, mixture: NDArray, component: NDArray) -> HullDistance:
        """Choose the bandwidth, of five, that separates the two means most, and return the distance function."""
        points = np.concatenate([mixture, component])
        squared = cdist(points, points, "sqeuclidean")
        median = float(np.median(squared))
        if not median > 0.0:
            raise PriorError(
                "the two samples must not consist of copies of one point: half of all distances are zero, "
                "so no kernel width can be chosen"
            )
        difference = np.repeat([1 / len(mixture), -1 / len(component)], [len(mixture), len(component)])
        kernels = ((s, np.exp(squared / (-2 * s**2))) for s in math.sqrt(median) * np.array(WIDTH_FACTORS))
        separation, width, K = max(
            ((math.sqrt(max(0.0, float(difference @ K @ difference))), float(s), K) for s, K in kernels),
            key=lambda candidate: candidate[0],
        )
        # A pivoted Cholesky decomposition that stops at the numerical rank.
        factor, pivots, rank, _ = dpstrf(K, tol=MIN_VARIANCE)
        columns = np.empty((rank, len(K)))
        columns[:, pivots - 1] = np.triu(factor)[:rank]
        return cls(width, separation, columns, len(mixture))

    def __call__(self, t: float) -> float:
        """Return the distance d(t) for t >= 1. At t = 1 the point is mean(F), inside the hull.

        Let P = columns - point. The minimiser u >= 0 of ||P u||^2 + (sum(u) - 1)^2 is proportional to the weights v of the
        nearest point. For u = s v, the best s gives ||P v||^2 / (||P v||^2 + 1), which increases with ||P v||.
        """
        if t <= 1.0:
            return 0.0
        mean_mixture = self.columns[:, : self.n_mixture].mean(axis=1)
        mean_component = self.columns[:, self.n_mixture :].mean(axis=1)
        P = self.columns - (t * mean_mixture + (1.0 - t) * mean_component)[:, None]
        target = np.append(np.zeros(len(P)), 1.0)
        try:
            u, _ = nnls(np.vstack([P, np.ones(P.shape[1])]), target, maxiter=30 * P.shape[1])
        except RuntimeError:
            raise PriorError("the distance to the convex hull did not converge; try other or fewer points") from None
        return float(np.linalg.norm(P @ (u / u.sum())))


def checked_samples(**given: ArrayLike) -> dict[str, NDArray]:
    """Return the samples as float arrays; raise unless they are finite and have equally many coordinates."""
    try:
        for name, X in given.items():
            check_unmasked(X, name)
        samples = {name: check_array(X, dtype=np.float64, input_name=name) for name, X in given.items()}
        for name, X in samples.items():
            check_sizes(X, name)
    except ValueError as error:
        raise PriorError(str(error)) from None
    dimensions = {name: X.shape[1] for name, X in samples.items()}
    if len(set(dimensions.values())) > 1:
        said = ", ".join(f"{name} {d}" for name, d in dimensions.items())
        raise PriorError(f"all samples must have equally many coordinates, got {said}")
    return samples


def drawn_rows(n: int, size: int, seed: int, name: str) -> NDArray:
    """Return the row numbers that `mixture_proportion` uses of a sample of n points, at most `size`.

    The name of the sample is "mixture" or "component".
    """
    return np.arange(n) if n <= size else generator(seed, f"prior {name}").choice(n, size, replace=False)
