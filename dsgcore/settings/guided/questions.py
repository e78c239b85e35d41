"""Questions of guided lessons, and the claims about a run that answer them.

No right answer is written down. The claims of the options read it from the run that the reader sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dsgcore.core.parameters import REQUIRED, ParameterError, Record, Text, field_of, flag, items, real

some_text = partial(field_of, Text, REQUIRED)
_number = partial(real, REQUIRED)


@dataclass(frozen=True)
class Claim:
    """Statement about a run: a measure of `experiments.outcome_of` lies in [low, high]."""

    measure: str = some_text()
    low: float = real(-math.inf)
    high: float = real(math.inf)

    def __post_init__(self) -> None:
        """Raise `ParameterError` if there is no bound."""
        if -self.low == self.high == math.inf:
            raise ParameterError("must have low, high or both, got neither")

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if the statement holds. It does not if the measure is missing or not a number."""
        return self.low <= outcome.get(self.measure, math.nan) <= self.high


# Points of a drawn curve: the first iteration, and these shares of all iterations.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
BETTER, WORSE = Claim("verdict", low=1.0), Claim("verdict", high=-1.0)
TIE = Claim("verdict", low=0.0, high=0.0)
DIVERGES = Claim("growth", low=math.inf)
# Short names of frequent claims in files.
NAMED = {"better": BETTER, "tie": TIE, "worse": WORSE, "diverges": DIVERGES}
CLAIM = Record("claim", None, kind=Claim, named=NAMED)


@dataclass(frozen=True)
class Option:
    """Answer to a question. It is right if all its claims hold for the run.

    The expected one is right on at least nine of ten seeds.
    """

    words: str = some_text()
    claims: tuple[Claim, ...] = items(CLAIM)
    is_expected: bool = flag(False)

    def holds(self, outcome: Mapping[str, float]) -> bool:
        """Return True if all claims hold for the run."""
        return all(claim.holds(outcome) for claim in self.claims)


@dataclass(frozen=True)
class Pick:
    """Question with a few answers.

    Attributes
    ----------
    options : tuple of Option
        The answers. The first one whose claims hold is right. The step explains the expected one.
    """

    text: str = some_text()
    options: tuple[Option, ...] = items(Record("option", None, kind=Option))

    def __post_init__(self) -> None:
        """Raise `ParameterError` unless one option is expected."""
        n = sum(option.is_expected for option in self.options)
        if n != 1:
            raise ParameterError(f"must have one option with is_expected = true, got {n} of {len(self.options)}")

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

    @property
    def measures(self) -> tuple[str, ...]:
        """Measure of the run that the question reads."""
        return (self.measure,)

    def say(self, guess: float) -> str:
        """Return a guess in the form of a link."""
        return f"{guess:g}"

    def read(self, text: str) -> float | None:
        """Return the guess in a link, or None if it is not on the slider."""
        found = numbers_in(text, 1, self.low, self.high)
        return None if found is None else found[0]

    def answer(self, outcome: Mapping[str, float]) -> str:
        """Return the value of a run, in words."""
        return f"{self.words} is {outcome.get(self.measure, math.nan):.2f}"

    def is_right(self, guess: float, outcome: Mapping[str, float]) -> bool | None:
        """Return True if a guess is close to the value of a run, or None if the run has no finite value."""
        came_to = outcome.get(self.measure, math.nan)
        return abs(guess - came_to) <= self.near if math.isfinite(came_to) else None


@dataclass(frozen=True)
class Curve(_Scale):
    """Question for a curve: the reader draws a column of the run's history. `near` limits the mean error."""

    column: str = some_text()

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures of the run that the question reads: the column at each of `SHARES`."""
        return tuple(f"{self.column}@{share:g}" for share in SHARES)

    def say(self, guess: Sequence[float]) -> str:
        """Return a curve in the form of a link."""
        return "~".join(f"{value:.3g}" for value in guess)

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
