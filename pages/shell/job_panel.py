"""What a page shows of a background job: drawn again while the job is in progress, and the whole page once at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import streamlit as st

from dsgcore.jobs import Job, JobState
from pages.shell.plain_text import plain

TICK_SECONDS = 0.5
SECONDS_TO_CANCEL = 2.0


class Work(Protocol):
    """What goes on in the background."""

    @property
    def is_over(self) -> bool:
        """True after its end."""


def watched(work: Work | None, draw: Callable[..., None], *given: Any) -> None:
    """Draw what there is of a background job, again and again while it is in progress.

    At its end the whole page is drawn, because its buttons change. Then, and without a job, nothing ticks.
    """
    is_going = work is not None and not work.is_over

    def tick() -> None:
        if is_going and work is not None and work.is_over:
            st.rerun()
        draw(*given)

    st.fragment(tick, run_every=TICK_SECONDS if is_going else None)()


def cancel(job: Any) -> None:
    """Cancel a job, and wait a moment for its end; what it has finished stays."""
    job.cancel()
    job.wait(SECONDS_TO_CANCEL)


def job_panel(
    job: Job | Any,
    key: str,
    doing: Callable[[], tuple[float, str]],
    result: Callable[[], None],
    *,
    name: str = "",
) -> None:
    """Draw a job: its progress with a button that cancels it, and then how it ended. Call this in what `watched` draws.

    The elements' keys begin with `key`. `doing` returns the share that is done, from 0 to 1, and words about the work; `result`
    draws the result. `name` begins the sentence about a cancelled job.
    """
    job.keep()
    if not job.is_over:
        share, words = doing()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            with st.container(key=f"{key}-progress", width="stretch"):
                said = job.state.value if job.state is JobState.WAITING else words
                st.progress(min(1.0, share), text=f"{said[:1].upper()}{said[1:]}")
            st.button("Cancel", key=f"{key}-cancel", icon=":material/close:", on_click=cancel, args=(job,))
    elif job.state is JobState.CANCELLED:
        said = f"cancelled after {job.seconds:.1f} s."
        st.info(f"{name} was {said}" if name else said.capitalize(), icon=":material/block:")
    elif job.state is JobState.FAILED:
        st.error(plain(job.error), icon=":material/error:")
    else:
        result()
