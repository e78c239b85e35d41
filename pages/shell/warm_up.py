"""The warm-up of the compiled loops, in the background and once in each process, and the progress on pages that wait for it.

Where nothing is compiled yet, a second process begins with the last loop, and leaves what it has compiled on disk. Two cores
then share the work, and the server keeps answering: to compile holds the interpreter's lock.
"""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
import threading
from subprocess import DEVNULL

import streamlit as st

from dsgcore.jobs.starting import module_path
from dsgcore.kernels.features import is_cold, warm_up_steps

TICK_SECONDS = 0.3
FROM_THE_LAST = """
from dsgcore.kernels.features import warm_up_steps
for step in reversed(warm_up_steps().values()): step()
"""


class WarmUp:
    """A thread that compiles the loops one after the other in the order in which pages need them, or loads them from disk."""

    def __init__(self) -> None:
        self.steps = warm_up_steps()
        self.n_done = 0
        self._helper = _compile_from_the_last() if is_cold() else None
        self.thread = threading.Thread(target=self._work, name="warm-up", daemon=True)
        self.thread.start()

    def _work(self) -> None:
        for step in self.steps.values():
            step()
            self.n_done += 1
        if self._helper is not None:
            self._helper.kill()  # what it has not finished is compiled here
            self._helper.wait()
        # Objects that exist now stay, so later garbage collections can skip them.
        gc.collect()
        gc.freeze()

    @property
    def is_ready(self) -> bool:
        """True if there is nothing to wait for. After an error the first run fails in the same way and reports it."""
        return not self.thread.is_alive()

    def said(self) -> str:
        """Return what is going on, in a sentence; empty if nothing is."""
        if self.is_ready:
            return ""
        names = list(self.steps)
        doing = names[min(self.n_done, len(names) - 1)]
        return f"Compiling the numerical core, once on this machine: {doing} ({self.n_done + 1} of {len(names)})"


def _compile_from_the_last() -> subprocess.Popen[bytes]:
    """Start a process that compiles the loops from the last to the first, and keeps them on disk."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(module_path())}
    command = [sys.executable, "-P", "-c", FROM_THE_LAST]
    helper = subprocess.Popen(command, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    atexit.register(helper.kill)  # the server may end before
    return helper


@st.cache_resource(show_spinner=False)
def warm_up() -> WarmUp:
    """Return the process's warm-up, started at the first call."""
    return WarmUp()


def is_ready() -> bool:
    """Return True if the core is ready; otherwise draw the progress, and draw the page again when it is ready."""
    if warm_up().is_ready:
        return True
    st.fragment(_sign, run_every=TICK_SECONDS)()
    return False


def _sign() -> None:
    state = warm_up()
    if state.is_ready:
        st.rerun()
    st.progress(min(1.0, state.n_done / len(state.steps)), text=state.said())
