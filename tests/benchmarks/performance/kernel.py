"""The evaluation loop on one thread: against the machine's floor, other implementations, and structured features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.sampling import generator
from dsgcore.kernels import Gaussian, OrthogonalGaussian
from performance.machine import NUMPY, Peer, Row, interleaved, measure_kernel, workers
from performance.measuring import Sizes

_TORCH_ROWS = 256
# Targets for structured orthogonal features by number of coordinates: the least ratio of the dense features' time to
# theirs.
OF_DENSE = {784: 4.0}
LEAST_STRUCTURED = 128
STRUCTURED_FEATURES = 1024


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the loop for every number of coordinates."""
    peers = [NUMPY, TORCH] if find_spec("torch") else [NUMPY]
    for d in sizes.dimensions:
        yield from measure_kernel(d, n=sizes.rows, m=sizes.m, repeats=sizes.repeats, peers=peers)


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


TORCH = Peer("PyTorch", _torch, n_most=Sizes.rows, targets={3: 5.0, 22: 2.0, 54: 2.0})


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
