"""Fork server: a process that has imported everything that runs need, and is forked quickly."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from importlib import import_module
from typing import Any

FORKED = "forkserver"
PRELOADED = ["dsgcore.studies.forked"]
# Other processes have priority for the cores.
NICENESS = 10


# Set in a process that is itself a fork with nearly all imports: it forks directly, without a server.
is_a_fork = False


def context() -> Any:
    """Return the context of `multiprocessing` that makes processes for runs: forks if the system has them."""
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
    """Lower the priority of this process and its children."""
    with suppress(AttributeError, OSError):  # not everywhere
        os.nice(NICENESS)
