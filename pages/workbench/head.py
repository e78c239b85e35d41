"""Head of a setting's page: its name, data and lessons, and what to do before the first run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.experiments import Setting
from dsgcore.experiments.settings import FILE, DataSpec
from dsgcore.lessons import lessons_of
from dsgcore.settings import GuidedLesson, Lesson, profile_of
from pages.controls import controls
from pages.controls.control import key_of
from pages.controls.hand import Hand
from pages.controls.own_file import read_file
from pages.controls.pickers import seen_key
from pages.session.bench import Bench
from pages.session.lesson_place import Place
from pages.shell.plain_text import plain


def head(problem: type[Setting], bench: Bench) -> None:
    """Draw the heading, and one sentence about the run."""
    with st.container(key="part-sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_said(problem, bench))
        if bench.live is not None and bench.live.run.spec.changes:
            st.button(
                "Forget the changes", key="forget", type="tertiary", on_click=_forget, args=(bench,), help=_FORGET_HELP
            )
        if bench.lesson.left is not None:
            st.button(
                "Back to the lesson", key="lesson-return", type="tertiary", icon=":material/school:",
                on_click=_return, args=(problem, bench, bench.lesson.left),
            )  # fmt: skip


def draw_lessons(problem: type[Setting], bench: Bench) -> None:
    """Draw the setting's lessons, and its values for short trials, as buttons."""
    profile = profile_of(problem)
    st.markdown("**Lessons**")
    st.page_link("pages/how_it_works.py", label="How it works", icon=":material/lightbulb:")
    with st.container(horizontal=True, gap="xsmall"):
        for guided in lessons_of(problem):
            _guided(problem, bench, guided)
        for number, lesson in enumerate(profile.lessons):
            key = f"preset-{number}"
            st.button(lesson.name, key=key, help=lesson.sentence, on_click=_apply, args=(bench, problem, lesson))


def _guided(problem: type[Setting], bench: Bench, lesson: GuidedLesson) -> None:
    key = f"guided-{lesson.name}"
    icon = ":material/school:"
    st.button(lesson.title, key=key, icon=icon, on_click=guide, args=(bench, problem, lesson))


def guide(bench: Bench, problem: type[Setting], lesson: GuidedLesson) -> None:
    """Begin a guided lesson at its first step."""
    _return(problem, bench, Place(lesson))


def _return(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Open a lesson at a place, with the values of its step."""
    bench.lesson.place, bench.lesson.left = place, None
    bench.hand = Hand(taken=bench.hand.taken)
    bench.given = given_for(problem, place.values)
    bench.wants_restart = True


def _apply(bench: Bench, problem: type[Setting], lesson: Lesson) -> None:
    bench.given = given_for(problem, lesson.values)
    bench.wants_restart = True


def given_for(problem: type[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every control by its key: the lesson's, or the default."""
    dataset = values.get("data", controls.dataset_choice(problem).default)
    offered = controls.controls_for(problem, dataset, values.get("kernel"), for_lesson=True)
    given = {c.key: values.get(name, c.parameter.default) for name, c in offered.items()}
    return given | {key_of(problem, "data"): dataset, seen_key(problem): dataset}


_FORGET_HELP = "Start over with the present slider values, without the record of changes."


def _forget(bench: Bench) -> None:
    bench.wants_restart = True


def waits_for_file(problem: type[Setting]) -> bool:
    """Return True if the page needs a file and has none yet."""
    return st.session_state.get(key_of(problem, "data")) == FILE and read_file(problem) is None


def say_what_to_do(problem: type[Setting]) -> None:
    """Ask for a file if the page needs one."""
    if waits_for_file(problem):
        st.info(_CHOOSE_FILE, icon=":material/upload_file:")


_CHOOSE_FILE = """Choose a file in the sidebar, under *Data* (on a phone, open the sidebar with »). It needs one row for each
point and a column with the labels. Then its columns and first rows appear here, and the run begins.

Rows without a label are welcome: they are the unlabeled points. The file goes to this app only, and the app forgets it at the
end of the session (your browser keeps it for a reload, an hour at most)."""


def _said(problem: type[Setting], bench: Bench) -> str:
    """Return the page's heading, and a sentence about the method and these data."""
    heading, run = f"# {profile_of(problem).full_name}", None if bench.live is None else bench.live.run
    sentence = problem.sentence if run is None else run.problem.sentence_of_run
    sentence = sentence[:1].upper() + sentence[1:]
    if run is None or bench.preparation is not None:
        return f"{heading}\n{sentence}."
    n_unlabeled = len(run.split.X_train) - len(run.labeled_rows)
    is_pairs = problem.labels == "pairs"
    known = f"{len(run.labeled_rows) // 2:,} similar pairs" if is_pairs else f"{len(run.labeled_rows):,} labels"
    return f"{heading}\n{sentence}. Here: {known}, {n_unlabeled:,} unlabeled points of *{_data_title(run.spec.data)}*."


def _data_title(data: DataSpec) -> str:
    return plain(str(data.path)) if data.name == FILE else DATASETS[data.name].title
