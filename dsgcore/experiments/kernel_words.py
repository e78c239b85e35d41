"""What a person is told of each kernel, and which width of it corresponds to one of the Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dsgcore.kernels import KERNELS, Gaussian
from dsgcore.parameters import Parameter, Real, grid


@dataclass(frozen=True)
class KernelWords:
    """A kernel in words.

    Attributes
    ----------
    title : str
        The name that people see, also in links.
    sentence : str
        What it makes of the data, for those who choose.
    formula, features : str
        k(x, x') and its random features, in Markdown with short formulas, which a narrow page can break between.
    remark : str
        What the papers' theorems do not say of it, in Markdown; empty where they hold as they are.
    """

    title: str
    sentence: str
    formula: str
    features: str
    remark: str = ""


_WAVES = "$\\cos\\omega_j^\\top x$ and $\\sin\\omega_j^\\top x$, $j = 1 \\ldots m$, over $\\sqrt m$"
_NORMAL = "$\\omega_j \\sim \\mathcal{N}(0, 2\\sigma I)$"
KERNEL_WORDS: dict[str, KernelWords] = {
    "gaussian": KernelWords(
        "Gaussian",
        "smooth functions of the distance between two points; the usual choice.",
        "$k(x, x') = e^{-\\sigma\\|x-x'\\|^2}$",
        f"{_WAVES}, with {_NORMAL}",
    ),
    "orthogonal_gaussian": KernelWords(
        "Orthogonal Gaussian",
        "the Gaussian kernel with other random features, whose frequencies are at right angles: cheaper from about 128 "
        "coordinates on, and nearby points err less.",
        "$k(x, x') = e^{-\\sigma\\|x-x'\\|^2}$",
        f"{_WAVES}, with {_NORMAL} each, but orthogonal in blocks",
        "The frequencies of one block depend on each other. Lemma 1 needs the mean and the bound of an iteration's features, "
        "which stay as they were (the mean but for a term of order $1/p^2$ in $p \\geq 128$ coordinates); the band is made as "
        "if they were independent, and expects too large an error rather than too small a one.",
    ),
    "laplacian": KernelWords(
        "Laplacian",
        "functions with kinks, which can change abruptly along each coordinate.",
        "$k(x, x') = e^{-\\sigma\\|x-x'\\|_1}$",
        f"{_WAVES}, with coordinates of $\\omega_j$ from a Cauchy distribution of scale $\\sigma$",
    ),
    "matern": KernelWords(
        "Matérn",
        "functions as smooth as you choose, from kinks to nearly Gaussian.",
        "$k(x, x') = p_\\nu(r)\\,e^{-r}$ with $r = \\sqrt{2\\nu}\\,\\|x-x'\\|/\\ell$ and $p_{1/2} = 1$, $p_{3/2} = 1+r$, "
        "$p_{5/2} = 1+r+r^2/3$",
        f"{_WAVES}, with $\\omega_j = g\\sqrt{{2\\nu/\\chi^2_{{2\\nu}}}}\\,/\\,\\ell$ and $g \\sim \\mathcal{{N}}(0, I)$",
    ),
    "dot_product": KernelWords(
        "Dot product",
        "polynomials of one degree without a constant term: for many coordinates, or with Scaling at standard, where points "
        "lie on all sides of zero.",
        "$k(x, x') = (\\sigma_1\\langle x, x'\\rangle)^p$",
        "$\\prod_{l=1}^{p}\\langle w_{jl}, x\\rangle$, $j = 1 \\ldots m$, over $\\sqrt m$, where the entries of "
        "$w_{jl}$ are $\\pm\\sqrt{\\sigma_1}$ with random signs",
        "The kernel and its features grow with the points' length: κ and φ are not finite, so Lemma 1 bounds nothing and "
        "its curve is not drawn. The band needs no bound and is unbiased here too, but the features vary more than "
        "cosines do, the more the higher the power.",
    ),
}
# Mean and deviation of the square of a coordinate that is uniform in [0, 1].
_SQUARE = (1 / 3, math.sqrt(4 / 45))


def like_gaussian(name: str, sigma: float, d: int) -> tuple[Parameter, ...]:
    """Return a kernel's parameters, with defaults that suit where a Gaussian kernel of sharpness `sigma` does.

    Parameters
    ----------
    name : str
        One of `KERNELS`.
    sigma : float, > 0
        The Gaussian kernel's.
    d : int
        Number of the points' coordinates, which are taken to lie in [0, 1].

    Returns
    -------
    tuple of Parameter
        Of the kernel; what was converted is the stop of a slider.
    """
    kernel = KERNELS[name]
    if issubclass(kernel, Gaussian):
        return tuple(replace(p, default=sigma) if p.name == "sigma" else p for p in kernel.parameters)
    return tuple(_nearest_stop(p, _WIDTHS[name](sigma, d)) if isinstance(p, Real) else p for p in kernel.parameters)


_WIDTHS: dict[str, Callable[[float, int], float]] = {
    # For nu without end, the Matérn kernel of this length is the Gaussian one.
    "matern": lambda sigma, d: 1 / math.sqrt(2 * sigma),
    # 1/e at the same distance r: the sum of the d differences, normal ones, is about sqrt(2 d / pi) r.
    "laplacian": lambda sigma, d: math.sqrt(sigma * math.pi / (2 * d)),
    # k(x, x) is at most 1 for nearly all points, whatever the power: those up to three deviations above the mean length.
    "dot_product": lambda sigma, d: 1 / (_SQUARE[0] * d + 3 * _SQUARE[1] * math.sqrt(d)),
}


def _nearest_stop(parameter: Real, wanted: float) -> Real:
    return replace(parameter, default=min(grid(parameter), key=lambda stop: abs(math.log(stop / wanted))))
