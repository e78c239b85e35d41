"""Guided lessons as plain data: each step asks for a guess, runs, and explains the result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgcore.core.parameters import (
    AUTOMATIC,
    REQUIRED,
    Choice,
    Parameter,
    ParameterError,
    Record,
    Text,
    field_of,
    integer,
    items,
    mapping,
    quoted,
    record,
)
from dsgcore.settings.guided.questions import CLAIM, Claim, Curve, Estimate, Pick, some_text

MAP = "map"
# Charts that a step can show beside the map: at most one, so that a step has one picture of its answer.
CHARTS = ("score", "objective", "error", "parts", "spectrum")
# The largest number of controls in a step, because a beginner has to find them at once.
MOST_CONTROLS = 2


@dataclass(frozen=True)
class _Values(Parameter):
    """Values of controls by name; "auto" lets the run choose."""

    def _words(self) -> str:
        return "an object with values of controls"

    def _checked(self, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        for name, own in value.items():
            if not isinstance(own, str | bool | int | float) or math.isnan(own if isinstance(own, float) else 0.0):
                raise ParameterError(
                    f"{self.name}, {name} must be a text, a number, true, false or {AUTOMATIC!r}, got {quoted(own)}"
                )
        return {name: None if own == AUTOMATIC else own for name, own in value.items()}


VALUES = _Values("values", {})


@dataclass(frozen=True)
class Goal:
    """Goal that the reader reaches with the controls of the step.

    Attributes
    ----------
    claims : tuple of Claim
        Claims that all hold for a run that reaches the goal. At least one fails for the first run of the step.
    solution : mapping
        Values of the controls that reach the goal on at least nine of ten seeds.
    """

    text: str = some_text()
    claims: tuple[Claim, ...] = items(CLAIM)
    solution: Mapping[str, Any] = field_of(_Values, REQUIRED)

    def is_reached(self, outcome: Mapping[str, float]) -> bool:
        """Return True if a run has reached the goal."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class LessonStep:
    """Step of a lesson: a text, a run and an explanation.

    Attributes
    ----------
    text : str
        Text before the run, as Markdown with formulas.
    explanation : str
        Text after the run: the result and its reason.
    values : mapping
        Controls that differ from the step before, or from the setting's defaults in the first step. The value `edits`
        names edits of the data by hand, one of `dsgcore.data.edits.CHOICES`.
    controls : tuple of str
        Controls that the step uses, at most two. The stage shows them and no others. With `edits` among them, the
        reader edits the data in the map.
    show : tuple of str
        Pictures on the stage: the map, and one of `CHARTS`.
    pick, estimate, curve : Pick, Estimate, Curve or None
        Question before the run, at most one of them.
    goal : Goal or None
        Goal before the next step.
    claims : tuple of Claim
        Statements of the explanation as numbers. Each holds on at least nine of ten seeds.
    notes : str
        Notes for a lecturer.
    """

    text: str = some_text()
    explanation: str = some_text()
    values: Mapping[str, Any] = mapping(VALUES)
    controls: tuple[str, ...] = items(Text("control", ""), (), most=MOST_CONTROLS)
    show: tuple[str, ...] = items(Choice("picture", MAP, options=(MAP, *CHARTS)), (MAP, "score"), least=1)
    pick: Pick | None = record(Pick)
    estimate: Estimate | None = record(Estimate)
    curve: Curve | None = record(Curve)
    goal: Goal | None = record(Goal)
    claims: tuple[Claim, ...] = items(CLAIM, ())
    notes: str = field_of(Text, "")

    def __post_init__(self) -> None:
        """Raise `ParameterError` if there are several questions or several charts."""
        asked = [name for name in ("pick", "estimate", "curve") if getattr(self, name) is not None]
        if len(asked) > 1:
            raise ParameterError(f"may ask one question, pick, estimate, curve, got {' and '.join(asked)}")
        charts = [name for name in self.show if name != MAP]
        if len(charts) > 1 or len(set(self.show)) < len(self.show):
            raise ParameterError(f"may show the map and one chart ({', '.join(CHARTS)}), got {', '.join(self.show)}")

    @property
    def asks(self) -> Pick | Estimate | Curve | None:
        """Question before the run."""
        return self.pick or self.estimate or self.curve

    @property
    def chart(self) -> str:
        """Chart beside the map; empty if there is none."""
        return next((name for name in self.show if name != MAP), "")

    @property
    def measures(self) -> frozenset[str]:
        """Measures of the run that the question reads."""
        claims = [*self.claims, *(self.goal.claims if self.goal else ())]
        asked = self.asks.measures if self.asks is not None else ()
        return frozenset([*asked, *(claim.measure for claim in claims)])


@dataclass(frozen=True)
class GuidedLesson:
    """Lesson of three to seven steps that answer one question.

    Attributes
    ----------
    name : str
        Name in links.
    title : str
        The question.
    learned : str
        What the reader has learned, in a sentence or two.
    minutes : int
        Time it takes.
    order : int
        Place among the lessons of a setting.
    """

    name: str
    title: str = some_text()
    learned: str = some_text()
    minutes: int = integer(REQUIRED)
    order: int = integer(REQUIRED)
    steps: tuple[LessonStep, ...] = items(Record("step", None, kind=LessonStep))

    def values_at(self, number: int) -> dict[str, Any]:
        """Return the values of the controls at a step that differ from the setting's defaults, by name."""
        values: dict[str, Any] = {}
        for step in self.steps[: number + 1]:
            values |= step.values
        return values

    def solved_at(self, number: int) -> dict[str, Any]:
        """Return the same values, with those that reach the goal of the step, if it has one."""
        goal = self.steps[number].goal
        return self.values_at(number) | (dict(goal.solution) if goal is not None else {})
