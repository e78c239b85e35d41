"""Descriptions of the kernels for users, and their default width in a setting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dsgcore.data import DATASETS, load
from dsgcore.experiments.settings import DEFAULT_DATASET, FILE, Setting, defaults_of
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_gaussian, usual_sigma


@dataclass(frozen=True)
class KernelWords:
    """Description of a kernel.

    Attributes
    ----------
    title : str
        The name in the app, also in links.
    sentence : str
        Its effect on the data, to help the choice.
    formula, features : str
        k(x, x') and its random features, in Markdown with short formulas, between which a narrow page can break.
    remark : str
        Limits of the papers' theorems for this kernel, in Markdown; empty if they hold unchanged.
    """

    title: str
    sentence: str
    formula: str
    features: str
    remark: str = ""


_WAVES = "$\\cos\\omega_j^\\top x$ and $\\sin\\omega_j^\\top x$, $j = 1 \\ldots m$, over $\\sqrt m$"
_NORMAL = "$\\omega_j \\sim \\mathcal{N}(0, 2\\sigma I)$"
_WORDS: dict[str, KernelWords] = {
    "gaussian": KernelWords(
        "Gaussian",
        "smooth functions of the distance between two points. This is the usual choice.",
        "$k(x, x') = e^{-\\sigma\\|x-x'\\|^2}$",
        f"{_WAVES}, with {_NORMAL}",
    ),
    "orthogonal_gaussian": KernelWords(
        "Orthogonal Gaussian",
        "the Gaussian kernel with random features whose frequencies are at right angles. With many coordinates their error is "
        "smaller.",
        "$k(x, x') = e^{-\\sigma\\|x-x'\\|^2}$",
        f"{_WAVES}, with {_NORMAL} each, but orthogonal in blocks",
        "The frequencies of one block depend on each other. The theorems hold all the same: they need only the mean and the "
        "bound of an iteration's features, and these are the same. The band assumes independent features, so it tends to "
        "overestimate the error.",
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
        "polynomials of one degree, without a constant term. It suits data with many coordinates. With few, choose the "
        "Scaling “standard”, so that points lie on all sides of zero.",
        "$k(x, x') = (\\sigma_1\\langle x, x'\\rangle)^p$",
        "$\\prod_{l=1}^{p}\\langle w_{jl}, x\\rangle$, $j = 1 \\ldots m$, over $\\sqrt m$, where the entries of "
        "$w_{jl}$ are $\\pm\\sqrt{\\sigma_1}$ with random signs",
        "The kernel and its features grow with the points' length: κ and φ are not finite, so the theorems give no bound and "
        "its curve is not drawn. The band needs no bound and is unbiased here, too. But the features vary more than "
        "cosines do, and more so for a higher power.",
    ),
}


def words_of(name: str) -> KernelWords:
    """Return the description of a kernel; by default, the first line of its docstring."""
    kernel = KERNELS[name]
    said = (kernel.__doc__ or kernel.name).strip().splitlines()[0].rstrip(".")
    return _WORDS.get(name, KernelWords(name.replace("_", " ").capitalize(), f"{said}.", said, "those of this kernel"))


# Sets of small clumps or thin arms: finer than the median distance between their points suggests.
FINE = {"gaussian_mixture": 50.0, "spirals": 50.0, "blobs": 50.0}
# The width that suits the points of the other sets, so that none is made while a spec is read.
SIGMAS = FINE | {
    **dict.fromkeys(("two_moons", "circles", "xor", "ordinal_ramp", "ordinal_rings"), 10.0),
    **dict.fromkeys(("friedman", "breast_cancer", "diabetes", "wine"), 2.0),
    **dict.fromkeys(("misleading_gap", "iris"), 5.0),
    **dict.fromkeys(("digits", "ten_digits"), 0.2),
    "two_gaussians": 20.0,
    "high_dimensional": 0.5,
}


def usual_width_of(setting: type[Setting], dataset: str, kernel: str) -> dict[str, float]:
    """Return the default width of a kernel, by its parameter's name.

    Parameters
    ----------
    setting : type of Setting
        Its own width belongs to its first data set.
    dataset : str
        For another data set, the width depends on the points of its default version, except for sets with a `FINE`
        structure. A file is not read here: it gets the setting's own width, until `read_spec` or a page has read it.
    kernel : str
        One of `KERNELS`.
    """
    defaults = defaults_of(setting)
    first = defaults.get("data", {}).get("name", DEFAULT_DATASET)
    known = first if dataset == FILE else dataset
    own = defaults.get("kernel", {}).get("sigma") if known == first else None
    return like_gaussian(kernel, _sigma_of(known) if own is None else own, DATASETS[known].d)


@cache
def _sigma_of(dataset: str) -> float:
    return SIGMAS.get(dataset) or usual_sigma(load(dataset).X)
