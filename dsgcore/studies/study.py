"""A study as plain data: a spec, axes along which it is varied, and seeds. A file that holds it *is* the study."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dsgcore.core.cost import Cost
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    Checked,
    ParameterError,
    flag,
    like,
    quoted,
    real,
)
from dsgcore.core.plain import ANYTHING, REQUIRED, Anything, Items, items, read, record
from dsgcore.data.edits import fit_any_seed
from dsgcore.data.options import SEED
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.cost import cost_of
from dsgcore.studies.axes import Axis, StudyError, axes_of
from dsgcore.studies.work import Maker, make_run

MOST_RUNS = 100_000
MOST_AXES = 4
SEEDS = Items("seeds", None, item=SEED, least=1, most=MOST_RUNS)
_OF_ANY_SET = ("n_labeled", "test_share", "stratified", "scaling", "label_noise", "prior_shift")


@dataclass(frozen=True)
class StudyBudget(Checked):
    """Limits of a study: the time in seconds after which no other run begins, and if seeds come in rounds."""

    seconds: float | None = real(None, low=0.0, optional=True)
    best_first: bool = flag(False)


@dataclass(frozen=True)
class _Said:
    """Fields of a study as plain data. The axes depend on the spec, so they are checked after it."""

    spec: Any = like(Anything("spec", REQUIRED))
    axes: tuple[Any, ...] = items(ANYTHING, (), most=MOST_AXES)
    seeds: tuple[int, ...] | None = like(SEEDS, None, optional=True)
    budget: StudyBudget | None = record(StudyBudget)


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
        True if seeds come in rounds (`dsgcore.studies.successive_halving`), and points that are not among the best get no more.

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
            StudyBudget(self.seconds, self.is_best_first)
        except ParameterError as error:
            raise StudyError(str(error)) from None
        check_edits(self.spec, self.seeds, self.axes)

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
    plain = read(_Said, given, "a study")
    spec = plain.spec if isinstance(plain.spec, Spec) else Spec.from_dict(plain.spec)
    budget = plain.budget or StudyBudget()
    seeds = (spec.seed,) if plain.seeds is None else plain.seeds
    study = Study(spec, axes_of(plain.axes, spec), seeds, budget.seconds, budget.best_first)
    if len(study) > MOST_RUNS:
        raise StudyError(f"a study may have at most {MOST_RUNS:,} runs, got {len(study):,}")
    return study


def _seeds(given: object) -> tuple[int, ...]:
    seeds: tuple[int, ...] = SEEDS.check(given)
    if len(set(seeds)) < len(seeds):
        raise StudyError(f"seeds must differ from each other, got {quoted(given)}")
    return seeds


def check_edits(spec: Spec, seeds: Sequence[int], axes: Sequence[Axis] = ()) -> None:
    """Raise `StudyError` if edits by hand would be replayed on other points than those on which they were made."""
    if not spec.data.edits:
        return
    for axis in axes:
        if axis.name.startswith("data."):
            raise StudyError(f"{axis.name} cannot vary, because the edits by hand belong to these data")
    if not fit_any_seed(spec.data.edits) and set(seeds) != {spec.seed}:
        said = f"edits by hand name points of the data of seed {spec.seed}, so seeds must be [{spec.seed}]"
        raise StudyError(f"{said}, got {quoted(list(seeds))}")


def _varied(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """Return the spec with other values, checked as a whole."""
    plain = spec.to_dict()
    if values.get("data.name", spec.data.name) != spec.data.name:  # other data take over only how labels are hidden
        plain["data"] = {name: plain["data"][name] for name in _OF_ANY_SET}
    for name, value in values.items():
        section, _, own = name.partition(".")
        plain[section] = {**plain[section], own: value}
    return Spec.from_dict(plain)
