"""Which width a kernel begins with in a setting, by the rule of `dsgcore.core.kernel_widths` for its data."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dsgcore.core.kernel_widths import like_gaussian, usual_sigma, usual_width
from dsgcore.data import DATASETS, load
from dsgcore.experiments.settings import DEFAULT_DATASET, FILE, Setting, defaults_of

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec


# Sets of small clumps or thin arms: finer than the median distance between their points says.
FINE = {"gaussian_mixture": 50.0, "spirals": 50.0, "blobs": 50.0}


def usual_width_of(setting: type[Setting], dataset: str, kernel: str) -> dict[str, float]:
    """Return the width of a kernel, by its parameter's name, where none is said.

    Parameters
    ----------
    setting : type of Setting
        Its own width goes with the data set that it begins with.
    dataset : str
        For another data set, the width follows its points, as the set is by default, but for sets of a `FINE` structure.
        A file is not read here: it gets the setting's own, until `read_spec` or a page has read it.
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


def read_spec(file: Path) -> Spec:
    """Return the spec that a JSON file holds; a width that it leaves out suits the points of its own file of data.

    Parameters
    ----------
    file : path
        A file of data named without a folder is looked for beside it.

    Raises
    ------
    SpecError
        As `Spec.from_json`.
    DataError
        When the data must be read for the width, and cannot be.
    """
    from dsgcore.experiments.loading import load_dataset  # here: what reads data needs specs, which need the width
    from dsgcore.experiments.spec import Spec

    text = file.read_text(encoding="utf-8")
    spec = Spec.from_json(text)
    said = json.loads(text).get("kernel", {})
    if spec.data.name != FILE or said.keys() & usual_width_of(type(spec.problem), FILE, spec.kernel.name).keys():
        return spec
    width = usual_width(spec.kernel.name, load_dataset(spec, folder=file.parent).X)
    return replace(spec, kernel=replace(spec.kernel, **width))  # type: ignore[type-var]
