"""How much of a mixture comes from one of its components."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from dsgcore.core._threads import single_threaded_blas
from dsgcore.prior.hull import HullDistance
from dsgcore.prior.samples import PriorError, at_most, checked_samples

METHODS = ("km1", "km2")
# The search for lambda = 1 / (1 - kappa) ends at this value, and when it is known to this precision.
MAX_LAMBDA, PRECISION = 8.0, 0.04
# Of a larger sample, so many points are looked at.
MAX_POINTS = 1000


def mixture_proportion(
    mixture: ArrayLike,
    component: ArrayLike,
    *,
    method: str = "km2",
    smallest: float = 0.0,
    max_points: int = MAX_POINTS,
    seed: int = 0,
) -> float:
    """Estimate how much of a mixture comes from one of its components, by kernel mean embedding.

    Parameters
    ----------
    mixture : array-like of shape (n, d)
        Points of the mixture F.
    component : array-like of shape (m, d)
        Points of the component H.
    method : {"km2", "km1"}, default "km2"
        How steep the distance to the hull may be at the answer: KM2 takes a mean of its slope at 1 and of D, KM1 a
        value that depends on the number of points only (and KM2's where that exceeds 0.9 D).
    smallest : float in [0, 0.87], default 0
        Smallest proportion that is looked for; 0.5 for similar pairs.
    max_points : int >= 2, default 1000
        From a sample with more points than this, so many are drawn without replacement.
    seed : int, default 0
        Seed of that draw.

    Returns
    -------
    float
        The proportion kappa, in [smallest, 0.874]: the method looks no further than 1 / (1 - kappa) = 8.

    Raises
    ------
    PriorError
        If the samples do not go together or have no spread, or an argument is out of range.

    Notes
    -----
    Source: H. Ramaswamy, C. Scott and A. Tewari, Mixture Proportion Estimation via Kernel Embeddings of Distributions,
    ICML 2016, with the constants of the authors' program. It estimates kappa*, the *largest* share of H that F can
    hold; that is the true share only where the rest of F holds no H.

    Deviation: the distances are exact (by non-negative least squares) where the program's quadratic solver is off by
    some 1e-4 near zero, which can move KM2's answer by a step of the search (0.01); samples are capped at `max_points`.
    """
    if method not in METHODS:
        raise PriorError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if not 0.0 <= smallest <= 1.0 - 1.0 / MAX_LAMBDA:
        raise PriorError(f"smallest must be between 0 and {1 - 1 / MAX_LAMBDA:.2f}, got {smallest!r}")
    if max_points < 2:
        raise PriorError(f"max_points must be at least 2, got {max_points!r}")
    samples = checked_samples(mixture=mixture, component=component)
    F, H = (at_most(max_points, sample, seed, name) for name, sample in samples.items())
    with single_threaded_blas():  # the same bits, whatever the number of threads
        distance = HullDistance.of(F, H)
        slope = _slope(distance, method, min(len(F), len(H)))
        lam = _where_slope_exceeds(distance, slope, 1.0 / (1.0 - smallest))
    return (lam - 1.0) / lam


def _slope(distance: HullDistance, method: str, n_points: int) -> float:
    """Return the slope nu D at which the search stops."""
    D = distance.separation
    if method == "km1" and n_points**-0.5 <= 0.9 * D:
        return n_points**-0.5
    return 0.8 * (distance(1.05) - distance(1.0)) / 0.05 + 0.2 * D


def _where_slope_exceeds(distance: Callable[[float], float], slope: float, left: float) -> float:
    """Bisect for the lambda at which the distance begins to grow faster than `slope`; it is convex."""
    right = MAX_LAMBDA
    while right - left > PRECISION:
        t = (left + right) / 2.0
        if (distance(t + PRECISION / 2.0) - distance(t)) / (PRECISION / 2.0) > slope:
            right = t
        else:
            left = t
    return (left + right) / 2.0
