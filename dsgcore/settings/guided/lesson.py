"""A guided lesson as plain data: steps that ask for a guess, run, and say what came of it.

What is right is never written down: it is what the claims of an option find in the run that the reader sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """Something said of a run as a number: a measure (of `experiments.outcome_of`) that lies in [low, high]."""

    measure: str
    low: float = -math.inf
    high: float = math.inf

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Whether a run came to this; not where the measure is missing or is no number."""
        return self.low <= outcome.get(self.measure, math.nan) <= self.high


# Where on the way a curve is drawn: at the first iteration, and at so many shares of all.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
BETTER, WORSE = Claim("verdict", low=1.0), Claim("verdict", high=-1.0)
TIE = Claim("verdict", low=0.0, high=0.0)
DIVERGES = Claim("growth", low=math.inf)


@dataclass(frozen=True)
class Option:
    """One of the answers to a question; it is right of a run of which all its claims hold."""

    words: str
    claims: tuple[Claim, ...]

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Whether this is what a run came to."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class Pick:
    """A question with a few answers.

    Attributes
    ----------
    options : tuple of Option
        The first whose claims hold is right.
    expected : int
        The option that is right on nine of ten seeds and more: the one that the step explains.
    """

    text: str
    options: tuple[Option, ...]
    expected: int

    def right(self, outcome: Mapping[str, float]) -> Option | None:
        """Return the option that is right of a run; None where the run came to none of them."""
        return next((option for option in self.options if option.holds(outcome)), None)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that are read of its run."""
        return tuple(claim.measure for option in self.options for claim in option.claims)

    def say(self, guess: float) -> str:
        """Return an answer as a link says it."""
        return f"{guess:g}"

    def read(self, text: str) -> int | None:
        """Return the number of the option that a link says; None where it says none."""
        return int(text) if text in map(str, range(len(self.options))) else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Say what is right of a run."""
        right = self.right(outcome)
        return "none of these: another seed will" if right is None else right.words

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Whether an option is right of a run; None where the run came to none of them."""
        right = self.right(outcome)
        return None if right is None else right is self.options[int(guess)]


@dataclass(frozen=True)
class Estimate:
    """A question for a number: a measure of the run's end, to be guessed between `low` and `high`.

    Attributes
    ----------
    measure, words : str
        Of `experiments.outcome_of`, and what it is called beside the number.
    low, high : float
        The ends of the slider on which it is guessed.
    near : float
        A guess that is off by no more is called good.
    """

    text: str
    measure: str
    words: str
    low: float
    high: float
    near: float

    @property
    def measures(self) -> tuple[str, ...]:
        """The measure that is read of its run."""
        return (self.measure,)

    def say(self, guess: float) -> str:
        """Return a guess as a link says it."""
        return f"{guess:g}"

    def read(self, text: str) -> float | None:
        """Return the guess that a link says; None where it says none on the slider."""
        try:
            value = float(text)
        except ValueError:
            return None
        return value if self.low <= value <= self.high else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Say what a run came to."""
        return f"{self.words} came to {outcome.get(self.measure, math.nan):.2f}"

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Whether a guess is near what a run came to; None where it came to no number."""
        came_to = outcome.get(self.measure, math.nan)
        return abs(guess - came_to) <= self.near if math.isfinite(came_to) else None


@dataclass(frozen=True)
class Curve:
    """A question for a curve: how a column of the run's history goes, from beginning to end, drawn by the reader.

    Attributes
    ----------
    column, words : str
        Of the history, and what it is called on the axis.
    low, high : float
        The ends of the axis.
    near : float
        A curve that is off by no more, in the mean, is called good.
    """

    text: str
    column: str
    words: str
    low: float
    high: float
    near: float

    @property
    def measures(self) -> tuple[str, ...]:
        """What is read of its run: the column at so many shares of the way, as `experiments.outcome_of` calls it."""
        return tuple(f"{self.column}@{share:g}" for share in SHARES)

    def say(self, guess: Sequence[float]) -> str:
        """Return a curve as a link says it."""
        return "~".join(f"{value:.3g}" for value in guess)

    def read(self, text: str) -> tuple[float, ...] | None:
        """Return the curve that a link says; None where it says none on the axis."""
        try:
            values = tuple(map(float, text.split("~")))
        except ValueError:
            return None
        is_one = len(values) == len(SHARES) and all(self.low <= value <= self.high for value in values)
        return values if is_one else None

    def came_to(self, outcome: Mapping[str, float]) -> list[float] | None:
        """Return how it went, at the same shares of the way; None where the run has no such curve."""
        values = [outcome.get(measure, math.nan) for measure in self.measures]
        return values if all(map(math.isfinite, values)) else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Say how it went."""
        came_to = self.came_to(outcome)
        if came_to is None:
            return "this run has no such curve"
        return f"{self.words}, from {came_to[0]:.2f} at the start to {came_to[-1]:.2f} at the end"

    def is_right(self, guess: Sequence[float], outcome: Mapping[str, float]) -> bool | None:
        """Whether a drawn curve is near the one that came."""
        came_to = self.came_to(outcome)
        if came_to is None:
            return None
        return sum(abs(a - b) for a, b in zip(guess, came_to, strict=True)) <= self.near * len(SHARES)


@dataclass(frozen=True)
class Goal:
    """What the reader is to bring about with the step's controls.

    Attributes
    ----------
    claims : tuple of Claim
        All hold at the end of a run that reaches it, and not all of the run that the step begins with.
    solution : mapping
        Values of the step's controls that reach it on nine of ten seeds and more, for those who want to be shown.
    """

    text: str
    claims: tuple[Claim, ...]
    solution: Mapping[str, Any]

    def is_reached(self, outcome: Mapping[str, float]) -> bool:
        """Whether a run has come to it."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class LessonStep:
    """A text, a run, and what it teaches.

    Attributes
    ----------
    text : str
        What is there to see, before the run. Markdown with formulas.
    explanation : str
        What came of it, and why: shown when the run has ended.
    values : mapping
        The controls that differ from the step before (of the first one: from the setting's defaults).
    controls : tuple of str
        Those that it is about: they are lit up.
    asks : Pick, Estimate, Curve or None
        To be answered before the run begins.
    goal : Goal or None
        To be reached before the next step.
    claims : tuple of Claim
        What the explanation says of the run, as numbers: each holds on nine of ten seeds and more.
    notes : str
        For who shows it to a class: what to say or to point at.
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
        """The measures that are read of its run."""
        claims = [*self.claims, *(self.goal.claims if self.goal else ())]
        asked = self.asks.measures if self.asks is not None else ()
        return frozenset([*asked, *(claim.measure for claim in claims)])


@dataclass(frozen=True)
class GuidedLesson:
    """Three to seven steps that answer one question.

    Attributes
    ----------
    name : str
        In links.
    title : str
        The question that it answers.
    learned : str
        What one knows afterwards, in a sentence.
    minutes : int
        How long it takes.
    """

    name: str
    title: str
    learned: str
    minutes: int
    steps: tuple[LessonStep, ...]

    def values_at(self, number: int) -> dict[str, Any]:
        """Return by name what the controls say at a step, where that is not the setting's default."""
        values: dict[str, Any] = {}
        for step in self.steps[: number + 1]:
            values |= step.values
        return values

    def solved_at(self, number: int) -> dict[str, Any]:
        """Return the same with what reaches the step's goal, where it has one."""
        goal = self.steps[number].goal
        return self.values_at(number) | (dict(goal.solution) if goal is not None else {})
