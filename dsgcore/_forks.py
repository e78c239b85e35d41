"""A server of forks: a process that has imported what runs need, of which others are made in an instant."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from importlib import import_module
from typing import Any

FORKED = "forkserver"
PRELOADED = ["dsgcore.studies.forked"]
# Whoever looks on has the cores first.
NICENESS = 10


# Set in a process that is a fork itself, of one that has imported nearly all: it forks its own without a server.
is_a_fork = False


def context() -> Any:
    """Return the context of `multiprocessing` that makes processes for runs: of forks where the system has them."""
    if is_a_fork:
        for module in PRELOADED:
            import_module(module)
        return multiprocessing.get_context("fork")
    if FORKED not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forked = multiprocessing.get_context(FORKED)
    forked.set_forkserver_preload(PRELOADED)
    return forked


def give_way() -> None:
    """Leave the cores to others where they want them: this process and those that it makes."""
    with suppress(AttributeError, OSError):  # not everywhere
        os.nice(NICENESS)
