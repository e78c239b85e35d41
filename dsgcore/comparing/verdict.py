"""The verdict of a comparison: the method to use, and whether unlabeled data help here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgcore.comparing.methods import Method, Score
from dsgcore.core.metrics import EQUAL, FEWEST_SEEDS, Difference, Effect

# In units of the score. A simpler method that is behind by less is recommended instead of the best one.
CLOSE = {"points": 0.1, "classes": 0.001}
# Unlabeled data "do not help" if their gain is surely below this. The choice is clear if no other method may gain more.
LITTLE = {"points": 0.5, "classes": 0.005}

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
    gain : Difference
        Gain of the best method that uses unlabeled data over the best one that does not; NaN if it was not measured.
    seeds : int
        Number of seeds.
    sentence : str
        The verdict in one sentence.
    rivals : tuple of str
        Names of the methods that are not clearly worse than the recommended one: the interval of its gain includes zero.
    contenders : tuple of str
        Names of the rivals that may be more than 0.5 points (0.005 classes) better: the interval of their gain over the
        recommended one ends above it.
    """

    recommended: str | None
    help: Help | None
    gain: Difference
    seeds: int
    sentence: str
    rivals: tuple[str, ...] = ()
    contenders: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        numbers = {"gain": self.gain.mean, "low": self.gain.low, "high": self.gain.high}
        known = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        word = None if self.help is None else self.help.value
        names = {"rivals": list(self.rivals), "contenders": list(self.contenders)}
        return {**vars(self), **known, "help": word, **names}


# Gain of one method over another.
Gain = Callable[[Method, Method], Difference]


def verdict_of(standings: Sequence[Standing], others: Sequence[Method], gain: Gain, score: Score) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    standings : sequence of Standing
        At least two methods with enough seeds, best first.
    others : sequence of Method
        Methods with fewer seeds. They are not recommended, but may be rivals.
    gain : callable
        Returns the gain of one method over another.
    score : Score
        Its unit is that of the gains.
    """
    used = next((s.method for s in standings if s.method.uses_unlabeled), None)
    alone = next((s.method for s in standings if not s.method.uses_unlabeled), None)
    measured = gain(standings[0].method, standings[1].method) if used is None or alone is None else gain(used, alone)
    seeds, measured = measured.n, Difference() if used is None or alone is None else measured
    effect = _help(measured, score)
    chosen = _simplest(standings, effect, score)
    every = [s.method for s in standings if s.method is not chosen]
    gains = {method.name: gain(method, chosen) for method in (*every, *others)}
    # A gain whose interval is not known is neither.
    rivals = tuple(name for name, found in gains.items() if found.high >= 0.0)
    contenders = tuple(name for name in rivals if gains[name].high > LITTLE[score.unit])
    about = _about_unlabeled(effect, used, alone, measured, seeds, score)
    sentence = f"Use {_in_sentence(chosen)}{_about_others(len(rivals), len(contenders), score)}{about}."
    return Verdict(chosen.name, effect, measured, seeds, sentence, rivals, contenders)


def _about_others(n_rivals: int, n_contenders: int, score: Score) -> str:
    """Return the part of the sentence about the methods that are not clearly worse."""
    if not n_rivals:
        return ""
    said = f"{n_rivals} other method{'s are' if n_rivals > 1 else ' is'} not clearly worse"
    if not n_contenders:
        return f"; {said}"
    better = f"may be more than {LITTLE[score.unit]:g} {score.unit} better"
    return f", but it is too close to call: {said}, and {n_contenders} {better}"


def _help(measured: Difference, score: Score) -> Help | None:
    if measured.effect is None:
        return None
    if measured.effect is Effect.HELPS:
        return Help.HELPS
    return Help.DOES_NOT if measured.high < LITTLE[score.unit] else Help.UNCLEAR


def _simplest(standings: Sequence[Standing], effect: Help | None, score: Score) -> Method:
    """Return the simplest method among those that are as good as the best."""
    least = standings[0].mean - (1.0 + EQUAL) * CLOSE[score.unit]
    close = [s for s in standings if s.mean >= least]
    if effect is Help.DOES_NOT:
        close = [s for s in close if not s.method.uses_unlabeled] or close
    return min(close, key=lambda s: (s.method.effort, -s.mean)).method


def _about_unlabeled(
    effect: Help | None, used: Method | None, alone: Method | None, measured: Difference, seeds: int, score: Score
) -> str:
    """Return the part of the sentence about unlabeled data, and the number of seeds."""
    if effect is None or used is None or alone is None:
        return f" ({seeds} seeds)"
    mean, low, high = map(score.signed, (measured.mean, measured.low, measured.high))
    numbers = f"{mean} {score.unit} of {score.title}, 95 % {low} to {high}, {seeds} seeds"
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
    return Verdict(None, None, Difference(), seeds, yet if seeds < FEWEST_SEEDS else ALONE)
