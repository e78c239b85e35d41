"""A run as plain data. The same spec gives the same numbers, so a link, a file or a script that holds it *is* the experiment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    Anything,
    Choice,
    Integer,
    Items,
    Parameter,
    ParameterError,
    Real,
    check_all,
    json_text,
    known,
    parameters_of,
    quoted,
)
from dsgcore.data import DATASETS, OPTION_NAMES, DataError
from dsgcore.data.datasets import EVEN_ODD, HALVES, ONE_REST, SEED
from dsgcore.experiments.settings import (
    FILE,
    SETTINGS,
    DataSpec,
    DiagnosticsSpec,
    Setting,
    StopSpec,
    defaults_of,
    sections_of,
    usual_width_of,
)
from dsgcore.kernels import KERNELS, Kernel
from dsgcore.solver.parameters import SILENT, SolverParameters
from dsgcore.solver.problem import STEERABLE
from dsgcore.solver.task import FRESH, Change

VERSION = 2


class SpecError(DSGError):
    """An invalid spec. The message says which field, what was given and what is allowed."""


@contextmanager
def named_in_errors(file: Path) -> Iterator[None]:
    """Add the file's path to the message of each `SpecError` in the block."""
    try:
        yield
    except SpecError as error:
        raise type(error)(f"{error} (in {file})") from None


def plain_of(text: str, what: str) -> Any:
    """Return the plain data of a JSON text; raise `SpecError` if it is none, with `what` it should be."""
    try:
        return json.loads(text)
    except ValueError as error:  # also for numbers of more digits than Python reads
        raise SpecError(f"{what} is not valid JSON: {error}") from None
    except RecursionError:
        raise SpecError(f"{what} is not valid JSON: it is nested too deeply") from None


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
            return cls(
                problem=setting(**values["problem"]),
                kernel=_kernel(given.get("kernel", {}), setting, values["data"]["name"]),
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


def _kernel(given: object, setting: type[Setting], dataset: str) -> Kernel:
    if not isinstance(given, Mapping):
        raise SpecError(f"kernel must be an object with a name and the kernel's parameters, got {quoted(given)}")
    usual = defaults_of(setting).get("kernel", {}).get("name", "gaussian")
    name = Choice("kernel name", usual, options=setting.kernels).check(given.get("name", usual))
    own = {field: value for field, value in given.items() if field != "name"}
    kind: Any = KERNELS[name]
    parameters = parameters_of(kind)
    if not own.keys() & {p.name for p in parameters if isinstance(p, Real)}:
        own |= usual_width_of(setting, dataset, name)
    made: Kernel = kind(**known(own, parameters, f"kernel {name!r}"))
    return made


def _data(given: DataSpec, labels: str) -> DataSpec:
    """Fill in the set's own defaults; raise an error if it lacks one of the options."""
    name, values = given.name, dict(vars(given))
    suiting = () if name == FILE else DATASETS[name].conversions_for(labels)
    if name != FILE and not suiting:
        raise SpecError(f"the data {quoted(name)} do not suit this setting: {DATASETS[name].why_not(labels)}")
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
        takes = {option.name: option for option in DATASETS[name].options}
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
            last = len(DATASETS[name].class_names) - 1
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
