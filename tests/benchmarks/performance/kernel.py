"""The evaluation loop on one thread: against the machine's floor and other implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from performance.machine import NUMPY, Peer, Row, measure_kernel
from performance.measuring import Sizes

_TORCH_ROWS = 256


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
