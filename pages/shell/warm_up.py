"""The server's start, with the warm-up of the compiled loops, and the watch over it: its log, and the release of ended sessions."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import stat
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

import streamlit as st
from streamlit.runtime import exists

from dsgcore.jobs import shared_queue
from dsgcore.jobs.memory import give_back, resident
from dsgcore.jobs.worker import fork_server
from dsgcore.kernels import loops
from dsgcore.kernels.features import LAST_STEP, compile_last_step, warm_up_steps
from pages.shell.sharing import n_connected, turns
from pages.shell.streamlit_gaps import drop_ended_sessions

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


log = logging.getLogger("dsg-lab")

SECONDS_BETWEEN_LOOKS = 60.0
_OPEN_FILES = "/dev/fd"  # of this process; Windows has no such folder, and nothing changes there
MEGABYTE = 10**6
updates = Counter[str]()  # drawings of runs that play since the last look, by the page of a session


async def watch() -> None:
    """Look at the server every minute, until the task is cancelled."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            look()
        except Exception:  # a failed look must not be the last one
            log.exception("a look at the server failed")


def look() -> None:
    """Release ended sessions, and log the state of the server."""
    if drop_ended_sessions():
        gc.collect()
        give_back()
    drawn = dict(updates)
    updates.clear()
    if sessions := n_connected():
        plays = f"{len(drawn)} playing, {sum(drawn.values()) / SECONDS_BETWEEN_LOOKS:.1f} updates/s"
        log.warning(
            f"{sessions} sessions, {plays}, {resident() / MEGABYTE:.0f} MB, {turns.n_waiting} waiting for a core"
        )


# The page with the most imports, for which the first visit would otherwise wait.
_PAGE = "pages.stage.stage"


@asynccontextmanager
async def life(_app: Any) -> AsyncIterator[None]:
    """Prepare in the background what every visit needs, send each answer at once, and watch over the server."""
    threading.Thread(target=lambda: (import_module(_PAGE), warm_up()), name="get-ready", daemon=True).start()
    send_at_once()  # the server's app starts after the socket is open
    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


def send_at_once() -> None:
    """Make every listening socket of this process send at once. Otherwise the system delays parts of answers by 40 ms."""
    for number in os.listdir(_OPEN_FILES) if os.path.isdir(_OPEN_FILES) else ():
        with suppress(OSError):  # closed meanwhile
            if stat.S_ISSOCK(os.fstat(int(number)).st_mode):
                with socket.socket(fileno=os.dup(int(number))) as opened:
                    is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6)
                    if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
