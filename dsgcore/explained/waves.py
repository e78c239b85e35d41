"""Random waves with a common crest, and their mean, which approaches the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsgcore.explained.example import Example
from dsgcore.kernels import block_frequencies


@dataclass(frozen=True, eq=False)
class Sum:
    """The mean of the first `n` waves."""

    n: int
    # The mean on the grid.
    values: NDArray
    # Root mean square over the grid of its difference from the kernel.
    error: float
    # The same over all draws of the waves. It falls as 1 / sqrt(n).
    expected: float


def single_waves(shown: Example, n: int) -> NDArray:
    """Return `n` random waves with a crest at the example's centre, on its grid, of shape (n, GRID^2)."""
    W = _frequencies(shown, n)
    return np.stack([_mean(shown, W[:, i : i + 1], shown.grid) for i in range(n)])


def sums_of_waves(shown: Example, numbers: Sequence[int]) -> Iterator[Sum]:
    """Yield the mean of the first waves for each of these numbers of waves."""
    W, kernel = _frequencies(shown, max(numbers)), exact_bump(shown, shown.grid)
    spread = _spread(shown, kernel)
    for n in numbers:
        values = _mean(shown, W[:, :n], shown.grid)
        yield Sum(n, values, float(np.sqrt(np.mean((values - kernel) ** 2))), spread / n**0.5)


def sums_on_a_line(shown: Example, numbers: Sequence[int], X: NDArray) -> NDArray:
    """Return the same means at other points (p, 2), of shape (number of means, p)."""
    W = _frequencies(shown, max(numbers))
    return np.stack([_mean(shown, W[:, :n], np.ascontiguousarray(X, dtype=W.dtype)) for n in numbers])


def exact_bump(shown: Example, X: NDArray) -> NDArray:
    """Return the kernel between the example's centre and points (p, 2), of shape (p,)."""
    return shown.spec.kernel.matrix(shown.centre.astype(float), np.asarray(X, dtype=float))[0]


def _frequencies(shown: Example, n: int) -> NDArray:
    return block_frequencies(shown.spec.kernel, shown.spec.seed, 1, 2, n, shown.grid.dtype)


def _mean(shown: Example, W: NDArray, X: NDArray) -> NDArray:
    """Return the mean of cos w'(x - centre): the random features between the centre and each point."""
    feature_map, W = shown.spec.kernel.feature_map, np.ascontiguousarray(W)
    block = feature_map.accumulate(shown.centre, np.ones(1, dtype=X.dtype), W, -1.0)
    values = np.zeros(len(X), dtype=X.dtype)
    feature_map.evaluate(X, W, block, 0.0, values)
    return values


def _spread(shown: Example, kernel: NDArray) -> float:
    """Return the root mean square over the grid of one wave's difference from the kernel.

    The variance of cos w'z over all frequencies is (1 + k(2 z)) / 2 - k(z)^2.
    """
    twice = exact_bump(shown, 2.0 * shown.grid - shown.centre)
    return float(np.sqrt(np.mean((1 + twice) / 2 - kernel**2)))
