"""Verdicts of a comparison, and labels given by them, checked on hidden labels of the same tables.

    python tests/benchmarks/verdict.py tables.json --kept FOLDER

`tables.json` has a table for each name: {"file": "wine.csv", "target": "quality", "order": [..]}, the order only for ordered
classes. Of each, N labels are kept for each split, 400 more rows are unlabeled, and 1,000 others are hidden altogether.
Each case is kept in a file, so a stopped run continues. A comparison has `--seconds` of computing on one core.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pandas as pd

from dsgcore.comparing import compare, rounds
from dsgcore.comparing.fits import training_rows
from dsgcore.comparing.label import label_rows
from dsgcore.comparing.methods import BINARY, CLASSES, ORDINAL, scores_of, suited
from dsgcore.comparing.result import LITTLE
from dsgcore.core.errors import DSGError
from dsgcore.data.datasets import OF_OWN
from dsgcore.data.reading import LOCAL, Features, File
from dsgcore.jobs import tasks

UNLABELED, HIDDEN, FEWEST, BINS = 400, 1000, 4, 10


class Here:
    """A cluster of this process alone, on which time is its computing."""

    def get_executor(self, pure: bool) -> Here:
        return self

    def nthreads(self) -> dict[str, int]:
        return {"here": 1}

    def scatter(self, sample: Any, broadcast: bool) -> Any:
        return sample

    def submit(self, function: Any, *given: Any, **options: Any) -> Future:
        done: Future = Future()
        done.set_result(function(*given, **options))
        return done


def case(
    table: pd.DataFrame, target: str, order: list[str], n: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Return a table with n labels, other rows of it, and all true labels. Each of two classes has four labels at least."""
    kinds, draw = table[target].astype(str).to_numpy(), np.random.default_rng([seed, n]).permutation(len(table))
    names, counts = np.unique(kinds[draw[:n]], return_counts=True)
    if len(set(kinds)) == 2 and (len(names) < 2 or counts.min() < FEWEST):  # a person labels some of each
        first = np.concatenate([draw[kinds[draw] == kind][:FEWEST] for kind in sorted(set(kinds))])
        draw = np.concatenate([first, draw[~np.isin(draw, first)]])
    names, counts = np.unique(kinds[draw[:n]], return_counts=True)
    known = set(names[counts > 1])
    n, draw = int(counts[counts > 1].sum()), draw[np.isin(kinds[draw], [*known])]
    rows = table.iloc[draw[: n + UNLABELED + HIDDEN]].reset_index(drop=True)
    truth, learned = kinds[draw[: n + UNLABELED + HIDDEN]], rows.iloc[: n + UNLABELED].copy()
    learned[target] = np.where(np.arange(len(learned)) < n, truth[: len(learned)], None)
    if order:
        learned[target] = pd.Categorical(learned[target], [one for one in order if one in known], ordered=True)
    return learned, rows.iloc[n + UNLABELED :], truth


def measured(table: pd.DataFrame, target: str, order: list[str], n: int, seed: int, seconds: float) -> dict[str, Any]:
    """Return the verdict, every method's score on hidden labels in hindsight, and how the labels that were given fare."""
    learned, others, truth = case(table, target, order, n, seed)
    labels = "ordinal" if order else "classes"
    file = File.of_frame(learned, "table")
    recipe = file.recipe(labels, target=target, is_asked=True, unlabeled="none")
    kept, data = file.kept(recipe), file.labels(recipe, labels)
    names = [str(name) for name in data.class_names]
    kind = BINARY if len(names) == 2 else ORDINAL if order else CLASSES
    options = {"recipe": recipe, "class_names": names, "ordered": bool(order), "curves": False, "store": None}
    found = compare(kept, data.y, **options, seconds=seconds, client=Here())
    features = Features(recipe, LOCAL, str(OF_OWN["scaling"])).fit(kept)
    X, codes = features.transform(kept), np.array([names.index(str(one)) for one in truth])
    hidden = np.concatenate([X[data.y < 0], features.transform(others)])
    wanted, hindsight = np.concatenate([codes[: len(X)][data.y < 0], codes[len(X) :]]), {}
    for name, method in suited(kind).items():
        rows = training_rows(method, data.y)
        try:
            model = method.make(0).fit(X[rows], data.y[rows])
        except DSGError:
            continue
        hindsight[name] = scores_of(model, hidden, wanted, kind)[found.score_name]
    parts = [kept[data.y < 0], others]  # the error of probabilities needs more rows than a table of few labels has
    given = label_rows(
        kept, recipe, data.y, names, found=found, ordered=bool(order), features=features, unlabeled=parts
    )
    is_right = given.table["class"].astype(str).to_numpy() == truth[given.table["row"]]
    return {
        "found": found,
        "verdict": found.verdict,
        "unit": found.score.unit,
        "hindsight": hindsight,
        "hits": is_right,
    } | {
        "own": found.interval(found.verdict.recommended or found.ranking[0]),
        "gains": {one: found.difference(one, found.verdict.recommended or one) for one in hindsight},
        "probability": given.table["probability"].to_numpy(),
        "expected": given.expected,
        "used": {name: method.uses_unlabeled for name, method in suited(kind).items()},
        "sign": found.score.sign,
    }


def calibration_error(probability: Any, hits: Any) -> float:
    """Return the mean distance of probabilities and shares that are right, over ten groups of equal size."""
    groups = np.array_split(np.argsort(probability, kind="stable"), BINS)
    return sum(len(own) * abs(probability[own].mean() - hits[own].mean()) for own in groups) / len(hits)


def summary(cases: list[dict[str, Any]]) -> dict[str, float]:
    """Return the shares of cases in which what was said holds."""
    holds: dict[str, list[float]] = {name: [] for name in ("behind", "near", "help", "score", "label", "calibration")}
    for own in cases:
        chosen, score = own["verdict"].recommended, own["hindsight"]
        if own["expected"].n:
            holds["label"].append(own["expected"].low <= own["hits"].mean() <= own["expected"].high)
            holds["calibration"].append(calibration_error(own["probability"], own["hits"]))
        if chosen not in score:
            continue
        best = max(score, key=lambda name: own["sign"] * score[name])
        behind, high = own["sign"] * (score[best] - score[chosen]), own["gains"][best].high
        holds["behind"].append(behind)
        holds["near"].append(behind <= max(LITTLE[own["unit"]], high if np.isfinite(high) else 0.0))
        holds["score"].append(own["own"].low <= score[chosen] <= own["own"].high)
        used, alone = (max(own["sign"] * score[m] for m in score if own["used"][m] is u) for u in (True, False))
        said = None if own["verdict"].help is None else own["verdict"].help.value
        if said in ("help", "hurt", "do not help"):
            holds["help"].append(
                {"help": used > alone, "hurt": used < alone}.get(said, used < alone + LITTLE[own["unit"]])
            )
    return {f"{name} ({len(values)})": float(np.mean(values)) for name, values in holds.items() if values} | {
        "median behind": float(np.median(holds["behind"])),
        "median calibration error": float(np.median(holds["calibration"])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--labels", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    for module in (rounds, tasks):
        module.time = SimpleNamespace(monotonic=time.process_time, sleep=lambda seconds: None)  # type: ignore[attr-defined]
    warnings.simplefilter("ignore")
    given.kept.mkdir(exist_ok=True)
    for seed in range(given.splits):
        for name, table in json.loads(given.tables.read_text()).items():
            for n in given.labels:
                to = given.kept / f"{name} {n} {seed}"
                frame = pd.read_csv(table["file"])
                if not to.exists() and n < 0.6 * len(frame):
                    made = measured(frame, table["target"], table.get("order", []), n, seed, given.seconds)
                    joblib.dump(made, to)
    cases = {to.name: joblib.load(to) for to in sorted(given.kept.iterdir())}
    print(json.dumps({n: summary([c for key, c in cases.items() if f" {n} " in key]) for n in given.labels}, indent=2))


if __name__ == "__main__":
    main()
