"""Successive halving over candidate parameters, scored on folds, within a given time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import Difference, Effect
from dsgcore.core.parameters import Real
from dsgcore.core.sampling import generator
from dsgcore.tuning.folds import TOO_FEW, FoldError
from dsgcore.tuning.suggestion import Suggestion, Tried, gain_of

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Share of the iterations, and number of folds, for each candidate in a round. The last round uses all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# Largest share of the time for the first round, and share of the candidates that the next round keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 2, 81
# Score of a candidate whose fit fails.
NO_SCORE: NDArray = np.array([-np.inf])


T = TypeVar("T")


class Subject:
    """Protocol for what a search tunes on folds: an estimator, or a spec. A subclass says how a candidate is drawn and scored.

    `rows` are the training and test rows of each fold. `first` holds candidates that are tried before any random draw.
    `reason` tells why the last candidate without a score has none; it is empty if every one has a score.
    """

    first: tuple[Mapping[str, Any], ...] = ()
    reason = ""

    def __init__(self, rows: Iterable[tuple[NDArray, NDArray]]) -> None:
        self.rows = list(rows)
        self.n_folds = len(self.rows)
        if self.n_folds < 2:
            raise FoldError(TOO_FEW)

    def begin(self, share: float) -> None:
        """Prepare the search: fit once with the subject's own values and this share of the iterations."""

    def draw(self, drawn: np.random.Generator) -> dict[str, Any]:
        """Return a random candidate: a dict from parameter names to values."""
        raise NotImplementedError

    def n_iter(self, share: float) -> int:
        """Return the number of iterations for a share of them."""
        raise NotImplementedError

    def fitted_score(
        self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]
    ) -> float | NDArray | None:
        """Fit a candidate, and return its score on a fold; None if the time is up.

        An accuracy is one truth value for each held-out point. Any other score is a single number.
        """
        raise NotImplementedError

    def score(self, parameters: Mapping[str, Any], share: float, fold: int, until: Callable[[], bool]) -> NDArray:
        """Return a candidate's score on a fold, or minus infinity if its fit fails; higher is better."""
        try:
            value = None if until() else self.fitted_score(parameters, share, fold, until)
        except DSGError as error:  # the fit diverges, or a value is not valid for these points
            self.reason = str(error)
            return NO_SCORE
        if value is not None and np.isfinite(value).all():
            return np.atleast_1d(value)
        self.reason = "" if value is None else "its score is not a finite number"
        return NO_SCORE


class Search:
    """State of one search: the candidates, their scores, and the time.

    The search takes about `seconds`. The random draws depend on the seed. `report` is called with the share of the
    time that has passed, and a description of the current round.
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
        self._drawn = generator(seed, "suggested parameters")
        self._all: dict[int, dict[str, Any]] = {}
        self._last: dict[int, dict[str, Any]] = {}
        self._known: dict[tuple[int, float, int], NDArray] = {}
        self._own: dict[tuple[int, int], Tried] = {}
        self._seconds_each = 1e-3

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the subject and `report`, for another process. `resumed` needs them again."""
        return vars(self) | {"subject": None, "report": None}

    def resumed(self, subject: Subject, report: Callable[[tuple[float, str]], object]) -> Search:
        """Return the search with its subject, after it has come from another process."""
        self.subject, self.report = subject, report
        return self

    @property
    def is_over(self) -> bool:
        """True if the time is up."""
        return time.monotonic() - self.start >= self.seconds

    def carry_out(self) -> Suggestion:
        """Draw, score and halve candidates; return the suggestion."""
        return self._halve(self._candidates())

    def go_on(self, seconds: float) -> Suggestion:
        """Search on for about so many seconds, with the last round's candidates and new ones; return the suggestion."""
        self.start, self.seconds = time.monotonic(), seconds
        new = range(len(self._all), len(self._all) + self._number())
        self._all |= {i: self.subject.draw(self._drawn) for i in new}
        return self._halve(self._last | {i: self._all[i] for i in new})

    def _halve(self, candidates: dict[int, dict[str, Any]]) -> Suggestion:
        finished = {0: self.tried[0]}
        for number, (share, n_folds) in enumerate(ROUNDS):
            made = list(self._round(number, candidates, share, n_folds))
            if len(made) > 1:  # compares candidates with the own values on the same folds
                finished = {i: self.tried[i] for i in made}
                self._last = {i: candidates[i] for i in made}
            if len(made) < len(candidates):
                break
            candidates = self._kept(candidates)
        return self._answer(finished)

    def _round(
        self, number: int, candidates: Mapping[int, dict[str, Any]], share: float, n_folds: int
    ) -> Iterator[int]:
        """Score candidates, the own values and the best so far first, while there is time; yield their numbers."""
        for i, parameters in candidates.items():
            spent = (time.monotonic() - self.start) / self.seconds
            self.report((min(1.0, spent), f"round {number + 1} of {len(ROUNDS)}, {len(candidates)} candidates"))
            if not self._score(i, parameters, share, n_folds):
                return
            yield i

    def _candidates(self) -> dict[int, dict[str, Any]]:
        """Return as many candidates as the time allows, by number. The own values come first, with a score."""
        share, n_folds = ROUNDS[0]
        self.subject.begin(share)
        began = time.monotonic()
        self._score(0, {}, share, n_folds, must=True)
        self.reason = "" if math.isfinite(self.tried[0].mean) else self.subject.reason
        for i, parameters in enumerate(self.subject.first, start=1):
            self._score(i, dict(parameters), share, n_folds)
        self._seconds_each = max((time.monotonic() - began) / (1 + len(self.subject.first)), 1e-3)
        number = self._number()
        every = chain([{}], self.subject.first, (self.subject.draw(self._drawn) for _ in range(number)))
        self._all = dict(enumerate(map(dict, islice(every, number))))
        self._last = {0: {}}  # if not even the first round is finished
        return dict(self._all)

    def _number(self) -> int:
        """Return the number of candidates that the time allows."""
        return int(np.clip(FIRST_SHARE * self.seconds / self._seconds_each, FEWEST, MOST))

    def _score(
        self, number: int, parameters: Mapping[str, Any], share: float, n_folds: int, *, must: bool = False
    ) -> bool:
        """Score a candidate on the round's folds; return True if there was enough time. A known score takes none."""
        folds = range(min(n_folds, self.subject.n_folds))
        for fold in folds:
            if (number, share, fold) in self._known:
                continue
            score = self.subject.score(parameters, share, fold, lambda: self.is_over and not must)
            if self.is_over and not must:
                return False
            self._known[number, share, fold] = score
        on_folds = tuple(self._known[number, share, fold] for fold in folds)
        made = self.tried[number] = Tried(dict(parameters), on_folds, self.subject.n_iter(share))
        if number == 0:
            self._own[made.n_iter, len(on_folds)] = made
        return True

    def _kept(self, candidates: Mapping[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
        """Return the own values, the predefined candidates, and the best third of all, best first."""
        best = best_part(sorted(candidates, key=lambda i: (-self.tried[i].mean, i)))
        return {i: candidates[i] for i in dict.fromkeys((*range(1 + len(self.subject.first)), *best))}

    def _answer(self, finished: Mapping[int, Tried]) -> Suggestion:
        own = finished[0]
        gains = {i: gain_of(finished[i], own) for i in finished if i}
        # The best candidate that is clearly better. If there is none, report the best of the others.
        seen = [(gain.effect is Effect.HELPS, finished[i].mean, -i) for i, gain in gains.items()]
        is_clear, _, place = max(seen, default=(False, 0.0, 0))
        i = -place  # the first among equals
        chosen = finished[i] if is_clear else own
        order = tuple(sorted(self.tried.values(), key=lambda one: (-one.n_iter, -one.mean)))
        gain = gains.get(i, Difference(n=len(own.on_folds), unit="folds"))
        over_own = tuple(gain_of(one, self._own[one.n_iter, len(one.on_folds)]) for one in order)
        seconds = time.monotonic() - self.start
        return Suggestion(dict(chosen.parameters), gain, chosen.mean, order, seconds, self.reason, over_own)


def best_part(order: list[T]) -> list[T]:
    """Return the candidates for the next round: the first third of a sorted list, at least two."""
    return order[: max(2, round(KEPT * len(order)))]
