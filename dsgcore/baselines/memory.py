"""Memory estimates of fits, checked against a limit before a fit starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsgcore.core.errors import DSGError

BYTES_PER_NUMBER = 8
GB = 1e9


class MemoryLimitError(DSGError):
    """Error: a fit needs more memory than it may use. The message states how much."""


@dataclass(frozen=True)
class Memory:
    """Memory that a fit needs.

    Attributes
    ----------
    bytes : int
        Peak size of a fit's arrays, without the points themselves.
    purpose : str
        Name of the largest part, to follow "needs 12.8 GB for ". Example: "the kernel matrix of 40,000 points".
    """

    bytes: int
    purpose: str

    def check(self, limit: float, name: str) -> None:
        """Raise `MemoryLimitError` if this is above `limit` GB (of 10^9 bytes)."""
        if self.bytes > limit * GB:
            raise MemoryLimitError(f"{name} needs {self.bytes / GB:.3g} GB for {self.purpose}; limit {limit:g} GB")

    def with_more(self, count: int) -> Memory:
        """Return this estimate plus the given number of bytes, with the same purpose."""
        return replace(self, bytes=self.bytes + count)


def numbers(count: float, purpose: str) -> Memory:
    """Return the memory for `count` float64 numbers."""
    return Memory(int(count) * BYTES_PER_NUMBER, purpose)


def kernel_matrix(n: int, *, copies: float = 1.0) -> Memory:
    """Return the memory for the kernel matrix of `n` points, times `copies` matrices of that size."""
    return numbers(copies * n * n, f"the kernel matrix of {n:,} points")


def larger(first: Memory, second: Memory) -> Memory:
    """Return the larger of two estimates, for steps of which the second begins when the first has ended."""
    return max(first, second, key=lambda need: need.bytes)
