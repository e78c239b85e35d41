"""Result of a comparison: fits, a ranked table with paired intervals, and learning curves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.comparing.fits import Fit, FitRequest
from dsgcore.comparing.methods import METHODS, SCORES, Method, Score
from dsgcore.comparing.verdict import Standing, Verdict, no_verdict, verdict_of
from dsgcore.core.metrics import FEWEST_SEEDS, resampled_half_width

# Gains that differ by less are equal, apart from rounding.
EQUAL = 1e-9
COLUMNS = (
    *("rank", "method", "unlabeled", "score", "difference", "low", "high", "wins", "ties", "losses"),
    *("seeds", "seconds", "megabytes", "note"),
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several methods on the same splits of the same data.

    Attributes
    ----------
    fits : tuple of Fit
        All fits, also those of the learning curves.
    methods : tuple of str
        Names of the methods, keys of `dsgcore.comparing.METHODS`.
    score_name : str
        Name of the score that ranks them, a key of `dsgcore.comparing.SCORES`.
    n_labeled, n_train, n_test : int
        Labels of a training set, all points of a training set, and test points.
    overlap : float
        Correction of the intervals for shared labels; 0 if each split draws fresh ones.
        See `dsgcore.core.metrics.resampled_half_width`.
    seconds : float
        Duration of this call.
    is_complete : bool
        False if the time was over before all seeds were done.
    name : str
        Name of the data, for the report.
    """

    fits: tuple[Fit, ...] = field(repr=False)
    methods: tuple[str, ...]
    score_name: str
    n_labeled: int
    n_train: int
    n_test: int
    overlap: float = 0.0
    seconds: float = 0.0
    is_complete: bool = True
    name: str = "your data"

    @property
    def score(self) -> Score:
        """The score that ranks the methods."""
        return SCORES[self.score_name]

    @cached_property
    def _known(self) -> Mapping[FitRequest, Fit]:
        return {fit.request: fit for fit in self.fits}

    def scores(self, method: str, n_labeled: int | None = None) -> dict[int, float]:
        """Return a method's scores by seed, at a number of labels (default: `n_labeled`)."""
        n = self.n_labeled if n_labeled is None else n_labeled
        return {
            request.seed: fit.scores[self.score_name]
            for request, fit in sorted(self._known.items(), key=lambda pair: pair[0].seed)
            if (request.method, request.n_labeled) == (method, n) and fit.scores
        }

    def gains(self, one: str, other: str, n_labeled: int | None = None) -> NDArray[np.float64]:
        """Return by how much one method is better than another, for each seed that both have. Above zero is better."""
        mine, theirs = self.scores(one, n_labeled), self.scores(other, n_labeled)
        shared = [seed for seed in mine if seed in theirs]
        return self.score.sign * np.array([mine[seed] - theirs[seed] for seed in shared], dtype=float)

    def half_width(self, gains: NDArray) -> float:
        """Return half of the 95 % interval of the mean of paired gains; NaN with fewer than three seeds.

        A few test points often give equal gains, which is no proof. Then it is that of one point more in one seed.
        """
        if len(gains) < FEWEST_SEEDS:
            return math.nan
        if np.ptp(gains) < EQUAL:
            gains = np.append(gains[1:], gains[0] + (100.0 if self.score.unit == "points" else 1.0) / self.n_test)
        return resampled_half_width(gains, self.overlap)

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Names of the methods with a score, best first. If some have three seeds, those with fewer come last."""
        seeds = {name: len(self.scores(name)) for name in self.methods if self.scores(name)}
        enough = min(FEWEST_SEEDS, max(seeds.values(), default=0))

        def place(name: str) -> tuple[bool, float, int]:
            return seeds[name] < enough, -self.score.sign * self.mean(name), METHODS[name].effort

        return tuple(sorted(seeds, key=place))

    @cached_property
    def reference(self) -> str:
        """Name of the method with the most seeds; the simplest of several."""
        return max(self.methods, key=lambda name: (len(self.scores(name)), -METHODS[name].effort))

    def mean(self, name: str) -> float:
        """Return a method's mean score over all seeds.

        Splits differ in difficulty. For a method with fewer seeds, the result is the mean of `reference` over all seeds
        plus the mean difference on the shared seeds.
        """
        base = float(np.mean([*self.scores(self.reference).values()]))
        return base + self.score.sign * float(np.mean(self.gains(name, self.reference)))

    def seconds_of(self, name: str) -> float:
        """Return the mean computing time of a method's fit."""
        return float(np.mean([fit.seconds for fit in self._fits_of(name)]))

    @property
    def best(self) -> str | None:
        """Name of the method with the best mean score; None without a score."""
        return self.ranking[0] if self.ranking else None

    @cached_property
    def table(self) -> pd.DataFrame:
        """The ranked table, one row for each method.

        `difference` is the mean paired difference to the best method, and `low` to `high` its 95 % interval.
        `wins`, `ties` and `losses` count seeds against the best method. `seconds` and `megabytes` are means of a fit.
        """
        rows = [self._row(place, name) for place, name in enumerate(self.ranking, 1)]
        failed = [name for name in self.methods if name not in self.ranking]
        rows += [{"method": METHODS[name].title, "seeds": 0, "note": self._note(name)} for name in failed]
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"rank": "Int64"})

    def _row(self, place: int, name: str) -> dict[str, Any]:
        method, best = METHODS[name], self.ranking[0]
        gains, fits = self.gains(name, best), self._fits_of(name)
        mean = float(gains.mean()) if len(gains) else math.nan
        reach = math.nan if name == best else self.half_width(gains)
        # The difference has the sign of the score itself.
        low, high = sorted((self.score.sign * (mean - reach), self.score.sign * (mean + reach)))
        return {
            "rank": place,
            "method": method.title,
            "unlabeled": "used" if method.uses_unlabeled else "not used",
            "score": self.mean(name),
            "difference": self.score.sign * mean + 0.0,
            "low": low,
            "high": high,
            "wins": int(np.sum(gains > 0)),
            "ties": int(np.sum(gains == 0)),
            "losses": int(np.sum(gains < 0)),
            "seeds": len(self.scores(name)),
            "seconds": self.seconds_of(name),
            "megabytes": float(np.mean([fit.megabytes for fit in fits])),
            "note": self._note(name),
        }

    def _fits_of(self, name: str) -> list[Fit]:
        return [
            fit
            for request, fit in self._known.items()
            if (request.method, request.n_labeled) == (name, self.n_labeled) and fit.scores
        ]

    def _note(self, name: str) -> str:
        """Return the reason of a failure or for fewer seeds, and a note of the fits; empty if there is none."""
        if not self.scores(name):
            notes = [fit.note for request, fit in self._known.items() if request.method == name and not fit.scores]
            return next(iter(notes), "there was no time for it")
        said = [next((fit.note for fit in self._fits_of(name) if fit.note), "")]
        if len(self.scores(name)) < len(self.scores(self.reference)):
            said.insert(0, self._why_fewer(name))
        return "; ".join(filter(None, said))

    def _why_fewer(self, name: str) -> str:
        """Return the reason why a method has fewer seeds than others."""
        gains = self.gains(name, self.ranking[0])
        if float(np.mean(gains)) + self.half_width(gains) < 0.0:
            return "clearly worse: no more seeds"
        is_decided = len(gains) >= FEWEST_SEEDS and name not in self.verdict.contenders
        return "surely not much better: no more seeds" if is_decided else "no time for more seeds"

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The learning curves: mean score, and the 95 % interval of this mean, by method and number of labels."""
        sizes = sorted({request.n_labeled for request in self._known})
        rows = [self._point(name, n) for name in self.ranking for n in sizes if self.scores(name, n)]
        columns = ["method", "labels", "score", "low", "high", "seeds"]
        return pd.DataFrame(rows, columns=columns)

    def _point(self, name: str, n_labeled: int) -> dict[str, Any]:
        values = np.array([*self.scores(name, n_labeled).values()])
        mean, reach = float(values.mean()), self.half_width(values)
        title = METHODS[name].title
        return dict(method=title, labels=n_labeled, score=mean, low=mean - reach, high=mean + reach, seeds=len(values))

    @cached_property
    def verdict(self) -> Verdict:
        """The method to use, and whether unlabeled data help."""
        known = [name for name in self.ranking if len(self.scores(name)) >= FEWEST_SEEDS]
        standings = [Standing(METHODS[name], self.score.sign * self.mean(name)) for name in known]
        seeds = max((len(self.scores(name)) for name in self.ranking), default=0)
        if len(standings) < 2:
            return no_verdict(seeds)
        return verdict_of(standings, self._gain, self.score)

    def _gain(self, one: Method, other: Method) -> tuple[float, float, int]:
        gains = self.gains(one.name, other.name)
        return (float(gains.mean()) if len(gains) else math.nan), self.half_width(gains), len(gains)

    @property
    def interval_sentence(self) -> str:
        """The kind of interval, in one sentence."""
        if self.overlap:
            return (
                "The intervals are Student's on paired differences over the seeds, corrected for labels that the splits share "
                "(Nadeau and Bengio 2003)."
            )
        return "The intervals are Student's on paired differences over the seeds. Each seed draws fresh labels."

    def to_csv(self) -> str:
        """Return the ranked table as CSV."""
        return self.table.to_csv(index=False, lineterminator="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain data for JSON; NaN becomes None."""
        facts = {
            **{
                name: getattr(self, name)
                for name in ("name", "n_labeled", "n_train", "n_test", "overlap", "is_complete")
            },
            "score": self.score.title,
            "intervals": self.interval_sentence,
            "verdict": self.verdict.to_dict(),
        }
        return facts | {"table": _records(self.table), "curves": _records(self.curves)}


def _records(frame: pd.DataFrame) -> Sequence[dict[str, Any]]:
    return json.loads(frame.to_json(orient="records", double_precision=15))
