"""A study as plain data: a spec, or several, axes along which it is varied, and seeds; and its price.

A file that holds a study *is* the study.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dsgcore.core.cost import duration_text
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    ANYTHING,
    REQUIRED,
    Anything,
    Checked,
    Choice,
    Flag,
    Integer,
    Items,
    Parameter,
    ParameterError,
    Real,
    Text,
    check_all,
    flag,
    items,
    like,
    quoted,
    read,
    real,
    record,
)
from dsgcore.core.sampling import generator
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.data_of import with_digest
from dsgcore.experiments.engine import Budget, check_cost, cost_of
from dsgcore.experiments.spec import FILE, plain_of, sections_of
from dsgcore.studies.runs import Made, cost_of_trajectory, make_run, make_trajectory

MOST_RUNS, MOST_AXES = 100_000, 4
SEEDS = Items("seeds", None, item=SEED, least=1, most=MOST_RUNS)
_OF_ANY_SET = ("n_labeled", "test_share", "stratified", "scaling", "label_noise", "prior_shift")
N_VALUES = Integer("n", 5, low=1, high=1000)
# The fields of an axis: either its values, or a range. The axis's own parameter checks the values and the ends.
_FIELDS = (
    Text("name", ""),
    Items("values", None, least=1, most=N_VALUES.high, optional=True),
    Anything("from", None),
    Anything("to", None),
    N_VALUES,
    Choice("scale", None, options=("linear", "log"), optional=True),
    Flag("random", False),
)
ROUNDING = 1e-9
# Seconds of a run besides its iterations, fitted to runs (.github/docs/notes/explore.md).
SECONDS_A_RUN = 0.012


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


def _axis(said: Mapping[str, Any], spec: Spec) -> Axis:
    """Return an axis: its values as they are given, or those of a range, evenly spread or drawn on its scale."""
    given = check_all(_FIELDS, said, "an axis")
    name, values, n, is_random = given["name"], given["values"], given["n"], given["random"]
    parameter = parameter_of(spec, name)
    if (values is None) == (given["from"] is given["to"] is None):
        raise StudyError(f"the axis {name} must have either values or from and to, got {quoted(dict(said))}")
    if values is None:
        if not isinstance(parameter, Real | Integer):
            raise StudyError(f"the axis {name} is no number: it must have values")
        low, high = (parameter.check(given[end]) for end in ("from", "to"))
        scale = given["scale"] or ("linear" if parameter.scale == "linear" else "log")
        if low is None or high is None or low > high or (scale == "log" and low <= 0):
            raise StudyError(
                f"the axis {name} must go from a number to a larger one, on a linear scale or from above 0 on a log "
                f"scale, got {quoted(given)}"
            )
        share = generator(0, f"axis/{name}").random(n) if is_random else np.linspace(0.0, 1.0, n)
        ends = np.log([low, high]) if scale == "log" else np.array([low, high], dtype=float)
        spread = ends[0] + share * (ends[1] - ends[0])
        spread = np.clip(np.exp(spread) if scale == "log" else spread, low, high)
        # Shortest numbers that a person would write: the run uses exactly the numbers that are shown.
        values = [round(v) if isinstance(parameter, Integer) else float(f"{v:.6g}") for v in spread.tolist()]
    try:
        checked = tuple(parameter.check(value) for value in values)
    except ParameterError as error:
        raise StudyError(f"in the axis {name}: {error}") from None
    return Axis(name, checked, is_random, said)


def parameter_of(spec: Spec, name: str) -> Parameter:
    """Return the spec parameter that an axis names by its section and name; raise `StudyError` if there is none."""
    sections = sections_of(type(spec.problem), spec.kernel.name)
    offered = {f"{section}.{p.name}": p for section, own in sections.items() for p in own}
    offered = {place: p for place, p in offered.items() if place not in ("data.path", "data.sha256", "data.recipe")}
    if name not in offered:
        raise StudyError(f"an axis must be one of {', '.join(offered)}, got {quoted(name)}")
    return offered[name]


@dataclass(frozen=True)
class _Limits(Checked):
    """Limits of a study: the time in seconds after which no other run begins, and if seeds come in rounds."""

    seconds: float | None = real(None, low=0.0, optional=True)
    best_first: bool = flag(False)


@dataclass(frozen=True)
class _Said:
    """Fields of a study as plain data. The axes depend on the spec, so they are checked after it."""

    spec: Any = like(Anything("spec", REQUIRED))
    axes: tuple[Any, ...] = items(ANYTHING, (), most=MOST_AXES)
    seeds: tuple[int, ...] | None = like(SEEDS, None, optional=True)
    budget: _Limits | None = record(_Limits)
    others: tuple[Any, ...] = items(ANYTHING, ())
    data_seed: int | None = like(SEED, None, optional=True)


@dataclass(frozen=True)
class StudyRun:
    """One run of a study: its place, the axes' values, the seed and the spec. If `spec` is None, `refused` gives the reason.

    With a `data_seed` it is a trajectory: its seed sets batches and features only, and the other seed sets the data.
    """

    place: int
    values: tuple[Any, ...]
    seed: int
    spec: Spec | None
    refused: str = ""
    data_seed: int | None = None

    @property
    def text(self) -> str | None:
        """The text from which a process makes it."""
        if self.spec is None:
            return None
        if self.data_seed is None:
            return self.spec.to_json()
        return json.dumps({"way_on": self.data_seed, "spec": self.spec.to_dict()}, sort_keys=True)

    @cached_property
    def key(self) -> str | None:
        """Its key in the store: the digest of its text."""
        return None if self.text is None else hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Study:
    """A spec, or several, up to four axes, and seeds; `Study.from_dict` and `Study.from_json` check every field.

    Attributes
    ----------
    seconds : float or None
        Time after which no other run begins.
    is_best_first : bool
        True if seeds come in rounds, and points that are not among the best third get no more.
    others : tuple of Spec
        Further specs, which are varied in the same way.
    data_seed : int or None
        If given, the study measures the runs' trajectories to the optimum, on the data of this seed.

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
    others: tuple[Spec, ...] = ()
    data_seed: int | None = None

    def __post_init__(self) -> None:
        """Check the seeds, the budget and the edits by hand. The specs and the axes check themselves."""
        try:
            object.__setattr__(self, "seeds", SEEDS.check(self.seeds))
            _Limits(self.seconds, self.is_best_first)
        except ParameterError as error:
            raise StudyError(str(error)) from None
        if len(set(self.seeds)) < len(self.seeds):
            raise StudyError(f"seeds must differ from each other, got {quoted(list(self.seeds))}")
        seeds = self.seeds if self.data_seed is None else (self.data_seed,)
        for spec in (spec for spec in self.specs if spec.data.edits):  # which would be replayed on other points
            for axis in self.axes:
                if axis.name.startswith("data."):
                    raise StudyError(f"{axis.name} cannot vary, because the edits by hand belong to these data")
            if not fit_any_seed(spec.data.edits) and set(seeds) != {spec.seed}:
                said = f"edits by hand name points of the data of seed {spec.seed}, so seeds must be [{spec.seed}]"
                raise StudyError(f"{said}, got {quoted(list(seeds))}")

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The specs that the study varies."""
        return (self.spec, *self.others)

    @property
    def make(self) -> Callable[..., Made]:
        """The function that makes one of its runs from the run's text."""
        return make_run if self.data_seed is None else make_trajectory

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Study:
        """Return a study made from plain data: ``spec``, and optionally ``axes``, ``seeds``, ``budget``.

        The budget may hold ``seconds`` and ``best_first``. Some studies also have ``others`` and ``data_seed``.

        Raises
        ------
        StudyError
            If a field is not valid. The message gives the field, its value, and what is allowed.
        """
        try:
            plain = read(_Said, given, "a study")
            specs = [s if isinstance(s, Spec) else Spec.from_dict(s) for s in (plain.spec, *plain.others)]
            limits, axes = plain.budget or _Limits(), [_axis(said, specs[0]) for said in plain.axes]
            seeds = (specs[0].seed,) if plain.seeds is None else plain.seeds
        except DSGError as error:
            raise StudyError(str(error).replace(" or None, got", " or null, got")) from None
        names = [axis.name for axis in axes]
        if len(set(names)) < len(names):
            raise StudyError(f"the axes must be of different parameters, got {', '.join(names)}")
        drawn = [axis for axis in axes if axis.is_random]
        if len({len(axis.values) for axis in drawn}) > 1:
            raise StudyError("axes whose values are drawn go together: they must have the same n")
        for place, axis in enumerate(axes):
            # The values of several drawn axes belong together: one may occur twice.
            if axis not in drawn or len(drawn) == 1:
                axes[place] = replace(axis, values=tuple(dict.fromkeys(axis.values)))
        more = tuple(specs[1:]), plain.data_seed
        study = cls(specs[0], tuple(axes), seeds, limits.seconds, limits.best_first, *more)
        if len(study) > MOST_RUNS:
            raise StudyError(f"a study may have at most {MOST_RUNS:,} runs, got {len(study):,}")
        return study

    @classmethod
    def from_json(cls, text: str) -> Study:
        """Return a study made from JSON text. A spec is a study without axes."""
        try:
            given = plain_of(text, "the study")
        except SpecError as error:
            raise StudyError(str(error)) from None
        return cls.from_dict({"spec": given} if isinstance(given, dict) and "setting" in given else given)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "spec": self.spec.to_dict(),
            "axes": [dict(axis.said) for axis in self.axes],
            "seeds": list(self.seeds),
            "budget": {"seconds": self.seconds, "best_first": self.is_best_first},
            **({"others": [spec.to_dict() for spec in self.others]} if self.others else {}),
            **({} if self.data_seed is None else {"data_seed": self.data_seed}),
        }

    def __len__(self) -> int:
        return len(self.specs) * math.prod(len(group) for group in self._groups()) * len(self.seeds)

    def _groups(self) -> list[list[tuple[tuple[Axis, Any], ...]]]:
        """Return the factors that are crossed: each axis with its values, and all drawn axes together."""
        groups = [[((axis, value),) for value in axis.values] for axis in self.axes if not axis.is_random]
        drawn = [[(axis, value) for value in axis.values] for axis in self.axes if axis.is_random]
        return [*groups, *([list(zip(*drawn, strict=True))] if drawn else [])]

    def runs(self) -> Iterator[StudyRun]:
        """Return the runs in order. The seed changes fastest, then the last axis; of several specs, the number is a value."""
        place = itertools.count()
        specs = map(with_digest, self.specs)
        for (number, base), *combination in itertools.product(enumerate(specs), *self._groups()):
            found = {axis.name: value for axis, value in itertools.chain(*combination)}
            values, refused = tuple(found[axis.name] for axis in self.axes), ""
            values = (number, *values) if self.others else values
            plain = base.to_dict()
            if found.get("data.name", base.data.name) != base.data.name:  # other data take over how labels are hidden
                plain["data"] = {name: plain["data"][name] for name in _OF_ANY_SET}
            for name, value in found.items():
                section, _, own = name.partition(".")
                plain[section] = {**plain[section], own: value}
            try:
                spec = Spec.from_dict(plain) if found else base
            except SpecError as error:
                spec, refused = None, str(error)
            for seed in self.seeds:
                own_spec = spec and replace(spec, seed=seed)
                yield StudyRun(next(place), values, seed, own_spec, refused, self.data_seed)


@dataclass(frozen=True)
class Price:
    """Estimated cost of a study: its runs, the seconds of one core, and the bytes of its largest run."""

    runs: int
    seconds: float
    memory: int


@dataclass(frozen=True)
class StudyBudget:
    """Limits on the cost of a study: on each run, on the number of runs, and on the seconds of one core for all."""

    run: Budget
    runs: int
    seconds: float


def price_of(study: Study, shape: tuple[int, int] | None = None) -> Price:
    """Estimate the cost of a study. `shape` is the (rows, columns) of the user's own file, if it uses one."""
    cost = cost_of if study.data_seed is None else cost_of_trajectory
    costs = [cost(spec, own) for spec, own in _points(study, shape)]
    seconds = len(study.seeds) * sum(SECONDS_A_RUN + one.likely for one in costs)
    return Price(len(study), seconds, max((one.memory for one in costs), default=0))


def _points(study: Study, shape: tuple[int, int] | None) -> list[tuple[Spec, tuple[int, int] | None]]:
    """Return the spec and the shape of its own file for each point; seeds do not change the cost."""
    specs = [run.spec for run in itertools.islice(study.runs(), 0, None, len(study.seeds)) if run.spec is not None]
    return [(spec, shape if spec.data.name == FILE else None) for spec in specs]


def check_price(study: Study, budget: StudyBudget, shape: tuple[int, int] | None = None) -> Price:
    """Return the cost of a study; raise `StudyError` if it costs more than the budget. Arguments as in `price_of`.

    The message gives the cost, the limit, and a change that would fit.
    """
    if len(study) > budget.runs:
        fits = _fits(study, budget.runs / len(study))
        raise StudyError(f"this study has {len(study):,} runs, but at most {budget.runs:,} are allowed; {fits}")
    try:
        for spec, own in _points(study, shape):
            check_cost(spec, budget.run, own)
    except SpecError as error:
        raise StudyError(str(error)) from None
    price = price_of(study, shape)
    if price.seconds > budget.seconds:
        fits = _fits(study, budget.seconds / price.seconds)
        asked, allowed = duration_text(price.seconds), duration_text(budget.seconds)
        raise StudyError(f"this study takes about {asked} of one core, but at most {allowed} is allowed; {fits}")
    return price


def _fits(study: Study, share: float) -> str:
    """Return a sentence about the share of the study that would fit."""
    seeds = int(len(study.seeds) * share + ROUNDING)
    if seeds:
        return f"with {seeds} seed{'s' if seeds > 1 else ''} it would fit"
    if not study.axes:
        return "with fewer iterations it would fit"
    longest = max(study.axes, key=lambda axis: len(axis.values))
    n = int(len(longest.values) * share * len(study.seeds) + ROUNDING)
    if n:
        return f"with one seed and {n} value{'s' if n > 1 else ''} of {longest.name} it would fit"
    return "with one seed, fewer values an axis and fewer iterations it would fit"
