"""Default values only: the methods of a comparison, and what people type in one line, on real sets with 200 labels.

    python tests/benchmarks/out_of_the_box.py --sets DIR --seeds 3 --kept rows.jsonl --out out_of_the_box.md

Sets: all .npz of the folder (X, and y or the ordered y5), and those of scikit-learn. Of each, `--rows` are for training
and as many for testing, drawn for each seed. 200 training rows keep their labels (half of them, if there are fewer than
400), two of each class at least. Columns are standardised by the training rows. Seconds are CPU seconds of a fit on one thread.

Each fit is kept in a file, so a stopped run continues, and a method's rows may be deleted there to measure it again.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reporting import command_line, machine, show, table
from scipy.stats import t
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from dsgcore.comparing.methods import BINARY, CLASSES, ORDINAL, OURS, SCORES, scores_of, suited
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import load

BUNDLED = {"breast_cancer": BINARY, "digits": BINARY, "wine": CLASSES, "ten_digits": CLASSES, "diabetes": ORDINAL}
EVEN = {"usps": (0, 2, 4, 6, 8)}  # of the digits, for a set of two classes
N_LABELED, OF_EACH = 200, 2
ONE_LINERS = {"SVC(C=10)": lambda: SVC(C=10), "HistGradientBoosting": HistGradientBoostingClassifier}
MAIN = {
    BINARY: ("SafeTSGS3VM", "TSGS3VM", "SafeQSGS2AUC", "QSGS2AUC"),
    CLASSES: ("SafePS3VT", "PS3VT", "SafePS3VT-fourier"),
    ORDINAL: ("SafeQS3ORAO", "QS3ORAO"),
}
Row = dict[str, Any]


def sets_of(folder: Path | None) -> Iterator[tuple[str, str, NDArray, NDArray]]:
    """Yield the name, the kind, the points and the class codes of each set."""
    for name, kind in BUNDLED.items():
        data = load(name)
        yield name, kind, data.X, data.y
    for path in sorted(folder.glob("*.npz")) if folder else []:
        with np.load(path, allow_pickle=False) as held:
            is_ordinal = "y5" in held
            X, y = held["X"], np.unique(held["y5" if is_ordinal else "y"], return_inverse=True)[1]
        kind = ORDINAL if is_ordinal else BINARY if y.max() == 1 else CLASSES
        yield path.stem, kind, X, y
        if path.stem in EVEN:
            yield f"{path.stem} (even)", BINARY, X, np.isin(y, EVEN[path.stem]).astype(int)


def split_of(X: NDArray, y: NDArray, rows: int, seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return training points with their labels (-1: none), and test points; a third is for testing if rows are few."""
    order = np.random.default_rng(seed).permutation(len(y))
    n = min(rows, 2 * len(y) // 3)
    first = np.concatenate([order[:n][y[order[:n]] == k][:OF_EACH] for k in np.unique(y)])
    train = np.concatenate([first, order[:n][~np.isin(order[:n], first)]])
    test = order[n : n + rows]
    scaler = StandardScaler().fit(X[train])
    few = np.where(np.arange(n) < min(N_LABELED, n // 2), y[train], -1)
    return scaler.transform(X[train]).astype(np.float32), few, scaler.transform(X[test]).astype(np.float32), y[test]


def fits(folder: Path | None, rows: int, seeds: int, only: list[str], known: list[Row]) -> Iterator[Row]:
    """Yield the fits that are not known yet, seed by seed."""
    made = {(row["set"], row["method"], row["seed"]) for row in known}
    for seed in range(seeds):
        for name, kind, X, y in sets_of(folder):
            if only and name not in only:
                continue
            sample = split_of(X, y, rows, seed)
            for method, make in methods_for(kind, seed).items():
                if (name, method, seed) not in made:
                    yield {"set": name, "kind": kind, "method": method, "seed": seed, **fit_of(make, sample, kind)}


def methods_for(kind: str, seed: int) -> dict[str, Any]:
    """Return the methods of a kind of labels by name: whether they use unlabeled points, and how they are made."""
    own = {
        name: (m.uses_unlabeled, lambda m=m: m.make(seed)) for name, m in suited(kind).items() if "-labels" not in name
    }
    return own | ({name: (False, make) for name, make in ONE_LINERS.items()} if kind != ORDINAL else {})


def fit_of(method: tuple[bool, Any], sample: tuple[NDArray, ...], kind: str) -> Row:
    """Return the scores and the CPU seconds of one fit."""
    uses_unlabeled, make = method
    X, few, X_test, y_test = sample
    seen = slice(None) if uses_unlabeled else few >= 0
    began = time.process_time()
    try:
        model = make().fit(X[seen], few[seen])
    except ValueError:  # a class with too few labels for this method
        return {"scores": {}, "seconds": time.process_time() - began}
    seconds = time.process_time() - began
    return {"scores": scores_of(model, X_test, y_test, kind), "seconds": seconds}


def difference(known: list[Row], ours: str, theirs: str, score: str) -> list[tuple[float, float, str]]:
    """Return the mean difference of two methods on each set in points, half of its 95 % interval, and the set's name."""
    found = []
    for name in dict.fromkeys(row["set"] for row in known):
        own = [
            {r["seed"]: r["scores"].get(score) for r in known if (r["set"], r["method"]) == (name, m)}
            for m in (ours, theirs)
        ]
        pairs = [own[0][s] - own[1][s] for s in own[0] if own[1].get(s) is not None and own[0][s] is not None]
        if len(pairs) > 1:
            half = t.ppf(0.975, len(pairs) - 1) * np.std(pairs, ddof=1) / len(pairs) ** 0.5
            found.append((float(np.mean(pairs)), float(half), name))
    return sorted(found)


def report(known: list[Row]) -> str:
    """Return the tables: each of our methods against each other one, and the mean scores on each set."""
    parts = [f"The machine is {machine()}."]
    for kind, ours in MAIN.items():
        rows = [row for row in known if row["kind"] == kind]
        methods = list(dict.fromkeys(row["method"] for row in rows))
        for score in (name for name, said in SCORES.items() if kind in said.kinds and not said.is_loss):
            against = []
            for own in ours:
                for other in methods:
                    found = [] if any(name in other for name in OURS) else difference(rows, own, other, score)
                    if found:
                        wins, losses = sum(d > h for d, h, _ in found), sum(-d > h for d, h, _ in found)
                        worst = f"{found[0][2]} {found[0][0]:+.1f} ± {found[0][1]:.1f}"
                        mean = np.mean([d for d, *_ in found])
                        against.append(
                            [own, other, f"{mean:+.2f}", f"{wins} / {len(found) - wins - losses} / {losses}", worst]
                        )
            parts += [
                f"## {kind}, {SCORES[score].title}",
                table(["ours", "theirs", "mean", "won / open / lost", "worst set"], against),
            ]
            parts += [
                table(
                    ["set", *methods],
                    [
                        [name, *(mean_of(rows, name, m, score) for m in methods)]
                        for name in dict.fromkeys(r["set"] for r in rows)
                    ],
                )
            ]
        seconds = [[m, f"{np.median([r['seconds'] for r in rows if r['method'] == m]):.2f}"] for m in methods]
        parts += [table(["method", "CPU seconds of a fit, median"], seconds)]
    return "\n\n".join(parts)


def mean_of(rows: list[Row], name: str, method: str, score: str) -> str:
    """Return a mean score over the seeds as text."""
    found = [
        row["scores"][score] for row in rows if (row["set"], row["method"]) == (name, method) and score in row["scores"]
    ]
    return f"{np.mean(found):.1f}" if found else ""


def main() -> None:
    """Make the missing fits, and show the tables of all."""
    given = command_line(__doc__, sets=Path, rows=2000, seeds=3, only=[""], kept=Path, out=Path)
    lines = given.kept.read_text(encoding="utf-8").splitlines() if given.kept and given.kept.exists() else []
    known = [json.loads(line) for line in lines]
    with warnings.catch_warnings(), single_threaded_blas():
        warnings.simplefilter("ignore")
        for row in fits(given.sets, given.rows, given.seeds, [name for name in given.only if name], known):
            known.append(row)
            if given.kept:
                with given.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    show(report(known), given.out)


if __name__ == "__main__":
    main()
