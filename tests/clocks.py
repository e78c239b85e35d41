"""A clock for searches with a time limit: each look at it takes equally long, so that a search is the same every time."""

import itertools
import types

from dsgcore.tuning import halving


def use_steady_clock(monkeypatch, seconds):
    """Let a search's clock move by so many seconds at each look."""
    ticks = itertools.count(1)
    monkeypatch.setattr(halving, "time", types.SimpleNamespace(monotonic=lambda: next(ticks) * seconds))
