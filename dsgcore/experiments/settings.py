"""The settings that a spec can name, and the parameters of its sections with the defaults that each setting begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dsgcore.core.kernels import KERNELS
from dsgcore.core.parameters import Choice, Integer, Parameter, Text, integer, parameters_of_fields, real
from dsgcore.core.solver_parameters import SOLVER_PARAMETERS
from dsgcore.data import CONVERSIONS, DATASETS
from dsgcore.data.options import LABEL_NOISE, N_LABELED, OPTIONS, PRIOR_SHIFT, SCALING, STRATIFIED, TEST_SHARE
from dsgcore.data.reading import Recipe
from dsgcore.multiclass.setting import MultiClassSetting
from dsgcore.problems import PROBLEMS
from dsgcore.problems import Setting as Setting
from dsgcore.settings import profile_of

FILE = "file"
DEFAULT_DATASET = "digits"


SETTINGS: dict[str, type[Setting]] = {**PROBLEMS, MultiClassSetting.name: MultiClassSetting}


@dataclass(frozen=True)
class RecipeField(Parameter):
    """A recipe for reading a file, or none."""

    def allowed(self) -> str:
        """Say in words what is allowed."""
        return "a recipe or null"

    def check(self, value: object) -> Recipe | None:
        """Return the recipe, made of plain data where it is that, or raise `DataError`."""
        if value is None or isinstance(value, Recipe):
            return value
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        return Recipe.from_dict(value)


def _widest(option: Any) -> Parameter:
    """Return an option of data sets as a spec has it: with the range of whichever sets take most; null is the set's own default."""
    own = [own for entry in DATASETS.values() for own in entry.options if own.name == option.name]
    return replace(option, default=None, optional=True, low=min(o.low for o in own), high=max(o.high for o in own))


DATA_PARAMETERS: tuple[Parameter, ...] = (
    Choice(
        "name",
        DEFAULT_DATASET,
        options=(*DATASETS, FILE),
        label="Data",
        sentence="Which data to learn from.",
    ),
    *map(_widest, OPTIONS),
    Choice(
        "convert",
        None,
        options=tuple(CONVERSIONS),
        optional=True,
        label="Classes",
        sentence="How the set's classes are read so that they suit this setting.",
    ),
    N_LABELED,
    TEST_SHARE,
    STRATIFIED,
    LABEL_NOISE,
    PRIOR_SHIFT,
    SCALING,
    Text("path", None, optional=True, label="File", sentence="A table as CSV, Parquet, LIBSVM text or NumPy archive."),
    Text("sha256", None, optional=True, label="Digest", sentence="SHA-256 of the file's bytes, which is checked."),
    RecipeField("recipe", None, label="Recipe", sentence="How the file is read and what its columns are."),
    Text("target", "y", label="Labels", sentence="Name of the file's column of labels, where no recipe names it."),
    Integer(
        "positive",
        None,
        low=-(2**31),
        optional=True,
        label="Positive label",
        sentence="The class that counts as positive, all others being negative: a file's label, else its number from 0.",
    ),
)


@dataclass(frozen=True)
class StopSpec:
    """When to stop early."""

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    patience: int = integer(
        0,
        low=0,
        high=100_000,
        label="Patience",
        sentence="Stop after this many iterations without a lower objective; 0 never stops early.",
    )
    tolerance: float = real(
        1e-4,
        low=0.0,
        high=1.0,
        scale="log",
        label="Tolerance",
        sentence="How much lower, relative to the best so far, counts as lower.",
    )


@dataclass(frozen=True)
class DiagnosticsSpec:
    """What is measured besides."""

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    n_probes: int = integer(
        256,
        low=0,
        high=4096,
        label="Probe points",
        sentence="At how many test points the exact-kernel twin h is computed; 0 leaves it out.",
    )


def defaults_of(setting: type[Setting], dataset: object = None) -> Mapping[str, Mapping[str, Any]]:
    """Return what a setting's spec begins with, by section, where it differs from the parameters' own defaults.

    Parameters
    ----------
    setting : type of Setting
    dataset : str, optional
        By default the set that the setting begins with; of its data and kernel, nothing goes with another set.
    """
    said = _first_defaults(setting)
    if not isinstance(dataset, str) or dataset == _first_set(said):
        return said
    elsewhere = profile_of(setting).elsewhere
    going = {name: values for name, values in said.items() if name not in ("data", "kernel")}
    return {name: {**going.get(name, {}), **elsewhere.get(name, {})} for name in {**going, **elsewhere}}


def is_first_set(setting: type[Setting], dataset: str) -> bool:
    """Whether a data set is the one that the setting begins with."""
    return dataset == _first_set(_first_defaults(setting))


def _first_set(defaults: Mapping[str, Mapping[str, Any]]) -> str:
    return str(defaults.get("data", {}).get("name", DEFAULT_DATASET))


def _first_defaults(setting: type[Setting]) -> Mapping[str, Mapping[str, Any]]:
    """Return the profile's; where nothing is said of the data and the usual ones do not suit, the first set that does."""
    said = profile_of(setting).defaults
    if "data" in said or DATASETS[DEFAULT_DATASET].suits(setting.labels):
        return said
    return {**said, "data": {"name": next(e.name for e in DATASETS.values() if e.is_made_for(setting.labels))}}


def solver_parameters(setting: type[Setting]) -> tuple[Parameter, ...]:
    """Return the parameters of the solver section: the same for all settings, but for the precisions that there are."""
    dtypes = profile_of(setting).dtypes
    return tuple(
        replace(p, default=dtypes[0], options=dtypes) if dtypes and isinstance(p, Choice) and p.name == "dtype" else p
        for p in SOLVER_PARAMETERS
    )


def kernel_names(setting: type[Setting]) -> tuple[str, ...]:
    """Return the names of the kernels that a setting can use."""
    return profile_of(setting).kernels or tuple(KERNELS)


def n_labeled_on(setting: type[Setting], dataset: str) -> int:
    """Return how many labels, or pairs, a spec begins with on a data set."""
    return int(defaults_of(setting, dataset).get("data", {}).get("n_labeled", N_LABELED.default))
