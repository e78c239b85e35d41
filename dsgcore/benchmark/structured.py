"""Structured orthogonal features against dense ones, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import interleaved, workers
from dsgcore.core.kernels import Gaussian, OrthogonalGaussian
from dsgcore.core.sampling import generator

TARGETS = {784: 4.0}
FEATURES = 1024
LEAST = 128


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure evaluation, and drawing, where the kernel offers both."""
    for d in (d for d in sizes.dimensions if d >= LEAST):
        X = np.random.default_rng(d).standard_normal((sizes.rows // 4, d), dtype=np.float32)
        dense, structured = _calls("dense", Gaussian(1 / d), X), _calls("structured", OrthogonalGaussian(1 / d), X)
        with workers(1):
            times = interleaved(sizes.repeats, {**dense, **structured})
        name = f"structured orthogonal features, d = {d}, m = {FEATURES}: dense / structured"
        ratio = times["dense evaluation"] / times["structured evaluation"]
        yield Row(f"{name}, evaluation", ratio, "x", TARGETS.get(d))
        yield Row(f"{name}, draws", times["dense draws"] / times["structured draws"], "x")


def _calls(name: str, kernel: Gaussian, X: NDArray) -> dict[str, Callable[[], object]]:
    d, out = X.shape[1], np.zeros(len(X), dtype=X.dtype)
    block = np.random.default_rng(1).random((2, FEATURES), dtype=np.float32)
    W = kernel.frequencies(generator(0, "bench"), d, FEATURES)
    return {
        f"{name} evaluation": lambda: kernel.feature_map.evaluate(X, W, block, 1.0, out),
        f"{name} draws": lambda: kernel.frequencies(generator(0, "bench"), d, FEATURES),
    }
