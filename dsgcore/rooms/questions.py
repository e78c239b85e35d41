"""Questions of a class's room: that of a lesson's step, one that the lecturer types, and what phones get of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsgcore.core.threads import single_threaded_openmp
from dsgcore.lessons import Lecture, lesson_named, library
from dsgcore.settings import Curve, Estimate, GuidedLesson, LessonStep, Pick
from dsgcore.settings.lessons import SHARES, LessonError, Option, numbers_in

# The name of the question on labels, in place of that of a step.
LABELS = "labels"
OWN = "own"  # a lecturer's own question has this name and a number of its own
N_LABELS = 5
LEAST_OPTIONS, MOST_OPTIONS = 2, 6
LONGEST_TEXT = 200  # characters of a lecturer's own question, and of each of its answers


@dataclass(frozen=True)
class Places:
    """Question for points on a map: each has a place from 0 to 1 along both sides."""

    text: str = f"Which {N_LABELS} points would you label?"
    number: int = N_LABELS

    def say(self, guess: Sequence[float]) -> str:
        """Return an answer as text."""
        return "~".join(f"{value:.3f}" for value in guess)

    def read(self, text: str) -> tuple[float, ...] | None:
        """Return the places x, y, x, y, .. of an answer, or None if there are more or fewer, or one is off the map."""
        return numbers_in(text, 2 * self.number, 0.0, 1.0)


class Answers(Pick):
    """A lecturer's own question with a few answers, of which none is right."""

    def __post_init__(self) -> None:
        """Expect none of the answers."""


Question = Pick | Estimate | Curve | Places


def question_in(text: str) -> Question:
    """Return a lecturer's own question.

    Its words come first. After them, in a line each or after bars, come its answers, the two ends of a number, or "map".

    Raises
    ------
    LessonError
        If it is no question that a class can answer. The message is a sentence for the lecturer.
    """
    # The marks of Markdown are the lecturer's own letters.
    asked, *words = (part.strip().replace("*", r"\*") for part in text.split("\n" if "\n" in text else "|"))
    words = [one for one in words if one]
    if not asked:
        raise LessonError("Type a question.")
    if max(map(len, (asked, *words))) > LONGEST_TEXT:
        raise LessonError(f"A question and each of its answers can have {LONGEST_TEXT} characters.")
    if words == ["map"]:
        return Places(asked, 1)
    ends = re.fullmatch(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)", words[0]) if len(words) == 1 else None
    if ends is not None:
        low, high = map(float, ends.groups())
        if not (math.isfinite(high - low) and low < high):
            raise LessonError(f"The smallest number must be below the largest one, got {low:g} and {high:g}.")
        return Estimate(asked, "number", low, high, 0.0, "")
    if not LEAST_OPTIONS <= len(words) <= MOST_OPTIONS:
        raise LessonError(f"Type {LEAST_OPTIONS} to {MOST_OPTIONS} answers. There are {len(words)}.")
    if len(set(words)) < len(words):
        raise LessonError(f"Each answer must be another one: {', '.join(words)}.")
    return Answers(asked, tuple(Option(one, ()) for one in words))


def check_parts(lecture: Lecture) -> None:
    """Raise `LessonError` if a part of a lecture is no lesson or no question."""
    for part in lecture.parts:
        (question_in if "|" in part else lesson_named)(part)


@dataclass(frozen=True)
class Asked:
    """A question: by setting, lesson and step. `kind` is LABELS or begins with OWN if it is not the step's.

    `own` is the text of a lecturer's own question, from which `question_in` reads it.
    """

    setting: str
    lesson: str
    step: int
    kind: str = ""
    own: str = ""

    @property
    def name(self) -> str:
        """The question in one text, as the store and the phones name it."""
        return "/".join([self.setting, self.lesson, str(self.step), *([self.kind] if self.kind else [])])

    @property
    def of_lesson(self) -> GuidedLesson | None:
        """The lesson, or None if the project has none of that name."""
        return library().lessons.get(self.setting, {}).get(self.lesson)

    @property
    def of_step(self) -> LessonStep | None:
        """The step, or None if the lesson has none of that number."""
        steps = () if self.of_lesson is None else self.of_lesson.steps
        return steps[self.step] if 0 <= self.step < len(steps) else None

    @property
    def question(self) -> Question | None:
        """The question, or None if the project has none of that name."""
        step = self.of_step
        if step is None:
            return None
        return question_in(self.own) if self.own else Places() if self.kind == LABELS else step.asks


def asked_by(name: str, own: str = "") -> Asked:
    """Return the question of that name; `own` is the text of a lecturer's own question."""
    setting, lesson, step, kind = [*name.split("/"), ""][:4]
    return Asked(setting, lesson, int(step), kind, own)


def result_of(asked: Asked, outcome: Mapping[str, float]) -> dict[str, Any]:
    """Return what a run says about a question: the right option, the value or the curve, in words, and why.

    Nothing if there is no outcome yet, or if no answer is right or wrong.
    """
    step, asks = asked.of_step, asked.question
    if not outcome or step is None or asks is None or isinstance(asks, Places):
        return {}
    answer = plain_text(asks.answer(outcome))
    said = {"answer": answer + "." * (answer[-1] not in ".?!"), "why": plain_text(step.explanation)}
    if isinstance(asks, Pick):
        right = asks.right(outcome)
        return said | {"right": None if right is None else asks.options.index(right)}
    return said | {"value": asks.came_to(outcome), "near": asks.near}


def plain_text(markdown: str) -> str:
    r"""Return a text without marks for emphasis; the asterisk of f* or of C\* stays."""
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", markdown)
    text = re.sub(r"(?<![\w\\])\*(\w[^*]*)\*(?!\w)", r"\1", text)
    return " ".join(text.replace(r"\*", "*").split())


def choice_of(asks: Question, guesses: Sequence[Any]) -> Any:
    """Return a class's choice.

    It is the option with most answers, of several the first; the median of numbers or curves; or the middles of as many
    groups of places as each phone has chosen.
    """
    if isinstance(asks, Pick):
        return max(range(len(asks.options)), key=list(guesses).count)
    if isinstance(asks, Places):
        from sklearn.cluster import KMeans  # slow to import, and few lectures need it

        places, counts = np.unique(np.reshape(guesses, (-1, 2)), axis=0, return_counts=True)
        groups = KMeans(min(asks.number, len(places)), n_init=5, random_state=0)
        with single_threaded_openmp():
            return groups.fit(places, sample_weight=counts).cluster_centers_
    middle = np.median(guesses, axis=0).round(4)
    return tuple(middle.tolist()) if isinstance(asks, Curve) else float(middle)


def plain_question(asks: Question) -> dict[str, Any]:
    """Return a question in the form that phones draw."""
    text = plain_text(asks.text)
    if isinstance(asks, Pick):
        return {"kind": "pick", "text": text, "options": [plain_text(option.words) for option in asks.options]}
    if isinstance(asks, Places):
        return {"kind": "map", "text": text, "number": asks.number}
    ends = {"text": text, "words": plain_text(asks.words), "low": asks.low, "high": asks.high}
    if isinstance(asks, Estimate):
        return ends | {"kind": "number"}
    return ends | {"kind": "curve", "shares": list(SHARES)}
