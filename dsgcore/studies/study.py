"""A study as plain data: a spec, axes along which it is varied, and seeds. A file that holds it *is* the study."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dsgcore.core.cost import Cost
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import Flag, Integer, Parameter, ParameterError, Real, quoted
from dsgcore.core.sampling import generator
from dsgcore.data.options import SEED
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.cost import cost_of
from dsgcore.experiments.settings import DATA_PARAMETERS, solver_parameters
from dsgcore.studies.work import Maker, make_run

MOST_RUNS = 100_000
MOST_AXES = 4
SECTIONS = ("problem", "kernel", "data", "solver", "stop", "diagnostics")
# The fields of an axis: either its values, or a range.
_FIELDS = {"name", "values", "from", "to", "n", "scale", "random"}
N_VALUES = Integer("n", 5, low=1, high=1000)


_OF_ANY_SET = ("n_labeled", "test_share", "stratified", "scaling", "label_noise", "prior_shift")


class StudyError(SpecError):
    """An invalid study. The message says which field, what was given and what is allowed."""


@dataclass(frozen=True)
class Axis:
    """One parameter of a spec, and its values in the study.

    Attributes
    ----------
    name : str
        Section and parameter, such as ``"solver.step_size"``.
    is_random : bool
        True if the values were drawn. Drawn axes are not crossed with each other: their values belong together, one by
        one.
    said : dict
        The axis as the study's data give it.
    """

    name: str
    values: tuple[Any, ...]
    is_random: bool
    said: Mapping[str, Any]


@dataclass(frozen=True)
class StudyRun:
    """One run of a study: its place, the axes' values, the seed and the spec. If `spec` is None, `refused` gives the reason."""

    place: int
    values: tuple[Any, ...]
    seed: int
    spec: Spec | None
    refused: str = ""

    @property
    def text(self) -> str | None:
        """The text from which a process makes it."""
        return None if self.spec is None else self.spec.to_json()

    @property
    def key(self) -> str | None:
        """Its key in the store: the digest of its text."""
        return None if self.text is None else hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Study:
    """A spec, up to four axes, and seeds; `Study.from_dict` and `Study.from_json` check every field.

    Attributes
    ----------
    seconds : float or None
        Time after which no other run begins.
    is_best_first : bool
        True if seeds come in rounds (`dsgcore.studies.halved`), and points that are not among the best get no more.

    Examples
    --------
    >>> from dsgcore.studies import Study
    >>> axis = {"name": "solver.lam", "values": [0.01, 0.1]}
    >>> len(Study.from_dict({"spec": {"setting": "auc"}, "axes": [axis], "seeds": [0, 1]}))
    4
    """

    spec: Spec
    axes: tuple[Axis, ...] = ()
    seeds: tuple[int, ...] = (0,)
    seconds: float | None = None
    is_best_first: bool = False

    def __post_init__(self) -> None:
        """Check the seeds and the budget. The spec and the axes check themselves."""
        try:
            object.__setattr__(self, "seeds", _seeds(self.seeds))
            _budget({"budget": {"seconds": self.seconds, "best_first": self.is_best_first}})
        except ParameterError as error:
            raise StudyError(str(error)) from None

    make: ClassVar[Maker] = staticmethod(make_run)
    cost: ClassVar[Callable[..., Cost]] = staticmethod(cost_of)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Study:
        """Return a study made from plain data: ``spec``, and optionally ``axes``, ``seeds``, ``budget``.

        The budget may hold ``seconds`` and ``best_first``.

        Raises
        ------
        StudyError
            If a field is not valid. The message gives the field, its value, and what is allowed.
        """
        try:
            return _study(given)
        except StudyError:
            raise
        except DSGError as error:
            raise StudyError(str(error)) from None

    @classmethod
    def from_json(cls, text: str) -> Study:
        """Return a study made from JSON text."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"the study is not valid JSON: {error}") from None
        return cls.from_dict(given)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "spec": self.spec.to_dict(),
            "axes": [dict(axis.said) for axis in self.axes],
            "seeds": list(self.seeds),
            "budget": {"seconds": self.seconds, "best_first": self.is_best_first},
        }

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specs that the study varies: one."""
        return (self.spec,)

    def __len__(self) -> int:
        return math.prod(len(group) for group in self._groups()) * len(self.seeds)

    def _groups(self) -> list[list[tuple[tuple[Axis, Any], ...]]]:
        """Return the factors that are crossed: each axis with its values, and all drawn axes together."""
        groups = [[((axis, value),) for value in axis.values] for axis in self.axes if not axis.is_random]
        drawn = [[(axis, value) for value in axis.values] for axis in self.axes if axis.is_random]
        return [*groups, *([list(zip(*drawn, strict=True))] if drawn else [])]

    def runs(self) -> Iterator[StudyRun]:
        """Return the runs in order. The seed changes fastest, then the last axis."""
        place = itertools.count()
        for combination in itertools.product(*self._groups()):
            found = {axis.name: value for axis, value in itertools.chain(*combination)}
            values, refused = tuple(found[axis.name] for axis in self.axes), ""
            try:
                spec = _varied(self.spec, found)
            except SpecError as error:
                spec, refused = None, str(error)
            for seed in self.seeds:
                yield StudyRun(next(place), values, seed, spec and replace(spec, seed=seed), refused)


def _study(given: object) -> Study:
    if not isinstance(given, Mapping):
        raise StudyError(f"a study must be an object with named fields, got {quoted(given)}")
    known = {"spec", "axes", "seeds", "budget"}
    for name in given:
        if name not in known:
            raise StudyError(f"a study has no field {quoted(name)}; it has {', '.join(sorted(known))}")
    if "spec" not in given:
        raise StudyError("a study must have a spec")
    spec = given["spec"] if isinstance(given["spec"], Spec) else Spec.from_dict(given["spec"])
    study = Study(spec, _axes(given.get("axes", []), spec), _seeds(given.get("seeds", [spec.seed])), *_budget(given))
    if len(study) > MOST_RUNS:
        raise StudyError(f"a study may have at most {MOST_RUNS:,} runs, got {len(study):,}")
    return study


def _budget(given: Mapping[str, Any]) -> tuple[float | None, bool]:
    """Return the seconds, and True if the best come first."""
    budget = given.get("budget") or {}
    if not isinstance(budget, Mapping) or set(budget) - {"seconds", "best_first"}:
        raise StudyError(f"budget must be an object with the fields seconds and best_first, got {quoted(budget)}")
    is_best_first = Flag("best_first", False).check(budget.get("best_first", False))
    return Real("seconds", None, low=0.0, optional=True).check(budget.get("seconds")), is_best_first


def _seeds(given: object) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise StudyError(f"seeds must be a list of whole numbers, got {quoted(given)}")
    seeds = tuple(SEED.check(seed) for seed in given)
    if len(set(seeds)) < len(seeds):
        raise StudyError(f"seeds must differ from each other, got {quoted(given)}")
    return seeds


def _axes(given: object, spec: Spec) -> tuple[Axis, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) > MOST_AXES:
        raise StudyError(f"axes must be a list of at most {MOST_AXES}, got {quoted(given)}")
    axes = tuple(_axis(said, spec) for said in given)
    # the values of several drawn axes belong together, and one may occur twice
    if sum(axis.is_random for axis in axes) < 2:
        axes = tuple(replace(axis, values=tuple(dict.fromkeys(axis.values))) for axis in axes)
    names = [axis.name for axis in axes]
    if len(set(names)) < len(names):
        raise StudyError(f"the axes must be of different parameters, got {', '.join(names)}")
    if len({len(axis.values) for axis in axes if axis.is_random}) > 1:
        raise StudyError("axes whose values are drawn go together: they must have the same n")
    return axes


def _axis(said: object, spec: Spec) -> Axis:
    if not isinstance(said, Mapping) or not isinstance(said.get("name"), str):
        raise StudyError(f"an axis must be an object with a name, such as solver.step_size, got {quoted(said)}")
    for field in said:
        if field not in _FIELDS:
            raise StudyError(f"an axis has no field {quoted(field)}; it has {', '.join(sorted(_FIELDS))}")
    parameter = parameter_of(spec, said["name"])
    if ("values" in said) == ("from" in said or "to" in said):
        raise StudyError(f"the axis {said['name']} must have either values or from and to, got {quoted(dict(said))}")
    values = _listed(said) if "values" in said else _in_range(said, parameter)
    try:
        checked = tuple(parameter.check(value) for value in values)
    except ParameterError as error:
        raise StudyError(f"in the axis {said['name']}: {error}") from None
    is_random = bool(said.get("random", False))
    return Axis(said["name"], checked if is_random else tuple(dict.fromkeys(checked)), is_random, said)


def parameter_of(spec: Spec, name: str) -> Parameter:
    """Return the spec parameter that an axis names by its section and name; raise `StudyError` if there is none."""
    offered = {f"{section}.{p.name}": p for section in SECTIONS for p in _parameters(spec, section)}
    if name not in offered:
        raise StudyError(f"an axis must be one of {', '.join(offered)}, got {quoted(name)}")
    return offered[name]


def _parameters(spec: Spec, section: str) -> Sequence[Parameter]:
    if section == "data":
        return [p for p in DATA_PARAMETERS if p.name not in ("path", "sha256", "recipe")]
    own: Sequence[Parameter] = getattr(spec, section).parameters
    return solver_parameters(type(spec.problem)) if section == "solver" else own


def _listed(said: Mapping[str, Any]) -> Sequence[Any]:
    values = said["values"]
    if isinstance(values, str) or not isinstance(values, Sequence) or not 1 <= len(values) <= N_VALUES.high:
        raise StudyError(f"values must be a list of 1 to {N_VALUES.high}, got {quoted(values)}")
    return values


def _in_range(said: Mapping[str, Any], parameter: Parameter) -> list[Any]:
    """Return the values of a range: evenly spread or drawn, on the given scale or the parameter's own."""
    if not isinstance(parameter, Real | Integer) or isinstance(parameter, Flag):
        raise StudyError(f"the axis {said['name']} is no number: it must have values")
    low, high = (parameter.check(said.get(end)) for end in ("from", "to"))
    n = N_VALUES.check(said.get("n", N_VALUES.default))
    scale = said.get("scale", "linear" if parameter.scale == "linear" else "log")
    if scale not in ("linear", "log") or low is None or high is None or low > high or (scale == "log" and low <= 0):
        raise StudyError(
            f"the axis {said['name']} must go from a number to a larger one, on a linear scale or from above 0 on a log scale, "
            f"got {quoted(dict(said))}"
        )
    share = generator(0, f"axis/{said['name']}").random(n) if said.get("random") else np.linspace(0.0, 1.0, n)
    ends = np.log([low, high]) if scale == "log" else np.array([low, high], dtype=float)
    values = ends[0] + share * (ends[1] - ends[0])
    values = np.clip(np.exp(values) if scale == "log" else values, low, high)
    # Shortest numbers that a person would write: the run uses exactly the numbers that are shown.
    return [round(v) if isinstance(parameter, Integer) else float(f"{v:.6g}") for v in values.tolist()]


def _varied(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Return the spec with other values, checked as a whole."""
    plain = spec.to_dict()
    if "data.name" in values:  # another data set takes over only how labels are hidden
        plain["data"] = {name: plain["data"][name] for name in _OF_ANY_SET}
    for name, value in values.items():
        section, _, own = name.partition(".")
        plain[section] = {**plain[section], own: value}
    return Spec.from_dict(plain)
