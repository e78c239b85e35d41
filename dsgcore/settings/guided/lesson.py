"""Guided lessons as plain data: each step asks for a guess, runs, and explains the result.

No right answer is written down. The claims of the options read it from the run that the reader sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """Statement about a run: a measure of `experiments.outcome_of` lies in [low, high]."""

    measure: str
    low: float = -math.inf
    high: float = math.inf

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if the statement holds. It does not if the measure is missing or not a number."""
        return self.low <= outcome.get(self.measure, math.nan) <= self.high


# Points of a drawn curve: the first iteration, and these shares of all iterations.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
BETTER, WORSE = Claim("verdict", low=1.0), Claim("verdict", high=-1.0)
TIE = Claim("verdict", low=0.0, high=0.0)
DIVERGES = Claim("growth", low=math.inf)


@dataclass(frozen=True)
class Option:
    """Answer to a question. It is right if all its claims hold for the run."""

    words: str
    claims: tuple[Claim, ...]

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if all claims hold for the run."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class Pick:
    """Question with a few answers.

    Attributes
    ----------
    options : tuple of Option
        The answers. The first one whose claims hold is right.
    expected : int
        Number of the option that is right on at least nine of ten seeds. The step explains this one.
    """

    text: str
    options: tuple[Option, ...]
    expected: int

    def right(self, outcome: Mapping[str, float]) -> Option | None:
        """Return the option that is right for a run, or None if none is."""
        return next((option for option in self.options if option.holds(outcome)), None)

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures of the run that the question reads."""
        return tuple(claim.measure for option in self.options for claim in option.claims)

    def say(self, guess: float) -> str:
        """Return an answer in the form of a link."""
        return f"{guess:g}"

    def read(self, text: str) -> int | None:
        """Return the number of the option in a link, or None if there is no such option."""
        return int(text) if text in map(str, range(len(self.options))) else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Return the right answer for a run, in words."""
        right = self.right(outcome)
        return "none of these. Try another seed." if right is None else right.words

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Return True if an option is right for a run, or None if no option is."""
        right = self.right(outcome)
        return None if right is None else right is self.options[int(guess)]


@dataclass(frozen=True)
class Estimate:
    """Question for a number: a measure at the end of the run, between `low` and `high`.

    Attributes
    ----------
    measure, words : str
        Name of the measure in `experiments.outcome_of`, and its name on the page.
    low, high : float
        Ends of the slider.
    near : float
        Largest error of a good guess.
    """

    text: str
    measure: str
    words: str
    low: float
    high: float
    near: float

    @property
    def measures(self) -> tuple[str, ...]:
        """Measure of the run that the question reads."""
        return (self.measure,)

    def say(self, guess: float) -> str:
        """Return a guess in the form of a link."""
        return f"{guess:g}"

    def read(self, text: str) -> float | None:
        """Return the guess in a link, or None if it is not on the slider."""
        try:
            value = float(text)
        except ValueError:
            return None
        return value if self.low <= value <= self.high else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Return the value of a run, in words."""
        return f"{self.words} is {outcome.get(self.measure, math.nan):.2f}"

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Return True if a guess is close to the value of a run, or None if the run has no finite value."""
        came_to = outcome.get(self.measure, math.nan)
        return abs(guess - came_to) <= self.near if math.isfinite(came_to) else None


@dataclass(frozen=True)
class Curve:
    """Question for a curve: the reader draws a column of the run's history.

    Attributes
    ----------
    column, words : str
        Name of the column, and its name on the axis.
    low, high : float
        Ends of the axis.
    near : float
        Largest mean error of a good curve.
    """

    text: str
    column: str
    words: str
    low: float
    high: float
    near: float

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures of the run that the question reads: the column at each of `SHARES`."""
        return tuple(f"{self.column}@{share:g}" for share in SHARES)

    def say(self, guess: Sequence[float]) -> str:
        """Return a curve in the form of a link."""
        return "~".join(f"{value:.3g}" for value in guess)

    def read(self, text: str) -> tuple[float, ...] | None:
        """Return the curve in a link, or None if it does not fit the axis."""
        try:
            values = tuple(map(float, text.split("~")))
        except ValueError:
            return None
        is_one = len(values) == len(SHARES) and all(self.low <= value <= self.high for value in values)
        return values if is_one else None

    def came_to(self, outcome: Mapping[str, float]) -> list[float] | None:
        """Return the column at `SHARES`, or None if the run has no such curve."""
        values = [outcome.get(measure, math.nan) for measure in self.measures]
        return values if all(map(math.isfinite, values)) else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Return the curve of a run, in words."""
        came_to = self.came_to(outcome)
        if came_to is None:
            return "this run has no such curve"
        return f"{self.words}, from {came_to[0]:.2f} at the start to {came_to[-1]:.2f} at the end"

    def is_right(self, guess: Sequence[float], outcome: Mapping[str, float]) -> bool | None:
        """Return True if a drawn curve is close to the run's, or None if the run has none."""
        came_to = self.came_to(outcome)
        if came_to is None:
            return None
        return sum(abs(a - b) for a, b in zip(guess, came_to, strict=True)) <= self.near * len(SHARES)


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

    text: str
    claims: tuple[Claim, ...]
    solution: Mapping[str, Any]

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
        Controls that differ from the step before, or from the setting's defaults in the first step.
    controls : tuple of str
        Controls that the step is about. The page highlights them.
    asks : Pick, Estimate, Curve or None
        Question before the run.
    goal : Goal or None
        Goal before the next step.
    claims : tuple of Claim
        Statements of the explanation as numbers. Each holds on at least nine of ten seeds.
    notes : str
        Notes for a lecturer.
    """

    text: str
    explanation: str
    values: Mapping[str, Any] = field(default_factory=dict)
    controls: tuple[str, ...] = ()
    asks: Pick | Estimate | Curve | None = None
    goal: Goal | None = None
    claims: tuple[Claim, ...] = ()
    notes: str = ""

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
    """

    name: str
    title: str
    learned: str
    minutes: int
    steps: tuple[LessonStep, ...]

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
