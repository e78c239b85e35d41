"""Default arguments only: our five estimators and common ones, on real sets and on growing numbers of points.

    python tests/benchmarks/out_of_the_box.py --sets DIR --rows rows.jsonl --out out_of_the_box.md

Sets: all .npz of the folder (X, and y of two classes or more, or y5 of ordered ones), and those of scikit-learn. 30 %
of a set's rows (4,000 at most) are for testing. The rest is for training (`--n-max` at most, drawn for each seed).
200 points keep their labels in sets of two classes, 30 % in those of more, and 500 in ordered ones (half of the
points at most). Each class keeps at least two labels. TSGSU gets 500 similar pairs, 2,500 unlabeled points, and the
true share of positives, which SU-SL also gets. Coordinates are scaled by the training points, labeled or not.

At scale: 10^3 to 10^6 training points of a large set of the folder, and of two generated sets in the shape of SUSY
and HIGGS (see `box_sets.made`), with 10,000 test points.

Every fit has a separate process with one thread. It ends if it runs out of time (`--seconds` of CPU time) or memory
(`--gigabytes`). Times are CPU seconds of the fit. Memory is the peak of the resident memory, minus that before the
fit with the data and all libraries loaded. A win or a loss is a 95 % interval of the paired differences over the
seeds (Student's t) without zero. A method that ran out of time or memory at one size is not tried at a larger one.

Each fit is added to the file `--rows` at once, and fits that are in it are not made again, except for the estimators
that `--again` names. So an interrupted run continues, and a changed estimator is measured again.
"""

from __future__ import annotations

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from box_methods import ESTIMATORS, OURS, SCORES, fit
from box_sets import BINARY, MADE, ORDINAL, SCALERS, Source, sources
from box_tables import Cell, Fit, Results, scale_costs, scale_table, set_costs, set_tables
from own_process import OUT_OF, Bounds, measured, on_one_thread
from reporting import command_line, keep_rows, machine, names, read_rows, show

FOR_AUC = "QSGS2AUC"  # of the two for two classes
SIZES = (1000, 10_000, 100_000, 1_000_000)
SCALE_NOTE = """Made sets are in float32. The peers make a copy in float64, which counts as their memory.
The tables below the scores compare ours with each peer: the score less theirs with its verdict, and the CPU time as a multiple
of theirs (0.01 s at least)."""
HEAD = """# Are the default values as good as the methods that people install?

The tables have mean scores over the seeds. Only default arguments are used, except for the seed, and for the true share of
positives of TSGSU and SU-SL.

    {command}

The machine is {machine}.
There are {seeds} seeds, and one thread for a fit.

## How to read the tables

- Training points are drawn for each seed: {n_max:,} of a set's rows at most.
- Of them 200 are labeled in sets of two classes, 30 % in sets of more classes, 500 in ordered ones, and half of them at most.
- The methods that are not ours are scikit-learn's. They learn from the labeled points alone; self-training and label spreading
  learn from all points. SVOREX and SUSL are the papers'.
- Below a table of scores stands ours less theirs, in three parts. The first is the mean over the sets, in points. The second
  is the number of sets with a win / a tie / a loss, by the 95 % interval of the paired differences over the seeds. The third
  is the set with our worst result, with half of its interval.
- Megabytes are the peak of a fit beside the data. A fit that needed too much CPU time or memory is marked.
"""
FEW, MANY = "200 labels", "a tenth of them labeled"


# Requested fits.


def set_cells(found: list[Source], args: Namespace) -> Iterator[Cell]:
    """Yield the cells of the sets, seed by seed: what there is after a while is a table of fewer seeds."""
    for seed in range(args.seeds):
        for source in found:
            for scaling in SCALERS:
                for name in ESTIMATORS[source.kind]:
                    yield Cell("sets", source.kind, source.name, source.title, scaling, args.n_max, 0, name, seed)


def scale_sets(found: list[Source]) -> list[tuple[str, str, str, tuple[int, ...]]]:
    """Return kind, set, labels and sizes of each table at scale."""
    large = [s for s in found if s.n > 140_000 and s.kind in (BINARY, ORDINAL)]
    asked = [(s.kind, s.name, FEW if s.kind == BINARY else "500 labels", SIZES[:3]) for s in large]
    susy, higgs = MADE
    return [(BINARY, susy, FEW, SIZES), (BINARY, susy, MANY, SIZES), (BINARY, higgs, MANY, SIZES), *asked]


def n_labels(n: int, labels: str) -> int:
    """Return how many of n points are labeled."""
    return n // 10 if labels == MANY else min(int(labels.split()[0]), n // 2)


def scale_cells(found: list[Source], args: Namespace) -> Iterator[Cell]:
    """Yield the cells at scale, the smallest first."""
    for n in SIZES:
        for seed in range(args.seeds):
            for kind, name, labels, sizes in scale_sets(found):
                if n not in sizes or n > args.largest:
                    continue
                for estimator in ESTIMATORS[kind]:
                    yield Cell("scale", kind, name, name, "standardised", n, n_labels(n, labels), estimator, seed)


def asked(found: list[Source], args: Namespace) -> Iterator[Cell]:
    """Yield all cells that the command line asks for."""
    for part, cells in (("sets", set_cells), ("scale", scale_cells)):
        if part in args.parts:
            for cell in cells(found, args):
                if _is_named(cell.name, args.only) and _is_named(cell.estimator, args.estimators):
                    yield cell


def _is_named(name: str, asked_for: list[str] | None) -> bool:
    return not asked_for or name in asked_for


# Measuring what is not known.


def known_fits(path: Path) -> dict[Cell, Fit]:
    """Return the fits of a file of rows, the last one of each cell."""
    fits = [Fit(Cell(**row.pop("cell")), **row) for row in read_rows(path)]
    return {fit.cell: fit for fit in fits}


def without_hope(cell: Cell, fits: dict[Cell, Fit]) -> str:
    """Return why a cell need not be tried: the method had not enough time or memory there with fewer points, or another seed."""
    for other, known in fits.items():
        same = replace(other, n=cell.n, n_labeled=cell.n_labeled, seed=cell.seed) == cell and other.n <= cell.n
        is_less = (other.n_labeled == cell.n_labeled) or (other.n < cell.n and _tenth(other) == _tenth(cell))
        if same and is_less and known.failure.startswith(OUT_OF):
            return known.failure
    return ""


def _tenth(cell: Cell) -> bool:
    return cell.n_labeled * 10 == cell.n


def measure(found: list[Source], args: Namespace) -> dict[Cell, Fit]:
    """Make the missing fits, and return all requested ones."""
    wanted = list(asked(found, args))
    fits = known_fits(args.rows)
    again = set(OURS) if args.again == ["ours"] else set(args.again or [])
    todo = [cell for cell in wanted if cell not in fits or cell.estimator in again]
    for cell in todo:
        fits.pop(cell, None)
    known = {(source.kind, source.name): source for source in found}
    begun = time.monotonic()

    def hopeful() -> Iterator[Cell]:
        for cell in todo:
            if reason := without_hope(cell, fits):
                keep(Fit(cell, failure=reason))
            else:
                if cell.name not in MADE:
                    known[cell.kind, cell.name].read()  # once, and not in each process
                yield cell

    def keep(row: Fit) -> None:
        fits[row.cell] = row
        keep_rows(args.rows, [asdict(row)])

    bounds = Bounds(args.seconds, args.gigabytes)
    results = measured(partial(fit, known=known), hopeful(), jobs=args.jobs, bounds=bounds)
    for done, (cell, row, failure) in enumerate(results, 1):
        keep(row or Fit(cell, failure=failure))
        if args.verbose:
            what = failure or f"{row.scores} {row.seconds:.2g} s {row.megabytes:.0f} MB"
            print(f"{cell.title} {cell.scaling} n={cell.n} seed {cell.seed} {cell.estimator}: {what}", flush=True)
        elif done % 100 == 0:
            print(f"{done} fits in {time.monotonic() - begun:.0f} s, {len(todo)} asked for", file=sys.stderr)
    return {cell: fits[cell] for cell in wanted if cell in fits}


# The report.


def report(fits: dict[Cell, Fit], found: list[Source], args: Namespace) -> str:
    """Return the whole text, in Markdown."""
    results, rows = Results(fits.values()), {source.title: source.n for source in found}
    lines = [*head(args), ""]
    for kind, every in ESTIMATORS.items():
        ours, peers = [n for n in every if n in OURS], [n for n in every if n not in OURS]
        tables = [
            line
            for score in SCORES[kind]
            for scaling in SCALERS
            for line in set_tables(results, rows, (kind, scaling, args.n_max), score, ours, peers)
        ]
        costs = [
            line
            for scaling in SCALERS
            for line in set_costs(results, (kind, scaling, args.n_max), SCORES[kind][0], every)
        ]
        lines += [f"## {kind.capitalize()}", "", *tables, *costs] if tables else []
    if any(cell.part == "scale" for cell in fits):
        lines += ["## At scale", "", SCALE_NOTE, ""]
        for kind, name, labels, sizes in scale_sets(found):
            held = [(n, n_labels(n, labels)) for n in sizes if n <= args.largest]
            ours = [n for n in ESTIMATORS[kind] if n in OURS]
            if any((c.part, c.name) == ("scale", name) for c in fits):
                for score in SCORES[kind]:
                    own = FOR_AUC if score == "AUC" else ours[0]
                    lines += scale_table(results, (kind, name), labels, score, held, ours, own)
                lines += scale_costs(results, (kind, name), held, labels, ESTIMATORS[kind])
    return "\n".join(lines)


def head(args: Namespace) -> list[str]:
    """Return an explanation of the tables, with the machine and the versions."""
    command = shlex.join(["python", *sys.argv])
    return HEAD.format(command=command, machine=machine(), seeds=args.seeds, n_max=args.n_max).splitlines()


def main() -> None:
    sizes = {"seeds": 5, "n_max": 6000, "largest": SIZES[-1], "jobs": 1, "seconds": 120.0, "gigabytes": 8.0}
    files = {"sets": Path, "rows": Path("out_of_the_box.jsonl"), "out": Path, "verbose": False}
    args = command_line(__doc__, only=names, estimators=names, again=names, parts=names, **sizes, **files)
    args.parts = args.parts or ["sets", "scale"]
    if args.sets and not args.sets.is_dir():
        sys.exit(f"--sets must name a folder of .npz files, got {args.sets}")
    on_one_thread()
    found = sources(args.sets)
    show(report(measure(found, args), found, args), args.out)


if __name__ == "__main__":
    main()
