"""The long preparation before a run can start: a separate process, shown on the page, cancelled by other data or a click."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dsgcore.data import Split
from dsgcore.experiments import Spec
from dsgcore.experiments.engine import LongWork
from dsgcore.jobs import Job, JobState, shared_queue
from pages.shell.job_panel import job_panel
from pages.shell.plain_text import plain

TICK_SECONDS = 0.3
# Seconds that the work continues without a browser; a hidden tab may ask only once a minute.
LEASE_SECONDS = 90.0
MEMORY_LIMIT = 4 * 10**9


@dataclass(frozen=True)
class Preparation:
    """The next run, and the job that prepares it."""

    spec: Spec
    split: Split
    work: LongWork
    at: str
    job: Job


def prepare(spec: Spec, split: Split, work: LongWork, at: str) -> Preparation:
    """Start the preparation of a run that is to be shown at the iteration `at`."""
    limit, lease = MEMORY_LIMIT, LEASE_SECONDS
    return Preparation(
        spec, split, work, at, shared_queue().submit(work.function, *work.arguments, memory_limit=limit, lease=lease)
    )


def sign(preparation: Preparation, try_again: Callable[[], None], *, may_begin: bool) -> None:
    """Draw the progress of the preparation and a button to cancel it; draw the page again when it is done."""
    job = preparation.job
    if job.is_over and job.state is not JobState.DONE:
        said = "The preparation was cancelled. Choose other data, or fewer points."
        st.warning(plain(job.error) if job.state is JobState.FAILED else said, icon=":material/hourglass_disabled:")
        st.button("Try again", key="try-again", icon=":material/replay:", on_click=try_again)
    elif not job.is_over or may_begin:
        job_panel(job, "preparing", partial(_doing, job), lambda: None, is_ticking=True)


def _doing(job: Job) -> tuple[float, str]:
    doing, share = job.progress or ("starting", 0.0)
    return share, f"Preparing these points, once: {doing}. To stop, choose other data on the left."
