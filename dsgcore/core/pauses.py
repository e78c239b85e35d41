"""Pauses in long work: between its pieces, the caller may let others use the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_pause: ContextVar[Callable[[], None]] = ContextVar("pause", default=lambda: None)


@contextmanager
def pausing(pause: Callable[[], None]) -> Iterator[None]:
    """Make all work in the block call `pause` between its pieces, in this thread, about every 50 ms or more often.

    `pause` must return: work that has begun must end, or a run would be left between two iterations.
    """
    token = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(token)


def pause() -> None:
    """Call this thread's `pause`, if it has one."""
    _pause.get()()
