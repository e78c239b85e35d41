"""A run as plain data. The same spec gives the same numbers, so a link, a file or a script that holds it *is* the experiment."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    Anything,
    Checked,
    Choice,
    Integer,
    Items,
    Parameter,
    ParameterError,
    Real,
    Text,
    check_all,
    json_text,
    known,
    like,
    parameters_of,
    quoted,
)
from dsgcore.data import CONVERSIONS, DATASETS, OPTION_NAMES, DataError, Edit, load, read_edits
from dsgcore.data import datasets as options
from dsgcore.data.datasets import EVEN_ODD, HALVES, ONE_REST, SEED
from dsgcore.data.reading import Recipe
from dsgcore.data.reading.recipe import RecipeField
from dsgcore.kernels import GAUSSIAN, KERNELS, Kernel
from dsgcore.kernels.widths import like_gaussian, usual_sigma
from dsgcore.multiclass.problem import MultiClassSetting
from dsgcore.problems import PROBLEMS
from dsgcore.problems import Setting as Setting
from dsgcore.solver.parameters import SILENT, SOLVER_PARAMETERS, SolverParameters
from dsgcore.solver.problem import STEERABLE
from dsgcore.solver.task import FRESH, Change

VERSION = 2
FILE = "file"
_DIGEST = re.compile("[0-9a-f]{64}")
DEFAULT_DATASET = "digits"
SETTINGS: dict[str, type[Setting]] = {**PROBLEMS, MultiClassSetting.name: MultiClassSetting}


class SpecError(DSGError):
    """An invalid spec. The message says which field, what was given and what is allowed."""


def plain_of(text: str, what: str) -> Any:
    """Return the plain data of a JSON text; raise `SpecError` if it is none, with `what` it should be."""
    try:
        return json.loads(text)
    except ValueError as error:  # also for numbers of more digits than Python reads
        raise SpecError(f"{what} is not valid JSON: {error}") from None
    except RecursionError:
        raise SpecError(f"{what} is not valid JSON: it is nested too deeply") from None


# --- sections


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


# --- a whole spec


CHANGE_T = Integer("t", 1, low=1, high=100_000)
CHANGES = Items("changes", (), most=100_000)
EDITS = Anything("edits", ())  # which are no parameter
USUAL = {name: getattr(SolverParameters, name) for name in SILENT}
SECTIONS = ("problem", "kernel", "data", "solver", "stop", "diagnostics")
_FIELDS = tuple(Anything(name, None) for name in ("version", "setting", *SECTIONS, "changes", "seed"))


@dataclass(frozen=True)
class Spec:
    """Everything that determines a run. Immutable; `Spec.from_dict` and `Spec.from_json` check every field.

    Attributes
    ----------
    problem : Setting
        The setting with its own parameters.
    kernel : Kernel
    data : DataSpec
    solver : SolverParameters
    stop : StopSpec
    diagnostics : DiagnosticsSpec
    changes : tuple of Change
        Changes of steerable parameters during the run (`steerable`), in the order of their iterations.
    seed : int
    """

    problem: Setting
    kernel: Kernel
    data: DataSpec
    solver: SolverParameters
    stop: StopSpec
    diagnostics: DiagnosticsSpec
    changes: tuple[Change, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what goes with the setting, and the changes, which may be plain data; the sections check themselves."""
        setting = type(self.problem)
        try:
            object.__setattr__(self, "seed", SEED.check(self.seed))
            object.__setattr__(self, "data", _data(self.data, self.problem.labels))
            Choice("kernel name", None, options=setting.kernels).check(self.kernel.name)
            solver = {name: value for name, value in vars(self.solver).items() if value != USUAL.get(name, ...)}
            check_all(sections_of(setting)["solver"], solver, "solver")
            if not isinstance(self.changes, tuple) or self.changes:
                offered = places_of(self)
                changes = [self._change(change, offered) for change in CHANGES.check(self.changes)]
                object.__setattr__(self, "changes", tuple(sorted(changes, key=lambda change: change.t)))
        except (ParameterError, DataError) as error:
            raise SpecError(str(error)) from None

    def _change(self, given: object, offered: Mapping[str, tuple[str, Parameter]]) -> Change:
        plain = asdict(given) if isinstance(given, Change) else given
        if not isinstance(plain, Mapping) or set(plain) != {"t", "name", "value"}:
            raise SpecError(f"a change must be an object with t, name and value, got {quoted(given)}")
        name = Choice("name", self.steerable[0], options=self.steerable).check(plain["name"])
        value = offered[name][1].check(plain["value"])
        return Change(replace(CHANGE_T, high=self.solver.n_iter).check(plain["t"]), name, value)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Spec:
        """Return a spec made from plain data, as `to_dict` gives them. Missing fields take their defaults, except ``setting``.

        Raises
        ------
        SpecError
            If a field is not valid. The message gives the field, its value, and what is allowed.
        """
        try:
            known(given, _FIELDS, "the spec")
            if given.get("version", VERSION) != VERSION or isinstance(given.get("version"), bool):
                raise SpecError(f"version must be {VERSION}, got {quoted(given['version'])}")
            if "setting" not in given:
                raise SpecError(f"the spec must name its setting, one of {', '.join(SETTINGS)}")
            setting = SETTINGS[Choice("setting", "auc", options=tuple(SETTINGS)).check(given["setting"])]
            sections = sections_of(setting)
            data = dict(known(given.get("data", {}), (*sections["data"], EDITS), "data"))
            edits, given = data.pop("edits", ()), {**given, "data": data}
            defaults = defaults_of(setting, data.get("name"))
            values = {
                name: check_all(parameters, given.get(name, {}), name, defaults.get(name, {}))
                for name, parameters in sections.items()
            }
            kernel = given.get("kernel", {})
            if not isinstance(kernel, Mapping):
                raise SpecError(
                    f"kernel must be an object with a name and the kernel's parameters, got {quoted(kernel)}"
                )
            usual = defaults_of(setting).get("kernel", {}).get("name", GAUSSIAN)
            name = Choice("kernel name", usual, options=setting.kernels).check(kernel.get("name", usual))
            kind: Any = KERNELS[name]
            own, parameters = {field: value for field, value in kernel.items() if field != "name"}, parameters_of(kind)
            known(own, parameters, f"kernel {name!r}")
            if not own.keys() & {p.name for p in parameters if isinstance(p, Real)}:
                own |= usual_width_of(setting, values["data"]["name"], name)
            return cls(
                problem=setting(**values["problem"]),
                kernel=kind(**own),
                data=DataSpec(**values["data"], edits=edits),
                solver=SolverParameters(**values["solver"]),
                stop=StopSpec(**values["stop"]),
                diagnostics=DiagnosticsSpec(**values["diagnostics"]),
                changes=given.get("changes", ()),
                seed=given.get("seed", SEED.default),
            )
        except DSGError as error:
            raise SpecError(str(error).replace(" or None, got", " or null, got")) from None

    @classmethod
    def from_json(cls, text: str) -> Spec:
        """Return a spec made from JSON text."""
        return cls.from_dict(plain_of(text, "the spec"))

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as plain data, without some fields of the solver that have their defaults."""
        return {
            "version": VERSION,
            "setting": self.problem.name,
            "problem": {p.name: getattr(self.problem, p.name) for p in self.problem.parameters},
            "kernel": {"name": self.kernel.name, **asdict(self.kernel)},  # type: ignore[call-overload]
            "data": self.data.to_dict(),
            "solver": {name: value for name, value in vars(self.solver).items() if value != USUAL.get(name, ...)},
            **{name: asdict(getattr(self, name)) for name in ("stop", "diagnostics")},
            "changes": [asdict(change) for change in self.changes],
            "seed": self.seed,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the canonical JSON text, as `json_text` does."""
        return json_text(self.to_dict(), indent=indent)

    @property
    def sha256(self) -> str:
        """The digest of the canonical JSON text, which identifies the run."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def steerable(self) -> tuple[str, ...]:
        """The names of the parameters that can change during a run: not the number of fixed features, which would be others."""
        fixed = self.problem.without_effect + ("n_features",) * (self.solver.features != FRESH)
        return tuple(name for name in self.problem.steerable if name not in fixed)

    def values_at(self, t: int) -> dict[str, Any]:
        """Return the values of the steerable parameters, by name, at iteration `t` (0: at the start)."""
        owners = (self.solver, self.problem)
        values = {name: getattr(next(o for o in owners if hasattr(o, name)), name) for name in self.steerable}
        return values | {change.name: change.value for change in self.changes if change.t <= t}

    def with_change(self, change: Change) -> Spec:
        """Return the spec with one more change, which replaces one of the same name at the same iteration."""
        kept = [c for c in self.changes if (c.t, c.name) != (change.t, change.name)]
        return replace(self, changes=(*kept, change))

    def baseline(self) -> Spec:
        """Return the same spec with the problem's twin, without changes of the problem's own parameters."""
        shared = tuple(change for change in self.changes if change.name in STEERABLE)
        return replace(self, problem=self.problem.baseline(), changes=shared)


@cache
def default_spec(setting: str) -> Spec:
    """Return the default spec of a setting."""
    return Spec.from_dict({"setting": setting})


def places_of(spec: Spec) -> dict[str, tuple[str, Parameter]]:
    """Return the section and the parameter of each name in the spec's solver, kernel and problem."""
    own = sections_of(type(spec.problem), spec.kernel.name)
    return {p.name: (section, p) for section in ("solver", "kernel", "problem") for p in own[section]}


def with_values(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Return the spec with new values for these parameters of its problem, kernel and solver, and no changes on the way."""
    plain, places = spec.to_dict() | {"changes": []}, places_of(spec)
    for name, value in values.items():
        plain[places[name][0]][name] = value
    return Spec.from_dict(plain)


def _data(given: DataSpec, labels: str) -> DataSpec:
    """Fill in the set's own defaults; raise an error if it lacks one of the options."""
    name, values = given.name, dict(vars(given))
    if name == FILE:
        if values["path"] is None:
            raise SpecError("path must be given if the data's name is 'file', got null")
        takes: dict[str, Integer | Real] = {}
        allowed = (HALVES, EVEN_ODD) if labels in ("binary", "pairs") else ()  # its reader keeps all classes otherwise
        if values["convert"] is not None and values["convert"] not in allowed:
            raise SpecError(
                f"convert must be {' or '.join([*allowed, 'null'])} with a file in this setting, got "
                f"{quoted(values['convert'])}"
            )
        if values["recipe"] is not None and values["positive"] is not None:
            raise SpecError(
                f"the recipe must name the positive label: leave out positive, got {quoted(values['positive'])}"
            )
    else:
        entry = DATASETS[name]
        if not (suiting := entry.conversions_for(labels)):
            raise SpecError(f"the data {quoted(name)} do not suit this setting: {entry.why_not(labels)}")
        takes = {option.name: option for option in entry.options}
        for option in ("path", "sha256", "recipe"):
            if values[option] is not None:
                raise SpecError(
                    f"{option} goes with the data's name 'file', got {quoted(values[option])} with {quoted(name)}"
                )
        positive = values["positive"]
        kind = Choice("convert", suiting[0], options=suiting).check(values["convert"] or suiting[0])
        if kind != ONE_REST and positive is not None:
            raise SpecError(
                f"positive goes with files and with convert {ONE_REST!r}, got {quoted(positive)} with {name!r}"
            )
        if kind == ONE_REST:
            last = len(entry.class_names) - 1
            positive = Integer("positive", 0, low=0, high=last).check(positive or 0)
        values |= {"convert": kind, "positive": positive}
    for option in OPTION_NAMES:
        if values[option] is None:
            values[option] = takes[option].default if option in takes else None
        elif option not in takes:
            raise SpecError(f"the data {quoted(name)} has no option {option}, got {quoted(values[option])}")
        else:
            takes[option].check(values[option])
    return given if values == vars(given) else DataSpec(**values)
