"""What a session keeps of one setting's page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dsgcore.experiments import LiveRun, Spec
from pages._own_file import store


@dataclass
class Bench:
    """The run of one setting's page, and how it stands."""

    live: LiveRun | None = None
    asked: Spec | None = None  # the controls' spec that `live` was made for, or steered to
    is_playing: bool = True
    surface: Any = None  # the map as it was drawn last
    number: int = 0  # of the run: charts let go of zoom when it changes
    notices: list[str] = field(default_factory=list)
    drawn: int = 0  # how often the whole page has been drawn
    answered: int = -1  # the drawing whose buttons have been answered last
    n_waiting: int = 0  # threads of this session that would have the bench
    _turn: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _count: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the bench to oneself.

        A moved slider starts a thread of its own, and the tick before it may still be at work in another: a change made in
        the middle of an iteration would be recorded for that iteration, which had begun without it.
        """
        self._wait(1)
        try:
            self._turn.acquire()
        finally:
            self._wait(-1)
        try:
            yield
        finally:
            self._turn.release()

    def is_wanted(self) -> bool:
        """Whether another thread waits: time to end a slice of training."""
        return self.n_waiting > 0

    def _wait(self, more: int) -> None:
        with self._count:
            self.n_waiting += more


def begin(bench: Bench, spec: Spec) -> None:
    """Begin a run, with the one before as its ghost."""
    bench.live = LiveRun(spec, bench.live, store())
    bench.surface = None
    bench.is_playing = True
    bench.number += 1


def begin_again(bench: Bench) -> None:
    """Begin the same run again, its recorded changes included: the same numbers."""
    if bench.live is not None:
        begin(bench, bench.live.run.spec)


def once(bench: Bench, drawn: int, action: Callable[..., None], *arguments: Any) -> None:
    """Carry out a button's action, once for a click on the page as it was drawn the `drawn`-th time.

    While the page ticks, a click can reach the server twice: in its own request and in that of a tick sent beside it.
    """
    with bench.alone():
        if drawn != bench.answered:
            bench.answered = drawn
            action(*arguments)
