"""The study on a page: its runs as they come into the store, its price, and its background job with the buttons that start
and cancel it."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from typing import Any
from weakref import WeakValueDictionary, finalize

import streamlit as st

from dsgcore.core.cost import GIGABYTE, TimeLeft, duration_text
from dsgcore.data import DataError
from dsgcore.experiments import load_dataset
from dsgcore.experiments.data_of import content_of, place_of
from dsgcore.experiments.engine import Budget
from dsgcore.experiments.spec import FILE
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
from pages.shell.job_panel import cancel, watched
from pages.shell.plain_text import as_sentence, plain
from pages.shell.sharing import presence

# The limits for anyone: each run as on a setting's page, and half an hour of one core for all of them.
BUDGET = StudyBudget(Budget(memory=GIGABYTE, seconds=1.0), runs=2000, seconds=1800.0)
LARGEST_STORE = 4 * GIGABYTE
# Seconds that a study continues without a browser.
LEASE_SECONDS = 20.0
_WHOLE_PAGE = "_whole_page"


HOUR = 3600.0  # seconds that the runs on a file outlive a session, for a reload


class _Folder:
    """A new folder, which is removed when nothing refers to this object."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="dsg-lab-"))
        finalize(self, shutil.rmtree, self.path, ignore_errors=True)


_FOLDERS: WeakValueDictionary[tuple[str, ...], _Folder] = (
    WeakValueDictionary()
)  # of runs, by the digests of their files


def _leave(folders: dict[Any, _Folder]) -> None:
    """Remove a session's files at its end, and an hour later its runs on them, unless another session has the same files."""
    folders.pop((), None)
    if folders:
        timer = Timer(HOUR, folders.clear)
        timer.daemon = True
        timer.start()


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
    folders: defaultdict[Any, _Folder] = field(default_factory=partial(defaultdict, _Folder))  # by the digests of files
    remembered: tuple[Any, Any] | None = None  # the last slow answer, after what it is about

    def __post_init__(self) -> None:
        finalize(self, _leave, self.folders).atexit = False  # the end of the process removes all folders

    @property
    def runs(self) -> StudyRuns:
        """The runs, on a page that has a study."""
        assert self.made is not None
        return self.made

    @property
    def is_over(self) -> bool:
        """True if no study of the session is in progress or waits for its turn."""
        return self.job is None or self.job.is_over

    @property
    def own_job(self) -> ThreadJob | None:
        """The background job, if it belongs to the study on the page."""
        return self.job if self.job_text == self.text else None

    @property
    def waits(self) -> bool:
        """True if the session has begun no study, and the store has no run of the study on the page."""
        return self.made is not None and not self.made.stored and self.is_over

    @property
    def store(self) -> Store:
        """The store of the runs: one for its uploaded files alone, if the study has any."""
        files = tuple(sorted({str(spec.data.sha256) for spec in self.runs.study.specs if spec.data.name == FILE}))
        if not files:
            return Store(default_store())
        folder = self.folders[files] = _FOLDERS.setdefault(files, self.folders[files])
        return Store(folder.path / "runs.sqlite")

    def finished(self, number: int) -> list[str]:
        """Return the finished runs of one of several specs, by its place."""
        n = len(self.runs.study.seeds)
        keys = self.runs.hashes[number * n : (number + 1) * n]
        return [key for key in keys if key is not None and key in self.runs.stored]

    def remember(self, about: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what `make` returns, from memory if no run has come since."""
        key = self.text, self.runs.n_there, about
        if self.remembered is None or self.remembered[0] != key:
            self.remembered = key, make()
        return self.remembered[1]


def exploring(place: str) -> Exploring:
    """Return the state of the session's study in a place."""
    return st.session_state.setdefault(f"_exploring_{place}", Exploring())


def look_at(state: Exploring, study: Study) -> None:
    """Switch to a study: find its price, or the reason to refuse it, and its runs in the store."""
    text = json.dumps(study.to_dict(), sort_keys=True)
    if text != state.text:
        state.text, state.made, state.price, state.chosen, state.refused = text, None, None, None, ""
        try:
            shapes = []
            for spec in (spec for spec in study.specs if spec.data.name == FILE):
                own = read_file(type(spec.problem))
                if own is not None and (own.sha256, own.recipe) == (spec.data.sha256, spec.data.recipe):
                    shapes.append((own.n, own.d))  # a slider that is moved reads no file
                else:
                    shapes.append(load_dataset(spec, files=own_files()).X.shape)
            state.price = check_price(study, BUDGET, max(shapes, key=math.prod, default=None))
            state.made = StudyRuns(study)
        except (StudyError, DataError) as error:
            state.refused = str(error)
    refresh(state)


def refresh(state: Exploring) -> None:
    """Update the list of the study's finished runs."""
    if state.made is not None:
        state.made.refresh(state.store, None if state.own_job is None else state.own_job.progress)


def draw_refused(reason: str) -> None:
    """Draw the reason of a refusal as a sentence, if there is one."""
    if reason:
        st.error(plain(as_sentence(reason)))


def draw_and_look(state: Exploring, draw: Callable[..., Any]) -> Any:
    """Draw a question and switch to its study; return the question, or None after a message if there is nothing to show."""
    upload, question = st.container(), st.container(border=True, key="part-question")
    try:
        with st.sidebar:
            asked = draw(question, upload)
        if asked is None:  # the upload has its own message, which a phone shows in the sidebar alone
            st.info("No file is read: choose one in the sidebar, or see there why not (on a phone, open it with »).")
            return None
        look_at(state, asked if isinstance(asked, Study) else asked.study())
    except (*BAD_INPUT, StoreError) as error:
        st.error(plain(str(error)))
        return None
    draw_refused(state.refused)
    return asked


def begin(state: Exploring) -> None:
    """Start the study on the page, unless one is in progress."""
    if state.made is None or not state.is_over:
        return
    study, folder = state.made.study, None
    try:
        store = state.store
        if store.file.stat().st_size > LARGEST_STORE:
            raise StudyError(f"the store of runs is full: it has {LARGEST_STORE / GIGABYTE:.0f} GB")
        for data in (spec.data for spec in study.specs if spec.data.name == FILE):
            # Write a session's file to the place where the worker processes look for it.
            folder = state.folders[()].path  # removed with the session
            place = place_of(data, folder)
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content_of(data, own_files(), None))
    except (StudyError, StoreError, DataError) as error:
        state.refused = str(error)
        return
    lives: dict[str, Any] = {"lease": LEASE_SECONDS, "is_wanted": presence()}
    state.job = begin_study(study, store, folder=folder, memory=GIGABYTE, **lives)
    state.job_text = state.text
    state.left.skip(state.made.n_there)


def watched_runs(state: Exploring, draw: Callable[..., None], *given: Any) -> None:
    """Draw what there is of a study's runs, again and again while they come. A fragment draws in its own place only."""
    st.session_state.pop(_WHOLE_PAGE, None)  # the whole page is drawn now, after a widget outside of any fragment

    def drawn() -> None:
        if state.made is not None:
            refresh(state)
            draw(state, *given)
            if st.session_state.pop(_WHOLE_PAGE, False):
                st.rerun()

    watched(state, drawn)


def draw_whole_page() -> None:
    """Ask for the whole page: the link or a part outside of the fragment follows a widget within it."""
    st.session_state[_WHOLE_PAGE] = True


def draw_transport(
    state: Exploring, key: str, say: Callable[[Exploring], None], label: str = "Start", *, is_primary: bool = True
) -> None:
    """Draw the button that starts the missing runs or cancels the job, and beside it what `say` draws of the progress."""
    # There are always the same two places, because elements move when one before them disappears.
    with st.container(width="content"):
        if not state.is_over:
            st.button("Cancel", key=f"{key}-cancel", icon=":material/close:", on_click=cancel, args=(state.job,))
        elif state.made is not None and state.made.n_there < len(state.made.runs):
            kind, icon = ("primary" if is_primary else "secondary"), ":material/play_arrow:"
            st.button(label, key=f"{key}-start", type=kind, icon=icon, on_click=begin, args=(state,))  # type: ignore[arg-type]
    with st.container(width="stretch"):
        watched_runs(state, say)


def draw_study_transport(state: Exploring, key: str, of: str) -> None:
    """Draw the same with the number of points (named `of`), of seeds and of runs, and what they cost."""

    def say(state: Exploring) -> None:
        made, price = state.runs, state.price
        assert price is not None
        seeds, points, n = len(made.study.seeds), len(made.points), len(made.runs)
        size = f"{points:,} {of}{'s' * (points > 1)} × {seeds} seed{'s' * (seeds > 1)} = {n:,} runs"
        with st.container(key="study-status"):
            if say_progress(state, size):
                return
            left = 1.0 - made.n_there / n
            some = f"; {made.n_there:,} of them are done already" if made.n_there and left else ""
            about = f"All {'other ' * bool(made.failed)}runs are done."
            if left:
                about = f"About {duration_text(left * price.seconds / (os.cpu_count() or 1))} on this server."
            st.markdown(f"{size}{some}. {about}")

    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="part-study-transport"):
        draw_transport(state, key, say)


def say_progress(state: Exploring, size: str) -> bool:
    """Draw the progress of the job, or the reason of its failure; return True if the job is in progress."""
    made, job = state.runs, state.own_job
    if not state.is_over and job is None:
        st.info("The runs that you started before are still in progress. Cancel them to start these.")
        return True
    if job is not None and not job.is_over:
        done, of, doing = made.n_there, len(made.runs), f"{made.n_there:,} done"
        if job.state is JobState.WAITING:
            state.left.skip(done)
            doing = "this study waits, because the server runs another one"
        st.progress(done / of, text=f"{size}: {doing}{state.left.text(done, of)}")
        return True
    if job is not None and job.state is JobState.FAILED:
        st.error(plain(job.error))
    if made.failed:
        reason = as_sentence(made.failed[min(made.failed)])
        st.error(plain(f"{len(made.failed):,} of {len(made.runs):,} runs failed. {reason}"))
    return False
