"""Waiting times of a new user: imports, compilation, and a fit with default arguments."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from performance.machine import Row, interleaved, workers
from performance.measuring import Sizes, in_new_process

ROUNDS = 3
CLASSES, LABELED = 5, 0.1
MOST_SECONDS_OF_FIT = 2.0
TIMED = """
import time
{}
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""
FIRST_CALL = TIMED.format("from dsgcore.kernels.features import warm_up", "warm_up()")


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure imports, and the loops' first call with and without a filled cache, each in a separate process."""
    rounds = range(min(sizes.repeats, ROUNDS))
    for what, target in (("import dsgcore", 1.0), ("from dsgcore import Run", None)):
        value = min(in_new_process(TIMED.format("", what)) for _ in rounds)
        yield Row(f"start: {what}", value, "s", target, is_most=True)
    with tempfile.TemporaryDirectory() as folder:
        cold = in_new_process(FIRST_CALL, NUMBA_CACHE_DIR=folder)
        yield Row("start: compiling all loops from nothing", cold, "s", 20, is_most=True)
        cached = min(in_new_process(FIRST_CALL, NUMBA_CACHE_DIR=folder) for _ in rounds)
        yield Row("start: loading all loops from the cache", cached, "s", 0.5, is_most=True)


def measure_fits(sizes: Sizes) -> Iterator[Row]:
    """Fit each of the five papers' estimators on one thread, with the same number of points, a tenth of them labeled."""
    fits = _fits(sizes.fitted, sizes.fitted_d)
    with workers(1), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = interleaved(min(sizes.repeats, ROUNDS), fits)
    for name, seconds in times.items():
        yield Row(
            f"{name}: default fit, {sizes.fitted:,} x {sizes.fitted_d}", seconds, "s", MOST_SECONDS_OF_FIT, is_most=True
        )


def _fits(n: int, d: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    grades = rng.integers(CLASSES, size=n)
    X = rng.standard_normal((n, d)) + 2.0 * rng.standard_normal((CLASSES, d))[grades] / d**0.5
    few, two = rng.random(n) < LABELED, (grades > 0).astype(int)
    similar = _pairs(np.flatnonzero(few), two, rng)
    of_two, of_all = np.where(few, two, -1), np.where(few, grades, -1)
    return {
        "TSGSU": lambda: TSGSU(prior=float(np.mean(two))).fit(X[~few], pairs=X[similar]),
        "QSGS2AUC": lambda: QSGS2AUC().fit(X, of_two),
        "TSGS3VM": lambda: TSGS3VM().fit(X, of_two),
        "QS3ORAO": lambda: QS3ORAO().fit(X, of_all),
        "PS3VT": lambda: PS3VT().fit(X, of_all),
    }


def _pairs(rows: NDArray, y: NDArray, rng: np.random.Generator) -> NDArray:
    """Return pairs of rows of one class each, of shape (n, 2)."""
    of_classes = [rng.permutation(rows[y[rows] == label]) for label in np.unique(y)]
    return np.concatenate([own[: len(own) // 2 * 2].reshape(-1, 2) for own in of_classes])
