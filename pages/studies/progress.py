"""The progress of a session's background runs, and the buttons that start and cancel them."""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st

from dsgcore.core.durations import duration_text
from dsgcore.jobs import JobState
from dsgcore.studies import StoreError, StudyError, StudyRuns
from pages.shell.plain_text import plain
from pages.studies.going import Exploring, begin, cancel, refresh

TICK_SECONDS = 0.3


def tick_of(state: Exploring) -> float | None:
    """Return the seconds between two drawings of what follows the runs, or None if no run is in progress."""
    return TICK_SECONDS if state.is_going else None


def draw_transport(state: Exploring, key: str, of: str) -> None:
    """Draw the button that starts and cancels the work, and beside it the number of points (named `of`) and the progress."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="part-study-transport"):
        # There are always the same two places, because elements move when one before them disappears.
        with st.container(width="content"):
            draw_button(state, key)
        with st.container(width="stretch"):
            st.fragment(_status, run_every=tick_of(state))(state, of)


def _status(state: Exploring, of: str) -> None:
    """Draw the progress. A fragment draws in its own place only."""
    if state.made is not None:
        refresh(state)
        with st.container(key="study-status"):
            say_status(state, of)


def draw_download(label: str, file: str, make: Callable[[], str]) -> None:
    """Draw the button that saves a file."""
    mime = "application/json" if file.endswith(".json") else "text/csv"
    st.download_button(label, make, file, mime, on_click="ignore", icon=":material/download:", key=f"get-{file}")


def draw_button(state: Exploring, key: str, label: str = "Start", *, is_primary: bool = True) -> None:
    """Draw the button that starts the missing runs or cancels the job; draw nothing if all runs are done."""
    if state.is_going:
        st.button("Cancel", key=f"{key}-cancel", icon=":material/close:", on_click=cancel, args=(state,))
    elif state.made is not None and state.made.n_there < len(state.made.runs):
        kind = "primary" if is_primary else "secondary"
        icon = ":material/play_arrow:"
        st.button(label, key=f"{key}-start", type=kind, icon=icon, on_click=_begin, args=(state,))  # type: ignore[arg-type]


def _begin(state: Exploring) -> None:
    try:
        begin(state)
    except (StudyError, StoreError) as error:
        state.refused = str(error)


def say_progress(state: Exploring, size: str) -> bool:
    """Draw the progress of the job, or the reason of its failure; return True if the job is in progress."""
    assert state.made is not None
    if state.is_going and state.is_own_job:
        waits = state.job is not None and state.job.state is JobState.WAITING
        done, of = state.made.n_there, len(state.made.runs)
        if waits:
            state.left.skip(done)
        doing = "this study waits, because the server runs another one" if waits else f"{done:,} done"
        st.progress(done / of, text=f"{size}: {doing}{state.left.text(done, of)}")
        return True
    if state.is_going:
        st.info("The runs that you started before are still in progress. Cancel them to start these.")
        return True
    if state.is_own_job and state.job is not None and state.job.state is JobState.FAILED:
        st.error(plain(state.job.error))
    _say_failed(state.made)
    return False


def _say_failed(made: StudyRuns) -> None:
    """Show the number of failed runs, and the reason of the first failure."""
    if made.failed:
        reason = made.failed[min(made.failed)].rstrip(".")
        st.error(plain(f"{len(made.failed):,} of {len(made.runs):,} runs failed. {reason[:1].upper()}{reason[1:]}."))


def say_status(state: Exploring, of: str) -> None:
    """Show the number of runs, of points (named `of`) and of seeds, the number of finished runs, and the cost of the
    others."""
    made, price = state.made, state.price
    assert made is not None
    assert price is not None
    seeds, points = len(made.study.seeds), len(made.points)
    size = f"{points:,} {of}{'s' * (points > 1)} × {seeds} seed{'s' * (seeds > 1)} = {len(made.runs):,} runs"
    left = 1.0 - made.n_there / len(made.runs)
    if say_progress(state, size):
        return
    some = f"; {made.n_there:,} of them are done already" if made.n_there and left else ""
    about = (
        f"About {duration_text(left * price.seconds / (os.cpu_count() or 1))} on this server."
        if left
        else "All runs are done."
    )
    if made.failed and not left:
        about = "All other runs are done."
    st.markdown(f"{size}{some}. {about}")
