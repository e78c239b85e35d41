"""Candidates drawn about the values that there are, scored on folds, and halved until few are left, within a stated time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.stats import t as student

from dsgcore.core.parameters import Real
from dsgcore.core.sampling import generator

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Of the iterations, and of the folds, what a round gives each candidate; the last round gives all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# The part of the time that the first round may take, and of the candidates what the next one keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 2, 81
# Of the interval above zero in which a candidate's gain over the folds must lie, to be preferred to the values that there are: the
# best of many that were drawn is flattered by that; one that was named before is not, and one standard error is asked of it.
CONFIDENCE, OF_NAMED = 0.95, 0.68


T = TypeVar("T")


class Subject(Protocol):
    """Whose parameters are chosen.

    Attributes
    ----------
    n_folds : int
        How many folds there are to be scored on, `N_SPLITS` at most.
    first : tuple of mapping
        Candidates that are tried before any is drawn.
    """

    n_folds: int
    first: tuple[Mapping[str, Any], ...]

    def begin(self, share: float) -> None:
        """Prepare, with one fit of its own values by that share of the iterations."""
        ...

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        """Return a candidate: values of parameters by name."""
        ...

    def n_iter(self, share: float) -> int:
        """Return the iterations that a share of them comes to."""
        ...

    def score(self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]) -> float:
        """Return a candidate's score on a fold, the higher the better; minus infinity where it cannot be fitted."""
        ...


@dataclass(frozen=True)
class Tried:
    """A candidate: its parameters (none: the defaults), its scores at the folds of its last round, and its iterations there."""

    parameters: Mapping[str, Any]
    scores: tuple[float, ...]
    n_iter: int

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.scores else float("-inf")


@dataclass(frozen=True)
class Suggestion:
    """What `suggest` found.

    Attributes
    ----------
    parameters : dict
        To be set on the estimator; empty where nothing was clearly better than its own, its gain's `interval` above zero.
    gain, error : float
        By how much its mean score over the folds is higher than with the estimator's own parameters, and the standard error
        of that, paired over the folds. NaN where nothing else got that far.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, those that got furthest first.
    seconds : float
        What it took.
    n_folds : int
        Of the round that decided.
    confidence : float
        Of the interval that decided: 0.68 of a candidate that the search is to try first, 0.95 of one that it drew.
    """

    parameters: dict[str, Any]
    gain: float
    error: float
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float
    n_folds: int = N_SPLITS
    confidence: float = CONFIDENCE

    @property
    def interval(self) -> tuple[float, float]:
        """The gain's interval over the folds, of that `confidence`; NaN where there is none."""
        return interval_of(self.gain, self.error, self.n_folds, self.confidence)

    def sentence(self) -> str:
        """Say what was found, and how sure it is."""
        n = len(self.tried)
        if not self.parameters:
            return f"Of {n} tried, none was clearly better than the values it had; they stay."
        return (
            f"The best of {n} tried scores {self.score:.4f} on held-out folds, {self.gain:+.4f} ± {self.error:.4f} from the values "
            f"it had (standard error over {self.n_folds} folds; being the best of many flatters it)."
        )


class Search:
    """One search: the candidates, what each scored, and the time.

    Parameters
    ----------
    subject : Subject
    seconds : float
        About what it may take.
    seed : int
        What is drawn follows from it.
    report : callable, optional
        Gets the share of the time that is gone, and what is being done.
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
        named = len(self.subject.first)
        for i, parameters in enumerate(self.subject.first, start=1):
            self._score(i, dict(parameters), share, n_folds)
        each = max((time.monotonic() - began) / (1 + named), 1e-3)
        drawn = generator(self.seed, "suggested parameters")
        number = int(np.clip(FIRST_SHARE * self.seconds / each, FEWEST, MOST))
        every = chain([{}], self.subject.first, (self.subject.draw(drawn) for _ in range(number)))
        return dict(enumerate(map(dict, islice(every, number))))

    def _score(
        self, number: int, parameters: Mapping[str, Any], share: float, n_folds: int, *, must: bool = False
    ) -> bool:
        """Score a candidate on the round's folds; return whether there was time for it."""
        scores: list[float] = []
        for fold in range(min(n_folds, self.subject.n_folds)):
            scores.append(self.subject.score(parameters, share, fold, lambda: self.is_over and not must))
            if self.is_over and not must:
                return False
        self.tried[number] = Tried(dict(parameters), tuple(scores), self.subject.n_iter(share))
        return True

    def _kept(self, candidates: Mapping[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
        """Return its own values, what was named before, and the best third of the candidates, the best first."""
        best = best_part(sorted(candidates, key=lambda i: (-self.tried[i].mean, i)))
        return {i: candidates[i] for i in dict.fromkeys((*range(1 + len(self.subject.first)), *best))}

    def _answer(self, finished: Mapping[int, Tried]) -> Suggestion:
        own, n_folds = finished[0], len(finished[0].scores)
        # What is preferred to its own values, if any is; else, to be told, the best that is not.
        seen = [(self._is_clear(i, finished), finished[i].mean, -i) for i in finished if i]
        is_clear, _, place = max(seen, default=(False, 0.0, 0))
        i = -place  # of equal ones the first
        gain, error = _difference(finished[i], own) if i else (float("nan"), float("nan"))
        chosen = finished[i] if is_clear else own
        order = sorted(self.tried.values(), key=lambda one: (-one.n_iter, -one.mean))
        spent = time.monotonic() - self.start
        return Suggestion(
            dict(chosen.parameters), gain, error, chosen.mean, tuple(order), spent, n_folds, self._confidence(i)
        )

    def _is_clear(self, i: int, finished: Mapping[int, Tried]) -> bool:
        """Whether a candidate is preferred to the values that there are."""
        gain, error = _difference(finished[i], finished[0])
        return interval_of(gain, error, len(finished[0].scores), self._confidence(i))[0] > 0

    def _confidence(self, i: int) -> float:
        return OF_NAMED if 0 < i <= len(self.subject.first) else CONFIDENCE


def best_part(order: list[T]) -> list[T]:
    """Return what goes on to the next round: of those in order, the first third, two at least."""
    return order[: max(2, round(KEPT * len(order)))]


def interval_of(gain: float, error: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of a mean of `n` numbers with that standard error, by Student's t; NaN where there is none."""
    if not np.isfinite(error) or n < 2:
        return float("nan"), float("nan")
    half = float(student.ppf(0.5 + confidence / 2, n - 1)) * error
    return gain - half, gain + half


def _difference(one: Tried, other: Tried) -> tuple[float, float]:
    """Return the mean difference of two candidates' scores, and its standard error, paired over the folds."""
    if not (np.isfinite(one.mean) and np.isfinite(other.mean)) or len(one.scores) < 2:
        return float("nan"), float("nan")
    gains = np.array(one.scores) - np.array(other.scores)
    return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(len(gains)))
