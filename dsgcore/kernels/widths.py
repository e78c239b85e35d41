"""Default width of a kernel for given points: one rule for specs, the command line and the app.

The Gaussian kernel's width follows the median distance between points. On a user's own file it is the estimators'
``"scale"``, which is scikit-learn's rule. Other kernels get the corresponding width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from dsgcore.core.parameters import Real, grid
from dsgcore.core.sampling import evenly_spread
from dsgcore.kernels import KERNELS

# Times 1 / (median squared distance): roughly suits the bundled sets.
SHARPNESS = 2.5
LOWEST, HIGHEST = 1e-3, 100.0
PROBED_ROWS = 300


def usual_sigma(X: NDArray) -> float:
    """Return a σ of the Gaussian kernel that suits points (n, d) of any units once they are scaled to [0, 1].

    It is 2.5 over the median squared distance, rounded to 1, 2 or 5 times a power of 10; 1 if all points are the same.
    """
    points = X[evenly_spread(len(X), PROBED_ROWS)].astype(np.float64)
    extent = np.ptp(points, axis=0)
    distances = pdist((points - points.min(axis=0)) / np.where(extent > 0, extent, np.inf), "sqeuclidean")
    median = float(np.median(distances)) if len(distances) else 0.0
    wanted = min(max(SHARPNESS / median, LOWEST), HIGHEST) if median > 1e-9 else 1.0
    exponent = math.floor(math.log10(wanted))
    return _nearest([float(f"{digit}e{e}") for e in (exponent, exponent + 1) for digit in (1, 2, 5)], wanted)


def like_gaussian(name: str, sigma: float, d: int) -> dict[str, float]:
    """Return the width of a kernel, by its parameter's name, that corresponds to a Gaussian kernel with this σ.

    It holds for points with `d` coordinates in [0, 1], and for kernels of another family than the Gaussian one. The result
    is the stop of a slider, or the default if there is no conversion.
    """
    kernel = KERNELS[name]
    width, wanted = next((p for p in kernel.parameters if isinstance(p, Real)), None), kernel.like_gaussian(sigma, d)
    if width is None:
        return {}
    return {width.name: width.default if wanted is None else _nearest(grid(width), wanted)}


def like_scale(name: str, sigma: float, d: int) -> dict[str, float]:
    """Return the width of a kernel, by its parameter's name, that is "scale" where a Gaussian kernel's is this σ.

    It holds for points with `d` standardised coordinates.
    """
    if name == "laplacian":
        return {"sigma": (sigma / d) ** 0.5}
    width = next((p for p in KERNELS[name].parameters if isinstance(p, Real)), None)
    return {} if width is None else {width.name: sigma if width.name == "sigma" else sigma**-0.5}


def _nearest(stops: Sequence[float], wanted: float) -> float:
    return min(stops, key=lambda stop: abs(math.log(stop / wanted)))
