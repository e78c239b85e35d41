"""The settings that a spec can name, and the parameters of its sections with the defaults that each setting begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dsgcore.data import CONVERSIONS, DATASETS
from dsgcore.data.reading import Recipe
from dsgcore.experiments.multiclass_setting import MultiClassSetting
from dsgcore.kernels import KERNELS
from dsgcore.parameters import Choice, Flag, Integer, Parameter, Real, Text
from dsgcore.problems import PROBLEMS
from dsgcore.problems import Setting as Setting
from dsgcore.sampling import MAX_SEED
from dsgcore.settings import profile_of
from dsgcore.solver import SOLVER_PARAMETERS

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


def _range(option: str) -> tuple[float, float]:
    """Return the lowest and the highest value that some data set takes for its option."""
    options = [own for entry in DATASETS.values() for own in entry.options if own.name == option]
    return min(own.low for own in options), max(own.high for own in options)


SEED = Integer(
    "seed",
    0,
    low=0,
    high=MAX_SEED,
    label="Seed",
    sentence="Everything random follows from this number: labels, batches, features.",
)
DATA_PARAMETERS: tuple[Parameter, ...] = (
    Choice(
        "name",
        DEFAULT_DATASET,
        options=(*DATASETS, FILE),
        label="Data",
        sentence="Which data to learn from.",
    ),
    Integer(
        "n",
        None,
        low=20,
        high=1_000_000,
        scale="log",
        optional=True,
        usual=(100, 20_000),
        label="Points",
        sentence="How many points to make, or to take from the set.",
    ),
    Real(
        "noise",
        None,
        low=_range("noise")[0],
        high=_range("noise")[1],
        usual=(0.0, 1.0),
        optional=True,
        label="Noise",
        sentence="Standard deviation of the noise added.",
    ),
    Real(
        "imbalance",
        None,
        low=_range("imbalance")[0],
        high=_range("imbalance")[1],
        usual=(0.1, 0.9),
        optional=True,
        label="Share of positives",
        sentence="Which part of all points is positive.",
    ),
    Real(
        "separation",
        None,
        low=_range("separation")[0],
        high=_range("separation")[1],
        usual=(0.0, 10.0),
        optional=True,
        label="Separation",
        sentence="Distance between the two clusters' centres, in standard deviations.",
    ),
    Integer(
        "n_irrelevant",
        None,
        low=0,
        high=2000,
        scale="log",
        usual=(0, 1000),
        optional=True,
        label="Irrelevant features",
        sentence="How many features are noise that has no part in the classes.",
    ),
    Integer(
        "n_classes",
        None,
        low=2,
        high=20,
        usual=(2, 10),
        optional=True,
        label="Ordered classes",
        sentence="How many ordered classes there are; a regression target is cut into so many bins of equal frequency.",
    ),
    Choice(
        "convert",
        None,
        options=tuple(CONVERSIONS),
        optional=True,
        label="Classes",
        sentence="How the set's classes are read so that they suit this setting.",
    ),
    Integer(
        "n_labeled",
        200,
        low=2,
        high=1_000_000,
        scale="log",
        symbol="n_l",
        usual=(2, 2000),
        label="Labeled points",
        sentence="How many training points keep their label; all others become unlabeled.",
    ),
    Real(
        "test_share",
        0.3,
        low=0.02,
        high=0.9,
        usual=(0.1, 0.6),
        label="Test share",
        sentence="Part of the points held out for testing.",
    ),
    Flag(
        "stratified",
        True,
        label="Labels by class share",
        sentence="Label the classes in their proportions rather than purely at random.",
    ),
    Real(
        "label_noise",
        0.0,
        low=0.0,
        high=1.0,
        usual=(0.0, 0.5),
        label="Wrong labels",
        sentence="Share of the labeled points that get a wrong class (of pairs: that mix two classes): breaks an assumption.",
    ),
    Real(
        "prior_shift",
        0.0,
        low=-0.95,
        high=0.95,
        usual=(-0.9, 0.9),
        label="Unlabeled points left out",
        sentence="Share of the negatives (of more classes: the lower half) missing from the unlabeled points; below 0, of the "
        "positives: breaks the assumption that labeled and unlabeled points have the same classes.",
    ),
    Choice(
        "scaling",
        "unit",
        options=("unit", "standard", "none"),
        label="Scaling",
        sentence="Features to [0, 1], to zero mean and unit variance, or as they are; fitted on training points only.",
    ),
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
STOP_PARAMETERS: tuple[Parameter, ...] = (
    Integer(
        "patience",
        0,
        low=0,
        high=100_000,
        label="Patience",
        sentence="Stop after this many iterations without a lower objective; 0 never stops early.",
    ),
    Real(
        "tolerance",
        1e-4,
        low=0.0,
        high=1.0,
        scale="log",
        label="Tolerance",
        sentence="How much lower, relative to the best so far, counts as lower.",
    ),
)
DIAGNOSTICS_PARAMETERS: tuple[Parameter, ...] = (
    Integer(
        "n_probes",
        256,
        low=0,
        high=4096,
        label="Probe points",
        sentence="At how many test points the exact-kernel twin h is computed; 0 leaves it out.",
    ),
)


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
