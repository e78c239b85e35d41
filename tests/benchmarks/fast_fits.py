"""Time of a small default fit: its parts, the peers' time, and scores against a fit that starts at 0.

    python tests/benchmarks/fast_fits.py parts times many
    python tests/benchmarks/fast_fits.py fits --n 4000 --labels 1000 --seeds 20 --rows now.jsonl --before before.jsonl

`parts` splits the seconds of a fit on made points. A call's time is its own, without the calls inside that are also
counted. `times` compares fits on real sets with scikit-learn's on the same labeled points, `predictions` the
predictions of 100,000 points, and `many` fits of 100,000 and 1,000,000 made rows. `fits` keeps the scores of default
fits in a file. Rows that are in it already are not measured again. With PYTHONPATH on another state of the project it
writes the file that `--before` compares with: the same seeds and splits.

Sets: the folder that DSGLAB_DATA names, and those of scikit-learn. All work has one thread, and times are CPU seconds.
"""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np
from box_methods import evaluated, few_of, make
from box_sets import BINARY, MADE, MULTICLASS, ORDINAL, PAIRS, Split, drawn, made, sources
from own_process import on_one_thread
from reporting import command_line, data_file, keep_rows, machine, read_rows, show, table
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from dsgcore.core.metrics import mean_half_width

KINDS = {"QSGS2AUC": BINARY, "TSGS3VM": BINARY, "TSGSU": PAIRS, "QS3ORAO": ORDINAL, "PS3VT": MULTICLASS}
COUNTED = {
    "draws": (
        "dsgcore.solver.task.batch_rows",
        "dsgcore.multiclass.task.batch_rows",
        "dsgcore.solver.model.block_frequencies",
    ),
    "evaluation": (
        "dsgcore.kernels.loops.evaluate",
        "dsgcore.kernels.loops.accumulate",
        "dsgcore.multiclass.problem.MultiClass.gradient",
    ),
    "coefficients": (
        "dsgcore.problems.ranking.RankingProblem.coefficients",
        "dsgcore.problems.s3vm.SemiSupervisedSVM.coefficients",
        "dsgcore.problems.similar_unlabeled.SimilarUnlabeled.coefficients",
    ),
    "start": ("dsgcore.estimators.base.begin", "dsgcore.estimators.base.settle_step"),
    "stopping": ("dsgcore.solver.stopping.TailMean.add",),
    "cuts": (
        "dsgcore.estimators.base.FunctionalGradientEstimator._thresholds",
        "dsgcore.estimators.auc.QSGS2AUC._thresholds",
        "dsgcore.estimators.s3vm.TSGS3VM._thresholds",
        "dsgcore.estimators.ordinal.QS3ORAO._thresholds",
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
MANY = 100_000
# Splits whose times are measured: on one a fit may end early, on another late.
SEEDS_OF_TIMES = 5
# An SVC needs minutes for more labels.
MOST_OF_SVC = 20_000
COMMANDS = "parts", "times", "predictions", "many", "fits"


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


def _splits(n: int, seed: int, kinds: set[str], labels: int | None = None) -> Iterator[tuple[str, str, Split]]:
    scaling = ("standardised", "to [0, 1]")[seed % 2]
    for source in sources(data_file("").parent):
        if source.kind in kinds:
            yield source.kind, source.name, drawn(source, seed=seed, n=n, scaling=scaling, n_labeled=labels)


def times_table() -> str:
    """Return the CPU seconds of default fits and predictions, and of an SVC's on the same labeled points.

    Each number is the median over the sets of the median over `SEEDS_OF_TIMES` splits.
    """
    rows = []
    for name, kind in KINDS.items():
        for n in (1000, 4000):
            of_sets: dict[str, list[list[float]]] = defaultdict(list)
            for seed in range(SEEDS_OF_TIMES):
                for of, data, split in _splits(n, seed, {kind}):
                    of_sets[data].append(_times(name, of, split, seed))
            found = np.array([np.median(times, axis=0) for times in of_sets.values()])
            bars = found[:, 1] / np.maximum(3 * found[:, 2], 0.1)
            is_met = f"{np.count_nonzero(bars <= 1.0)} of {len(found)}"
            rows.append(
                [name, f"{n:,}", *(f"{s:.3f}" for s in np.median(found, axis=0)), f"{np.median(bars):.2f}", is_met]
            )
    return table(["estimator", "n", "fit", "fit and predict", "SVC", "of the bar", "sets within the bar"], rows)


def _times(name: str, kind: str, split: Split, seed: int) -> list[float]:
    labeled, few = split.y >= 0, split.X_test[: len(split.X)]
    y = split.y[labeled] if kind != PAIRS else np.arange(labeled.sum()) % 2
    own = make(name, seed, split.prior).fit(split.X, split.y)
    works = (
        lambda: make(name, seed, split.prior).fit(split.X, split.y),
        lambda: own.predict(few),
        lambda: SVC().fit(split.X[labeled], y).predict(few),
    )
    fit, predict, peer = (min(_timed(work)[0] for _ in range(2)) for work in works)
    return [fit, fit + predict, peer]


def predictions_table() -> str:
    """Return the CPU seconds in which default models and the peers predict many points, for the first and the second time."""
    rows = []
    for _, name, split in _splits(4000, 0, {BINARY}):
        labeled, many = split.y >= 0, np.resize(split.X_test, (MANY, split.X.shape[1]))
        models = [make(each, 0, split.prior).fit(split.X, split.y) for each in ("QSGS2AUC", "TSGS3VM")]
        peers = SVC(), make_pipeline(Nystroem(random_state=0), LinearSVC())
        models += [peer.fit(split.X[labeled], split.y[labeled]) for peer in peers]
        turns = np.array([[_timed(partial(model.predict, many))[0] for model in models] for _ in range(2)])
        rows.append([name, split.X.shape[1], *(f"{first:.2f}, {second:.2f}" for first, second in turns.T)])
    return table(["set", "d", "QSGS2AUC", "TSGS3VM", "SVC", "Nystroem and LinearSVC"], rows)


def many_table() -> str:
    """Return the CPU seconds of default fits of many made rows, and of the peers' on their labels; the least of two, in turns."""
    rows = []
    for n in (MANY, 10 * MANY):
        for n_labeled in (200, n // 10):
            split = made(next(iter(MADE)), seed=0, n=n, n_labeled=n_labeled)
            labeled = split.y >= 0
            works = [partial(make(name, 0, 0.5).fit, split.X, split.y) for name in ("QSGS2AUC", "TSGS3VM")]
            peers = [make_pipeline(Nystroem(random_state=0), LinearSVC()), SVC()][: 1 + (n_labeled <= MOST_OF_SVC)]
            works += [partial(peer.fit, split.X[labeled], split.y[labeled]) for peer in peers]
            least = np.min([[_timed(work)[0] for work in works] for _ in range(2)], axis=0)
            rows.append([f"{n:,}", f"{n_labeled:,}", *(f"{seconds:.2f}" for seconds in least), "–"][:6])
    return table(["rows", "labels", "QSGS2AUC", "TSGS3VM", "Nystroem and LinearSVC", "SVC"], rows)


def fits_table(asked: Namespace) -> str:
    """Fit with default arguments, keep the rows, and return their means, or the paired differences from earlier rows."""
    held = read_rows(asked.rows)
    done = {(row["name"], row["set"], row["seed"]) for row in held}
    for seed in range(asked.seeds):
        for kind, name, split in _splits(asked.n, seed, set(KINDS.values()), asked.labels):
            for estimator in (e for e, of in KINDS.items() if of == kind and (e, name, seed) not in done):
                seconds, model = _timed(partial(make(estimator, seed, split.prior).fit, split.X, split.y))
                row = {"name": estimator, "set": name, "seed": seed, "seconds": seconds, "n_iter": model.n_iter_}
                held.append({**row, **evaluated(model, split, kind)})
                keep_rows(asked.rows, held[-1:])
    return _summary(held, read_rows(asked.before) if asked.before else held)


def _summary(held: list[dict[str, Any]], before: list[dict[str, Any]]) -> str:
    earlier, rows = {(row["name"], row["set"], row["seed"]): row for row in before}, []
    for name, data in dict.fromkeys((row["name"], row["set"]) for row in held):
        own = [row for row in held if (row["name"], row["set"]) == (name, data)]
        pairs = [(earlier[name, data, row["seed"]], row) for row in own if (name, data, row["seed"]) in earlier]
        score = {"QSGS2AUC": "AUC", "QS3ORAO": "mean AUC"}.get(name, "accuracy")
        gain = np.array([now[score] - then[score] for then, now in pairs])
        means = [
            np.mean([row[what] for row in side]) for what in ("n_iter", "seconds") for side in zip(*pairs, strict=True)
        ]
        cells = f"{means[0]:.0f} → {means[1]:.0f}", f"{means[2]:.2f} → {means[3]:.2f}"
        interval = f"{gain.mean():+.2f} ± {mean_half_width(gain):.2f}"
        rows.append([name, data, len(pairs), score, interval, *cells])
    return table(["estimator", "set", "seeds", "score", "now less before", "iterations", "CPU s"], rows)


def main() -> None:
    """Measure what the command line asks for."""
    asked = command_line(__doc__, COMMANDS, seeds=20, n=1000, labels=int, rows=Path, before=Path)
    warnings.simplefilter("ignore")
    works = parts_table, times_table, predictions_table, many_table, partial(fits_table, asked)
    work = dict(zip(COMMANDS, works, strict=True))
    show("\n\n".join([machine(), *(work[what]() for what in asked.what)]))


if __name__ == "__main__":
    on_one_thread()
    main()
