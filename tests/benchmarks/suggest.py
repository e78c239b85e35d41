"""What "Suggest" brings on the real sets of a folder: test scores with default arguments, and with those that it chooses.

    python tests/benchmarks/suggest.py --sets DIR --seeds 2 --out tests/benchmarks/suggest.md

The sets' splits are those of `out_of_the_box.py`, standardised: at most `--n-max` training points, of which 200 (two classes),
500 (ordered) or 30 % (several) are labeled. `dsgcore.model_selection.suggest` has `--seconds` of *CPU* time, so that other work on
the machine changes nothing, and one thread. The estimator is then fitted with its own arguments and with what was suggested.
"""

from __future__ import annotations

import argparse
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
from sklearn.exceptions import ConvergenceWarning

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.model_selection import accuracy, auc_score, halving, mean_auc_score, suggest
from dsgcore.studies import paired_difference

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
    """One split: the test scores with defaults and with what was suggested, what that is, and the CPU seconds."""

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


def line(name: str, kind: str, measure: str, rows: list[Row]) -> str:
    """Return a set's line of the table."""
    before, after = (np.array([getattr(row, at) for row in rows]) for at in ("before", "after"))
    found = "; ".join(", ".join(f"{k} {v}" for k, v in row.found.items()) or "stays" for row in rows)
    tried, seconds = (np.mean([getattr(row, at) for row in rows]) for at in ("tried", "seconds"))
    return (
        f"| {name} | {kind} | {measure} | {100 * before.mean():.1f} | {100 * after.mean():.1f} | "
        f"{', '.join(f'{100 * d:+.1f}' for d in after - before)} | {tried:.0f} | {seconds:.0f} | {found} |"
    )


def said(which: str, gains: list[float]) -> str:
    """Return the sentence on the mean over some sets."""
    means = np.array(gains)
    over = paired_difference(means, np.zeros(len(means))) if len(means) > 2 else None
    interval = f" (95 % over the sets {100 * over.low:+.1f} to {100 * over.high:+.1f})" if over else ""
    return (
        f"{which}: {100 * means.mean():+.2f} points in the mean over {len(means)} sets{interval}; worst "
        f"{100 * means.min():+.1f}, best {100 * means.max():+.1f}; {int((means < 0).sum())} below the defaults."
    )


def report(lines: dict[str, str], gains: dict[str, float], given: argparse.Namespace) -> str:
    """Return the table, and the means over the sets: all, and those that had no part in making the rules."""
    unseen = [gain for name, gain in gains.items() if "PS3VT" not in lines[name] and name not in SEEN_TOO]
    return "\n".join(
        [
            '# Does "Suggest" find better values?',
            "",
            f"The cells are test scores in percent, over {given.seeds} splits of each set with at most",
            f"{given.n_max:,} training points and {given.seconds:g} CPU seconds a search.",
            "The command is `python tests/benchmarks/suggest.py`.",
            "",
            "| set | estimator | score | defaults | suggested | differences by split | tried | CPU s | set to |",
            "|---|---|---|---|---|---|---|---|---|",
            *lines.values(),
            "",
            f"- {said('All', list(gains.values()))}",
            *([f"- {said('Those of which no split had a part in making the rules', unseen)}"] if unseen else []),
            "",
        ]
    )


def main() -> None:
    """Measure all sets, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--n-max", type=int, default=2000)
    parser.add_argument("--only", nargs="+", default=[], help="names of sets (all of the folder)")
    given = parser.parse_args()
    halving.time = types.SimpleNamespace(monotonic=time.process_time)  # type: ignore[assignment]
    warnings.simplefilter("ignore", ConvergenceWarning)
    files = {path.stem for path in given.sets.glob("*.npz")}
    chosen = set(given.only) or files
    lines: dict[str, str] = {}
    gains: dict[str, float] = {}
    # One kind a set: several classes before two of them.
    kinds = {source.name: source for source in sources(given.sets) if source.kind in (BINARY, ORDINAL)}
    kinds |= {source.name: source for source in sources(given.sets) if source.kind == MULTICLASS}
    for name, source in sorted(kinds.items()):
        if name not in files & chosen:
            continue
        estimator, score, measure = asked(source)
        rows = []
        for seed in range(given.seeds):
            split = drawn(source, seed=seed, n=given.n_max, scaling="standardised")
            rows.append(measured(estimator, score, split, seed, given.seconds))
        lines[name] = line(name, estimator.__name__, measure, rows)
        gains[name] = float(np.mean([row.after - row.before for row in rows]))
        print(lines[name], flush=True)
        given.out.write_text(report(lines, gains, given), encoding="utf-8")


if __name__ == "__main__":
    main()
