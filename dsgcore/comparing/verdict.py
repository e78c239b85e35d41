"""The verdict of a comparison: the method to use, and whether unlabeled data help here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgcore.comparing.methods import Method, Score

# In units of the score. A simpler method that is behind by less is recommended instead of the best one.
CLOSE = {"points": 0.2, "classes": 0.002}
# Unlabeled data "do not help" if their gain is surely below this.
LITTLE = {"points": 0.5, "classes": 0.005}

# With fewer seeds there is no interval, and no verdict.
FEWEST_SEEDS = 3
ALONE = "No verdict: fewer than two methods have enough seeds."


class Help(Enum):
    """Effect of the unlabeled data; the value is a word for files."""

    HELPS = "help"
    DOES_NOT = "do not help"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Standing:
    """A method, and its mean score; higher is better."""

    method: Method
    mean: float


@dataclass(frozen=True)
class Verdict:
    """Answer of a comparison.

    Attributes
    ----------
    recommended : str or None
        Name of the method to use; None without a verdict.
    help : Help or None
        Effect of the unlabeled data; None if it was not measured.
    gain, low, high : float
        Mean gain of the best method that uses unlabeled data over the best one that does not, and its 95 % interval.
    seeds : int
        Number of seeds.
    sentence : str
        The verdict in one sentence.
    rivals : tuple of str
        Names of the methods that are not clearly worse than the recommended one: the interval of its gain includes zero.
    """

    recommended: str | None
    help: Help | None
    gain: float
    low: float
    high: float
    seeds: int
    sentence: str
    rivals: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        numbers = {name: _known(getattr(self, name)) for name in ("gain", "low", "high")}
        word = None if self.help is None else self.help.value
        return {**vars(self), **numbers, "help": word, "rivals": list(self.rivals)}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


# Mean gain of one method over another, half of its 95 % interval (NaN without one), and the number of shared seeds.
Gain = Callable[[Method, Method], tuple[float, float, int]]


def verdict_of(standings: Sequence[Standing], gain: Gain, score: Score) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    standings : sequence of Standing
        At least two methods with enough seeds, best first.
    gain : callable
        Returns the gain of one method over another, see `Gain`.
    score : Score
        Its unit is that of the gains.
    """
    used = next((s.method for s in standings if s.method.uses_unlabeled), None)
    alone = next((s.method for s in standings if not s.method.uses_unlabeled), None)
    # Without a comparison of the two kinds, the number of seeds is that of the two best methods.
    pair = (standings[0].method, standings[1].method) if used is None or alone is None else (used, alone)
    mean, reach, seeds = gain(*pair)
    if used is None or alone is None:
        mean = reach = math.nan
    effect = _effect(mean, reach, score)
    chosen = _simplest(standings, effect, score)
    rivals = tuple(
        s.method.name for s in standings if s.method is not chosen and _is_rival(*gain(chosen, s.method)[:2])
    )
    others = f"; {len(rivals)} other method{'s are' if len(rivals) > 1 else ' is'} not clearly worse" if rivals else ""
    sentence = f"Use {_in_sentence(chosen)}{others}{_about(effect, used, alone, (mean, reach, seeds), score)}."
    return Verdict(chosen.name, effect, mean, mean - reach, mean + reach, seeds, sentence, rivals)


def _is_rival(mean: float, reach: float) -> bool:
    """Return True if the interval of a gain over a method is known, and includes zero or less."""
    return mean - reach <= 0.0


def _effect(mean: float, reach: float, score: Score) -> Help | None:
    if not math.isfinite(reach):
        return None
    if mean - reach > 0.0:
        return Help.HELPS
    return Help.DOES_NOT if mean + reach < LITTLE[score.unit] else Help.UNCLEAR


def _simplest(standings: Sequence[Standing], effect: Help | None, score: Score) -> Method:
    """Return the simplest method among those that are as good as the best."""
    least = standings[0].mean - CLOSE[score.unit]
    close = [s for s in standings if s.mean >= least]
    if effect is Help.DOES_NOT:
        close = [s for s in close if not s.method.uses_unlabeled] or close
    return min(close, key=lambda s: (s.method.effort, -s.mean)).method


def _about(
    effect: Help | None, used: Method | None, alone: Method | None, measured: tuple[float, float, int], score: Score
) -> str:
    """Return the rest of the sentence."""
    mean, reach, seeds = measured
    if effect is None or used is None or alone is None:
        return f" ({seeds} seeds)"
    numbers = (
        f"{mean:+.2g} {score.unit} of {score.title}, 95 % {mean - reach:+.2g} to {mean + reach:+.2g}, {seeds} seeds"
    )
    said = f"unlabeled data {effect.value} here"
    if effect is Help.UNCLEAR:
        said = "it is not clear yet if unlabeled data help"
    return f"; {said} ({used.title} less {alone.title}: {numbers})"


def _in_sentence(method: Method) -> str:
    """Return a method's title inside a sentence."""
    is_word = method.title.split()[0][1:].islower()
    return method.title[0].lower() + method.title[1:] if is_word and method.name != "Nystroem" else method.title


def no_verdict(seeds: int) -> Verdict:
    """Return the verdict of a comparison in which fewer than two methods have an interval."""
    yet = f"No verdict yet: it needs at least {FEWEST_SEEDS} seeds, and there {'is' if seeds == 1 else 'are'} {seeds}."
    return Verdict(None, None, math.nan, math.nan, math.nan, seeds, yet if seeds < FEWEST_SEEDS else ALONE)
