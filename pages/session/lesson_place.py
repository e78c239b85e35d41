"""Position of a reader in a guided lesson: the step, the guesses and the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from dsgcore.experiments import LiveRun, Setting, Spec, outcome_of
from dsgcore.lessons import lessons_of
from dsgcore.settings import GuidedLesson, LessonStep

# Word that replaces the guess in a link. The page then shows the answer, or values that reach the goal.
SHOWN = "answer"


class Stage(Enum):
    QUESTION = auto()
    RUN = auto()
    OUTCOME = auto()


@dataclass
class Place:
    """Step of a lesson. Later runs do not change the outcome of a question."""

    lesson: GuidedLesson
    number: int = 0
    guesses: dict[int, Any] = field(default_factory=dict)  # by step: number of an option, a number or a curve
    outcomes: dict[int, dict[str, float]] = field(default_factory=dict)  # by step: measures of the run that ended it
    explained: dict[int, Spec] = field(default_factory=dict)  # by step: spec of that run
    shown: set[int] = field(default_factory=set)  # steps whose solution was asked for, or whose run had no guess
    first: dict[int, int] = field(default_factory=dict)  # by step: number of its first run
    tried: dict[str, float] = field(default_factory=dict)  # measures of the last run that has ended
    measured: Spec | None = None  # of that run

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.number]

    @property
    def is_last(self) -> bool:
        return self.number == len(self.lesson.steps) - 1

    @property
    def waits(self) -> bool:
        """True if the run waits for an answer."""
        return self.step.asks is not None and self.number not in {*self.guesses, *self.shown}

    @property
    def stage(self) -> Stage:
        """Phase of the step."""
        if self.waits:
            return Stage.QUESTION
        return Stage.RUN if self.outcome is None else Stage.OUTCOME

    @property
    def values(self) -> dict[str, Any]:
        """Values of the controls at this step, by name. They reach the goal if the reader asked for the solution."""
        return (self.lesson.solved_at if self.number in self.shown else self.lesson.values_at)(self.number)

    def go(self, steps: int) -> None:
        """Go to another step. Its next run is its first."""
        self.number += steps
        self.first.pop(self.number, None)

    @property
    def guess(self) -> Any:
        return self.guesses.get(self.number)

    @property
    def outcome(self) -> dict[str, float] | None:
        """Measures of this step's run, or None before it has ended or reached the goal."""
        return self.outcomes.get(self.number)

    @property
    def text(self) -> str:
        """Position in a link: the name of the lesson, the step counted from 1, and the guess."""
        asks = self.step.asks
        guess = [] if self.guess is None or asks is None else [asks.say(self.guess)]
        guess = guess or [SHOWN] * (self.number in self.shown)
        return ":".join([self.lesson.name, str(self.number + 1), *guess])

    def note(self, live: LiveRun | None) -> None:
        """Measure a finished run once, and keep the measures if it ends the step."""
        if live is None or not live.is_finished or not live.run.t or self.waits:
            return
        if self.outcome is not None and live.run.spec == self.measured:
            return
        self.tried, self.measured = outcome_of(live, self.step.measures), live.run.spec
        if self.outcome is not None:
            return  # later runs do not change the outcome, but their charts show what was measured
        outcome = self.tried
        if self.step.goal is None or self.step.goal.is_reached(outcome):
            self.outcomes[self.number], self.explained[self.number] = outcome, live.run.spec


def place_in(problem: type[Setting], text: str) -> Place | None:
    """Return the position in a link, or None if there is no such lesson, step or answer."""
    name, number, guess = [*text.split(":", 2), "", ""][:3]
    lesson = next((lesson for lesson in lessons_of(problem) if lesson.name == name), None)
    if lesson is None or (number or "1") not in {str(k + 1) for k in range(len(lesson.steps))}:
        return None
    place = Place(lesson, int(number or "1") - 1)
    if guess == SHOWN:
        place.shown.add(place.number)
    elif guess and place.step.asks is not None:
        answer = place.step.asks.read(guess)
        if answer is None:
            return None
        place.guesses[place.number] = answer
    return place
