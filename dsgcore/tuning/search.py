"""Search for parameters within a given time: rounds over candidates, of which each leaves the best for the next."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from dsgcore.core.errors import DSGError
from dsgcore.core.metrics import Difference, Effect, accuracy_half_width, paired_difference
from dsgcore.core.parameters import Real
from dsgcore.core.sampling import generator
from dsgcore.tuning.folds import TOO_FEW, FoldError

SECONDS = Real("seconds", 20.0, low=0.1, high=86_400.0)
N_SPLITS = 5
# Share of the iterations, and number of folds, for each candidate in a round. The last round uses all.
ROUNDS = ((0.125, 2), (0.25, 3), (0.5, 5), (1.0, 5))
# Largest share of the time for the first round, and share of the candidates that the next round keeps.
FIRST_SHARE, KEPT = 0.2, 1 / 3
FEWEST, MOST = 2, 81
# Score of a candidate whose fit fails.
NO_SCORE: NDArray = np.array([-np.inf])
Candidate = TypeVar("Candidate")
Stage = TypeVar("Stage")


def rounds(
    candidates: Iterable[Candidate],
    stages: Iterable[Stage],
    measure: Callable[[list[Candidate], Stage], bool],
    keep: Callable[[list[Candidate], Stage], list[Candidate]],
) -> None:
    """Measure candidates in rounds, each time only those that are worth it; end if none is, or a round is not finished.

    Suggestions, best-first studies and comparisons of methods are such rounds. A stage says how much of each candidate a round
    measures, such as a number of seeds. `measure` returns False if there was no time for all; `keep` returns the candidates that
    are worth the next stage.
    """
    left = list(candidates)
    for number, stage in enumerate(stages):
        left = keep(left, stage) if number else left
        if not left or not measure(left, stage):
            return


def best_part(order: list[Candidate]) -> list[Candidate]:
    """Return the candidates for the next round: the first third of a sorted list, at least two."""
    return order[: max(2, round(KEPT * len(order)))]


class Subject:
    """Base class of what a search tunes on folds: an estimator, or a spec. A subclass draws and scores its candidates.

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


@dataclass(frozen=True, eq=False)
class Tried:
    """Candidate with its scores.

    Attributes
    ----------
    parameters : mapping
        Parameters that differ from the subject's own values. Empty for those values.
    on_folds : tuple of ndarray
        Scores on the folds of its last round, as `Subject.score` returns them.
    n_iter : int
        Number of iterations in that round.
    """

    parameters: Mapping[str, Any]
    on_folds: tuple[NDArray, ...] = field(repr=False)
    n_iter: int

    @property
    def scores(self) -> tuple[float, ...]:
        """The score on each of the folds."""
        return tuple(float(np.mean(of_fold)) for of_fold in self.on_folds)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores)) if self.on_folds else float("-inf")

    def gain_over(self, own: Tried) -> Difference:
        """Return the gain over another candidate, over held-out points or folds; NaN if either has no score."""
        if not (math.isfinite(self.mean) and math.isfinite(own.mean)):
            return Difference(n=len(own.on_folds), unit="folds")
        over_folds = paired_difference(self.scores, own.scores, unit="folds")
        if all(of_fold.dtype == bool for of_fold in (*self.on_folds, *own.on_folds)):
            won, others = np.concatenate(self.on_folds), np.concatenate(own.on_folds)
            if math.isfinite(half_width := accuracy_half_width(won, others)):
                return Difference.around(over_folds.mean, half_width, len(won), "held-out points")
        return over_folds


@dataclass(frozen=True)
class Suggestion:
    """Result of `suggest`.

    Attributes
    ----------
    parameters : dict
        Parameters to set on the estimator. Empty if no candidate was clearly better, with the gain's `interval` above
        zero.
    gain : Difference
        Gain in the mean score over the folds, compared with the estimator's own parameters. Its interval is over
        held-out points for an accuracy if there are enough of them, otherwise over folds. NaN if no other candidate
        reached the same round.
    score : float
        The mean score over the folds.
    tried : tuple of Tried
        All candidates, beginning with those that reached the last round.
    seconds : float
        Duration of the search, in seconds.
    reason : str
        Reason why the estimator's own values have no score, if they have none.
    gains : tuple of Difference
        For each candidate of `tried`, its gain over the own values in its last round.
    search : Search
        State from which `go_on` continues.
    subject : Subject or None
        What was tuned: the estimator with its points, or a spec with its data. None after a search in another process.
    best_estimator_ : estimator
        A new estimator with the suggested parameters, fitted to all points when you first ask for it.
    """

    parameters: dict[str, Any]
    gain: Difference
    score: float
    tried: tuple[Tried, ...] = field(repr=False)
    seconds: float
    reason: str = ""
    gains: tuple[Difference, ...] = field(default=(), repr=False)
    search: Any = field(default=None, repr=False)
    subject: Any = field(default=None, repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """All candidates in the order of `tried`, one row each, with their parameters.

        `gain` is the difference to the own values, on the same folds and with the same iterations, and `low` to `high`
        its 95 % interval. An empty parameter is the own value. Set any row's parameters to use it anyway.
        """
        measured = [
            {"score": one.mean, "gain": own.mean, "low": own.low, "high": own.high, "n": own.n, "unit": own.unit}
            for one, own in zip(self.tried, self.gains, strict=True)
        ]
        rows = [row | {"n_iter": one.n_iter, **one.parameters} for row, one in zip(measured, self.tried, strict=True)]
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """Return a sentence with the result and its uncertainty."""
        n = len(self.tried)
        if self.reason:
            better = " Other values have a score." if self.parameters else ""
            return f"The current values have no score on the held-out folds: {self.reason}.{better}"
        if not self.parameters:
            return f"None of {n} candidates was clearly better than the current values, which stay."
        gain = self.gain
        return (
            f"The best of {n} candidates scores {self.score:.4f} on held-out folds: {gain.mean:+.4f} ± {gain.half_width:.4f} "
            f"from the current values (95 % over {gain.n} {gain.unit}; the best of many looks better than it is)."
        )

    @cached_property
    def best_estimator_(self) -> Any:
        """The estimator with the suggested parameters, fitted to all points."""
        estimator = clone(self.subject.estimator).set_params(**self.parameters)
        return estimator.fit(self.subject.X, self.subject.y)

    def go_on(self, seconds: float = 60.0) -> Suggestion:
        """Search on for about so many seconds, from where the search was; return the new result.

        The candidates of the last round stay, and new ones are drawn.
        """
        found: Suggestion = self.search.go_on(self.subject, seconds)
        return found


class Search:
    """State of one search: the candidates, the subject's own values first, and their scores. A seed gives the random draws."""

    def __init__(self, seed: int) -> None:
        self.candidates: list[dict[str, Any]] = []
        self.reason, self._seconds_each = "", 1e-3
        self._drawn = generator(seed, "suggested parameters")
        self._known: dict[tuple[int, float, int], NDArray] = {}
        self._tried: list[dict[int, Tried]] = [{} for _ in ROUNDS]  # of each round

    def go_on(
        self, subject: Subject, seconds: float, report: Callable[[tuple[float, str]], object] = lambda progress: None
    ) -> Suggestion:
        """Draw as many candidates as about so many seconds allow, score and halve them; return the suggestion.

        A later call goes on with the candidates of the last round, and draws new ones. `report` is called with the share of the
        time that has passed, and a description of the current round.
        """
        seconds, start = float(SECONDS.check(seconds) or 0.0), time.monotonic()

        def is_over() -> bool:
            return time.monotonic() - start >= seconds

        def measure(numbers: list[int], place: int) -> bool:
            """Score the candidates of a round, the own values and the best so far first; return True if there was time."""
            said = f"round {place + 1} of {len(ROUNDS)}, {len(numbers)} candidates"
            for i in numbers:
                report((min(1.0, (time.monotonic() - start) / seconds), said))
                if not self._score(subject, i, place, is_over):
                    return False
            return True

        def keep(numbers: list[int], place: int) -> list[int]:
            """Return the own values, the predefined candidates, and the best third of all, best first."""
            best = best_part(sorted(numbers, key=lambda i: (-self._tried[place - 1][i].mean, i)))
            return list(dict.fromkeys((*range(min(1 + len(subject.first), len(self.candidates))), *best)))

        if is_first := not self.candidates:
            self._begin(subject, is_over)
        number = int(np.clip(FIRST_SHARE * seconds / self._seconds_each, FEWEST, MOST))
        if is_first:
            self.candidates = self.candidates[:number]
            number -= len(self.candidates)
        left, first = range(len(self.candidates)) if is_first else self._finished, len(self.candidates)
        self.candidates += [subject.draw(self._drawn) for _ in range(number)]
        rounds([*left, *range(first, len(self.candidates))], range(len(ROUNDS)), measure, keep)
        return self._answer(subject, time.monotonic() - start)

    def _begin(self, subject: Subject, is_over: Callable[[], bool]) -> None:
        """Score the own values and the predefined candidates in the first round, to know how long one takes."""
        subject.begin(ROUNDS[0][0])
        began, self.candidates = time.monotonic(), [{}, *map(dict, subject.first)]
        self._score(subject, 0, 0, is_over, must=True)
        self.reason = "" if math.isfinite(self._tried[0][0].mean) else subject.reason
        for i in range(1, len(self.candidates)):
            self._score(subject, i, 0, is_over)
        self._seconds_each = max((time.monotonic() - began) / len(self.candidates), 1e-3)

    def _score(self, subject: Subject, i: int, place: int, is_over: Callable[[], bool], *, must: bool = False) -> bool:
        """Score a candidate on a round's folds; return True if there was enough time. A known score takes none."""
        share, n_folds = ROUNDS[place]
        folds = range(min(n_folds, subject.n_folds))
        for fold in folds:
            if (i, share, fold) in self._known:
                continue
            score = subject.score(self.candidates[i], share, fold, lambda: is_over() and not must)
            if is_over() and not must:
                return False
            self._known[i, share, fold] = score
        on_folds = tuple(self._known[i, share, fold] for fold in folds)
        self._tried[place][i] = Tried(dict(self.candidates[i]), on_folds, subject.n_iter(share))
        return True

    @property
    def _finished(self) -> dict[int, Tried]:
        """The candidates of the last round in which the own values have a rival."""
        return next((one for one in reversed(self._tried) if len(one) > 1), self._tried[0])

    def _answer(self, subject: Subject, seconds: float) -> Suggestion:
        finished, own = self._finished, self._finished[0]
        gains = {i: finished[i].gain_over(own) for i in finished if i}
        # The best candidate that is clearly better. If there is none, report the best of the others.
        seen = [(gain.effect is Effect.HELPS, finished[i].mean, -i) for i, gain in gains.items()]
        is_clear, _, place = max(seen, default=(False, 0.0, 0))
        i = -place  # the first among equals
        chosen = finished[i] if is_clear else own
        gain = gains.get(i, Difference(n=len(own.on_folds), unit="folds"))
        last = {i: (one, by_number[0]) for by_number in self._tried for i, one in by_number.items()}
        order = sorted(last.values(), key=lambda pair: (-pair[0].n_iter, -pair[0].mean))
        tried, gains_of_all = tuple(one for one, _ in order), tuple(one.gain_over(other) for one, other in order)
        return Suggestion(
            dict(chosen.parameters), gain, chosen.mean, tried, seconds, self.reason, gains_of_all, self, subject
        )
