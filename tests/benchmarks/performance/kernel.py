"""The evaluation loop on one thread: against the machine's floor, other implementations, and structured features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.sampling import generator
from dsgcore.kernels import Gaussian, OrthogonalGaussian, features
from performance.machine import floor, floor_calls
from performance.measuring import Row, Sizes, interleaved, workers

# Targets by number of coordinates: floor / measured; PyTorch's time / ours; NumPy's time / ours.
OF_FLOOR = 0.95
OF_NUMPY = {784: 1.0}
OF_TORCH = {3: 5.0, 22: 2.0, 54: 2.0}
_TORCH_ROWS = 256
_NUMPY_ROWS = 960
# Targets for structured orthogonal features by number of coordinates: the least ratio of the dense features' time to
# theirs.
OF_DENSE = {784: 4.0}
LEAST_STRUCTURED = 128
STRUCTURED_FEATURES = 1024


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the loop for every number of coordinates."""
    for d in sizes.dimensions:
        yield from _measure(d, sizes)


def _measure(d: int, sizes: Sizes) -> Iterator[Row]:
    rng = np.random.default_rng(d)
    X, r = rng.standard_normal((sizes.rows, d), dtype=np.float32), rng.random(sizes.m, dtype=np.float32)
    W, block = Gaussian(1 / d).frequencies(rng, d, sizes.m), np.stack([r, r])
    out = np.zeros(len(X), dtype=np.float32)
    few = X[: min(len(X), _NUMPY_ROWS)]
    calls = {
        **floor_calls(),
        "ours": lambda: features.evaluate(X, W, block, 1.0, out),
        "numpy": lambda: np.cos(2 * np.pi * (few @ W - r)) @ r,
    }
    if find_spec("torch"):
        calls["torch"] = _torch(X, W, r)
    with workers(1), single_threaded_blas():
        times = interleaved(sizes.repeats, calls)
    ours = times["ours"] / (len(X) * sizes.m)
    yield Row(f"kernel, d = {d}: one evaluation, one thread", 1e9 * ours, "ns")
    yield Row(f"kernel, d = {d}: floor / measured", floor(times, d) / ours, "", OF_FLOOR)
    of_numpy = times["numpy"] / (len(few) * sizes.m) / ours
    yield Row(f"kernel, d = {d}: numpy / ours, one thread", of_numpy, "x", OF_NUMPY.get(d))
    if "torch" in times:
        yield Row(f"kernel, d = {d}: PyTorch / ours, one thread", times["torch"] / times["ours"], "x", OF_TORCH.get(d))


def _torch(X: NDArray, W: NDArray, r: NDArray) -> Callable[[], object]:
    """Return the same evaluation in PyTorch: tiles of rows, everything in place."""
    import torch

    torch.set_num_threads(1)
    points, frequencies = torch.from_numpy(X), torch.from_numpy(W * np.float32(2 * np.pi))
    amplitude, phase = torch.from_numpy(r), torch.from_numpy(r * np.float32(2 * np.pi))
    tile, out = torch.empty((_TORCH_ROWS, len(r))), torch.empty(len(X))

    def evaluate() -> None:
        for top in range(0, len(X), _TORCH_ROWS):
            rows = points[top : top + _TORCH_ROWS]
            z = torch.mm(rows, frequencies, out=tile[: len(rows)]).sub_(phase).cos_()
            torch.mv(z, amplitude, out=out[top : top + _TORCH_ROWS])

    return evaluate


def measure_structured(sizes: Sizes) -> Iterator[Row]:
    """Measure structured orthogonal features against dense ones: their evaluation, and their draws."""
    for d in (d for d in sizes.dimensions if d >= LEAST_STRUCTURED):
        X = np.random.default_rng(d).standard_normal((sizes.rows // 4, d), dtype=np.float32)
        dense, structured = _calls("dense", Gaussian(1 / d), X), _calls("structured", OrthogonalGaussian(1 / d), X)
        with workers(1):
            times = interleaved(sizes.repeats, {**dense, **structured})
        name = f"structured orthogonal features, d = {d}, m = {STRUCTURED_FEATURES}: dense / structured"
        ratio = times["dense evaluation"] / times["structured evaluation"]
        yield Row(f"{name}, evaluation", ratio, "x", OF_DENSE.get(d))
        yield Row(f"{name}, draws", times["dense draws"] / times["structured draws"], "x")


def _calls(name: str, kernel: Gaussian, X: NDArray) -> dict[str, Callable[[], object]]:
    d, out = X.shape[1], np.zeros(len(X), dtype=X.dtype)
    block = np.random.default_rng(1).random((2, STRUCTURED_FEATURES), dtype=np.float32)
    W = kernel.frequencies(generator(0, "bench"), d, STRUCTURED_FEATURES)
    return {
        f"{name} evaluation": lambda: kernel.feature_map.evaluate(X, W, block, 1.0, out),
        f"{name} draws": lambda: kernel.frequencies(generator(0, "bench"), d, STRUCTURED_FEATURES),
    }
