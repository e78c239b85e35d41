"""The reading of an uploaded file in a separate process, while the page shows the progress and a button to cancel it."""

from __future__ import annotations

from itertools import count
from typing import Any

import streamlit as st

from dsgcore.data.reading import Step
from dsgcore.experiments.sandboxed_reading import SECONDS, begin_reading, results_of
from dsgcore.jobs import Job, JobState

_GOING = "_reading"
SECONDS_BEFORE_A_WORD = 0.5
TICK_SECONDS = 0.2
_numbers = count()  # of the buttons, each of which is for one job alone


def take_steps_apart(content: bytes, name: str, step: Step) -> list[tuple[Step, Any]]:
    """Take a step of a file's reading, and the usual next ones, as `take_steps` does.

    A click that arrives meanwhile ends this drawing of the page. The next drawing waits for the same process.
    """
    going: dict[tuple[bytes, Step], Job] = st.session_state.setdefault(_GOING, {})
    wanted = content, step
    for other in going.keys() - {wanted}:
        going.pop(other).cancel()
    if wanted not in going:
        going[wanted] = begin_reading(content, name, step)
    job = going[wanted]
    if not job.wait(SECONDS_BEFORE_A_WORD):
        _wait_in_sight(job)
    del going[wanted]
    return results_of(job, step)


def _wait_in_sight(job: Job) -> None:
    """Show the progress until the job is over, with a button to cancel it."""
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, text="Reading the file")
        st.button("Cancel", key=f"cancel-reading-{next(_numbers)}", icon=":material/close:", on_click=job.cancel)
    while not job.wait(TICK_SECONDS):
        bar.progress(min(1.0, job.seconds / SECONDS), text=_doing(job))
    place.empty()


def _doing(job: Job) -> str:
    if job.state is JobState.WAITING:
        return "Reading the file: waiting for other files"
    return f"Reading the file: {job.progress or 'getting ready'} · {job.seconds:.0f} s, at most about {SECONDS:.0f}"
