"""Questions of a class's room: that of a lesson's step, one that the lecturer types, and what phones get of them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.threads import single_threaded_openmp
from dsgcore.lessons import Lecture, lesson_named, lessons_of
from dsgcore.settings import Curve, Estimate, GuidedLesson, LessonStep, Pick
from dsgcore.settings.lessons import SHARES, Option, numbers_in

COLUMNS = ("number", "setting", "lesson", "step", "question", "round", "answer", "right")
# The name of the question on labels, in place of that of a step.
LABELS = "labels"
OWN = "own"  # a lecturer's own question has this name and a number of its own
N_LABELS = 5
LEAST_OPTIONS, MOST_OPTIONS = 2, 6
LONGEST_TEXT = 200  # characters of a lecturer's own question, and of each of its answers
BINS = 10  # of a histogram, and of a map along each side
# Nine of ten phones that drew a curve lie between these.
LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9


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


@dataclass(frozen=True)
class Answers(Pick):
    """A lecturer's own question with a few answers, of which none is right."""

    def __post_init__(self) -> None:
        """Raise `OwnQuestionError` unless there are two to six different answers."""
        words = [option.words for option in self.options]
        if not LEAST_OPTIONS <= len(words) <= MOST_OPTIONS:
            raise OwnQuestionError(
                f"Type {LEAST_OPTIONS} to {MOST_OPTIONS} answers, one a line. There are {len(words)}."
            )
        if len(set(words)) < len(words):
            raise OwnQuestionError(f"Each answer must be another one: {', '.join(words)}.")


Question = Pick | Estimate | Curve | Places


class OwnQuestionError(DSGError):
    """A lecturer's own question that a class cannot answer. The message is a sentence for the lecturer."""


def own_question(said: Mapping[str, Any]) -> Question:
    """Return a lecturer's own question from the form that phones draw; raise `OwnQuestionError` if it cannot be asked."""
    text, options = str(said["text"]).strip(), tuple(str(words).strip() for words in said.get("options", ()))
    if not text:
        raise OwnQuestionError("Type a question.")
    if max(map(len, (text, *options))) > LONGEST_TEXT:
        raise OwnQuestionError(f"A question and each of its answers can have {LONGEST_TEXT} characters.")
    if said["kind"] == "pick":
        return Answers(text, tuple(Option(words, ()) for words in options if words))
    if said["kind"] == "map":
        return Places(text, 1)
    low, high = float(said["low"]), float(said["high"])
    if not (math.isfinite(high - low) and low < high):
        raise OwnQuestionError(f"The smallest number must be below the largest one, got {low:g} and {high:g}.")
    return Estimate(text, "number", low, high, 0.0, "")


def question_in(part: str) -> Question:
    """Return the question in a part of a lecture: its text, and after bars its answers, the ends of a number, or "map".

    Raises
    ------
    OwnQuestionError
        If the part is no question that a class can answer.
    """
    text, *options = (words.strip() for words in part.split("|"))
    ends = re.fullmatch(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)", options[0]) if len(options) == 1 else None
    if options == ["map"]:
        return own_question({"kind": "map", "text": text})
    if ends is not None:
        return own_question({"kind": "number", "text": text, "low": ends[1], "high": ends[2]})
    return own_question({"kind": "pick", "text": text, "options": options})


def check_parts(lecture: Lecture) -> None:
    """Raise `LessonError` or `OwnQuestionError` if a part of a lecture is no lesson or no question."""
    for part in lecture.parts:
        (question_in if "|" in part else lesson_named)(part)


@dataclass(frozen=True)
class Asked:
    """A question: by setting, lesson and step. `kind` is LABELS or begins with OWN if it is not the step's."""

    setting: str
    lesson: str
    step: int
    kind: str = ""
    own: Question | None = None

    @property
    def name(self) -> str:
        """The question in one text, as the store and the phones name it."""
        return "/".join([self.setting, self.lesson, str(self.step), *([self.kind] if self.kind else [])])

    @property
    def of_lesson(self) -> GuidedLesson | None:
        """The lesson, or None if the project has none of that name."""
        return next((lesson for lesson in lessons_of(self.setting) if lesson.name == self.lesson), None)

    @property
    def of_step(self) -> LessonStep | None:
        """The step, or None if the lesson has none of that number."""
        lesson = self.of_lesson
        return lesson.steps[self.step] if lesson is not None and 0 <= self.step < len(lesson.steps) else None

    @property
    def question(self) -> Question | None:
        """The question, or None if the project has none of that name."""
        step = self.of_step
        if step is None:
            return None
        return self.own or (Places() if self.kind == LABELS else step.asks)

    def asks_too(self, own: Question) -> Asked:
        """Return a lecturer's own question at the same step."""
        return Asked(self.setting, self.lesson, self.step, f"{OWN}-{token_hex(4)}", own)


def asked_by(name: str, picture: Mapping[str, Any]) -> Asked | None:
    """Return the question of that name, or None if the name is empty. The picture holds a lecturer's own question."""
    if not name:
        return None
    setting, lesson, step, kind = [*name.split("/"), ""][:4]
    own = own_question(picture[OWN]) if kind.startswith(OWN) else None
    return Asked(setting, lesson, int(step), kind, own)


def result_of(asked: Asked, outcome: Mapping[str, float]) -> dict[str, Any]:
    """Return what a run says about a question: the right option, the value or the curve, in words, and why."""
    step, asks = asked.of_step, asked.question
    if step is None or asks is None or isinstance(asks, Places):
        return {}
    said: dict[str, Any] = {"answer": plain_text(asks.answer(outcome)), "why": plain_text(step.explanation)}
    if isinstance(asks, Pick):
        right = asks.right(outcome)
        return said | {"right": None if right is None else asks.options.index(right)}
    if isinstance(asks, Curve):
        return said | {"value": asks.came_to(outcome), "near": asks.near}
    value = outcome.get(asks.measure, math.nan)
    return said | {"value": value if math.isfinite(value) else None, "near": asks.near}


def plain_text(markdown: str) -> str:
    r"""Return a text without marks for emphasis; the asterisk of f* or of C\* stays."""
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", markdown)
    text = re.sub(r"(?<![\w\\])\*(\w[^*]*)\*(?!\w)", r"\1", text)
    return " ".join(text.replace(r"\*", "*").split())


def is_right(asks: Question, guess: Any, result: Mapping[str, Any]) -> bool | None:
    """Return True if a guess is right by a result, or None if nothing is right or wrong."""
    if isinstance(asks, Pick):
        right = result.get("right")
        return None if right is None else int(guess) == right
    value = result.get("value")
    if value is None or isinstance(asks, Places):
        return None
    return bool(np.mean(np.abs(np.subtract(guess, value))) <= asks.near)


def tally(asks: Question, guesses: Sequence[Any]) -> dict[str, Any]:
    """Return the summary of a round's guesses: counts; or a curve's median and band; or the counts on a map."""
    said: dict[str, Any] = {"n": len(guesses)}
    if isinstance(asks, Pick):
        return said | {"counts": [sum(guess == k for guess in guesses) for k in range(len(asks.options))]}
    if isinstance(asks, Estimate):
        counts, _edges = np.histogram(np.array(guesses, dtype=float), bins=BINS, range=(asks.low, asks.high))
        return said | {"counts": counts.tolist()}
    if isinstance(asks, Places):
        points = np.array(guesses, dtype=float).reshape(-1, 2)
        counts, _x, _y = np.histogram2d(points[:, 0], points[:, 1], bins=BINS, range=((0, 1), (0, 1)))
        return said | {"cells": counts.astype(int).tolist()}
    if not guesses:
        return said
    low, middle, high = np.quantile(np.array(guesses), (LOW, MIDDLE, HIGH), axis=0).round(4).tolist()
    return said | {"low": low, "middle": middle, "high": high}


def choice_of(asks: Question, guesses: Sequence[Any]) -> Any:
    """Return a class's choice.

    It is the option with most answers, of several the first; the median of numbers or curves; or the middles of as many
    groups of places as each phone has chosen.
    """
    if isinstance(asks, Pick):
        return max(range(len(asks.options)), key=list(guesses).count)
    if isinstance(asks, Places):
        return _middles(np.array(guesses, dtype=float).reshape(-1, 2), asks.number)
    middle = np.median(np.array(guesses, dtype=float), axis=0).round(4)
    return tuple(middle.tolist()) if isinstance(asks, Curve) else float(middle)


def _middles(places: NDArray, number: int) -> NDArray:
    from sklearn.cluster import KMeans  # slow to import, and few lectures need it

    places, counts = np.unique(places, axis=0, return_counts=True)
    groups = KMeans(min(number, len(places)), n_init=5, random_state=0)
    with single_threaded_openmp():
        middles: NDArray = groups.fit(places, sample_weight=counts).cluster_centers_
    return middles


def plain_question(asks: Question) -> dict[str, Any]:
    """Return a question in the form that phones draw."""
    if isinstance(asks, Answers):  # as it was typed
        return {"kind": "pick", "text": asks.text, "options": [option.words for option in asks.options]}
    text = plain_text(asks.text)
    if isinstance(asks, Pick):
        return {"kind": "pick", "text": text, "options": [plain_text(option.words) for option in asks.options]}
    if isinstance(asks, Places):
        return {"kind": "map", "text": text, "number": asks.number}
    ends = {"text": text, "words": plain_text(asks.words), "low": asks.low, "high": asks.high}
    if isinstance(asks, Estimate):
        return ends | {"kind": "number"}
    return ends | {"kind": "curve", "shares": list(SHARES)}


@dataclass(frozen=True)
class Answered:
    """A question of a room with the guesses of each round, and what the run said."""

    asked: Asked
    rounds: list[list[Any]]
    result: Mapping[str, Any]
    picture: Mapping[str, Any]


def results_csv(answered: list[Answered]) -> str:
    """Return a table with a row for each answer. The rows of a round are sorted, so they tell nothing of who answered."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, one in enumerate(answered, start=1):
        asks = one.asked.question
        if asks is None:
            continue
        place = (number, one.asked.setting, one.asked.lesson, one.asked.step + 1, plain_text(asks.text))
        for turn, guesses in enumerate(one.rounds, start=1):
            for guess in guesses:
                right = is_right(asks, guess, one.result)
                said = plain_text(asks.options[guess].words) if isinstance(asks, Pick) else asks.say(guess)
                table.writerow([*place, turn, said, "" if right is None else "yes" if right else "no"])
    return text.getvalue()
