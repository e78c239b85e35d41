"""The tables of `out_of_the_box.py`, in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from reporting import table as markdown
from scipy import stats

WIN, TIE, LOSS = "win", "tie", "loss"
# Of fewer seeds the spread is too often none.
FEWEST_SEEDS = 3
# A smaller difference, in points, is none.
LEAST = 0.005


@dataclass(frozen=True)
class Cell:
    """One requested fit: its part ("sets" or "scale"), set, title in a table, scaling, size, estimator and seed.

    `n_labeled` is 0 if the kind of set decides.
    """

    part: str
    kind: str
    name: str
    title: str
    scaling: str
    n: int
    n_labeled: int
    estimator: str
    seed: int


@dataclass(frozen=True)
class Fit:
    """Result of a fit: scores in percent by name, CPU seconds and peak megabytes, or the reason if there is none."""

    cell: Cell
    scores: dict[str, float] = field(default_factory=dict)
    seconds: float = math.nan
    megabytes: float = math.nan
    n: int = 0
    d: int = 0
    note: str = ""
    failure: str = ""


@dataclass(frozen=True)
class Difference:
    """A mean of paired differences, in points, and half of its 95 % interval over so many seeds."""

    mean: float
    half_width: float
    n_seeds: int

    @property
    def verdict(self) -> str:
        """The verdict; empty with too few seeds."""
        if self.n_seeds < FEWEST_SEEDS:
            return ""
        if abs(self.mean) <= max(self.half_width, LEAST):
            return TIE
        return WIN if self.mean > 0 else LOSS

    def __str__(self) -> str:
        width = "" if math.isnan(self.half_width) else f" ± {self.half_width:.1f}"
        return f"{self.mean:+.1f}{width}"


def difference(ours: dict[int, float], theirs: dict[int, float]) -> Difference | None:
    """Return the mean difference over the seeds that both have; None where there is none."""
    gaps = np.array([ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())])
    if not len(gaps):
        return None
    width = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
    return Difference(float(gaps.mean()), float(width), len(gaps))


class Results:
    """Fits by where they belong."""

    def __init__(self, fits: Iterable[Fit]) -> None:
        self.of: dict[tuple[Any, ...], dict[int, Fit]] = {}
        for fit in fits:
            cell = fit.cell
            key = (cell.part, cell.kind, cell.title, cell.scaling, cell.n, cell.n_labeled, cell.estimator)
            self.of.setdefault(key, {})[cell.seed] = fit

    def scores(self, key: tuple[Any, ...], score: str) -> dict[int, float]:
        """Return the scores by seed."""
        return {seed: fit.scores[score] for seed, fit in self.of.get(key, {}).items() if score in fit.scores}

    def failure(self, key: tuple[Any, ...]) -> str:
        """Return why there is no score."""
        return next((fit.failure for fit in self.of.get(key, {}).values() if fit.failure), "")

    def took(self, key: tuple[Any, ...]) -> tuple[float, float]:
        """Return mean seconds and the most megabytes."""
        fits = [fit for fit in self.of.get(key, {}).values() if not fit.failure]
        return float(np.mean([fit.seconds for fit in fits])), max(fit.megabytes for fit in fits)

    def values(self, place: int) -> list[Any]:
        """Return what there is at a place of the keys, in the order of the fits."""
        return list(dict.fromkeys(key[place] for key in self.of))


def score_text(results: Results, key: tuple[Any, ...], score: str) -> str:
    """Return the score of a place in a table, or why there is none."""
    scores = results.scores(key, score)
    if not scores:
        return results.failure(key).split(":")[0] or "–"
    missing = results.failure(key)
    also = f" ({missing.split(':')[0]} with some seeds)" if missing else ""
    return f"{np.mean(list(scores.values())):.1f}{also}"


def cost_texts(results: Results, key: tuple[Any, ...]) -> tuple[str, str]:
    """Return the CPU seconds and the megabytes of a place in a table."""
    if all(fit.failure for fit in results.of.get(key, {}).values()):
        return "–", "–"
    seconds, megabytes = results.took(key)
    return _seconds(seconds), f"{max(0.0, megabytes):.0f}"


def short(name: str) -> str:
    """Return a method's name in a table."""
    return name.removeprefix("Everyday")


def _seconds(number: float) -> str:
    """Return seconds in two digits; the system's account of CPU time is not finer than a hundredth."""
    return "< 0.01 s" if number < 0.01 else f"{_two_digits(number)} s"


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def keys_of(
    results: Results, place: tuple[str, str, int], methods: Sequence[str]
) -> tuple[list[str], list[str], dict[tuple[str, str], tuple[Any, ...]]]:
    """Return the titles of the sets of one kind, scaling and number of points, the methods, and the place of each pair."""
    kind, scaling, n = place
    titles = [t for t in results.values(2) if any(key[:4] == ("sets", kind, t, scaling) for key in results.of)]
    known = [name for name in methods if any(key[1] == kind and key[-1] == name for key in results.of)]
    return titles, known, {(t, name): ("sets", kind, t, scaling, n, 0, name) for t in titles for name in known}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty one."""
    return [*markdown(head, rows).splitlines(), ""]


def set_tables(
    results: Results,
    rows: Mapping[str, int],
    place: tuple[str, str, int],
    score: str,
    ours: Sequence[str],
    peers: Sequence[str],
) -> list[str]:
    """Return the scores of one kind of set, scaling and number of points, and who wins how often; `rows` are the sets'."""
    titles, known, keys = keys_of(results, place, (*ours, *peers))
    if not titles or not known:
        return []
    lines = []
    for t in titles:
        size = next(((f.n, f.d) for name in known for f in results.of.get(keys[t, name], {}).values() if f.n), (0, 0))
        cells = [score_text(results, keys[t, name], score) for name in known]
        lines.append([f"{t}: {rows[t]:,} × {size[1]}, {size[0]:,}", *cells])
    lines.append(_means(results, keys, titles, known, score))
    head = ["set: rows × columns, training points", *map(short, known)]
    return [
        f"### {score} in %, {place[0]}, {place[1]}",
        "",
        *table(head, lines),
        *_duels(results, keys, titles, known, score, ours),
    ]


def set_costs(results: Results, place: tuple[str, str, int], score: str, methods: Sequence[str]) -> list[str]:
    """Return the CPU seconds and the megabytes of the fits of one kind of set, scaling and number of points."""
    titles, known, keys = keys_of(results, place, methods)
    if not titles or not known:
        return []
    common, means = _common(results, keys, titles, known, score), []
    if common:
        seconds = [_seconds(float(np.mean([results.took(keys[t, name])[0] for t in common]))) for name in known]
        means.append([f"**mean over {len(common)} sets**", *seconds])
    rows = {t: [keys[t, name] for name in known] for t in titles}
    return _costs(results, f"{place[0]}, {place[1]}", ["set", *map(short, known)], rows, means)


def _costs(
    results: Results,
    title: str,
    head: Sequence[str],
    rows: Mapping[str, Sequence[tuple[Any, ...]]],
    means: Sequence[Sequence[str]] = (),
) -> list[str]:
    seconds, megabytes = (
        [[name, *(cost_texts(results, key)[what] for key in keys)] for name, keys in rows.items()] for what in (0, 1)
    )
    lines = [f"### CPU seconds of a fit, {title}", "", *table(head, [*seconds, *means])]
    return [*lines, f"### Megabytes of a fit, {title}", "", *table(head, megabytes)]


def _common(results: Results, keys: dict, titles: list[str], known: list[str], score: str) -> list[str]:
    """Return the sets on which every method has a score."""
    return [t for t in titles if all(results.scores(keys[t, name], score) for name in known)]


def _means(results: Results, keys: dict, titles: list[str], known: list[str], score: str) -> list[str]:
    """Return the row of the means over the sets on which every method has a score."""
    common = _common(results, keys, titles, known, score)
    cells = []
    for name in known:
        means = [np.mean(list(results.scores(keys[t, name], score).values())) for t in common]
        cells.append(f"**{np.mean(means):.1f}**" if common else "–")
    return [f"**mean over {len(common)} sets**", *cells]


def _duels(
    results: Results, keys: dict, titles: list[str], known: list[str], score: str, ours: Sequence[str]
) -> list[str]:
    """Return who wins how often, by how much on average, and on which set by how much at worst."""
    own, peers = [name for name in known if name in ours], [name for name in known if name not in ours]
    if not own or not peers:
        return []
    rows = [[short(other), *(_duel(results, keys, titles, (name, other), score) for name in own)] for other in peers]
    return table(["ours less", *own], rows)


def _duel(results: Results, keys: dict, titles: list[str], names: tuple[str, str], score: str) -> str:
    """Return the mean difference of two methods, the verdicts, and the set on which the first fares worst."""
    pairs = {t: difference(*(results.scores(keys[t, name], score) for name in names)) for t in titles}
    gaps = {t: gap for t, gap in pairs.items() if gap}
    if not gaps:
        return "–"
    verdicts = [gap.verdict for gap in gaps.values()]
    counts = " / ".join(str(verdicts.count(v)) for v in (WIN, TIE, LOSS)) if any(verdicts) else "too few seeds"
    worst = min(gaps, key=lambda t: gaps[t].mean)
    mean = np.mean([gap.mean for gap in gaps.values()])
    return f"{mean:+.2f}; {counts}; {worst} {gaps[worst]}"


def scale_table(
    results: Results,
    place: tuple[str, str],
    labels: str,
    score: str,
    sizes: Sequence[tuple[int, int]],
    ours: Sequence[str],
    own: str,
) -> list[str]:
    """Return the scores of one set over its sizes, each with its number of labels, and how our `own` compares."""
    kind, title = place
    known = [
        name
        for name in results.values(6)
        if any(key[:3] == ("scale", kind, title) and key[-1] == name for key in results.of)
    ]
    known = [*(name for name in known if name in ours), *(name for name in known if name not in ours)]
    keys = [("scale", kind, title, "standardised", n, n_labeled) for n, n_labeled in sizes]
    head = [f"n = {n:,}" for n, _ in sizes]
    peers = [name for name in known if name not in ours]
    scores = [[short(name), *(score_text(results, (*key, name), score) for key in keys)] for name in known]
    lines = [f"### {title}, {labels}: {score} in %", "", *table(["", *head], scores)]
    for number, what in enumerate((f"{own} less", f"CPU time of {own}, as a multiple of that of")):
        rows = [[short(name), *(_against(results, key, (own, name), score)[number] for key in keys)] for name in peers]
        lines += table([what, *head], rows) if peers else []
    return lines


def scale_costs(
    results: Results, place: tuple[str, str], sizes: Sequence[tuple[int, int]], labels: str, methods: Sequence[str]
) -> list[str]:
    """Return the CPU seconds and the megabytes of the fits of one set over its sizes."""
    kind, title = place
    known = [m for m in methods if any(k[:3] == ("scale", kind, title) and k[-1] == m for k in results.of)]
    rows = {
        short(m): [("scale", kind, title, "standardised", n, n_labeled, m) for n, n_labeled in sizes] for m in known
    }
    return _costs(results, f"{title}, {labels}", ["", *(f"n = {n:,}" for n, _ in sizes)], rows)


def _against(results: Results, key: tuple[Any, ...], names: tuple[str, str], score: str) -> tuple[str, str]:
    """Return whether ours wins against a peer at one size, and its CPU time as a multiple of the peer's."""
    gap = difference(*(results.scores((*key, name), score) for name in names))
    if gap is None:
        return "–", "–"
    ours, theirs = (max(0.01, results.took((*key, name))[0]) for name in names)
    return f"{gap.verdict or 'no verdict'} {gap}", f"{_two_digits(ours / theirs)} ×"
