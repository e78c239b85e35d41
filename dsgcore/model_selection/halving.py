"""Candidates drawn about the values that there are, scored on folds, and halved until few are left, within a stated time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.intervals import accuracy_half_width, mean_half_width
from dsgcore.core.parameters import Real
from dsgcore.core.sampling import generator

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Of the iterations, and of the folds, what a round gives each candidate; the last round gives all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# The part of the time that the first round may take, and of the candidates what the next one keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 2, 81
# What a candidate that cannot be fitted scores.
NO_SCORE: NDArray = np.array([-np.inf])


T = TypeVar("T")


class Subject(Protocol):
    """Whose parameters are chosen.

    Attributes
    ----------
    n_folds : int
        How many folds there are to be scored on, `N_SPLITS` at most.
    first : tuple of mapping
        Candidates that are tried before any is drawn.
    reason : str, optional
        Why the last candidate without a score has none; empty if every one has a score.
    """

    n_folds: int
    first: tuple[Mapping[str, Any], ...]

    def begin(self, share: float) -> None:
        """Prepare, with one fit of its own values by that share of the iterations."""

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        """Return a candidate: values of parameters by name."""

    def n_iter(self, share: float) -> int:
        """Return the iterations that a share of them comes to."""

    def score(self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]) -> NDArray:
        """Return what a candidate scores on a fold, the higher the better; minus infinity where it cannot be fitted.

        An accuracy as one truth value for each point held out, whose mean it is; another score as that number alone.
        """


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate.

    Attributes
    ----------
    parameters : mapping
        None: the values that there are.
    on_folds : tuple of ndarray
        What it scored at the folds of its last round, as `Subject.score` gives it.
    n_iter : int
        Its iterations there.
    """

    parameters: Mapping[str, Any]
    on_folds: tuple[NDArray, ...] = field(repr=False)
    n_iter: int

    @property
    def scores(self) -> tuple[float, ...]:
        """The score at each of the folds."""
        return tuple(float(np.mean(of_fold)) for of_fold in self.on_folds)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.on_folds else float("-inf")


@dataclass(frozen=True)
class Suggestion:
    """What `suggest` found.

    Attributes
    ----------
    parameters : dict
        To be set on the estimator; empty where nothing was clearly better than its own, its gain's `interval` above zero.
    gain, half_width : float
        By how much its mean score over the folds is higher than with the estimator's own parameters, and half of the 95 %
        interval of that. NaN where nothing else got that far.
    n : int
        What the interval is over: so many of `unit`.
    unit : {"held-out points", "folds"}
        An accuracy's interval is over the points held out, where there are enough of them; another score's over the folds.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, those that got furthest first.
    seconds : float
        What it took.
    reason : str
        Why its own values have no score, if they have none.
    """

    parameters: dict[str, Any]
    gain: float
    half_width: float
    n: int
    unit: str
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """The gain's 95 % interval; NaN where there is none."""
        return self.gain - self.half_width, self.gain + self.half_width

    def sentence(self) -> str:
        """Say what was found, and how sure it is."""
        n = len(self.tried)
        if self.reason:
            better = " Other values have one." if self.parameters else ""
            return f"The values it had have no score on the held-out folds: {self.reason}.{better}"
        if not self.parameters:
            return f"Of {n} tried, none was clearly better than the values it had; they stay."
        return (
            f"The best of {n} tried scores {self.score:.4f} on held-out folds, {self.gain:+.4f} ± {self.half_width:.4f} from the "
            f"values it had (95 % over {self.n} {self.unit}; being the best of many flatters it)."
        )


class Search:
    """One search: the candidates, what each scored, and the time.

    It takes about so many seconds. What is drawn follows from the seed; `report` gets the share of the time that is gone, and
    what is being done.
    """

    def __init__(
        self,
        subject: Subject,
        seconds: float,
        seed: int,
        report: Callable[[tuple[float, str]], object] = lambda progress: None,
    ) -> None:
        self.start, self.seconds = time.monotonic(), seconds
        self.subject, self.seed, self.report = subject, seed, report
        self.tried: dict[int, Tried] = {}
        self.reason = ""

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() - self.start >= self.seconds

    def carry_out(self) -> Suggestion:
        """Draw, score and halve; return what was found."""
        candidates = self._candidates()
        finished = {0: self.tried[0]}
        for number, (share, n_folds) in enumerate(ROUNDS):
            made = list(self._round(number, candidates, share, n_folds))
            if len(made) > 1:  # its own values and others, which are compared on the same folds
                finished = {i: self.tried[i] for i in made}
            if len(made) < len(candidates):
                break
            candidates = self._kept(candidates)
        return self._answer(finished)

    def _round(
        self, number: int, candidates: Mapping[int, dict[str, Any]], share: float, n_folds: int
    ) -> Iterator[int]:
        """Score candidates, its own values and then the best so far first, as long as there is time; yield those scored."""
        for i, parameters in candidates.items():
            spent = (time.monotonic() - self.start) / self.seconds
            self.report((min(1.0, spent), f"round {number + 1} of {len(ROUNDS)}, {len(candidates)} candidates"))
            is_there = number == 0 and i in self.tried
            if not is_there and not self._score(i, parameters, share, n_folds):
                return
            yield i

    def _candidates(self) -> dict[int, dict[str, Any]]:
        """Return the candidates by number, its own values first and scored; as many as the time allows."""
        share, n_folds = ROUNDS[0]
        self.subject.begin(share)
        began = time.monotonic()
        self._score(0, {}, share, n_folds, must=True)
        self.reason = "" if math.isfinite(self.tried[0].mean) else getattr(self.subject, "reason", "")
        for i, parameters in enumerate(self.subject.first, start=1):
            self._score(i, dict(parameters), share, n_folds)
        each = max((time.monotonic() - began) / (1 + len(self.subject.first)), 1e-3)
        drawn = generator(self.seed, "suggested parameters")
        number = int(np.clip(FIRST_SHARE * self.seconds / each, FEWEST, MOST))
        every = chain([{}], self.subject.first, (self.subject.draw(drawn) for _ in range(number)))
        return dict(enumerate(map(dict, islice(every, number))))

    def _score(
        self, number: int, parameters: Mapping[str, Any], share: float, n_folds: int, *, must: bool = False
    ) -> bool:
        """Score a candidate on the round's folds; return whether there was time for it."""
        on_folds: list[NDArray] = []
        for fold in range(min(n_folds, self.subject.n_folds)):
            on_folds.append(self.subject.score(parameters, share, fold, lambda: self.is_over and not must))
            if self.is_over and not must:
                return False
        self.tried[number] = Tried(dict(parameters), tuple(on_folds), self.subject.n_iter(share))
        return True

    def _kept(self, candidates: Mapping[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
        """Return its own values, what was named before, and the best third of the candidates, the best first."""
        best = best_part(sorted(candidates, key=lambda i: (-self.tried[i].mean, i)))
        return {i: candidates[i] for i in dict.fromkeys((*range(1 + len(self.subject.first)), *best))}

    def _answer(self, finished: Mapping[int, Tried]) -> Suggestion:
        own = finished[0]
        gains = {i: gain_of(finished[i], own) for i in finished if i}
        # What is preferred to its own values, if any is; else, to be told, the best that is not.
        seen = [(gain > half_width, finished[i].mean, -i) for i, (gain, half_width, *_) in gains.items()]
        is_clear, _, place = max(seen, default=(False, 0.0, 0))
        i = -place  # of equal ones the first
        chosen = finished[i] if is_clear else own
        order = tuple(sorted(self.tried.values(), key=lambda one: (-one.n_iter, -one.mean)))
        gain = gains.get(i, _no_gain(own))
        return Suggestion(
            dict(chosen.parameters), *gain, chosen.mean, order, time.monotonic() - self.start, self.reason
        )


Gain = tuple[float, float, int, str]


def gain_of(one: Tried, own: Tried) -> Gain:
    """Return by how much one scores better, half of the 95 % interval of that, and what this is over: how many, of what.

    NaN where either cannot be fitted.
    """
    if not (math.isfinite(one.mean) and math.isfinite(own.mean)):
        return _no_gain(own)
    gains = np.array(one.scores) - np.array(own.scores)
    gain = float(gains.mean())
    if all(of_fold.dtype == bool for of_fold in (*one.on_folds, *own.on_folds)):
        hits, others = np.concatenate(one.on_folds), np.concatenate(own.on_folds)
        if math.isfinite(half_width := accuracy_half_width(hits, others)):
            return gain, half_width, len(hits), "held-out points"
    return gain, mean_half_width(gains), len(gains), "folds"


def _no_gain(own: Tried) -> Gain:
    return math.nan, math.nan, len(own.on_folds), "folds"


def best_part(order: list[T]) -> list[T]:
    """Return what goes on to the next round: of those in order, the first third, two at least."""
    return order[: max(2, round(KEPT * len(order)))]
