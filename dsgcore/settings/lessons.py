"""Guided lessons: questions, claims about a run that answer them, steps, and the reader of a lesson's file.

Each step asks for a guess, runs, and explains the result. No right answer is written down: the claims of the options read
it from the run that the reader sees. There is one TOML file per lesson, in a folder per setting; the file's name is the
lesson's name in links. A file has the fields of `GuidedLesson` except its name, and each of its ``[[steps]]`` those of
`LessonStep`. A claim is a table or a name in `NAMED`. The value "auto" lets the run choose, as in links.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.files import TextFileError, read_text
from dsgcore.core.parameters import (
    AUTOMATIC,
    REQUIRED,
    Choice,
    Made,
    Parameter,
    ParameterError,
    Record,
    Text,
    field_of,
    flag,
    integer,
    items,
    mapping,
    quoted,
    read,
    real,
    record,
)

some_text = partial(field_of, Text, REQUIRED)
_number = partial(real, REQUIRED)


def check_share(measure: str) -> None:
    """Raise `ParameterError` unless the share of a column at a share of the run, such as score_test@0.5, is one."""
    _column, sign, share = measure.partition("@")
    try:
        is_share = not sign or 0 <= float(share) <= 1
    except ValueError:
        is_share = False
    if not is_share:
        raise ParameterError(f"must have a share from 0 to 1 after the @ of its measure, got {quoted(measure)}")


@dataclass(frozen=True)
class Claim:
    """Statement about a run: a measure of `experiments.outcome_of` lies in [low, high]."""

    measure: str = some_text()
    low: float = real(-math.inf)
    high: float = real(math.inf)

    def __post_init__(self) -> None:
        """Raise `ParameterError` if there is no bound, or no such share."""
        check_share(self.measure)
        if -self.low == self.high == math.inf:
            raise ParameterError("must have low, high or both, got neither")

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if the statement holds. It does not if the measure is missing or not a number."""
        return self.low <= outcome.get(self.measure, math.nan) <= self.high


# Points of a drawn curve: the first iteration, and these shares of all iterations.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
# Short names of frequent claims in files.
NAMED = {
    "better": Claim("verdict", low=1.0),
    "tie": Claim("verdict", low=0.0, high=0.0),
    "worse": Claim("verdict", high=-1.0),
    "diverges": Claim("growth", low=math.inf),
}
CLAIM = Record("claim", None, kind=Claim, named=NAMED)
LETTERS = "ABCDEFGH"  # of the options, before a class


@dataclass(frozen=True)
class Option:
    """Answer to a question. It is right if all its claims hold for the run.

    The expected one is right on at least nine of ten seeds. For who chose another one, `why` says in a sentence when it would
    be right, or what it overlooks.
    """

    words: str = some_text()
    claims: tuple[Claim, ...] = items(CLAIM)
    is_expected: bool = flag(False)
    why: str = field_of(Text, "")

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if all claims hold for the run."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class Pick:
    """Question with a few answers."""

    text: str = some_text()
    # The answers. The first one whose claims hold is right. The step explains the expected one.
    options: tuple[Option, ...] = items(Record("option", None, kind=Option), most=len(LETTERS))

    def __post_init__(self) -> None:
        """Raise `ParameterError` unless one option is expected, and each is another one."""
        n, words = sum(option.is_expected for option in self.options), [option.words for option in self.options]
        if n != 1:
            raise ParameterError(f"must have one option with is_expected = true, got {n} of {len(words)}")
        if len(set(words)) < len(words):
            raise ParameterError(f"must have another text in each option, got {', '.join(words)}")

    @property
    def expected(self) -> int:
        """Number of the expected option."""
        return next(number for number, option in enumerate(self.options) if option.is_expected)

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
class _Scale:
    """Scale of a guess: what it is called, its ends, and the largest error of a good guess."""

    text: str = some_text()
    words: str = some_text()
    low: float = _number()
    high: float = _number()
    near: float = _number()

    def __post_init__(self) -> None:
        """Raise `ParameterError` if the scale has no length."""
        if self.low >= self.high:
            raise ParameterError(f"must have low below high, got {self.low:g} and {self.high:g}")

    def _as_text(self, value: float, text: str) -> str:
        """Return the rounded text of a number of a guess, or all its digits if the rounded one is off the scale."""
        return text if self.low <= float(text) <= self.high else repr(float(value)).removesuffix(".0")


def numbers_in(text: str, n: int, low: float, high: float) -> tuple[float, ...] | None:
    """Return the `n` numbers in an answer, or None if there are more or fewer, or one is out of range."""
    try:
        values = tuple(map(float, text.split("~")))
    except ValueError:
        return None
    return values if len(values) == n and all(low <= value <= high for value in values) else None


@dataclass(frozen=True)
class Estimate(_Scale):
    """Question for a number: a measure of `experiments.outcome_of` at the end of the run, on a slider."""

    measure: str = some_text()

    def __post_init__(self) -> None:
        """Raise `ParameterError` if the scale has no length, or if there is no such share."""
        super().__post_init__()
        check_share(self.measure)

    @property
    def measures(self) -> tuple[str, ...]:
        """Measure of the run that the question reads."""
        return (self.measure,)

    def say(self, guess: float) -> str:
        """Return a guess in the form of a link."""
        return self._as_text(guess, f"{guess:g}")

    def read(self, text: str) -> float | None:
        """Return the guess in a link, or None if it is not on the slider."""
        found = numbers_in(text, 1, self.low, self.high)
        return None if found is None else found[0]

    def came_to(self, outcome: Mapping[str, float]) -> float | None:
        """Return the value of a run, or None if the run has no finite value."""
        value = outcome.get(self.measure, math.nan)
        return value if math.isfinite(value) else None

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Return the value of a run, in words."""
        return f"{self.words} is {outcome.get(self.measure, math.nan):.2f}"

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Return True if a guess is close to the value of a run, or None if the run has no finite value."""
        came_to = self.came_to(outcome)
        return None if came_to is None else abs(guess - came_to) <= self.near


@dataclass(frozen=True)
class Curve(_Scale):
    """Question for a curve: the reader draws a column of the run's history. `near` limits the mean error."""

    column: str = some_text()

    def __post_init__(self) -> None:
        """Raise `ParameterError` if the scale has no length, or if the column has a share of its own."""
        super().__post_init__()
        if "@" in self.column:
            raise ParameterError(f"must have a column without a share, got {quoted(self.column)}")

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures of the run that the question reads: the column at each of `SHARES`."""
        return tuple(f"{self.column}@{share:g}" for share in SHARES)

    def say(self, guess: Sequence[float]) -> str:
        """Return a curve in the form of a link, to a hundredth of its scale."""
        digits = math.ceil(2 - math.log10(self.high - self.low))
        return "~".join(self._as_text(value, f"{round(value, digits):.15g}") for value in guess)

    def read(self, text: str) -> tuple[float, ...] | None:
        """Return the curve in a link, or None if it does not fit the axis."""
        return numbers_in(text, len(SHARES), self.low, self.high)

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


MAP = "map"
# Charts that a step can show beside the map: at most one, so that a step has one picture of its answer.
SPECTRUM = "spectrum"  # of the weights of many classes
CHARTS = ("score", "objective", "error", "parts", SPECTRUM)
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
    """Goal that the reader reaches with the controls of the step."""

    text: str = some_text()
    # Claims that all hold for a run that reaches the goal. At least one fails for the first run of the step.
    claims: tuple[Claim, ...] = items(CLAIM)
    # Values of the controls that reach the goal on at least nine of ten seeds.
    solution: Mapping[str, Any] = field_of(_Values, REQUIRED)

    def is_reached(self, outcome: Mapping[str, float]) -> bool:
        """Return True if a run has reached the goal."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class LessonStep:
    """Step of a lesson: a text, a run and an explanation."""

    # Text before the run, as Markdown with formulas.
    text: str = some_text()
    # Text after the run: the result and its reason.
    explanation: str = some_text()
    # Controls that differ from the step before, or from the setting's defaults in the first step. The value `edits`
    # names edits of the data by hand, one of `dsgcore.data.edits.CHOICES`.
    values: Mapping[str, Any] = mapping(VALUES)
    # Controls that the step uses, at most two. The stage shows them and no others. With `edits` among them, the reader
    # edits the data in the map.
    controls: tuple[str, ...] = items(Text("control", ""), (), most=MOST_CONTROLS)
    # Pictures on the stage: the map, and one of `CHARTS`.
    show: tuple[str, ...] = items(Choice("picture", MAP, options=(MAP, *CHARTS)), (MAP, "score"), least=1)
    # Question before the run, at most one of them.
    pick: Pick | None = record(Pick)
    estimate: Estimate | None = record(Estimate)
    curve: Curve | None = record(Curve)
    # Goal before the next step.
    goal: Goal | None = record(Goal)
    # Statements of the explanation as numbers. Each holds on at least nine of ten seeds.
    claims: tuple[Claim, ...] = items(CLAIM, ())
    # Notes for a lecturer.
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
    def task(self) -> str:
        """The words of its question or its goal."""
        return self.asks.text if self.asks is not None else self.goal.text if self.goal is not None else ""

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
    """Lesson of three to seven steps that answer one question."""

    # Name in links.
    name: str
    # The question.
    title: str = some_text()
    # What the reader has learned, in a sentence or two.
    learned: str = some_text()
    # Time it takes.
    minutes: int = integer(REQUIRED)
    # Place among the lessons of a setting.
    order: int = integer(REQUIRED)
    steps: tuple[LessonStep, ...] = items(Record("step", None, kind=LessonStep), least=1)
    # Name of the setting; in a file, by default that of its folder.
    setting: str = field_of(Text, "")

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


HERE = Path(__file__).parent / "guided"


class LessonError(DSGError):
    """Error in a lesson file. The message says where it is, the value given, and what is allowed."""


def read_lesson(file: Path) -> GuidedLesson:
    """Return the lesson in a file; raise `LessonError` if it is not valid."""
    plain = {"setting": file.parent.name, **table_in(file, "a lesson in TOML")}
    return read_table(GuidedLesson, plain, file, name=file.stem)


def table_in(file: Path, holds: str) -> dict[str, Any]:
    """Return the plain data of a TOML file; raise `LessonError` if it is none."""
    try:
        return tomllib.loads(read_text(file, holds))
    except TextFileError as error:
        raise LessonError(str(error)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LessonError(f"{_place(file)} is not valid TOML: {error}") from None


def read_table(cls: type[Made], plain: Mapping[str, Any], file: Path, **more: Any) -> Made:
    """Return an object of such a class from plain data; raise `LessonError` with the file's name if they are not valid."""
    try:
        return read(cls, plain, _place(file), **more)
    except ParameterError as error:
        raise LessonError(str(error)) from None


def _place(file: Path) -> str:
    return Path(file.parent.name, file.name).as_posix()
