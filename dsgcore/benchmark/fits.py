"""What a fit with default arguments takes, on one thread."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import interleaved, workers
from dsgcore.estimators import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU

ROUNDS, CLASSES, LABELED = 3, 5, 0.1
MOST_SECONDS = 2.0


def measure(sizes: Sizes) -> Iterator[Row]:
    """Fit each of the five papers' estimators to as many points, a tenth of them labeled."""
    fits = _fits(sizes.fitted, sizes.fitted_d)
    with workers(1), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = interleaved(min(sizes.repeats, ROUNDS), fits)
    for name, seconds in times.items():
        yield Row(f"{name}: default fit, {sizes.fitted:,} x {sizes.fitted_d}", seconds, "s", MOST_SECONDS, is_most=True)


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
