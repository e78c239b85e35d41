"""Time and memory of the comparison methods, beside ours run until it is as good, as the number of points grows.

    python tests/benchmarks/baselines_time.py --rows rows.jsonl --out tests/benchmarks/baselines_time.md

Every fit is made in a process of its own, one at a time, on one thread. Times are this process's CPU seconds, so that
other work on the machine changes little; memory is the peak of what is resident above what was before the fit, when the
data and all libraries were loaded already and one small fit was made. A fit that takes more than `--cap` CPU seconds is
ended, and larger ones of that method are not tried.

Ours is fitted anew with 25, 50, 100, .. iterations until its score on 4,000 other points is no more than `--margin` below
the best competitor's. For each competitor the table shows the first fit that is as good as that, or the best there was.

`--rows` gets one line per fit as soon as it is known; what is in it already is not measured again. Data: codrna.npz and
kin40k.npz in the folder that DSGLAB_DATA names, or in ../shared/data beside the project.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore._memory import MEGABYTE, forget_peak, peak

ROOT = Path(__file__).parents[2]
SIZES = (500, 1000, 2000, 4000, 8000)
ITERATIONS = tuple(25 * 2**i for i in range(9))
TEST_POINTS = 4000
SIGMA = 0.125  # 1 / d for features of variance 1
PRIOR = 0.3  # share of positives in the similar-unlabeled data
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DSGCORE_WORKERS")}
# Points and labels to fit on, and to score on.
Data = tuple[NDArray, NDArray, NDArray, NDArray]


@dataclass(frozen=True)
class Fit:
    """What one fit took. `seconds` is None where it was ended."""

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
    folder = Path(os.environ.get("DSGLAB_DATA") or ROOT.parent / "shared" / "data")
    with np.load(folder / f"{name}.npz") as held:
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
    """A setting: its data, our method, and competitors as (module, class, parameters) by name."""

    title: str
    data: Callable[[int], Data]
    score: Callable[[Any, NDArray, NDArray], float]
    ours: tuple[type[Any], dict[str, Any]]
    competitors: dict[str, tuple[str, str, dict[str, Any]]]

    def make(self, method: str, iterations: int | None) -> Any:
        """Make the estimator of one fit."""
        if method == "ours":
            cls, parameters = self.ours
            return cls(sigma=SIGMA, random_state=0, n_iter=iterations, **parameters)
        module, name, parameters = self.competitors[method]
        return getattr(import_module(f"dsgcore.baselines.{module}"), name)(sigma=SIGMA, **parameters)


SETTINGS = {
    "similar_unlabeled": Setting(
        "TSGSU: codrna, n/4 similar pairs and n/2 unlabeled points, 30 % positives, accuracy",
        similar_unlabeled,
        accuracy,
        (TSGSU, {"prior": PRIOR, "lam": 1e-3, "step_size": 5.0, "correction": "identity"}),
        {
            "SU-SL": ("susl", "SUSL", {"prior": PRIOR, "lam": 1e-2}),
            "SU-DH": ("sudh", "SUDH", {"prior": PRIOR, "lam": 1e-2}),
            "CUU (all)": ("cuu", "CUU", {"prior": PRIOR, "lam": 1e-2, "step_size": 0.4, "random_state": 0}),
            "CUU (100)": (
                "cuu",
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
            "PNU-AUC": ("pnu_auc", "PNUAUC", {"lam": 1e-2, "prior": 1 / 3}),
            "SAMULT": ("samult", "SAMULT", {"lam": 1e-2}),
        },
    ),
    "s3vm": Setting(
        "TSGS3VM: codrna, 200 labels, accuracy",
        lambda n: partly_labeled("codrna", "y", n, 200),
        accuracy,
        (TSGS3VM, {"C": 1000.0}),
        {
            "S3VM-light": ("s3vm_light", "S3VMLight", {"C": 5.0, "C_star": 0.5}),
            "BLS3VM": ("bls3vm", "BLS3VM", {"C": 5.0}),
            "QN-S3VM": ("qns3vm", "QNS3VM", {"lam": 1e-3, "lam_u": 0.5}),
            "BGS3VM": ("bgs3vm", "BGS3VM", {"C": 1000.0, "n_passes": 10, "random_state": 0}),
            "FRS3VM": ("frs3vm", "FRS3VM", {"C": 1000.0, "random_state": 0}),
        },
    ),
    "ordinal": Setting(
        "QS3ORAO: kin40k in five classes, 500 labels (n/2 at most), mean AUC",
        lambda n: partly_labeled("kin40k", "y5", n, 500),
        mean_auc,
        (QS3ORAO, {"lam": 1e-4, "gamma": 0.9, "step_size": 2.0}),
        {
            "SVOREX": ("svorex", "SVOREX", {"C": 10.0}),
            "M-PNU-AUC": ("ordinal_auc", "MPNUAUC", {"lam": 1e-4, "eta": 0.1, "prior": [0.8, 0.6, 0.4, 0.2]}),
            "M-SAMULT": ("ordinal_auc", "MSAMULT", {"lam": 1e-4, "gamma": 0.9}),
        },
    ),
}


# The process that is measured.


def measure(setting: str, method: str, n: int, cap: float, target: float) -> None:
    """Print what each fit took, as a line of JSON."""
    s = SETTINGS[setting]
    warnings.simplefilter("ignore")  # a fit that has not converged says so in its note
    X, y, X_test, y_test = s.data(n)
    warm_up(s, method)
    end_after(cap)
    for iterations in ITERATIONS if method == "ours" else (None,):
        model = s.make(method, iterations)
        before, start = forget_peak(), time.process_time()
        model.fit(X, y)
        seconds, used = time.process_time() - start, peak() - before
        score = s.score(model, X_test, y_test)
        note = "" if getattr(model, "converged_", True) else "not converged"
        print(
            json.dumps(asdict(Fit(setting, method, n, iterations, score, seconds, used / MEGABYTE, note))), flush=True
        )
        if method == "ours" and (score >= target or 2 * seconds > cap):
            return


def warm_up(setting: Setting, method: str) -> None:
    """Load and compile what a fit needs."""
    X, y, X_test, y_test = setting.data(240)
    setting.score(setting.make(method, 3).fit(X, y), X_test[:200], y_test[:200])


def end_after(cap: float) -> None:
    """Let the system end this process after so many CPU seconds more."""
    import resource

    limit = int(time.process_time() + cap + 1)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))


# The process that starts the others.


def run(setting: str, method: str, n: int, cap: float, target: float = np.inf) -> list[Fit]:
    """Return what the fits of one method at one size took."""
    arguments = ["--one", setting, method, str(n), "--cap", str(cap), "--target", str(target)]
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env={**os.environ, **ONE_THREAD}, capture_output=True, text=True
    )
    fits = [Fit(**json.loads(line)) for line in done.stdout.splitlines()]
    if fits:
        return fits
    said = done.stderr.strip().splitlines()[-1:] or [""]
    over = f"over {cap:g} s"
    refused = "refused: " + said[0].split(": ", 1)[-1] if "MemoryLimitError" in said[0] else f"failed: {said[0]}"
    return [Fit(setting, method, n, None, None, None, None, refused if done.returncode == 1 else over)]


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
    for setting in settings:
        s = SETTINGS[setting]
        of = {
            (method, n): [f for f in fits if (f.setting, f.method, f.n) == (setting, method, n)]
            for method in [*s.competitors, "ours"]
            for n in sizes
        }
        text += [f"## {s.title}", "", "| method | " + " | ".join(f"n = {n:,}" for n in sizes) + " |"]
        text.append("|---" * (len(sizes) + 1) + "|")
        for method in s.competitors:
            theirs = [next(iter(of[method, n]), None) for n in sizes]
            text.append(f"| {method} | " + " | ".join(cell(fit) if fit else "not measured" for fit in theirs) + " |")
            ours = [
                compared(fit, as_good(of["ours", n], fit.score, margin), margin) if fit else ""
                for fit, n in zip(theirs, sizes, strict=True)
            ]
            text.append(f"| {s.ours[0].__name__}, as good as {method} | " + " | ".join(ours) + " |")
            text.append(crossing(s.ours[0].__name__, method, theirs, of, sizes, margin))
        text.append("")
    return "\n".join(text)


def crossing(name: str, method: str, theirs: list[Fit | None], of: dict, sizes: list[int], margin: float) -> str:
    """Return the row that says from which size on ours takes less time, and less memory, at an equal score."""
    faster, smaller = [], []
    for fit, n in zip(theirs, sizes, strict=True):
        ours = as_good(of["ours", n], fit.score if fit else None, margin)
        if fit is None or ours is None or (fit.score is not None and ours.score < fit.score - margin):
            continue
        if fit.seconds is None or ours.seconds < fit.seconds:
            faster.append(n)
        if fit.megabytes is None or ours.megabytes < fit.megabytes:
            smaller.append(n)
    said = f"less time at n = {listed(faster)}; less memory at n = {listed(smaller)}"
    return f"| where {name} overtakes {method} | {said} |" + " |" * (len(sizes) - 1)


def listed(sizes: list[int]) -> str:
    """Return sizes in words."""
    return ", ".join(f"{n:,}" for n in sizes) or "none of these"


def written(fits: list[Fit], settings: list[str], sizes: list[int], arguments: argparse.Namespace) -> str:
    """Return the whole page."""
    head = [
        "# How much time and memory do the papers' competitors take?",
        "",
        "A cell has the score on 4,000 other points, the CPU seconds of the fit, and the peak memory above the data.",
        "",
        "- The row below a competitor is our method, with the first number of iterations T (25, 50, 100, ..) whose score is",
        f"  at most {arguments.margin:g} below the competitor's.",
        "  If there is none, it is the best score, and by how much that is below.",
        "- Parameters are fixed for each setting and not tuned for each size. They are in the script.",
        "- 0 MB is less than the process had to spare.",
        "",
        f"The command is `python tests/benchmarks/baselines_time.py --sizes {arguments.sizes} --cap {arguments.cap:g} "
        f"--margin {arguments.margin:g}`,",
        f"with Python {platform.python_version()} and one thread on {platform.machine()}.",
        "",
    ]
    return "\n".join(head) + "\n" + tables(fits, settings, sizes, arguments.margin)


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of points")
    parser.add_argument("--settings", default=",".join(SETTINGS), help="of " + ", ".join(SETTINGS))
    parser.add_argument("--cap", type=float, default=90.0, help="CPU seconds after which a fit is ended")
    parser.add_argument("--margin", type=float, default=0.005, help="how far below a score counts as equal")
    parser.add_argument("--rows", type=Path, help="file of measurements, to go on from")
    parser.add_argument("--out", type=Path, help="file for the page; printed without")
    parser.add_argument("--table", action="store_true", help="measure nothing; write the page of what --rows has")
    parser.add_argument("--one", nargs=3, metavar=("SETTING", "METHOD", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--target", type=float, default=np.inf, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        setting, method, n = arguments.one
        measure(setting, method, int(n), arguments.cap, arguments.target)
        return
    sizes, settings = [int(n) for n in arguments.sizes.split(",")], arguments.settings.split(",")
    rows = arguments.rows
    fits = [Fit(**json.loads(line)) for line in rows.read_text().splitlines()] if rows and rows.exists() else []
    for new in [] if arguments.table else sweep(settings, sizes, arguments.cap, arguments.margin, fits):
        print(*(f"{fit.setting} {fit.method} n={fit.n}: {cell(fit)}" for fit in new), sep="\n", file=sys.stderr)
        if rows:
            with rows.open("a") as file:
                file.writelines(json.dumps(asdict(fit)) + "\n" for fit in new)
    page = written(fits, settings, sizes, arguments)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
