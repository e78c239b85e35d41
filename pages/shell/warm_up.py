"""The compiled loops, made ready in the background once a process, while the first page is read; and the sign that says so."""

from __future__ import annotations

import gc
import threading

import streamlit as st

from dsgcore.core.features import warm_up_steps

TICK_SECONDS = 0.3


class WarmUp:
    """A thread that compiles the loops, or loads them from the cache, one after the other."""

    def __init__(self) -> None:
        self.steps = warm_up_steps()
        self.n_done = 0
        self.thread = threading.Thread(target=self._work, name="warm-up", daemon=True)
        self.thread.start()

    def _work(self) -> None:
        for step in self.steps.values():
            step()
            self.n_done += 1
        # What is loaded by now stays: later collections need not look at it again.
        gc.collect()
        gc.freeze()

    @property
    def is_ready(self) -> bool:
        """Whether there is nothing to wait for; after an error the first run meets it again, and tells."""
        return not self.thread.is_alive()


@st.cache_resource(show_spinner=False)
def warm_up() -> WarmUp:
    """Return the process's warm-up, begun at the first call."""
    return WarmUp()


def is_ready() -> bool:
    """Return whether the core is ready; where it is not, draw how far it is, and begin the page again when it is."""
    if warm_up().is_ready:
        return True
    st.fragment(_sign, run_every=TICK_SECONDS)()
    return False


def _sign() -> None:
    state = warm_up()
    if state.is_ready:
        st.rerun()
    names = list(state.steps)
    doing = names[min(state.n_done, len(names) - 1)]
    text = f"Compiling the numerical core, once on this machine: {doing} ({state.n_done + 1} of {len(names)})"
    st.progress(min(1.0, state.n_done / len(names)), text=text)
