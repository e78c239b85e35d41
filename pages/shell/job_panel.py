"""The panel of a background job: its progress with a button that cancels it, and then how it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dsgcore.jobs import Job, JobState
from pages.shell.plain_text import plain


def job_panel(
    job: Job | Any,
    key: str,
    doing: Callable[[], tuple[float, str]],
    result: Callable[[], None],
    *,
    is_ticking: bool,
    name: str = "",
    on_cancel: Callable[[], None] | None = None,
) -> None:
    """Draw a job. Call this in a fragment that ticks while the job is in progress.

    Parameters
    ----------
    job : Job
    key : str
        The keys of the elements begin with it.
    doing : callable
        Returns the share that is done, from 0 to 1, and words about the work.
    result : callable
        Draws the result.
    is_ticking : bool
        True if the fragment ticks. At the end of the job the whole page is drawn once, which ends the ticks.
    name : str, optional
        Begins the sentence about a cancelled job.
    on_cancel : callable, optional
        By default the job's own method.
    """
    job.keep()
    if not job.is_over:
        _draw_progress(job, key, *doing(), on_cancel or job.cancel)
    elif is_ticking:
        st.rerun()
    elif job.state is JobState.CANCELLED:
        said = f"cancelled after {job.seconds:.1f} s."
        st.info(f"{name} was {said}" if name else said.capitalize(), icon=":material/block:")
    elif job.state is JobState.FAILED:
        st.error(plain(job.error), icon=":material/error:")
    else:
        result()


def _draw_progress(job: Job, key: str, share: float, words: str, on_cancel: Callable[[], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(key=f"{key}-progress", width="stretch"):
            said = job.state.value if job.state is JobState.WAITING else words
            st.progress(min(1.0, share), text=f"{said[:1].upper()}{said[1:]}")
        st.button("Cancel", key=f"{key}-cancel", icon=":material/close:", on_click=on_cancel)
