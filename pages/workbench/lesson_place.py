"""Where a reader is in a guided lesson: which step, what was guessed there, and what the run came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from dsgcore.experiments import LiveRun, Setting, outcome_of
from dsgcore.settings import GuidedLesson, LessonStep, profile_of

# In a link, in the place of a guess: the step is shown with its answer, or a goal with what reaches it.
SHOWN = "answer"


class Stage(Enum):
    """Which thing of a step a class is shown."""

    TEXT = auto()
    QUESTION = auto()
    RUN = auto()
    OUTCOME = auto()


@dataclass
class Place:
    """A step of a lesson. The outcome is that of the run that the question was about: later runs do not change it."""

    lesson: GuidedLesson
    number: int = 0
    guesses: dict[int, Any] = field(default_factory=dict)  # by step: an option's number, or a number
    outcomes: dict[int, dict[str, float]] = field(default_factory=dict)  # by step, of the run that ended it
    shown: set[int] = field(default_factory=set)  # steps whose solution was asked for
    stage: Stage | None = None  # before a class; None for a reader, who sees all of a step at once

    @property
    def step(self) -> LessonStep:
        """The step that the reader is at."""
        return self.lesson.steps[self.number]

    @property
    def is_last(self) -> bool:
        """Whether no step follows."""
        return self.number == len(self.lesson.steps) - 1

    @property
    def waits(self) -> bool:
        """Whether the run is not to begin yet: not before a question is answered, or its time has come before a class."""
        if self.stage is not None:
            return self.stage in (Stage.TEXT, Stage.QUESTION)
        return self.step.asks is not None and self.number not in self.guesses and self.number not in self.shown

    @property
    def values(self) -> dict[str, Any]:
        """What the controls say at this step, by name; with what reaches its goal, where that was asked for."""
        return (self.lesson.solved_at if self.number in self.shown else self.lesson.values_at)(self.number)

    @property
    def stages(self) -> list[Stage]:
        """What a class is shown of the step, one after the other."""
        return [stage for stage in Stage if stage is not Stage.QUESTION or self.step.asks is not None]

    def turn(self, things: int) -> None:
        """Show a class another thing of the step."""
        if self.stage is not None:
            self.stage = self.stages[self.stages.index(self.stage) + things]

    @property
    def is_beginning(self) -> bool:
        """Whether a class has seen nothing before."""
        return not self.number and self.stage is Stage.TEXT

    @property
    def guess(self) -> Any:
        """What was guessed at this step."""
        return self.guesses.get(self.number)

    @property
    def outcome(self) -> dict[str, float] | None:
        """What this step's run came to; None before it has ended, or where the goal has not been reached."""
        return self.outcomes.get(self.number)

    @property
    def text(self) -> str:
        """How a link says it: the lesson's name, the step counted from 1, and what was guessed there."""
        asks = self.step.asks
        guess = [] if self.guess is None or asks is None else [asks.say(self.guess)]
        guess = guess or [SHOWN] * (self.number in self.shown)
        return ":".join([self.lesson.name, str(self.number + 1), *guess])

    def note(self, live: LiveRun | None) -> None:
        """Keep what a run came to that has ended, where it ends the step."""
        if live is None or not live.is_finished or not live.run.t or self.waits or self.outcome is not None:
            return
        outcome = outcome_of(live, self.step.measures)
        if self.step.goal is None or self.step.goal.is_reached(outcome):
            self.outcomes[self.number] = outcome

    def was_right(self) -> bool | None:
        """Whether the guess was good; None where nothing was asked or the run came to none of what was offered."""
        asks, outcome = self.step.asks, self.outcome
        return None if asks is None or outcome is None or self.guess is None else asks.is_right(self.guess, outcome)


def place_in(problem: type[Setting], text: str) -> Place | None:
    """Return the place that a link names; None where there is no such lesson, step or answer."""
    name, number, guess = [*text.split(":", 2), "", ""][:3]
    lesson = next((lesson for lesson in profile_of(problem).guided if lesson.name == name), None)
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
