"""Result of a comparison: fits, a ranked table with paired intervals, learning curves, and the verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from html import escape
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dsgcore.comparing.methods import METHODS, SCORES, Score
from dsgcore.comparing.samples import Fit
from dsgcore.core.metrics import (
    EQUAL,
    FEWEST_SEEDS,
    INFLATION,
    Difference,
    Effect,
    paired_difference,
    share_interval,
    student,
)
from dsgcore.core.parameters import counted, finite
from dsgcore.jobs.tasks import CUT_OFF

# In units of the score. A method that gains no more than this beats no simpler one.
CLOSE = {"points": 0.1, "classes": 0.001}
# Unlabeled data "do not help" if their gain is surely below this. The choice is clear if no other method may gain more.
LITTLE = {"points": 0.5, "classes": 0.005}
# A ranked method has more than this share of the seeds that the two methods with the most seeds share.
SHARE_OF_SEEDS = 2 / 3
# No number of labels is named beyond this.
MOST_TO_TELL = 100_000
COLUMNS = (
    *("rank", "method", "unlabeled", "score", "score_low", "score_high", "difference", "low", "high"),
    *("wins", "ties", "losses", "seeds", "seconds", "megabytes", "note"),
)


class Help(Enum):
    """Effect of the unlabeled data; the value is a word for files."""

    HELPS = "help"
    HURTS = "hurt"
    DOES_NOT = "do not help"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Verdict:
    """Answer of a comparison.

    Attributes
    ----------
    recommended : str or None
        Name of the method to use, the simplest one that no other method clearly beats; None without a verdict.
    help : Help or None
        Effect of the unlabeled data; None if it was not measured, or if no method is clearly better than chance.
    gain : Difference
        Gain of the best method that uses unlabeled data over the best one that does not; NaN if it was not measured.
    seeds : int
        Number of seeds.
    sentence : str
        The verdict in one sentence.
    is_clear : bool
        True if the recommended method is clearly better than every simpler one, and the best one than one answer for all rows.
    rivals, contenders : tuple of str
        Names of the methods that are not clearly worse than the recommended one: the interval of its gain includes zero. And
        of those that may be more than 0.5 points (0.005 classes) better: the interval of their gain ends above it.
    """

    recommended: str | None
    help: Help | None
    gain: Difference
    seeds: int
    sentence: str
    is_clear: bool = False
    rivals: tuple[str, ...] = ()
    contenders: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        said = {**vars(self), "gain": self.gain.mean, "low": self.gain.low, "high": self.gain.high}
        said |= {"help": self.help and self.help.value, "rivals": [*self.rivals], "contenders": [*self.contenders]}
        return finite(said)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several methods on the same splits of the same data.

    Attributes
    ----------
    fits : tuple of Fit
        All fits, also those of the learning curves.
    methods, score_name : tuple of str, and str
        Keys of `dsgcore.comparing.METHODS`, and the key of `dsgcore.comparing.SCORES` that ranks them.
    n_labeled, n_train, n_test : int
        Labels of a training set, all points of a training set, and test points.
    overlaps : mapping of int to float
        For numbers of labels: the correction of the intervals for labels that the splits share; 0 if each split draws
        fresh ones. See `dsgcore.core.metrics.mean_half_width`.
    n_classes, n_known : int
        Classes, and known labels, from which the splits draw; 0 if that is not known.
    order, warnings : tuple of str
        The classes from low to high, if they have an order; and what may make the verdict worse than it looks, in sentences.
    seconds, name : float, and str
        Duration of this call, and name of the data, for the report.
    is_complete, is_going : bool
        False if the time was over before all seeds were done; True if more fits are to come.

    Notes
    -----
    Scores are means over the seeds that all ranked methods share. A method that lacks a third or more of the seeds that
    the two best known methods share has no rank and no score in the table. Its difference to the best method is over the
    seeds that both have. While no two methods share three seeds, every method with a shared one has a rank.

    The best of many methods owes its place to luck, too. So the intervals of scores and differences hold for all methods at once,
    by Bonferroni's rule: for n methods with a score each score's at 1 - 0.05 / n, as the gain over one answer for all rows, and
    each difference's at 1 - 0.05 / (n - 1).
    A verdict says as a finding only what they show.
    The seeds of the next round follow intervals of one difference at a time.
    """

    fits: tuple[Fit, ...] = field(repr=False)
    methods: tuple[str, ...]
    score_name: str
    n_labeled: int
    n_train: int
    n_test: int
    overlaps: Mapping[int, float] = field(default_factory=dict)
    n_classes: int = 2
    n_known: int = 0
    order: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    is_complete: bool = True
    is_going: bool = False
    name: str = "your data"

    def __repr__(self) -> str:
        """Return the sizes and the verdict in a line."""
        sizes = f"{counted(len(self.methods), 'method')}, {counted(len(self.seeds), 'seed')}, {self.n_labeled} labels"
        return f"Comparison({self.name}: {sizes}; {self.verdict.sentence})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict.sentence)}</p>{self.table.to_html(index=False, na_rep='')}"

    @property
    def score(self) -> Score:
        """The score that ranks the methods."""
        return SCORES[self.score_name]

    @property
    def most(self) -> float:
        """The highest possible score; the lowest is 0."""
        return self.score.most(self.n_classes)

    @cached_property
    def _fits(self) -> Mapping[tuple[str, int], list[Fit]]:
        """The fits of each method at each number of labels, in the order of their seeds."""
        found: dict[tuple[str, int], list[Fit]] = {}
        for fit in sorted(self.fits, key=lambda fit: fit.request.seed):
            found.setdefault((fit.request.method, fit.request.n_labeled), []).append(fit)
        return found

    def scores(self, method: str, n_labeled: int | None = None) -> Mapping[int, float]:
        """Return a method's scores by seed, at a number of labels (default: `n_labeled`)."""
        fits = self._fits.get((method, self.n_labeled if n_labeled is None else n_labeled), ())
        return {fit.request.seed: fit.scores[self.score_name] for fit in fits if fit.scores}

    # --- the methods with enough seeds, best first

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
        pair = max(combinations(order, 2), key=lambda pair: len(seeds[pair[0]] & seeds[pair[1]]), default=())
        shared = frozenset.intersection(*(seeds[name] for name in pair or order[:1]))
        ranked = [*pair] if pair and shared else order[:1]
        shared = shared or seeds[order[0]]
        # Before any interval, all methods have enough.
        enough = SHARE_OF_SEEDS * len(shared) if len(shared) >= FEWEST_SEEDS else 0.0
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
        """Names of the methods with enough seeds, best first; of equal ones the simplest first."""
        mean = {name: np.mean([self.scores(name)[seed] for seed in sorted(self.seeds)]) for name in self._ranked[0]}
        return tuple(sorted(mean, key=lambda name: (-self.score.sign * mean[name], METHODS[name].effort)))

    @cached_property
    def unranked(self) -> tuple[str, ...]:
        """Names of the methods with a score and too few seeds for a rank, those with the most seeds first."""
        others = [name for name in self.methods if self.scores(name) and name not in self._ranked[0]]
        return tuple(sorted(others, key=lambda name: (-len(self.scores(name)), METHODS[name].effort)))

    @property
    def best(self) -> str | None:
        """Name of the method with the best mean score; None without a score."""
        return self.ranking[0] if self.ranking else None

    def mean_of(self, name: str, what: str) -> float:
        """Return the mean "seconds" or "megabytes" of a method's fits."""
        return float(np.mean([getattr(fit, what) for fit in self._fits[name, self.n_labeled] if fit.scores]))

    # --- differences and intervals

    @cached_property
    def n_scored(self) -> int:
        """Number of methods with a score, whose intervals hold at once."""
        return sum(bool(self.scores(name)) for name in self.methods)

    def _paired(self, first: Sequence[float], second: Sequence[float], n_labeled: int, at_once: int = 1) -> Difference:
        step = (self.score.factor if self.score.unit == "points" else 1.0) / self.n_test  # one test point
        overlap = self.overlaps.get(n_labeled, 0.0)
        return paired_difference(first, second, overlap=overlap, step=step, most=self.most, at_once=at_once)

    def difference(self, one: str, other: str, *, is_alone: bool = False) -> Difference:
        """Return by how much one method is better than another; above zero is better.

        For two ranked methods it is over the seeds that all ranked methods share, else over the seeds that both have. Its
        interval holds together with those of the other methods, or alone.
        """
        mine, theirs = self.scores(one), self.scores(other)
        shared = mine.keys() & theirs.keys()
        if {one, other} <= set(self.ranking):
            shared &= self.seeds
        own, others = ([scores[seed] for seed in sorted(shared)] for scores in (mine, theirs))
        found = self._paired(own, others, self.n_labeled, 1 if is_alone else max(1, self.n_scored - 1))
        return -found if self.score.is_loss else found

    def gain_over_chance(self, names: Sequence[str], at_once: int = 1) -> tuple[Difference, float]:
        """Return by how much the mean of ranked methods is better than one answer for all rows, and that answer's mean score."""
        fits = [fit for fit in self._fits[names[0], self.n_labeled] if fit.request.seed in self.seeds]
        chance = [fit.chance.get(self.score_name, math.nan) for fit in fits]
        mean = [float(np.mean([self.scores(name)[fit.request.seed] for name in names])) for fit in fits]
        found = self._paired(mean, chance, self.n_labeled, at_once)
        return -found if self.score.is_loss else found, float(np.mean(chance))

    def is_behind(self, name: str) -> bool:
        """Return True if a method needs no more seeds: it seems worse than the best one, or has no seed in common with it."""
        gain = self.difference(name, str(self.best), is_alone=True)
        return not gain.n or gain.high < 0.0

    def beats(self, one: str, other: str) -> bool:
        """Return True if one method seems better than another: by more than one standard error, and than a trifle.

        Source: L. Breiman, J. Friedman, R. Olshen and C. Stone, Classification and Regression Trees, 1984, section 3.4.3: the
        simplest of the models within one standard error. With few labels a 95 % interval would keep a simple method that loses
        many points.
        """
        gain = self.difference(one, other, is_alone=True)
        if gain.n < FEWEST_SEEDS:
            return False
        return gain.mean > (1.0 + EQUAL) * max(gain.half_width / student(gain.n), CLOSE[self.score.unit])

    def _mean(self, name: str, seeds: Iterable[int], n_labeled: int, at_once: int = 1) -> Difference:
        scores = self.scores(name, n_labeled)
        own = [scores[seed] for seed in sorted(seeds)]
        found = self._paired(own, [0.0] * len(own), n_labeled, at_once)
        return replace(found, low=max(found.low, 0.0))  # NaN stays

    def interval(self, name: str) -> Difference:
        """Return a ranked method's mean score with its own 95 % interval, over the seeds that all ranked methods share.

        The interval of a share of right labels is at least Wilson's for the labels that were tested, so that few labels which
        all happen to be right promise little. Without a rank all is NaN.
        """
        found = self._mean(name, self.seeds if name in self._ranked[0] else (), self.n_labeled, self.n_scored)
        if self.score_name != "accuracy" or not self.n_known or not math.isfinite(found.low):
            return found
        n_tested = self.n_known * (1.0 - (1.0 - self.n_test / self.n_known) ** found.n)  # each label counts once
        low, high = share_interval(found.mean / self.most, n_tested / INFLATION, self.n_scored)
        return replace(found, low=min(found.low, low * self.most), high=max(found.high, high * self.most))

    def gain_of_labels(self, name: str, more: int) -> Difference:
        """Return by how much so many labels more, drawn at random, would raise a method's score, by its learning curve.

        The slope is that over the logarithm of the number of labels, from two thirds of them or fewer to all of `n_labeled`.
        Without a curve it is NaN.
        """
        sizes = [n for one, n in self._fits if one == name and 1.5 * n <= self.n_labeled]
        if not sizes or not self.n_known:
            return Difference()
        some, full = self.scores(name, max(sizes)), self.scores(name)
        shared = sorted(some.keys() & full.keys())
        found = self._paired([full[s] for s in shared], [some[s] for s in shared], self.n_labeled)
        share = math.log1p(more / self.n_known) / math.log(self.n_labeled / max(sizes)) * self.score.sign
        low, high = sorted((share * found.low, share * found.high))
        return Difference(share * found.mean, low, high, found.n)

    # --- what is shown

    @cached_property
    def table(self) -> pd.DataFrame:
        """The ranked table, one row for each method.

        `score_low` to `score_high` is the score's own 95 % interval. `difference` is the mean paired difference to the best
        method, and `low` to `high` its 95 % interval.
        `wins`, `ties` and `losses` count seeds against the best method. `seconds` and `megabytes` are means of a fit.
        """
        rows = list[dict[str, Any]]()
        for place, name in enumerate((*self.ranking, *self.unranked), 1):
            gain, own = self.difference(name, self.ranking[0]), self.interval(name)
            shown = -gain if self.score.is_loss else gain  # with the sign of the score itself
            low, high = (math.nan, math.nan) if place == 1 else (shown.low, shown.high)
            row: dict[str, Any] = {
                "rank": place if name in self.ranking else None,
                "method": name,
                "seeds": len(self.scores(name)),
            }
            row |= {"unlabeled": "used" if METHODS[name].uses_unlabeled else "not used", "note": self._note(name)}
            row |= {"score": own.mean, "score_low": own.low, "score_high": own.high}
            row |= {"difference": shown.mean + 0.0, "low": low, "high": high}
            row |= {"wins": gain.wins, "ties": gain.ties, "losses": gain.losses}
            rows.append(row | {what: self.mean_of(name, what) for what in ("seconds", "megabytes")})
        failed = [name for name in self.methods if name not in (*self.ranking, *self.unranked)]
        rows += [{"method": name, "seeds": 0, "note": self._note(name)} for name in failed]
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"rank": "Int64"})

    def _note(self, name: str) -> str:
        """Return the reason why a method has no rank or fewer seeds, and a note of its fits; empty if there is none."""
        n, most = len(self.scores(name)), max(len(self.scores(one)) for one in self.methods)
        fits = self._fits.get((name, self.n_labeled), [])
        own = next((fit.note for fit in fits if fit.scores and fit.note), "")
        failed = [fit.note for fit in fits if not fit.scores and fit.note != CUT_OFF]
        if not (name in self.unranked or n < most or not most):
            return own
        if failed:
            why = failed[0] if not n else f"{len(failed)} of {len(fits)} fits failed: {failed[0]}"
        elif not n:
            why = "it has no fit yet" if self.is_going else CUT_OFF if fits else "there was no time for it"
        elif (gain := self.difference(name, self.ranking[0], is_alone=True)).high < 0.0:
            why = "behind the best one: no more seeds"
        elif gain.n >= FEWEST_SEEDS and name not in self.verdict.contenders and not self.is_going:
            why = "hardly much better: no more seeds"
        elif name in self.unranked and n >= len(self.seeds):
            why = "it lacks seeds that the others share"
        else:
            why = "it has too few seeds yet" if self.is_going else "no time for more seeds"
        return "; ".join(filter(None, (why, own)))

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The learning curves: mean score, and the 95 % interval of this mean, by method and number of labels.

        At each number of labels, the means are over the seeds that all methods share there, and the intervals hold for all
        methods at once. A method with too few of these seeds has no point.
        """
        rows = []
        for n in sorted({n for _, n in self._fits}):
            ranked, shared = self._ranked if n == self.n_labeled else self._with_enough(self.ranking, n)
            for name in ranked:
                found = self._mean(name, shared, n, self.n_scored)
                rows.append((self.ranking.index(name), name, n, found.mean, found.low, found.high, found.n))
        rows.sort(key=lambda row: (row[0], row[2]))
        return pd.DataFrame([row[1:] for row in rows], columns=["method", "labels", "score", "low", "high", "seeds"])

    @cached_property
    def verdict(self) -> Verdict:
        """The simplest of the methods that none is ahead of, and what unlabeled data do."""
        n, little, score = len(self.seeds), LITTLE[self.score.unit], self.score
        if n < FEWEST_SEEDS or len(self.ranking) < 2:
            said = f"No verdict yet: it needs at least {FEWEST_SEEDS} seeds, and there {'is' if n == 1 else 'are'} {n}."
            said = said if n < FEWEST_SEEDS else "No verdict: fewer than two methods have enough seeds."
            failed = [fit for fit in self.fits if not fit.scores and fit.note != CUT_OFF]
            if not n and failed:
                said = f"No verdict: no fit has a score. {failed[0].request.method} says: {failed[0].note.rstrip('.')}."
            return Verdict(None, None, Difference(), n, said)
        unbeaten = [name for name in self.ranking if not any(self.beats(other, name) for other in self.ranking)]
        chosen = min(unbeaten, key=lambda name: METHODS[name].effort)  # the first one is the best of several
        own = self.interval(chosen)
        numbers = f"{score.title} {score.plain(own.mean)}, 95 % {score.plain(own.low)} to {score.plain(own.high)}, {own.n} seeds"
        if own.low <= 0.0 and own.high >= self.most:  # of many methods at once
            numbers = f"{score.title} {score.plain(own.mean)}; {own.n} seeds are too few for an interval"
        said, is_clear = self._over_simpler(chosen, f"({numbers})")
        # The best one may be the only one that learns, and the mean of all needs no correction for a choice.
        above, chance = self.gain_over_chance(self.ranking[:1])
        surely = (
            self.gain_over_chance(self.ranking[:1], self.n_scored)[0].low,
            self.gain_over_chance(self.ranking)[0].low,
        )
        is_at_chance = max(surely) <= 0.0
        if is_at_chance:
            least = f"one answer for all rows here ({score.title} {score.plain(chance)})"
            if above.mean > (1.0 + EQUAL) * above.half_width / student(above.n):  # few seeds have a wide interval
                said = f"{above.n} seeds cannot tell yet if a method beats {least}"
            else:
                said = f"No method clearly beats {least}: the columns may not tell the label, the labels may be too few, or a"
                said += " class too rare for this score"
            said += f". {chosen} is the simplest that none is ahead of ({numbers})"
        others = [name for name in (*self.ranking, *self.unranked) if name != chosen]
        # A gain whose interval is not known is neither.
        rivals = tuple(name for name in others if self.difference(name, chosen).high >= 0.0)
        contenders = tuple(name for name in rivals if self.difference(name, chosen, is_alone=True).high > little)
        if rivals:
            said += f"; {len(rivals)} other method{'s are' if len(rivals) > 1 else ' is'} not clearly worse"
        if contenders:
            better = f"may be more than {little:g} {score.unit} better, which is too close to call"
            said += f", and {len(contenders)} {better}"
        used, alone = (next((m for m in self.ranking if METHODS[m].uses_unlabeled is u), None) for u in (True, False))
        gain = Difference() if used is None or alone is None else self.difference(used, alone)
        effect = None
        if gain.effect is not None and not is_at_chance:
            tie = Help.DOES_NOT if gain.high < little else Help.UNCLEAR
            effect = {Effect.HELPS: Help.HELPS, Effect.HURTS: Help.HURTS}.get(gain.effect, tie)
            word, tells = f"unlabeled data {effect.value} here", ""
            if effect is Help.UNCLEAR:
                word, tells = "it cannot be told yet if unlabeled data help", self._what_would_tell(gain)
            mean, low, high = map(score.signed, (gain.mean, gain.low, gain.high))
            more, less = (alone, used) if score.is_loss else (used, alone)  # above zero is better
            said += f"; {word} ({more} less {less}: {mean} {score.unit} of {score.title}, 95 % {low} to {high}{tells})"
        if self.order:
            said += f"; the classes are taken in the order {' < '.join(self.order)}"
        return Verdict(chosen, effect, gain, n, f"{said}.", is_clear and not is_at_chance, rivals, contenders)

    def _over_simpler(self, chosen: str, numbers: str) -> tuple[str, bool]:
        """Return words on a method beside the simpler ones, and True if it is clearly better than all of them."""
        simpler = [name for name in self.ranking if METHODS[name].effort < METHODS[chosen].effort]
        if not simpler:
            return f"Nothing clearly beats {chosen} here: use that {numbers}", True
        least, name = min(((self.difference(chosen, name), name) for name in simpler), key=lambda one: one[0].low)
        if least.low > 0.0:
            return f"Use {chosen}, the simplest method that nothing clearly beats here {numbers}", True
        mean, low, high = map(self.score.signed, (least.mean, least.low, least.high))
        state = "is ahead so far, not clearly" if least.mean > 0.0 else "is among the best so far, not clearly"
        gain = f"{mean} {self.score.unit} over {name}, which is simpler, 95 % {low} to {high}"
        return f"{chosen} {state}: {gain} {numbers}", False

    def _what_would_tell(self, gain: Difference) -> str:
        """Return about how many labels, or seeds where labels are to spare, would make an interval narrow enough for its gain.

        The width of an interval falls as one over the root of their number.
        """
        needed = (gain.half_width / max(abs(gain.mean), LITTLE[self.score.unit] - gain.mean)) ** 2
        has_labels_to_spare = not self.overlaps.get(self.n_labeled)
        number, what = (gain.n, "seeds") if has_labels_to_spare else (self.n_known, "labels")
        more = (needed - 1.0) * number
        if not number or not 0.0 < more < MOST_TO_TELL:
            return ""
        digits = 10 ** max(0, int(math.log10(more)) - 1)
        return f"; about {max(1, round(more / digits) * digits):,} {what} more would tell"

    @property
    def interval_sentence(self) -> str:
        """The kind of interval, in one sentence."""
        if len(self.seeds) < 2:
            return "An interval needs at least two seeds."
        has_overlap = bool(self.overlaps.get(self.n_labeled))
        corrected = ", corrected for labels that the splits share (Nadeau and Bengio 2003)."
        fresh = ". Each seed draws fresh labels."
        methods = "both" if self.n_scored == 2 else f"all {self.n_scored}"
        once = f", for {methods} methods at once" if self.n_scored > 1 else ""
        return f"The intervals are Student's on paired differences over the seeds{once}{corrected if has_overlap else fresh}"

    def to_csv(self) -> str:
        """Return the ranked table as CSV."""
        return self.table.to_csv(index=False, lineterminator="\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain data for JSON; NaN becomes None."""
        said = {name: getattr(self, name) for name in ("name", "n_labeled", "n_train", "n_test", "is_complete")}
        said |= {"score": self.score.title, "overlap": self.overlaps.get(self.n_labeled, 0.0)}
        said |= {"intervals": self.interval_sentence, "verdict": self.verdict.to_dict()}
        said |= {"order": list(self.order), "warnings": list(self.warnings)}
        frames = {"table": self.table, "curves": self.curves}
        return said | {n: json.loads(f.to_json(orient="records", double_precision=15)) for n, f in frames.items()}
