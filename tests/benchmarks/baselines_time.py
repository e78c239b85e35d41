"""Time and memory of the comparison methods, beside ours run until it is as good, as the number of points grows.

    python tests/benchmarks/baselines_time.py --rows rows.jsonl

Every fit has a separate process with one thread, and there is one fit at a time. Times are CPU seconds of this
process, so that other work on the machine changes little. Memory is the peak of the resident memory, minus that
before the fit. By then the data and all libraries are loaded, and one small fit has been made. A fit that takes more
than `--cap` CPU seconds is stopped, and larger fits of that method are not tried.

Our method is fitted with 25, 50, 100, .. iterations until its score on 4,000 other points is at most `--margin` below
the best competitor's. For each competitor the table shows our first fit that is as good, or the best one.

Each fit is added to the file `--rows` at once, and fits that are in it are not measured again. Data: codrna.npz and
kin40k.npz in the folder that DSGLAB_DATA names, or in ../shared/data beside the project.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from own_process import OUT_OF_TIME, Bounds, measured, on_one_thread
from reporting import arrays_of, command_line, keep_rows, names, read_rows, show, table
from sklearn.metrics import roc_auc_score

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, baselines
from dsgcore.jobs.memory import MEGABYTE, forget_peak, peak

SIZES = (500, 1000, 2000, 4000, 8000)
ITERATIONS = tuple(25 * 2**i for i in range(9))
TEST_POINTS = 4000
SIGMA = 0.125  # 1 / d for features of variance 1
PRIOR = 0.3  # share of positives in the similar-unlabeled data
GIGABYTES = 4.0
# Points and labels to fit on, and to score on.
Data = tuple[NDArray, NDArray, NDArray, NDArray]


@dataclass(frozen=True)
class Fit:
    """Cost of one fit. `seconds` is None if the fit was stopped."""

    setting: str
    method: str
    n: int
    iterations: int | None
    score: float | None
    seconds: float | None
    megabytes: float | None
    note: str = ""


def loaded(name: str, label: str) -> tuple[NDArray, NDArray]:
    """Return the points of a data set in random order, features of mean 0 and variance 1, and their labels."""
    held = arrays_of(name)
    X, y = held["X"].astype(float), held[label].astype(int)
    order = np.random.default_rng(0).permutation(len(X))
    return ((X - X.mean(axis=0)) / X.std(axis=0))[order], y[order]


def partly_labeled(name: str, label: str, n: int, n_labeled: int) -> Data:
    """Return n points of which some are labeled (half of them at most), and the test points."""
    X, y = loaded(name, label)
    y = np.unique(y, return_inverse=True)[1]
    few = np.where(np.arange(n) < min(n_labeled, n // 2), y[:n], -1)
    return X[:n], few, X[-TEST_POINTS:], y[-TEST_POINTS:]


def similar_unlabeled(n: int) -> Data:
    """Return n/2 members of similar pairs, n/2 unlabeled points and the test points, all with the same share of positives."""
    X, y = loaded("codrna", "y")
    rng, train = np.random.default_rng(1), len(X) - 2 * TEST_POINTS
    of_class = [np.flatnonzero(y[:train] < 0), np.flatnonzero(y[:train] > 0)]
    is_positive = rng.random(n // 4) < PRIOR**2 / (PRIOR**2 + (1 - PRIOR) ** 2)
    pairs = [rng.choice(of_class[int(c)], 2, replace=False) for c in is_positive]
    others = [rng.choice(of_class[int(c)]) for c in rng.random(n - 2 * len(pairs)) < PRIOR]
    ids = np.concatenate([np.repeat(np.arange(len(pairs)), 2), np.full(len(others), -1)])
    last = np.arange(train, len(X))
    positive, negative = last[y[last] > 0], last[y[last] < 0]
    n_positive = int(PRIOR * TEST_POINTS)
    test = np.concatenate([positive[:n_positive], negative[: TEST_POINTS - n_positive]])
    return X[np.concatenate([*pairs, others]).astype(int)], ids, X[test], (y[test] > 0).astype(int)


def accuracy(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the share of labels that are right."""
    return float(model.score(X, y))


def auc(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the AUC of two classes."""
    return float(roc_auc_score(y, model.decision_function(X)))


def mean_auc(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the mean AUC over the places where ordered classes can be cut in two."""
    return float(model.mean_auc(X, y))


@dataclass(frozen=True)
class Setting:
    """A setting: its data, our method, and competitors as (class, parameters) by name."""

    title: str
    data: Callable[[int], Data]
    score: Callable[[Any, NDArray, NDArray], float]
    ours: tuple[type[Any], dict[str, Any]]
    competitors: dict[str, tuple[str, dict[str, Any]]]

    def make(self, method: str, iterations: int | None) -> Any:
        """Make the estimator of one fit."""
        if method == "ours":
            cls, parameters = self.ours
            return cls(sigma=SIGMA, random_state=0, n_iter=iterations, **parameters)
        name, parameters = self.competitors[method]
        return getattr(baselines, name)(sigma=SIGMA, **parameters)


SETTINGS = {
    "similar_unlabeled": Setting(
        "TSGSU: codrna, n/4 similar pairs and n/2 unlabeled points, 30 % positives, accuracy",
        similar_unlabeled,
        accuracy,
        (TSGSU, {"prior": PRIOR, "lam": 1e-3, "step_size": 5.0, "correction": "identity"}),
        {
            "SU-SL": ("SUSL", {"prior": PRIOR, "lam": 1e-2}),
            "SU-DH": ("SUDH", {"prior": PRIOR, "lam": 1e-2}),
            "CUU (all)": ("CUU", {"prior": PRIOR, "lam": 1e-2, "step_size": 0.4, "random_state": 0}),
            "CUU (100)": (
                "CUU",
                {"prior": PRIOR, "lam": 1e-2, "step_size": 0.4, "centers": 100, "random_state": 0},
            ),
        },
    ),
    "auc": Setting(
        "QSG-S2AUC: codrna, 200 labels, AUC",
        lambda n: partly_labeled("codrna", "y", n, 200),
        auc,
        (QSGS2AUC, {"lam": 1e-3}),
        {
            "PNU-AUC": ("PNUAUC", {"lam": 1e-2, "prior": 1 / 3}),
            "SAMULT": ("SAMULT", {"lam": 1e-2}),
        },
    ),
    "s3vm": Setting(
        "TSGS3VM: codrna, 200 labels, accuracy",
        lambda n: partly_labeled("codrna", "y", n, 200),
        accuracy,
        (TSGS3VM, {"C": 1000.0}),
        {
            "S3VM-light": ("S3VMLight", {"C": 5.0, "C_star": 0.5}),
            "BLS3VM": ("BLS3VM", {"C": 5.0}),
            "QN-S3VM": ("QNS3VM", {"lam": 1e-3, "lam_u": 0.5}),
            "BGS3VM": ("BGS3VM", {"C": 1000.0, "n_passes": 10, "random_state": 0}),
            "FRS3VM": ("FRS3VM", {"C": 1000.0, "random_state": 0}),
        },
    ),
    "ordinal": Setting(
        "QS3ORAO: kin40k in five classes, 500 labels (n/2 at most), mean AUC",
        lambda n: partly_labeled("kin40k", "y5", n, 500),
        mean_auc,
        (QS3ORAO, {"lam": 1e-4, "gamma": 0.9, "step_size": 2.0}),
        {
            "SVOREX": ("SVOREX", {"C": 10.0}),
            "M-PNU-AUC": ("MPNUAUC", {"lam": 1e-4, "eta": 0.1, "prior": [0.8, 0.6, 0.4, 0.2]}),
            "M-SAMULT": ("MSAMULT", {"lam": 1e-4, "gamma": 0.9}),
        },
    ),
}


# The process that is measured.


def fits(item: tuple[str, str, int], cap: float, target: float) -> list[dict[str, Any]]:
    """Return what each fit took, of ours until one is as good as the target."""
    (setting, method, n), made = item, []
    s = SETTINGS[setting]
    warnings.simplefilter("ignore")  # a fit that has not converged says so in its note
    X, y, X_test, y_test = s.data(n)
    small = s.data(240)  # loads and compiles what a fit needs
    s.score(s.make(method, 3).fit(*small[:2]), small[2][:200], small[3][:200])
    for iterations in ITERATIONS if method == "ours" else (None,):
        model = s.make(method, iterations)
        before, start = forget_peak(), time.process_time()
        model.fit(X, y)
        seconds, used = time.process_time() - start, peak() - before
        score = s.score(model, X_test, y_test)
        note = "" if getattr(model, "converged_", True) else "not converged"
        made.append(asdict(Fit(setting, method, n, iterations, score, seconds, used / MEGABYTE, note)))
        if method == "ours" and (score >= target or 2 * seconds > cap):
            break
    return made


# The process that starts the others.


def run(setting: str, method: str, n: int, cap: float, target: float = np.inf) -> list[Fit]:
    """Return what the fits of one method at one size took."""
    item, bounds = (setting, method, n), Bounds(cap * (1 + (method == "ours")), GIGABYTES)  # ours is several fits
    ((_, made, failed),) = measured(partial(fits, cap=cap, target=target), [item], jobs=1, bounds=bounds)
    if made:
        return [Fit(**one) for one in made]
    return [Fit(*item, None, None, None, None, f"over {cap:g} s" if failed.startswith(OUT_OF_TIME) else failed)]


def sweep(settings: list[str], sizes: list[int], cap: float, margin: float, known: list[Fit]) -> Iterator[list[Fit]]:
    """Measure what is not known yet: at each size the competitors, then ours until it is as good as the best of them."""
    for n in sizes:
        for setting in settings:
            for method in [*SETTINGS[setting].competitors, "ours"]:
                at_hand = [fit for fit in known if (fit.setting, fit.method) == (setting, method)]
                if any(fit.n == n for fit in at_hand):
                    continue
                if any(fit.n < n and fit.seconds is None for fit in at_hand):
                    fits = [Fit(setting, method, n, None, None, None, None, "not tried")]
                else:
                    scores = [f.score for f in known if (f.setting, f.n) == (setting, n) and f.score is not None]
                    fits = run(setting, method, n, cap, max(scores, default=np.inf) - margin)
                known.extend(fits)
                yield fits


# The table.


def cell(fit: Fit) -> str:
    """Return what a fit took, for the table."""
    if fit.seconds is None:
        return fit.note
    made = f", T = {fit.iterations}" if fit.iterations else ""
    note = f", {fit.note}" if fit.note else ""
    return f"{fit.score:.3f}, {fit.seconds:.2g} s, {max(fit.megabytes or 0, 0):.0f} MB{made}{note}"


def as_good(ours: list[Fit], score: float | None, margin: float) -> Fit | None:
    """Return our first fit that is as good as a score, or the best one; None where there is none."""
    known = [fit for fit in ours if fit.score is not None]
    if not known:
        return None
    best = max(known, key=lambda fit: fit.score)
    return best if score is None else next((fit for fit in known if fit.score >= score - margin), best)


def ratio(times: float) -> str:
    """Return how many times more, in two digits or whole numbers."""
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"


def compared(fit: Fit, ours: Fit | None, margin: float) -> str:
    """Say how our fit compares with a competitor's."""
    if ours is None or ours.seconds is None:
        return ""
    if fit.seconds is None or fit.score is None:
        return f"{cell(ours)}; theirs {fit.note}"
    behind = fit.score - ours.score
    slower, larger = fit.seconds / ours.seconds, fit.megabytes / max(ours.megabytes, 1.0)
    times = f"{ratio(slower)} x its time, {ratio(larger)} x its memory"
    return f"{cell(ours)}; theirs {times}" + (f"; ours {behind:.3f} below" if behind > margin else "")


def tables(fits: list[Fit], settings: list[str], sizes: list[int], margin: float) -> str:
    """Return a table for each setting, in Markdown."""
    text = []
    for s in (SETTINGS[name] for name in settings):
        own = [fit for fit in fits if SETTINGS[fit.setting] is s]
        of = {
            (method, n): [fit for fit in own if (fit.method, fit.n) == (method, n)]
            for method in [*s.competitors, "ours"]
            for n in sizes
        }
        ours, rows = s.ours[0].__name__, []
        for method in s.competitors:
            theirs = [next(iter(of[method, n]), None) for n in sizes]
            pairs = list(zip(theirs, sizes, strict=True))
            as_ours = [fit and compared(fit, as_good(of["ours", n], fit.score, margin), margin) for fit, n in pairs]
            rows.append((method, *(cell(fit) if fit else "not measured" for fit in theirs)))
            rows.append((f"{ours}, as good as {method}", *(said or "" for said in as_ours)))
            rows.append((f"where {ours} overtakes {method}", crossing(pairs, of, margin), *[""] * (len(sizes) - 1)))
        text.append(f"## {s.title}\n\n{table(('method', *(f'n = {n:,}' for n in sizes)), rows)}\n")
    return "\n".join(text)


def crossing(theirs: list[tuple[Fit | None, int]], of: dict, margin: float) -> str:
    """Say from which size on ours takes less time, and less memory, at an equal score."""
    faster, smaller = [], []
    for fit, n in theirs:
        ours = as_good(of["ours", n], fit.score if fit else None, margin)
        if fit is None or ours is None or (fit.score is not None and ours.score < fit.score - margin):
            continue
        if fit.seconds is None or ours.seconds < fit.seconds:
            faster.append(n)
        if fit.megabytes is None or ours.megabytes < fit.megabytes:
            smaller.append(n)
    less, fewer = (", ".join(f"{n:,}" for n in sizes) or "none of these" for sizes in (faster, smaller))
    return f"less time at n = {less}; less memory at n = {fewer}"


def main() -> None:
    """Make the measurements that the command line names, and print their tables."""
    asked = command_line(__doc__, sizes=names, settings=names, cap=90.0, margin=0.005, rows=Path, table=False)
    on_one_thread()
    sizes, settings = [int(n) for n in asked.sizes or SIZES], asked.settings or list(SETTINGS)
    known = [Fit(**row) for row in read_rows(asked.rows)]
    for new in [] if asked.table else sweep(settings, sizes, asked.cap, asked.margin, known):
        print(*(f"{fit.setting} {fit.method} n={fit.n}: {cell(fit)}" for fit in new), sep="\n", flush=True)
        keep_rows(asked.rows, map(asdict, new))
    show(tables(known, settings, sizes, asked.margin))


if __name__ == "__main__":
    main()
