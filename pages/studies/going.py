"""The study that a session has started, and the study on the page, with its progress and the buttons that start and cancel it.

Runs appear in the store as they finish.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol, TypeVar
from weakref import finalize

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsgcore.core.durations import TimeLeft, duration_text
from dsgcore.data import DataError
from dsgcore.experiments import Spec, load_dataset
from dsgcore.experiments.cost import GIGABYTE, Budget
from dsgcore.experiments.data_of import content_of, place_of
from dsgcore.experiments.settings import FILE
from dsgcore.jobs import JobState, ThreadJob
from dsgcore.studies import (
    Price,
    ScoreCurves,
    Store,
    StoreError,
    Study,
    StudyBudget,
    StudyError,
    StudyRuns,
    begin_study,
    check_price,
    default_store,
)
from pages.controls.control import BAD_INPUT
from pages.controls.own_file import read_file
from pages.controls.own_file import store as own_files
from pages.shell.job_panel import watched
from pages.shell.plain_text import plain

# The limits for anyone: each run as on a setting's page, and half an hour of one core for all of them.
BUDGET = StudyBudget(Budget(memory=GIGABYTE, seconds=1.0), runs=2000, seconds=1800.0)
LARGEST_STORE = 4 * GIGABYTE
# Seconds that a study continues without a browser.
LEASE_SECONDS = 20.0
SECONDS_TO_CANCEL = 2.0


@dataclass
class Exploring:
    """The study that a session shows in one place: its runs, its price, and the background job for it or for another one."""

    text: str = ""
    made: StudyRuns | None = None
    price: Price | None = None
    refused: str = ""
    job: ThreadJob | None = None
    job_text: str = ""
    left: TimeLeft = field(default_factory=TimeLeft)
    chosen: int | None = None
    curves: ScoreCurves = field(default_factory=ScoreCurves)
    folder: Path | None = None
    remembered: tuple[Any, Any] | None = None  # the last slow answer, after what it is about

    @property
    def runs(self) -> StudyRuns:
        """The runs, on a page that has a study."""
        assert self.made is not None
        return self.made

    @property
    def is_going(self) -> bool:
        """True if a study of the session is in progress or waits for its turn."""
        return self.job is not None and not self.job.is_over

    @property
    def is_over(self) -> bool:
        """True if no study of the session is in progress or waits."""
        return not self.is_going

    @property
    def is_own_job(self) -> bool:
        """True if the background job belongs to the study on the page."""
        return self.job is not None and self.job_text == self.text


def exploring(place: str) -> Exploring:
    """Return the state of the session's study in a place."""
    return st.session_state.setdefault(f"_exploring_{place}", Exploring())


def look_at(state: Exploring, study: Study) -> None:
    """Switch to a study: find its runs and its price, or the reason to refuse it; do nothing if it is shown already."""
    text = json.dumps(study.to_dict(), sort_keys=True)
    if text == state.text:
        return
    state.text, state.made, state.price, state.chosen, state.refused = text, None, None, None, ""
    try:
        state.price = check_price(study, BUDGET, _shape_of_files(study.specs))
        state.made = StudyRuns(study)
    except (StudyError, DataError) as error:
        state.refused = str(error)


def _shape_of_files(specs: tuple[Spec, ...]) -> tuple[int, int] | None:
    """Return the rows and columns of the largest of the session's uploaded files, or None if the specs use none."""
    shapes = [_shape_of(spec) for spec in specs if spec.data.name == FILE]
    return max(shapes, key=lambda shape: shape[0] * shape[1], default=None)


def _shape_of(spec: Spec) -> tuple[int, int]:
    own = read_file(type(spec.problem))
    if own is not None and (own.sha256, own.recipe) == (spec.data.sha256, spec.data.recipe):
        return own.n, own.d
    n, d = load_dataset(spec, files=own_files()).X.shape
    return int(n), int(d)


def store_of(state: Exploring, spec: Spec) -> Store:
    """Return the store for the runs of a spec: the session's own, if any run of the study uses an uploaded file."""
    specs = (spec,) if state.made is None else (spec, *state.made.study.specs)
    is_own = any(one.data.name == FILE for one in specs)
    return Store(folder_of(state) / "runs.sqlite") if is_own else Store(default_store())


def folder_of(state: Exploring) -> Path:
    """Return the session's own folder, which is removed with the session."""
    if state.folder is None:
        state.folder = Path(mkdtemp(prefix="dsg-lab-"))
        finalize(state, shutil.rmtree, state.folder, ignore_errors=True)
    return state.folder


def begin(state: Exploring) -> None:
    """Start the study on the page, unless one is in progress; raise `StudyError` if the store is full."""
    if state.made is None or state.is_going:
        return
    study, folder = state.made.study, None
    store = store_of(state, study.spec)
    if store.file.stat().st_size > LARGEST_STORE:
        raise StudyError(f"the store of runs is full: it has {LARGEST_STORE / GIGABYTE:.0f} GB")
    own = [spec.data for spec in study.specs if spec.data.name == FILE]
    if own:
        folder = folder_of(state)
    for data in own:
        # Write a session's file to the place where the worker processes look for it.
        try:
            content = content_of(data, own_files(), None)
        except DataError as error:
            raise StudyError(str(error)) from None
        place = place_of(data, folder_of(state))
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
    context = get_script_run_ctx()
    is_wanted = partial(_is_watched, "" if context is None else context.session_id)
    state.job = begin_study(study, store, folder=folder, memory=GIGABYTE, lease=LEASE_SECONDS, is_wanted=is_wanted)
    state.job_text = state.text
    state.left.skip(state.made.n_there)


def _is_watched(session: str) -> bool:
    return not exists() or get_instance().is_active_session(session)


def cancel(state: Exploring) -> None:
    """Cancel the background job; finished runs stay."""
    if state.job is not None:
        state.job.cancel()
        state.job.wait(SECONDS_TO_CANCEL)


def refresh(state: Exploring) -> None:
    """Update the list of the study's finished runs."""
    if state.made is not None:
        failed = state.job.progress.failed if state.is_own_job and state.job and state.job.progress else {}
        state.made.refresh(store_of(state, state.made.study.spec), failed)


def finished(state: Exploring, number: int) -> list[str]:
    """Return the finished runs of one of several specs, by its place."""
    n = len(state.runs.study.seeds)
    keys = state.runs.hashes[number * n : (number + 1) * n]
    return [key for key in keys if key is not None and key in state.runs.stored]


def watched_runs(state: Exploring, draw: Callable[..., None], *given: Any) -> None:
    """Draw what there is of a study's runs, again and again while they come. A fragment draws in its own place only."""

    def drawn() -> None:
        if state.made is not None:
            refresh(state)
            draw(state, *given)

    watched(state, drawn)


def draw_transport(
    state: Exploring, key: str, say: Callable[[Exploring], None], label: str = "Start", *, is_primary: bool = True
) -> None:
    """Draw the button that starts and cancels the work, and beside it what `say` draws of the progress."""
    # There are always the same two places, because elements move when one before them disappears.
    with st.container(width="content"):
        draw_button(state, key, label, is_primary=is_primary)
    with st.container(width="stretch"):
        watched_runs(state, say)


def draw_study_transport(state: Exploring, key: str, of: str) -> None:
    """Draw the same with the number of points (named `of`), of seeds and of runs, and what they cost."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="part-study-transport"):
        draw_transport(state, key, partial(_say_status, of=of))


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
    if state.is_going and state.is_own_job:
        waits = state.job is not None and state.job.state is JobState.WAITING
        done, of = state.runs.n_there, len(state.runs.runs)
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
    made = state.runs
    if made.failed:
        reason = made.failed[min(made.failed)].rstrip(".")
        st.error(plain(f"{len(made.failed):,} of {len(made.runs):,} runs failed. {reason[:1].upper()}{reason[1:]}."))
    return False


def _say_status(state: Exploring, of: str) -> None:
    made, price = state.runs, state.price
    assert price is not None
    seeds, points = len(made.study.seeds), len(made.points)
    size = f"{points:,} {of}{'s' * (points > 1)} × {seeds} seed{'s' * (seeds > 1)} = {len(made.runs):,} runs"
    left = 1.0 - made.n_there / len(made.runs)
    with st.container(key="study-status"):
        if say_progress(state, size):
            return
        some = f"; {made.n_there:,} of them are done already" if made.n_there and left else ""
        about = f"All {'other ' * bool(made.failed)}runs are done."
        if left:
            about = f"About {duration_text(left * price.seconds / (os.cpu_count() or 1))} on this server."
        st.markdown(f"{size}{some}. {about}")


class Asks(Protocol):
    """A question in widgets."""

    def study(self) -> Study:
        """Return the study that answers the question."""


Asked = TypeVar("Asked", bound=Asks)


def draw_and_look(state: Exploring, draw: Callable[[DeltaGenerator, DeltaGenerator], Asked | None]) -> Asked | None:
    """Draw a question and switch to its study; return the question, or None after a message if there is nothing to show."""
    upload, question = st.container(), st.container(border=True, key="part-question")
    try:
        with st.sidebar:
            asked = draw(question, upload)
        if asked is None:
            return None  # the upload has its own message
        look_at(state, asked.study())
        refresh(state)
    except (*BAD_INPUT, StoreError) as error:
        st.error(plain(str(error)))
        return None
    if state.refused:
        st.error(plain(f"{state.refused[:1].upper()}{state.refused[1:]}."))
    return asked
