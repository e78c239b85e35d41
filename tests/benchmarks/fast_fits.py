"""Time of a small default fit: its parts, the peers' time, and scores against a fit that starts at 0.

    python tests/benchmarks/fast_fits.py parts times scores --seeds 20 --rows rows.jsonl

`parts` splits the seconds of a fit on made points. A call's time is its own, without the calls inside that are also
counted. `times` compares fits on real sets with scikit-learn's on the same labeled points. `scores` compares two fits
with the same seed and split. Rows of `scores` that are in the file already are not measured again.

Sets: the folder that DSGLAB_DATA names, and those of scikit-learn. All work has one thread, and times are CPU seconds.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np
from box_methods import evaluated, few_of, make
from box_sets import BINARY, MULTICLASS, ORDINAL, PAIRS, Split, drawn, sources
from own_process import on_one_thread
from reporting import command_line, data_file, keep_rows, machine, read_rows, show, table
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

KINDS = {"QSGS2AUC": BINARY, "TSGS3VM": BINARY, "TSGSU": PAIRS, "QS3ORAO": ORDINAL, "PS3VT": MULTICLASS}
FROM_ZERO, STARTED = {"start": None, "tol": 0.02}, {"start": "exact", "tol": 0.05}
COUNTED = {
    "draws": (
        "dsgcore.solver.task.drawn_rows",
        "dsgcore.multiclass.task.drawn_rows",
        "dsgcore.solver.model.block_frequencies",
    ),
    "evaluation": (
        "dsgcore.kernels._loops.evaluate",
        "dsgcore.kernels._loops.accumulate",
        "dsgcore.multiclass.loop._gradient",
    ),
    "coefficients": (
        "dsgcore.problems.auc.SemiSupervisedAUC.coefficients",
        "dsgcore.problems.s3vm.SemiSupervisedSVM.coefficients",
        "dsgcore.problems.ordinal.SemiSupervisedOrdinal.coefficients",
        "dsgcore.problems.similar_unlabeled.SimilarUnlabeled.coefficients",
    ),
    "start": ("dsgcore.estimators.base.begin", "dsgcore.estimators.base.settle_step"),
    "stopping": ("dsgcore.estimators.stopping.StoppingCheck.look", "dsgcore.multiclass.loop.TailMean.take"),
    "safe choice, cuts": (
        "dsgcore.estimators.base.FunctionalGradientEstimator._place",
        "dsgcore.estimators.auc.QSGS2AUC._place",
        "dsgcore.estimators.s3vm.TSGS3VM._place",
        "dsgcore.estimators.ordinal.QS3ORAO._place",
        "dsgcore.estimators.ordinal.QS3ORAO._ridge",
        "dsgcore.multiclass.task.settle_weights",
    ),
    "validation": (
        "dsgcore.estimators.base.validated",
        "dsgcore.estimators.similar_unlabeled.points_and_labels",
        "dsgcore.estimators.ps3vt.validate_data",
    ),
}
SHARE_POSITIVE = 0.7


class Parts:
    """Seconds of each part, without the counted calls inside."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.inside: list[float] = []

    def counted(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its own time added to a part."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.inside.append(0.0)
            begun = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.process_time() - begun
                self.seconds[part] += spent - self.inside.pop()
                if self.inside:
                    self.inside[-1] += spent

        return call

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count inside the block."""
        with ExitStack() as stack:
            for part, names in COUNTED.items():
                for name in names:
                    self._count(stack, part, name)
            yield

    def _count(self, stack: ExitStack, part: str, name: str) -> None:
        place, attribute = name.rsplit(".", 1)
        owner = resolve_name(place)
        if attribute in vars(owner):
            stack.enter_context(patch.object(owner, attribute, self.counted(part, getattr(owner, attribute))))


def made_split(kind: str, n: int, d: int) -> Split:
    """Return n points in d columns, labeled as the kind of set asks, and as many test points."""
    k, share = {ORDINAL: 5, MULTICLASS: 5}.get(kind, 2), [1 - SHARE_POSITIVE] if kind == PAIRS else None
    X, y = (
        make_classification(
            2 * n,
            d,
            n_informative=min(d, 8),
            n_redundant=0,
            n_classes=k,
            n_clusters_per_class=1 if d == 2 else 2,
            weights=share,
            random_state=0,
        )
        if d > 2
        else _plane(n, k, share)
    )
    seen = np.where(np.arange(n) < {MULTICLASS: 0.3 * n, ORDINAL: 500}.get(kind, 200), y[:n], -1)
    seen = np.where(np.arange(n) < n // 2, seen, -1)
    if kind == PAIRS:
        seen = _pair_ids(y[:n])
    return Split(X[:n], seen, X[n:], y[n:], SHARE_POSITIVE)


def _plane(n: int, k: int, share: list[float] | None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.choice(k, 2 * n, p=None if share is None else [*share, 1 - share[0]])
    return rng.normal(size=(2 * n, 2)) + 1.5 * np.stack([y, y % 2], axis=1), y


def _pair_ids(y: np.ndarray) -> np.ndarray:
    """Return ids of pairs of neighbours in the order of the rows, for a quarter of the points."""
    ids, number = np.full(len(y), -1), 0
    for label in (0, 1):
        own = np.flatnonzero(y[: len(y) // 2] == label)
        for pair in own[: len(own) // 4 * 2].reshape(-1, 2):
            ids[pair], number = number, number + 1
    return ids


def parts_table() -> str:
    """Return the milliseconds of each part of a fit."""
    rows = []
    for name, kind in KINDS.items():
        for n in (200, 1000, 4000):
            for d in (2, 20, 100):
                rows.append([name, f"{n:,}", d, *_parts_of(name, made_split(kind, n, d), kind)])
    return table(["estimator", "n", "d", "iterations", "ms", *COUNTED, "the rest of Python"], rows)


def _parts_of(name: str, split: Split, kind: str) -> list[str]:
    make(name, 0, split.prior).fit(*(few_of(split, kind) if kind != PAIRS else (split.X, split.y)))
    model, parts = make(name, 0, split.prior), Parts()
    seconds, _ = _timed(lambda: make(name, 0, split.prior).fit(split.X, split.y))
    with parts.counting():
        counted, _ = _timed(lambda: model.fit(split.X, split.y))
    own = [parts.seconds[part] for part in COUNTED]
    shares = np.array([*own, counted - sum(own)]) / counted
    return [str(model.n_iter_), f"{1000 * seconds:.0f}", *(f"{100 * share:.0f} %" for share in shares)]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def _splits(n: int, seed: int, kinds: set[str]) -> Iterator[tuple[str, str, Split]]:
    for source in sources(data_file("").parent):
        if source.kind in kinds:
            yield (
                source.kind,
                source.name,
                drawn(source, seed=seed, n=n, scaling=("standardised", "to [0, 1]")[seed % 2]),
            )


def times_table() -> str:
    """Return the CPU seconds of default fits and of the peers' fit and predict on the same labeled points."""
    rows = []
    for name, kind in KINDS.items():
        for n in (1000, 4000):
            found = np.array([_times(name, *given) for given in _splits(n, 0, {kind})])
            zero, started, svc, logistic = np.median(found, axis=0)
            limits = np.maximum(3 * found[:, 2], 0.1)
            is_met = f"{np.count_nonzero(found[:, 1] <= limits)} of {len(found)}"
            rows.append(
                [name, f"{n:,}", *(f"{s:.3f}" for s in (zero, started, svc, logistic)), f"{started / svc:.1f}", is_met]
            )
    head = [
        "estimator",
        "n",
        "fit from 0",
        "fit started",
        "SVC",
        "logistic regression",
        "started / SVC",
        "sets within the aim",
    ]
    return table(head, rows)


def _times(name: str, kind: str, _: str, split: Split) -> list[float]:
    labeled = split.y >= 0
    y = split.y[labeled] if kind != PAIRS else np.arange(labeled.sum()) % 2
    both = ({}, {}) if name == "PS3VT" else (FROM_ZERO, STARTED)
    ours = [lambda g=given: make(name, 0, split.prior).set_params(**g).fit(split.X, split.y) for given in both]
    peers = [lambda m=m: m.fit(split.X[labeled], y).predict(split.X_test) for m in (SVC(), LogisticRegression())]
    return [min(_timed(work)[0] for _ in range(2)) for work in (*ours, *peers)]


def scores_table(seeds: int, file: Path | None) -> str:
    """Return the mean differences between default fits and fits that start at 0, with half of a 95 % interval."""
    held = read_rows(file)
    done = {(row["name"], row["set"], row["seed"]) for row in held}
    for seed in range(seeds):
        for kind, name, split in _splits(1000, seed, set(KINDS.values()) - {MULTICLASS}):
            for estimator in (e for e, of in KINDS.items() if of == kind and (e, name, seed) not in done):
                held.append(_compared(estimator, kind, name, seed, split))
                keep_rows(file, held[-1:])
    return _summary(held)


def _compared(estimator: str, kind: str, name: str, seed: int, split: Split) -> dict[str, Any]:
    row: dict[str, Any] = {"name": estimator, "set": name, "seed": seed}
    for key, given in (("from 0", FROM_ZERO), ("started", STARTED)):
        model = make(estimator, seed, split.prior).set_params(**given)
        seconds, _ = _timed(lambda m=model: m.fit(split.X, split.y))
        row[key] = {"seconds": seconds, "n_iter": model.n_iter_, **evaluated(model, split, kind)}
    return row


def _summary(held: list[dict[str, Any]]) -> str:
    rows = []
    for estimator, name in dict.fromkeys((row["name"], row["set"]) for row in held):
        own = [row for row in held if (row["name"], row["set"]) == (estimator, name)]
        score = "AUC" if estimator == "QSGS2AUC" else list(own[0]["started"])[-1 if estimator != "TSGS3VM" else 2]
        gain = np.array([row["started"][score] - row["from 0"][score] for row in own])
        half = 1.96 * gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan
        means = [
            np.mean([row[key][what] for row in own]) for what in ("n_iter", "seconds") for key in ("from 0", "started")
        ]
        cells = f"{means[0]:.0f} → {means[1]:.0f}", f"{means[2]:.2f} → {means[3]:.2f}"
        rows.append([estimator, name, len(own), score, f"{gain.mean():+.2f} ± {half:.2f}", *cells])
    return table(["estimator", "set", "seeds", "score", "started less from 0", "iterations", "CPU s"], rows)


def main() -> None:
    """Measure what the command line asks for."""
    asked = command_line(__doc__, ("parts", "times", "scores"), seeds=20, rows=Path)
    warnings.simplefilter("ignore")
    work = {"parts": parts_table, "times": times_table, "scores": lambda: scores_table(asked.seeds, asked.rows)}
    show("\n\n".join([machine(), *(work[what]() for what in asked.what)]))


if __name__ == "__main__":
    on_one_thread()
    main()
