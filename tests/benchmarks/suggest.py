"""Gain of "Suggest" on the real sets of a folder: test scores with default and with suggested arguments.

    python tests/benchmarks/suggest.py --sets DIR --seeds 2 --out tests/benchmarks/suggest.md

The sets have the splits of `out_of_the_box.py`, standardised: at most `--n-max` training points, of which 200 (two
classes), 500 (ordered) or 30 % (several) are labeled. `dsgcore.model_selection.suggest` has one thread and
`--seconds` of *CPU* time, so that other work on the machine changes nothing. The estimator is then fitted with its
defaults and with the suggestion.
"""

from __future__ import annotations

import os
import time
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before NumPy is there.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS"), "1")

import numpy as np
from box_sets import BINARY, MULTICLASS, ORDINAL, Source, Split, drawn, sources
from reporting import command_line, show, table
from sklearn.exceptions import ConvergenceWarning

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.core.metrics import paired_difference
from dsgcore.model_selection import accuracy, auc_score, mean_auc_score, suggest
from dsgcore.tuning import search

ESTIMATORS = {
    BINARY: (QSGS2AUC, auc_score, "AUC"),
    ORDINAL: (QS3ORAO, mean_auc_score, "mean AUC"),
    MULTICLASS: (PS3VT, accuracy, "accuracy"),
}
ASKED_OTHERWISE = {("skin_nonskin", BINARY): (TSGS3VM, accuracy, "accuracy")}
# Of these, splits of other seeds had a part in making the search's rules: of all of several classes, and of some others.
SEEN_TOO = {"codrna", "higgs7500", "skin_nonskin", "kin40k"}


def asked(source: Source) -> tuple[type[Any], Any, str]:
    """Return the estimator that a set is given to, its score and the score's name."""
    return ASKED_OTHERWISE.get((source.name, source.kind)) or ESTIMATORS[source.kind]


@dataclass(frozen=True)
class Row:
    """One split: test scores with defaults and with the suggestion, the suggestion, and the CPU seconds."""

    before: float
    after: float
    found: dict[str, Any]
    tried: int
    seconds: float


def measured(kind: type[Any], score: Any, split: Split, seed: int, seconds: float) -> Row:
    """Suggest, fit and score on one split."""
    start = time.process_time()
    found = suggest(kind(random_state=seed), split.X, split.y, seconds=seconds)
    spent = time.process_time() - start
    before, after = (
        score(kind(random_state=seed, **given).fit(split.X, split.y), split.X_test, split.y_test)
        for given in ({}, found.parameters)
    )
    return Row(before, after, found.parameters, len(found.tried), spent)


def line(name: str, kind: str, measure: str, rows: list[Row]) -> tuple[str, ...]:
    """Return a set's row of the table."""
    before, after = (np.array([getattr(row, at) for row in rows]) for at in ("before", "after"))
    found = "; ".join(", ".join(f"{k} {v}" for k, v in row.found.items()) or "stays" for row in rows)
    tried, seconds = (np.mean([getattr(row, at) for row in rows]) for at in ("tried", "seconds"))
    differences = ", ".join(f"{100 * d:+.1f}" for d in after - before)
    scores = f"{100 * before.mean():.1f}", f"{100 * after.mean():.1f}"
    return name, kind, measure, *scores, differences, f"{tried:.0f}", f"{seconds:.0f}", found


def said(which: str, gains: list[float]) -> str:
    """Return the sentence on the mean over some sets."""
    means = np.array(gains)
    over = paired_difference(means, np.zeros(len(means))) if len(means) > 2 else None
    interval = f" (95 % over the sets {100 * over.low:+.1f} to {100 * over.high:+.1f})" if over else ""
    return (
        f"{which}: {100 * means.mean():+.2f} points in the mean over {len(means)} sets{interval}; worst "
        f"{100 * means.min():+.1f}, best {100 * means.max():+.1f}; {int((means < 0).sum())} below the defaults."
    )


HEAD = ("set", "estimator", "score", "defaults", "suggested", "differences by split", "tried", "CPU s", "set to")


def report(lines: dict[str, tuple[str, ...]], gains: dict[str, float]) -> str:
    """Return the table, and the means over the sets: all, and those that had no part in making the rules."""
    unseen = [gain for name, gain in gains.items() if "PS3VT" not in lines[name] and name not in SEEN_TOO]
    words = [said("All", list(gains.values()))]
    words += [said("Those of which no split had a part in making the rules", unseen)] if unseen else []
    return "\n".join([table(HEAD, lines.values()), "", *(f"- {sentence}" for sentence in words)])


def main() -> None:
    """Measure all sets, and write the table after each."""
    asked_for = command_line(__doc__, sets=Path, out=Path, seeds=2, seconds=20.0, n_max=2000, only=[])
    search.time = types.SimpleNamespace(monotonic=time.process_time)  # type: ignore[assignment]
    warnings.simplefilter("ignore", ConvergenceWarning)
    files = {path.stem for path in asked_for.sets.glob("*.npz")}
    lines: dict[str, tuple[str, ...]] = {}
    gains: dict[str, float] = {}
    # One kind a set: several classes before two of them.
    kinds = {source.name: source for source in sources(asked_for.sets) if source.kind in (BINARY, ORDINAL)}
    kinds |= {source.name: source for source in sources(asked_for.sets) if source.kind == MULTICLASS}
    for name in sorted(kinds.keys() & files & (set(asked_for.only) or files)):
        estimator, score, measure = asked(kinds[name])
        splits = (drawn(kinds[name], seed=s, n=asked_for.n_max, scaling="standardised") for s in range(asked_for.seeds))
        rows = [measured(estimator, score, split, seed, asked_for.seconds) for seed, split in enumerate(splits)]
        lines[name] = line(name, estimator.__name__, measure, rows)
        gains[name] = float(np.mean([row.after - row.before for row in rows]))
        show(report(lines, gains), asked_for.out)


if __name__ == "__main__":
    main()
