"""The model f: one block of coefficients per iteration. Its random features are drawn again from (seed, t), never stored."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.core.cost import COORDINATES_PER_COSINE
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import REQUIRED, Anything, Choice, Flag, ParameterError, check_all
from dsgcore.core.sampling import FREQUENCIES, generator
from dsgcore.core.threads import (
    MAX_EVALUATIONS_PER_PIECE,
    MIN_EVALUATIONS_PER_WORKER,
    for_each_piece,
    n_workers,
    pieces,
)
from dsgcore.kernels import KERNELS, Kernel
from dsgcore.kernels.features import Cosines, as_points
from dsgcore.kernels.kernels import overflowing, too_far
from dsgcore.solver.model_files import (
    OF_ALL_MODELS,
    RUN,
    ModelError,
    ModelFile,
    check_fingerprint,
    check_points,
    damaged_header,
    fingerprint,
    write,
)

MODEL, FIXED = "expansion", "is_fixed"
_HEADER = (
    *OF_ALL_MODELS,
    Choice("dtype", REQUIRED, options=("float32", "float64")),
    Anything("kernel", REQUIRED),
    Flag(FIXED, False),
    Anything(RUN, None),
)
_KERNEL = Choice("kernel", "gaussian", options=tuple(KERNELS))
# Frequencies for a few points cost more to draw than to use, so they are cached, within this many bytes in all.
FREQUENCY_CACHE_BYTES = 64 * 2**20
POINTS_OF_CACHE = 2048
# Blocks up to so many numbers are cached when a run draws them, because its model is soon evaluated.
NUMBERS_KEPT = 2**16
FEW_POINTS = 256
# A multiple of every feature map's tile, so that values do not depend on how the points are split.
TILE_ROWS = 384
# Points are converted and evaluated in pieces of at most this many, so that memory does not grow with their number. A
# piece shares the drawing of features, and each thread's call is long enough that threads do not wait for each other.
POINTS_AT_A_TIME = 1024 * TILE_ROWS
LEAST_AT_A_TIME = 170 * TILE_ROWS
NUMBERS_AT_A_TIME = 2**23  # 32 MB in single precision
# Most features of several iterations that are evaluated as one block.
FEATURES_JOINED = 512
# The features of several iterations are drawn, and then used by all workers: about 4 MB in single precision.
NUMBERS_DRAWN_AT_ONCE = 2**20


def points_at_a_time(d: int) -> int:
    """Return the number of points with `d` coordinates that are evaluated together."""
    return min(POINTS_AT_A_TIME, max(LEAST_AT_A_TIME, NUMBERS_AT_A_TIME // d // TILE_ROWS * TILE_ROWS))


@dataclass
class _Cache:
    """The frequencies used last, the newest at the end, within a number of bytes."""

    most: int
    used: int = 0
    blocks: OrderedDict[tuple, NDArray] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)


_cache = _Cache(FREQUENCY_CACHE_BYTES)


@dataclass
class Expansion:
    """Model f_{t+1}(x) = (1 - eta_t lambda) f_t(x) + alpha_t' phi_t(x), which can be evaluated at any point and earlier t.

    Attributes
    ----------
    kernel : Kernel
    seed : int
    d : int
        Number of coordinates of a point.
    dtype : numpy dtype
        float32 or float64.
    blocks : list of ndarray of shape (2, m_t)
        Amplitudes and phases of each iteration; see `dsgcore.kernels.features`.
    decays : list of float
        1 - eta_t lambda_t of each iteration. The coefficients are never rescaled: the decays are applied when the
        blocks are summed, in order, so a prefix of the lists *is* the model at an earlier iteration.
    is_fixed : bool
        True if all iterations have the random features of the first one.
    """

    kernel: Kernel
    seed: int
    d: int
    dtype: np.dtype = field(default_factory=lambda: np.dtype(np.float32))
    blocks: list[NDArray] = field(default_factory=list, repr=False)
    decays: list[float] = field(default_factory=list, repr=False)
    is_fixed: bool = False

    def __len__(self) -> int:
        return len(self.blocks)

    def frequencies(self, t: int, m: int, *, is_kept: bool | None = None) -> NDArray:
        """Return the frequencies of iteration `t` (from 1), of shape (d, m), in turns per unit.

        `is_kept` says whether they are cached, by default if they are few numbers.
        """
        is_kept = self.is_fixed or self.d * m <= NUMBERS_KEPT if is_kept is None else is_kept
        key = self.kernel, self.seed, 1 if self.is_fixed else t, self.d, m, self.dtype
        with _cache.lock:
            if key in _cache.blocks:
                _cache.blocks.move_to_end(key)
                return _cache.blocks[key]
        # `block_frequencies`, without a call more in each iteration.
        W = self.kernel.frequencies(generator(self.seed, FREQUENCIES, key[2]), self.d, m).astype(self.dtype, copy=False)
        with _cache.lock:
            if is_kept and key not in _cache.blocks:
                _cache.blocks[key] = W
                _cache.used += W.nbytes
            while _cache.used > _cache.most:
                _cache.used -= _cache.blocks.popitem(last=False)[1].nbytes
        return W

    def update(self, values: NDArray, X: NDArray, start: int, stop: int) -> None:
        """Update the values of f after `start` iterations at the points `X` to those after `stop`, in place."""
        self._update(values, X, [range(t, t + 1) for t in range(start + 1, stop + 1)])

    def _update(self, values: NDArray, X: NDArray, groups: list[range]) -> None:
        """Update the values by groups of iterations, each as one block: only the first of a group may shrink them.

        Each block is a call, and threads wait for each other between calls. So there are more pieces than workers only if
        calls are long. A quarter of the usual work per worker is enough, because it is done many times.
        """
        n, is_kept = len(X), len(X) <= POINTS_OF_CACHE
        largest = max((sum(self.blocks[t - 1].shape[1] for t in group) for group in groups), default=1)
        work_of_all = max(min(4 * n * largest, n_workers() * MIN_EVALUATIONS_PER_WORKER), n * largest // 4)
        n_parts = max(1, len(pieces(n, TILE_ROWS, work_of_all)))
        # At most so many features that no piece takes too long: many coordinates cost more than the cosine.
        most = MAX_EVALUATIONS_PER_PIECE * n_parts // max(1, n * (1 + self.d // COORDINATES_PER_COSINE))
        size = max(1, min(NUMBERS_DRAWN_AT_ONCE // self.d, most) // largest)
        for first in range(0, len(groups), size):
            drawn = []  # the frequencies, the block and the decay of each group
            for group in groups[first : first + size]:
                blocks = [self.blocks[t - 1] for t in group]
                W = [
                    self.frequencies(t, block.shape[1], is_kept=is_kept) for t, block in zip(group, blocks, strict=True)
                ]
                pair = (W[0], blocks[0]) if len(W) == 1 else (np.concatenate(W, axis=1), np.concatenate(blocks, axis=1))
                drawn.append((*pair, self.decays[group.start - 1]))

            def work(part: slice, drawn: list[tuple[NDArray, NDArray, float]] = drawn) -> None:
                for W, block, decay in drawn:
                    self.kernel.feature_map.evaluate(X[part], W, block, decay, values[part])

            for_each_piece(work, n, TILE_ROWS, work_of_all)

    def _groups(self, n_iter: int) -> list[range]:
        """Return the iterations 1 .. n_iter in groups that are evaluated as one block.

        They are several where nothing shrinks, as in a mean of iterates: then the features of many iterations are summed
        faster than those of each. The groups depend on the model alone, and so do the values.
        """
        if not isinstance(self.kernel.feature_map, Cosines) or any(decay != 1.0 for decay in self.decays[:n_iter]):
            return [range(t, t + 1) for t in range(1, n_iter + 1)]
        groups, size = [range(1, 1)], 0
        for t, block in enumerate(self.blocks[:n_iter], start=1):
            size += block.shape[1]
            if size > FEATURES_JOINED and groups[-1]:
                groups.append(range(t, t))
                size = block.shape[1]
            groups[-1] = range(groups[-1].start, t + 1)
        return groups if n_iter else []

    def evaluate(self, X: NDArray, t: int | None = None) -> NDArray:
        """Return f at the rows of `X` after `t` iterations (default: all of them), in memory that does not grow with n.

        Parameters
        ----------
        X : array-like of shape (n, d)
        t : int, optional

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ModelError
            If the points have another shape, or if they are so far away that the kernel's features overflow, or if the
            model has fewer than `t` iterations.
        """
        t = len(self) if t is None else t
        if not 0 <= t <= len(self):
            raise ModelError(f"t must be between 0 and {len(self)}, the iterations made, got {t}")
        if self.is_fixed and len(self) > 1:
            return self.prefix(t).joined().evaluate(X)
        X = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=self.dtype)
        check_points(X, self.d)
        values, groups = np.zeros(len(X), dtype=self.dtype), self._groups(t)
        size = points_at_a_time(self.d)
        with np.errstate(over="ignore", invalid="ignore"):  # the values show an overflow
            for start in range(0, len(X), size):
                piece = slice(start, start + size)
                if said := too_far(X[piece], self.kernel, start):
                    raise ModelError(said)
                self._update(values[piece], as_points(X[piece], self.dtype), groups)
        if said := overflowing(X, values, self.kernel):
            raise ModelError(said)
        return values

    def prefix(self, t: int) -> Expansion:
        """Return the model as it was after `t` iterations (sharing the coefficients)."""
        return replace(self, blocks=self.blocks[:t], decays=self.decays[:t])

    def joined(self) -> Expansion:
        """Return the same function with one block, if it has any; its features must be fixed."""
        if not self.blocks:
            return self
        feature_map, alpha = self.kernel.feature_map, np.zeros(())
        for block, decay in zip(self.blocks, self.decays, strict=True):
            alpha = decay * alpha + feature_map.coefficients(block).astype(np.float64)
        return replace(self, blocks=[feature_map.block_of(alpha).astype(self.dtype)], decays=[1.0], is_fixed=False)

    def tail_average(self, n_last: int) -> Expansion:
        """Return the mean of the last `n_last` iterates, a model with the same frequencies and size.

        Notes
        -----
        With K = n_last, block t has the weight w_t = (1 / K) sum_{s = max(t, T - K + 1)}^{T} prod_{r = t + 1}^{s}
        decay_r: its remaining part in each of the averaged iterates. The weights are in the amplitudes, so the decays
        of the average are 1.
        """
        if not 1 <= n_last <= len(self):
            raise DSGError(f"n_last must be between 1 and {len(self)}, the iterations made, got {n_last}")
        blocks, weight, n = [block.copy() for block in self.blocks], 0.0, len(self)
        for t in range(n, 0, -1):
            weight = (self.decays[t] * weight if t < n else 0.0) + (t > n - n_last)
            # the first row is the amplitudes; a block of products has no other row
            blocks[t - 1][0] *= self.dtype.type(weight / n_last)
        return replace(self, blocks=blocks, decays=[1.0] * n)

    def fingerprint(self) -> str:
        """Return a digest of the first iteration's frequencies, which differs if they cannot be drawn again."""
        if not self.blocks:
            return ""
        return fingerprint(self.kernel, self.seed, 1, self.d, self.blocks[0].shape[1])

    def save(self, file: str | Path | IO[bytes], *, run: Mapping[str, Any] | None = None) -> None:
        """Write the model to a NumPy archive: the coefficients, and the values needed to draw the features; no pickle.

        Parameters
        ----------
        file : path or binary file
        run : mapping, optional
            For a checkpoint: everything that determines the run, as plain data.
        """
        header = {
            "kernel": {"name": self.kernel.name, **asdict(self.kernel)},  # type: ignore[call-overload]
            "seed": self.seed,
            "d": self.d,
            "dtype": self.dtype.name,
            "fingerprint": self.fingerprint(),
            **({FIXED: True} if self.is_fixed else {}),
            **({} if run is None else {RUN: dict(run)}),
        }
        empty = np.zeros((self.kernel.feature_map.block_rows, 0), dtype=self.dtype)
        write(
            file,
            MODEL,
            header,
            sizes=np.array([block.shape[1] for block in self.blocks], dtype=np.int64),
            coefficients=np.concatenate([empty, *self.blocks], axis=1),
            decays=np.array(self.decays, dtype=np.float64),
        )


def restore(held: ModelFile) -> Expansion:
    """Return the model of a file; raise `ModelError` as `dsgcore.load_model` does."""
    given = held.expect({"fingerprint"}, {"sizes", "coefficients", "decays"}, _HEADER)
    try:
        if not isinstance(own := given["kernel"], dict):
            raise ParameterError(f"kernel must be an object with fields, got {own!r}")
        kind = KERNELS[_KERNEL.check(own.pop("name", None))]
        kernel: Kernel = kind(**check_all(kind.parameters, own, "the kernel"))
    except ParameterError as error:
        raise damaged_header(error) from error
    sizes, coefficients, decays = (held.arrays[name] for name in ("sizes", "coefficients", "decays"))
    fits = (
        [a.dtype.name for a in (sizes, decays, coefficients)] == ["int64", "float64", given["dtype"]]
        and sizes.ndim == 1
        and sizes.shape == decays.shape
        # Check each coefficient before their sum: the sum of huge ones overflows.
        and ((sizes > 0) & (sizes <= coefficients.size)).all()
        and coefficients.shape == (kernel.feature_map.block_rows, sizes.sum())
    )
    if not fits:
        raise ModelError("not a model file: its arrays do not fit together")
    if not (np.isfinite(coefficients).all() and np.isfinite(decays).all()):
        raise ModelError("not a model file: its coefficients and decays must be finite numbers")
    blocks = [
        np.ascontiguousarray(coefficients[:, end - m : end]) for m, end in zip(sizes, np.cumsum(sizes), strict=True)
    ]
    dtype = np.dtype(given["dtype"])
    model = Expansion(kernel, given["seed"], given["d"], dtype, blocks, decays.tolist(), given[FIXED])
    check_fingerprint(held.header["fingerprint"], model.fingerprint())
    return model
