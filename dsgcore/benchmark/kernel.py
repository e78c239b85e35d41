"""The evaluation kernel, one thread: against the machine's floor, and against other ways to do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dsgcore.benchmark.machine import floor, floor_calls
from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import interleaved, workers
from dsgcore.core import features
from dsgcore.core._threads import single_threaded_blas
from dsgcore.core.kernels import Gaussian

# Targets of floor / measured; of PyTorch's time / ours and of NumPy's, by the number of coordinates.
OF_FLOOR = 0.95
OF_NUMPY = {784: 1.0}
OF_TORCH = {3: 5.0, 22: 2.0, 54: 2.0}
_TORCH_ROWS = 256
_NUMPY_ROWS = 960


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the kernel for every number of coordinates."""
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
