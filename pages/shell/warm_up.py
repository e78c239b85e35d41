"""The warm-up of the compiled loops, in the background and once in each process, and the progress on pages that wait for it."""

from __future__ import annotations

import gc
import threading

import streamlit as st
from streamlit.runtime import exists

from dsgcore.jobs import shared_queue
from dsgcore.jobs.starting import fork_server
from dsgcore.kernels import loops
from dsgcore.kernels.features import LAST_STEP, compile_last_step, warm_up_steps

TICK_SECONDS = 0.3
LONGEST = 60.0  # seconds to wait for the other process


class WarmUp:
    """A thread that compiles the loops one after the other in the order in which pages need them, or loads them from disk.

    If they must be compiled, another process compiles the last one meanwhile: the compiler holds a lock.
    """

    def __init__(self) -> None:
        self.steps = warm_up_steps()
        self.n_done = 0
        self.thread = threading.Thread(target=self._work, name="warm-up", daemon=True)
        self.thread.start()

    def _work(self) -> None:
        is_kept = LAST_STEP not in self.steps or loops.is_kept(loops.gaussian_sums)
        other = None if is_kept else shared_queue("warm-up", 1).submit(compile_last_step)
        for name, step in self.steps.items():
            if other is not None and name == LAST_STEP:
                other.wait(LONGEST)
            step()
            self.n_done += 1
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


# Slow imports of the jobs that read a user's file, race against a competitor, or run a study.
NEEDED = ("dsgcore.data.reading.file", "dsgcore.experiments.race", "dsgcore.studies.carrying_out")


def get_ready() -> None:
    """Start the process from which background jobs are forked, because the reader is about to choose a file or start a
    study."""
    if exists():
        fork_server().get_ready(*NEEDED)
