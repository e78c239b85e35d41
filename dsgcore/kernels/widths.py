"""Width of a kernel that corresponds to a Gaussian one's: one rule for specs, the command line and the app."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dsgcore.core.parameters import Real, grid
from dsgcore.kernels import GAUSSIAN, KERNELS


def like_gaussian(name: str, sigma: float, d: int) -> dict[str, float]:
    """Return the width of a kernel, by its parameter's name, that corresponds to a Gaussian kernel with this σ.

    It holds for points with `d` coordinates in [0, 1]. The result is the stop of a slider, or the default if there is
    no conversion.
    """
    kernel = KERNELS[name]
    if kernel.family == GAUSSIAN:
        return {"sigma": sigma}
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
