"""Time in tests: a clock whose looks take equally long, waiting for others, and interrupting a run."""

import itertools
import threading
import time
import types

from dsgcore.tuning import search


class Clock:
    """A clock that a test sets."""

    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


def until(happened, seconds=60.0, every=0.01):
    """Wait until something has happened in another process or thread; fail if that takes too long."""
    deadline, tick = time.monotonic() + seconds, threading.Event()
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        tick.wait(every)


def interrupt_after(monkeypatch, place, n):
    """Interrupt a run after `n` iterations, once its checkpoint has taken their blocks."""
    keep = place.keep

    def end(self, model):
        keep(self, model)
        if len(model) == n:
            raise KeyboardInterrupt

    monkeypatch.setattr(place, "keep", end)


def use_steady_clock(monkeypatch, seconds):
    """Let a search's clock move by so many seconds at each look."""
    ticks = itertools.count(1)
    monkeypatch.setattr(search, "time", types.SimpleNamespace(monotonic=lambda: next(ticks) * seconds))
