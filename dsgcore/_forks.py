"""A server of forks: a process that has imported what runs need, of which others are made in an instant."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress

FORKED = "forkserver"
# Whoever looks on has the cores first.
NICENESS = 10


def start_method() -> str:
    """Return how processes for runs are best made here: by forks where the system has them."""
    return FORKED if FORKED in multiprocessing.get_all_start_methods() else "spawn"


def give_way() -> None:
    """Leave the cores to others where they want them, this process and those that it makes; the server of forks begins before."""
    with suppress(AttributeError, OSError):  # not everywhere
        os.nice(NICENESS)
