"""Initial width of a kernel in a setting, by the rule of `dsgcore.kernels.widths` for its data."""

from __future__ import annotations

from functools import cache

from dsgcore.data import DATASETS, load
from dsgcore.experiments.settings import DEFAULT_DATASET, FILE, Setting, defaults_of
from dsgcore.kernels.widths import like_gaussian, usual_sigma

# Sets of small clumps or thin arms: finer than the median distance between their points suggests.
FINE = {"gaussian_mixture": 50.0, "spirals": 50.0, "blobs": 50.0}


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
    return FINE.get(dataset) or usual_sigma(load(dataset).X)
