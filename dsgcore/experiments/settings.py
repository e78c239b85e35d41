"""Settings that a spec can name, and the parameters of its sections with each setting's defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgcore.core.parameters import (
    Checked,
    Choice,
    Integer,
    Parameter,
    ParameterError,
    Real,
    Text,
    like,
    parameters_of,
    quoted,
)
from dsgcore.data import CONVERSIONS, DATASETS, Edit, load, read_edits
from dsgcore.data import datasets as options
from dsgcore.data.reading import Recipe
from dsgcore.kernels import GAUSSIAN, KERNELS
from dsgcore.kernels.widths import like_gaussian, usual_sigma
from dsgcore.multiclass.problem import MultiClassSetting
from dsgcore.problems import PROBLEMS
from dsgcore.problems import Setting as Setting
from dsgcore.solver.parameters import SOLVER_PARAMETERS

FILE = "file"
_DIGEST = re.compile("[0-9a-f]{64}")
DEFAULT_DATASET = "digits"
SETTINGS: dict[str, type[Setting]] = {**PROBLEMS, MultiClassSetting.name: MultiClassSetting}


@dataclass(frozen=True)
class RecipeField(Parameter):
    """Field for a recipe for reading a file, also as plain data."""

    def _words(self) -> str:
        return "a recipe"

    def _checked(self, value: object) -> Recipe:
        if not isinstance(value, Mapping | Recipe):
            raise self.refuse(value)
        return value if isinstance(value, Recipe) else Recipe.from_dict(value)


def _widest(option: Any) -> Any:
    """Return an option of data sets as a spec's field, with the widest range of all sets. null: the set's own default."""
    own = [own for entry in DATASETS.values() for own in entry.options if own.name == option.name]
    low, high = min(o.low for o in own), max(o.high for o in own)
    return like(replace(option, default=None, optional=True, low=low, high=high))


@dataclass(frozen=True)
class DataSpec(Checked):
    """The data, the hiding of labels, and edits by hand, which are no parameter."""

    name: str = like(
        Choice("name", DEFAULT_DATASET, options=(*DATASETS, FILE)).called("Data", "Data set that the run learns from.")
    )
    n: int | None = _widest(options.N)
    noise: float | None = _widest(options.NOISE)
    separation: float | None = _widest(options.SEPARATION)
    n_irrelevant: int | None = _widest(options.N_IRRELEVANT)
    imbalance: float | None = _widest(options.IMBALANCE)
    n_classes: int | None = _widest(options.N_CLASSES)
    convert: str | None = like(
        Choice("convert", None, options=tuple(CONVERSIONS), optional=True).called(
            "Classes", "How to read the classes of the set in this setting."
        )
    )
    n_labeled: int = like(options.N_LABELED)
    test_share: float = like(options.TEST_SHARE)
    stratified: bool = like(options.STRATIFIED)
    label_noise: float = like(options.LABEL_NOISE)
    prior_shift: float = like(options.PRIOR_SHIFT)
    scaling: str = like(options.SCALING)
    path: str | None = like(
        Text("path", None, optional=True).called("File", "A table as CSV, Parquet, LIBSVM text or NumPy archive.")
    )
    sha256: str | None = like(
        Text("sha256", None, optional=True).called("Digest", "SHA-256 of the file's bytes. DSG Lab checks it.")
    )
    recipe: Recipe | None = like(
        RecipeField("recipe", None, optional=True).called("Recipe", "How to read the file and its columns.")
    )
    target: str = like(Text("target", "y").called("Labels", "Name of the label column, if there is no recipe."))
    positive: int | None = like(
        Integer("positive", None, low=-(2**31), optional=True).called(
            "Positive label",
            (
                "The class that counts as positive: a label of the file, or else its number from 0. All other "
                "classes are negative."
            ),
        )
    )
    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        """Check the parameters and the edits, and write the digest as files are looked up by it."""
        super().__post_init__()
        if self.path is not None and "\0" in self.path:
            raise ParameterError(f"path must name a file, got {quoted(self.path)}, which holds a null character")
        object.__setattr__(self, "sha256", self.sha256 and self.sha256.lower())
        if self.sha256 is not None and not _DIGEST.fullmatch(self.sha256):
            raise ParameterError(f"sha256 must be 64 hexadecimal digits, got {quoted(self.sha256)}")
        if not isinstance(self.edits, tuple) or self.edits:
            object.__setattr__(self, "edits", read_edits(self.edits))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; without edits, it has no field for them."""
        said = {p.name: getattr(self, p.name) for p in self.parameters}
        said["recipe"] = self.recipe and self.recipe.to_dict()
        return said | ({"edits": [edit.to_dict() for edit in self.edits]} if self.edits else {})


DATA_PARAMETERS = DataSpec.parameters


@dataclass(frozen=True)
class StopSpec(Checked):
    """Conditions of early stopping."""

    patience: int = like(
        Integer("patience", 0, low=0, high=100_000).called(
            "Patience", "Stop after this many iterations without a lower objective. 0 never stops early."
        )
    )
    tolerance: float = like(
        Real("tolerance", 1e-4, low=0.0, high=1.0, scale="log").called(
            "Smallest decrease", "Smallest relative decrease of the objective that counts as lower."
        )
    )


@dataclass(frozen=True)
class DiagnosticsSpec(Checked):
    """Additional measurements."""

    n_probes: int = like(
        Integer("n_probes", 256, low=0, high=4096).called(
            "Probe points", "Number of test points for the exact-kernel twin h. 0 leaves it out."
        )
    )


def defaults_of(setting: type[Setting], dataset: object = None) -> Mapping[str, Mapping[str, Any]]:
    """Return the defaults of a setting's spec, by section, if they differ from the parameters' own defaults.

    They hold for the setting's first data set. Its data and kernel defaults do not apply to other sets. A file is
    prepared as for an estimator.
    """
    said, name = setting.defaults, DEFAULT_DATASET
    if "data" not in said and not DATASETS[name].suits(setting.labels):
        name = next(e.name for e in DATASETS.values() if e.is_made_for(setting.labels))  # the first that suits
    said = {**said, "data": {"name": name, **said.get("data", {})}}
    if not isinstance(dataset, str) or dataset == said["data"]["name"]:
        return said
    other_sets = setting.other_sets
    going = {name: values for name, values in said.items() if name not in ("data", "kernel")}
    found = {name: {**going.get(name, {}), **other_sets.get(name, {})} for name in {**going, **other_sets}}
    return found if dataset != FILE else {**found, "data": {**found.get("data", {}), **options.OF_OWN}}


def is_first_set(setting: type[Setting], dataset: str) -> bool:
    """Return True if a data set is the setting's first one."""
    return bool(dataset == defaults_of(setting)["data"]["name"])


def sections_of(setting: type[Setting], kernel: str | None = None) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of each section of a setting's specs, with those of a kernel if one is given."""
    dtypes = setting.dtypes
    own: dict[str, Any] = {"dtype": {"default": dtypes[0], "options": dtypes}} if dtypes else {}
    left_out = () if setting.engine == "stochastic" else ("sampling",)  # a proximal run draws in one way
    return {
        "problem": parameters_of(setting),
        **({} if kernel is None else {"kernel": KERNELS[kernel].parameters}),
        "data": DATA_PARAMETERS,
        "solver": tuple(replace(p, **own.get(p.name, {})) for p in SOLVER_PARAMETERS if p.name not in left_out),
        "stop": parameters_of(StopSpec),
        "diagnostics": parameters_of(DiagnosticsSpec),
    }


def n_labeled_on(setting: type[Setting], dataset: str) -> int:
    """Return the default number of labels, or pairs, of a spec on a data set."""
    return int(defaults_of(setting, dataset).get("data", {}).get("n_labeled", options.N_LABELED.default))


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

    The setting's own width belongs to its first data set. For another one, the width depends on the points of its default
    version, except for sets with a `FINE` structure. A file is not read here: it gets the setting's own width, until
    `read_spec` or a page has read it.
    """
    defaults = defaults_of(setting)
    first = defaults["data"]["name"]
    known = first if dataset == FILE else dataset
    own = defaults.get("kernel", {}).get("sigma") if known == first else None
    sigma = own or SIGMAS.get(known) or SIGMAS.setdefault(known, usual_sigma(load(known).X))
    is_gaussian = KERNELS[kernel].family == GAUSSIAN
    return {"sigma": sigma} if is_gaussian else like_gaussian(kernel, sigma, DATASETS[known].d)
