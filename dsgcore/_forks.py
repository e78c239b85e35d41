"""A server of forks: a process that has imported what runs need, of which others are made in an instant."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from typing import Any

FORKED = "forkserver"
PRELOADED = ["dsgcore.studies.forked"]
# Whoever looks on has the cores first.
NICENESS = 10


def context() -> Any:
    """Return the context of `multiprocessing` that makes processes for runs: of forks where the system has them."""
    if FORKED not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forked = multiprocessing.get_context(FORKED)
    forked.set_forkserver_preload(PRELOADED)
    return forked


def begin_server() -> None:
    """Begin the server of forks, which imports while this process does something else."""
    if context().get_start_method() == FORKED:
        from multiprocessing import forkserver  # here: not every system has it

        forkserver.ensure_running()


def give_way() -> None:
    """Leave the cores to others where they want them, this process and those that it makes; the server of forks begins before."""
    with suppress(AttributeError, OSError):  # not everywhere
        os.nice(NICENESS)
