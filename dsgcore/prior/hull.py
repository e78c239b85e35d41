"""How far a combination of two samples' means lies from the convex hull of all their points, in a kernel's space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from scipy.optimize import nnls
from scipy.spatial.distance import cdist

from dsgcore.prior.samples import PriorError

# Candidate kernel widths, as multiples of the square root of the median squared distance.
WIDTH_FACTORS = (0.1, 0.1**0.5, 1.0, 10.0**0.5, 10.0)
# Directions of the kernel matrix with less variance than this are left out; distances keep about 7 decimals.
MIN_VARIANCE = 1e-14


@dataclass(frozen=True)
class HullDistance:
    """How far the point t mean(F) + (1 - t) mean(H) lies from the convex hull of all points, in the kernel's space.

    Means are kernel mean embeddings of a mixture F and of one component H of it. The distance is zero up to
    t = 1 / (1 - kappa*), where kappa* is the largest share of H that F can hold, and grows beyond.

    Attributes
    ----------
    width : float
        s of the kernel exp(-||x - x'||^2 / (2 s^2)).
    separation : float
        D = ||mean(F) - mean(H)||.
    columns : ndarray of shape (r, n + m)
        All points, F's before H's, in coordinates with ``columns.T @ columns`` the kernel matrix.
    n_mixture : int
        Number n of F's points.
    """

    width: float
    separation: float
    columns: NDArray
    n_mixture: int

    @classmethod
    def of(cls, mixture: NDArray, component: NDArray) -> HullDistance:
        """Take the width, of five, at which the two means are furthest apart."""
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
        return cls(width, separation, _square_root(K), len(mixture))

    def __call__(self, t: float) -> float:
        """Return the distance d(t); t >= 1, where t = 1 is mean(F) itself, inside the hull."""
        if t <= 1.0:
            return 0.0
        mean_mixture = self.columns[:, : self.n_mixture].mean(axis=1)
        mean_component = self.columns[:, self.n_mixture :].mean(axis=1)
        return _distance_to_hull(self.columns, t * mean_mixture + (1.0 - t) * mean_component)


def _square_root(K: NDArray) -> NDArray:
    """Return A of shape (r, N) with A'A = K, by a pivoted Cholesky decomposition that stops at the numerical rank."""
    factor, pivots, rank, _ = dpstrf(K, tol=MIN_VARIANCE)
    A = np.empty((rank, len(K)))
    A[:, pivots - 1] = np.triu(factor)[:rank]
    return A


def _distance_to_hull(columns: NDArray, point: NDArray) -> float:
    """Return the distance from `point` to the convex hull of the columns.

    With P = columns - point, min over u >= 0 of ||P u||^2 + (sum(u) - 1)^2 has u proportional to the weights v of the
    nearest point: for u = s v the best s leaves ||P v||^2 / (||P v||^2 + 1), which grows with ||P v||.
    """
    P = columns - point[:, None]
    target = np.zeros(len(P) + 1)
    target[-1] = 1.0
    try:
        u, _ = nnls(np.vstack([P, np.ones(P.shape[1])]), target, maxiter=30 * P.shape[1])
    except RuntimeError:
        raise PriorError("the distance to the convex hull did not converge; try other or fewer points") from None
    return float(np.linalg.norm(P @ (u / u.sum())))
