"""Verdicts of a comparison, checked on other splits of the same sets.

    python tests/benchmarks/verdict.py --fits verdict.sqlite --out verdict.md

The sets are those of `../shared/data` (or of the folder in DSGLAB_DATA), bundled and made ones, with at most 1,500 rows.
Each verdict is that of `compare` with its defaults, but without a time limit.
`--others` is the number of other splits, and `--first` the seed of the first one.
`--fits` keeps each fit, so a stopped run continues, and `--labels 50` makes a part of all. Two parts may run at once.
"""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before NumPy is there.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS"), "1")

import numpy as np
from numpy.typing import NDArray
from reporting import arrays_of, command_line, machine, show, table

from dsgcore.comparing import METHODS, SCORES, Comparison, FitRequest, Help, Sample, compare
from dsgcore.comparing.fits import KeptFits, fit
from dsgcore.data import load
from dsgcore.jobs import JobQueue
from dsgcore.studies.store import Store

FILES = ("codrna", "skin_nonskin", "higgs7500", "segment", "vowel", "pendigits", "svmguide2", "glass", "covtype20k")
ORDERED = ("kin40k", "sgemm", "diabetes")
BUNDLED = ("breast_cancer", "two_moons", "diabetes")
MADE, MADE_COLUMNS = "like SUSY (made)", 18
MOST_ROWS, N_LABELED, FIRST_OTHER = 1500, (50, 200), 100
# In points, or in hundredths of a class. A verdict is right if its method is at most so far behind.
NEAR = 0.5
HEAD = """# Is the verdict of a comparison right?

{answer}

A verdict comes from {least} to {most} seeds, as many as `compare` chooses by default: on average {mean:.0f} for the recommended
method and {every:.0f} for all. Then every method is fitted on {others} other splits of the same set.
"Behind" is the mean score of the best method on those splits less that of the recommended one, in points.
The best one is chosen in hindsight among up to 13 methods, so even a perfect choice beforehand would be behind a little.
"Open" is the number of methods that, by the verdict, may be more than half a point better than the recommended one.
"Holds" compares the best method that uses unlabeled points with the best one that does not, both chosen on the other splits:
"help" holds if the first one is better, and "do not help" if it is less than half a point better.

{rows}

The machine is {machine}, with other work on it.

    python tests/benchmarks/verdict.py --labels {labels} --fits verdict.sqlite --out verdict.md
"""


@dataclass(eq=False)
class Made:
    """A job that is over."""

    result: Any
    progress: None = None
    error: str = ""
    is_over: bool = True


class Here(JobQueue):
    """A queue that makes fits in this process, because starting a process for each job would take longer."""

    def __init__(self) -> None:
        self.n_at_a_time = 1

    def submit(self, function: Callable[..., Any], *arguments: Any, **limits: Any) -> Any:
        """Return a job that is over."""
        return Made(function(*arguments, report=lambda made: None))


@dataclass(frozen=True)
class Case:
    """A set with a number of labels."""

    name: str
    X: NDArray
    y: NDArray
    sample: Sample

    @property
    def scores(self) -> list[str]:
        """Names of the scores that it has."""
        return [name for name, score in SCORES.items() if self.sample.kind in score.kinds]

    def verdict_on(self, score: str, store: Store, seeds: int | None = None) -> Comparison:
        """Return the comparison of all methods, with the default number of seeds or another one."""
        given = {"n_labeled": self.sample.n_labeled, "ordered": self.sample.kind == "ordinal", "score": score}
        return compare(self.X, self.y, **given, seeds=seeds, seconds=None, curves=False, store=store, jobs=Here())

    def fits(self, seeds: range) -> list[FitRequest]:
        """Return the fits of all methods on some splits."""
        names = [method.name for method in METHODS.values() if self.sample.kind in method.kinds]
        return [FitRequest(name, seed, self.sample.n_labeled) for seed in seeds for name in names]


def sets() -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield the name, the points and the classes of each set."""
    for name in (*FILES, *ORDERED[:2]):
        held = arrays_of(name)
        yield name, held["X"].astype(float), held["y5" if name in ORDERED else "y"]
    for name in BUNDLED:
        data = load(name)
        yield name, data.X, data.y
    yield MADE, *made(np.random.default_rng(1000))


def made(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return points as hard as SUSY's: half of the columns skewed as energies are, half symmetric as angles.

    The logit of a point's class is a linear part, and cosines of a few directions and products of columns, which no linear
    method can have.
    """
    d, fixed = MADE_COLUMNS, np.random.default_rng(zlib.crc32(MADE.encode()))  # the same law for every draw
    w, V = fixed.normal(size=d), fixed.normal(size=(d, 6)) / np.sqrt(d)
    w, first, second = w / np.linalg.norm(w), fixed.permutation(d)[:6], fixed.permutation(d)[:6]
    X = rng.standard_normal((MOST_ROWS, d), dtype=np.float32)
    logit = 1.6 * (X @ w) + 0.8 * (np.cos(2.0 * X @ V).mean(axis=1) + (X[:, first] * X[:, second]).mean(axis=1))
    y = (rng.random(len(X)) < 1.0 / (1.0 + np.exp(-2.0 * (logit - np.median(logit))))).astype(int)
    X[:, : d // 2] = np.exp(0.5 * X[:, : d // 2])
    return X, y


def cases(labels: Sequence[int]) -> Iterator[Case]:
    """Yield each set with each number of labels that it has, thinned to `MOST_ROWS`."""
    for name, X, y in sets():
        rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        codes = np.unique(y, return_inverse=True)[1][rows]
        ordered = name in ORDERED
        for n_labeled in labels:
            if n_labeled <= Sample.of(X[rows], codes, n_labeled=None, is_ordered=ordered).most_labels:
                yield Case(name, X[rows], codes, Sample.of(X[rows], codes, n_labeled=n_labeled, is_ordered=ordered))


def make_fits(case: Case, seeds: range, store: Store) -> None:
    """Make the fits that the store does not have."""
    kept, requests = KeptFits(case.sample, store), case.fits(seeds)
    known = kept.get(requests)
    for request in requests:
        if request not in known:
            kept.put([fit(request, case.sample.split(request.seed, request.n_labeled), case.sample.kind)])


def checked(case: Case, score: str, seeds: range, store: Store) -> Comparison:
    """Return the comparison on other splits."""
    fits, sample = KeptFits(case.sample, store).get(case.fits(seeds)), case.sample
    return Comparison(
        fits=tuple(fits.values()),
        methods=tuple(fit.method for fit in case.fits(range(1))),
        score_name=score,
        n_labeled=sample.n_labeled,
        n_train=len(sample.y) - sample.n_test,
        n_test=sample.n_test,
        overlaps={sample.n_labeled: sample.overlap_at(sample.n_labeled)},
        n_classes=len(sample.classes),
    )


def row_of(case: Case, found: Comparison, others: Comparison) -> tuple[list[object], float, bool | None]:
    """Return a line of the table, by how much the recommended method is behind, and if the rest of the verdict holds."""
    verdict, sign = found.verdict, found.score.sign * (1.0 if found.score.unit == "points" else 100.0)
    means = {name: sign * others.mean(name) for name in others.ranking}
    behind = max(means.values()) - means[str(verdict.recommended)]
    used, alone = (max(v for k, v in means.items() if METHODS[k].uses_unlabeled is one) for one in (True, False))
    holds = {Help.HELPS: used > alone, Help.DOES_NOT: used < alone + NEAR}.get(verdict.help or Help.UNCLEAR)
    said = "" if verdict.help is None else verdict.help.value
    best = max(means, key=lambda k: means[k])
    own = str(verdict.recommended)
    shown = {True: "holds", False: "does not hold", None: ""}[holds]
    line = [
        case.name,
        case.sample.n_labeled,
        found.score.title,
        own,
        len(found.scores(str(verdict.recommended))),
        len(verdict.contenders),
        f"{behind:.1f}",
        best,
        said,
        f"{used - alone:+.1f}",
    ]
    return [*line, shown], behind, holds


def report(every: list[Case], others: range, store: Store) -> str:
    """Return the note."""
    measured, of_ten, recommended, all_seeds = [], [], [], []
    for case in every:
        for score in case.scores:
            found, on_others = case.verdict_on(score, store), checked(case, score, others, store)
            measured.append(row_of(case, found, on_others))
            of_ten.append(row_of(case, case.verdict_on(score, store, 10), on_others)[1] <= NEAR)
            recommended.append(len(found.scores(str(found.verdict.recommended))))
            all_seeds += [len(found.scores(name)) for name in found.ranking]
    near = [behind <= NEAR for _, behind, _ in measured]
    held = [holds for *_, holds in measured if holds is not None]
    answer = (
        f"In {sum(near)} of {len(near)} cases ({np.mean(near):.0%}) the recommended method is at most half a point behind, "
        f"on average {np.mean([behind for _, behind, _ in measured]):.2f} points. "
        f"With exactly ten seeds it is so in {sum(of_ten)} ({np.mean(of_ten):.0%}). "
        f"Of {len(held)} statements about unlabeled data, {sum(held)} hold."
    )
    head = [
        "set",
        "labels",
        "score",
        "recommended",
        "seeds",
        "open",
        "behind",
        "best in hindsight",
        "unlabeled data",
        "gain",
        "",
    ]
    seeds = {
        "least": min(recommended),
        "most": max(recommended),
        "mean": np.mean(recommended),
        "every": np.mean(all_seeds),
    }
    labels = " ".join(map(str, sorted({case.sample.n_labeled for case in every})))
    rows = table(head, [line for line, *_ in measured])
    return HEAD.format(answer=answer, rows=rows, **seeds, others=len(others), labels=labels, machine=machine())


def main() -> None:
    args = command_line(__doc__, others=30, first=FIRST_OTHER, labels=list(N_LABELED), fits=Path, out=Path)
    warnings.simplefilter("ignore")
    store, every = Store(args.fits), list(cases(args.labels))
    seeds = range(args.first, args.first + args.others)
    for case in every:
        for score in case.scores:
            print(case.name, case.sample.n_labeled, case.verdict_on(score, store).verdict.sentence, flush=True)
    for seed in seeds:
        for case in every:
            make_fits(case, range(seed, seed + 1), store)
        print(f"seed {seed}", flush=True)
    show(report(every, seeds, store), args.out)


if __name__ == "__main__":
    main()
