"""What a fit will hold in memory at most, said and checked before it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsgcore.core.errors import DSGError

BYTES_PER_NUMBER = 8
GB = 1e9


class MemoryLimitError(DSGError):
    """A fit needs more memory than it may have. The message has the number."""


@dataclass(frozen=True)
class Memory:
    """A need for memory.

    Attributes
    ----------
    bytes : int
        What the arrays of a fit hold at its peak, beside the points themselves.
    purpose : str
        What most of it is for, to follow "needs 12.8 GB for "; for instance "the kernel matrix of 40,000 points".
    """

    bytes: int
    purpose: str

    def check(self, limit: float, name: str) -> None:
        """Raise `MemoryLimitError` if this is above `limit` GB (of 10^9 bytes)."""
        if self.bytes > limit * GB:
            raise MemoryLimitError(f"{name} needs {self.bytes / GB:.3g} GB for {self.purpose}; limit {limit:g} GB")

    def with_more(self, count: int) -> Memory:
        """Return this need and that for so many bytes at the same time, for whatever purpose."""
        return replace(self, bytes=self.bytes + count)


def numbers(count: float, purpose: str) -> Memory:
    """Return the need for `count` float64 numbers."""
    return Memory(int(count) * BYTES_PER_NUMBER, purpose)


def kernel_matrix(n: int, *, copies: float = 1.0) -> Memory:
    """Return the need for the kernel matrix of `n` points, and for as many matrices of its size as `copies` says."""
    return numbers(copies * n * n, f"the kernel matrix of {n:,} points")


def larger(first: Memory, second: Memory) -> Memory:
    """Return the need for two things of which the second begins when the first is over."""
    return max(first, second, key=lambda need: need.bytes)
