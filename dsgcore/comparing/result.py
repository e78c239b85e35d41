"""Result of a comparison: fits, a ranked table with paired intervals, and learning curves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dsgcore.comparing.fits import CUT_OFF, Fit, FitRequest
from dsgcore.comparing.methods import METHODS, SCORES, Score
from dsgcore.comparing.verdict import Standing, Verdict, no_verdict, verdict_of
from dsgcore.core.metrics import FEWEST_SEEDS, Difference, paired_difference

# A ranked method has more than this share of the seeds that the two methods with the most seeds share.
SHARE_OF_SEEDS = 2 / 3
NO_TIME = "there was no time for it"
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
    overlaps : mapping of int to float
        For numbers of labels: the correction of the intervals for labels that the splits share; 0 if each split draws
        fresh ones. See `dsgcore.core.metrics.resampled_half_width`.
    n_classes : int
        Number of classes.
    seconds : float
        Duration of this call.
    is_complete : bool
        False if the time was over before all seeds were done.
    is_going : bool
        True if more fits are to come.
    name : str
        Name of the data, for the report.

    Notes
    -----
    Scores are means over the seeds that all ranked methods share. A method that lacks a third or more of the seeds that
    the two best known methods share has no rank and no score in the table. Its difference to the best method is over the
    seeds that both have. While no two methods share three seeds, every method with a shared one has a rank.
    """

    fits: tuple[Fit, ...] = field(repr=False)
    methods: tuple[str, ...]
    score_name: str
    n_labeled: int
    n_train: int
    n_test: int
    overlaps: Mapping[int, float] = field(default_factory=dict)
    n_classes: int = 2
    seconds: float = 0.0
    is_complete: bool = True
    is_going: bool = False
    name: str = "your data"

    @property
    def score(self) -> Score:
        """The score that ranks the methods."""
        return SCORES[self.score_name]

    @cached_property
    def _known(self) -> Mapping[FitRequest, Fit]:
        return {fit.request: fit for fit in self.fits}

    @cached_property
    def _scores(self) -> Mapping[tuple[str, int], dict[int, float]]:
        found: dict[tuple[str, int], dict[int, float]] = {}
        for request, fit in sorted(self._known.items(), key=lambda pair: pair[0].seed):
            if fit.scores:
                own = found.setdefault((request.method, request.n_labeled), {})
                own[request.seed] = fit.scores[self.score_name]
        return found

    def scores(self, method: str, n_labeled: int | None = None) -> Mapping[int, float]:
        """Return a method's scores by seed, at a number of labels (default: `n_labeled`)."""
        return self._scores.get((method, self.n_labeled if n_labeled is None else n_labeled), {})

    @property
    def overlap(self) -> float:
        """The correction at `n_labeled` labels."""
        return self.overlaps.get(self.n_labeled, 0.0)

    @property
    def most(self) -> float:
        """The highest possible score; the lowest is 0."""
        return self.score.most(self.n_classes)

    def difference(self, one: str, other: str) -> Difference:
        """Return by how much one method is better than another; above zero is better.

        For two ranked methods it is over the seeds that all ranked methods share, else over the seeds that both have.
        """
        mine, theirs = self.scores(one), self.scores(other)
        both = set(mine) & set(theirs)
        shared = sorted(both & self.seeds if {one, other} <= set(self.ranking) else both)
        found = self._difference([mine[s] for s in shared], [theirs[s] for s in shared], self.n_labeled)
        return -found if self.score.is_loss else found

    def _difference(self, first: Sequence[float], second: Sequence[float], n_labeled: int) -> Difference:
        step = (self.score.factor if self.score.unit == "points" else 1.0) / self.n_test  # one test point
        return paired_difference(first, second, overlap=self.overlaps.get(n_labeled, 0.0), step=step, most=self.most)

    @cached_property
    def _ranked(self) -> tuple[tuple[str, ...], frozenset[int]]:
        """The methods with enough seeds, and the seeds that all of them share."""
        return self._with_enough(self.methods, self.n_labeled)

    def _with_enough(self, methods: Sequence[str], n_labeled: int) -> tuple[tuple[str, ...], frozenset[int]]:
        seeds = {name: frozenset(self.scores(name, n_labeled)) for name in methods}
        order = sorted(filter(seeds.get, methods), key=lambda name: (-len(seeds[name]), METHODS[name].effort))
        if not order:
            return (), frozenset()
        # The two methods that share the most seeds; one method if no two of them share any.
        first = max(combinations(order, 2), key=lambda pair: len(seeds[pair[0]] & seeds[pair[1]]), default=())
        shared = frozenset.intersection(*(seeds[name] for name in first or order[:1]))
        ranked = [*first] if first and shared else order[:1]
        shared = shared or seeds[order[0]]
        enough = (
            SHARE_OF_SEEDS * len(shared) if len(shared) >= FEWEST_SEEDS else 0.0
        )  # before any interval: all methods
        for name in order:
            if name not in ranked and len(shared & seeds[name]) > enough:
                ranked.append(name)
                shared &= seeds[name]
        return tuple(ranked), shared

    @property
    def seeds(self) -> frozenset[int]:
        """The seeds that all ranked methods share."""
        return self._ranked[1]

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Names of the methods with enough seeds, best first."""
        return tuple(
            sorted(self._ranked[0], key=lambda name: (-self.score.sign * self.mean(name), METHODS[name].effort))
        )

    @cached_property
    def unranked(self) -> tuple[str, ...]:
        """Names of the methods with a score and too few seeds for a rank, those with the most seeds first."""
        others = [name for name in self.methods if self.scores(name) and name not in self._ranked[0]]
        return tuple(sorted(others, key=lambda name: (-len(self.scores(name)), METHODS[name].effort)))

    def mean(self, name: str) -> float:
        """Return a ranked method's mean score over the seeds that all ranked methods share; NaN without a rank."""
        if name not in self._ranked[0]:
            return math.nan
        scores = self.scores(name)
        return float(np.mean([scores[seed] for seed in sorted(self.seeds)]))

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
        rows += [self._row(None, name) for name in self.unranked]
        failed = [name for name in self.methods if name not in (*self.ranking, *self.unranked)]
        rows += [{"method": METHODS[name].title, "seeds": 0, "note": self._note(name)} for name in failed]
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"rank": "Int64"})

    def _row(self, place: int | None, name: str) -> dict[str, Any]:
        method, fits = METHODS[name], self._fits_of(name)
        gain = self.difference(name, self.ranking[0])
        shown = -gain if self.score.is_loss else gain  # with the sign of the score itself
        is_best = place == 1
        return {
            "rank": place,
            "method": method.title,
            "unlabeled": "used" if method.uses_unlabeled else "not used",
            "score": self.mean(name),
            "difference": shown.mean + 0.0,
            "low": math.nan if is_best else shown.low,
            "high": math.nan if is_best else shown.high,
            "wins": gain.wins,
            "ties": gain.ties,
            "losses": gain.losses,
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
        """Return the reason why a method has no rank or fewer seeds, and a note of its fits; empty if there is none."""
        most = max(len(self.scores(one)) for one in self.methods)
        notes = [next((fit.note for fit in self._fits_of(name) if fit.note), "")]
        if name in self.unranked or len(self.scores(name)) < most or not most:
            notes.insert(0, self._why_fewer(name))
        return "; ".join(filter(None, notes))

    def _why_fewer(self, name: str) -> str:
        """Return the reason why a method has fewer seeds than others, or none at all."""
        asked = [fit for one, fit in self._known.items() if (one.method, one.n_labeled) == (name, self.n_labeled)]
        failed = [fit.note for fit in asked if not fit.scores and fit.note != CUT_OFF]
        if failed:
            return failed[0] if len(failed) == len(asked) else f"{len(failed)} of {len(asked)} fits failed: {failed[0]}"
        if not self.scores(name):
            return "it has no fit yet" if self.is_going else next((fit.note for fit in asked), NO_TIME)
        gain = self.difference(name, self.ranking[0])
        if gain.high < 0.0:
            return "clearly worse: no more seeds"
        if gain.n >= FEWEST_SEEDS and name not in self.verdict.contenders and not self.is_going:
            return "surely not much better: no more seeds"
        if len(self.scores(name)) >= len(self.seeds):
            return "it lacks seeds that the others share"
        return "it has too few seeds yet" if self.is_going else "no time for more seeds"

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The learning curves: mean score, and the 95 % interval of this mean, by method and number of labels.

        At each number of labels, the means are over the seeds that all methods share there. A method with too few of
        them has no point.
        """
        sizes = sorted({request.n_labeled for request in self._known})
        shared = {n: self._with_enough(self.ranking, n) for n in sizes} | {self.n_labeled: self._ranked}
        rows = [
            self._point(name, n, sorted(shared[n][1])) for name in self.ranking for n in sizes if name in shared[n][0]
        ]
        return pd.DataFrame(rows, columns=["method", "labels", "score", "low", "high", "seeds"])

    def _point(self, name: str, n_labeled: int, seeds: Sequence[int]) -> dict[str, Any]:
        scores = self.scores(name, n_labeled)
        found = self._difference([scores[seed] for seed in seeds], np.zeros(len(seeds)).tolist(), n_labeled)
        ends = {"low": max(found.low, 0.0), "high": found.high}  # NaN stays
        return dict(method=METHODS[name].title, labels=n_labeled, score=found.mean, **ends, seeds=found.n)

    @cached_property
    def verdict(self) -> Verdict:
        """The method to use, and whether unlabeled data help."""
        if len(self.seeds) < FEWEST_SEEDS or len(self.ranking) < 2:
            return no_verdict(len(self.seeds))
        standings = [Standing(METHODS[name], self.score.sign * self.mean(name)) for name in self.ranking]
        others = [METHODS[name] for name in self.unranked]
        return verdict_of(standings, others, lambda one, other: self.difference(one.name, other.name), self.score)

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
