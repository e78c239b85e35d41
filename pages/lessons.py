"""Page with all guided lessons, by setting."""

from __future__ import annotations

import json

import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.glossary import meaning
from dsgcore.lessons import lessons_of, library
from dsgcore.settings import GuidedLesson, profile_of
from pages.controls.controls import dataset_choice
from pages.gallery.data_charts import picture_of_data
from pages.session.link import START, lecture_in, link_to_guided, link_to_part
from pages.shell.addresses import beside_this_page
from pages.shell.plain_text import label_about, plain
from pages.shell.router import page_named, page_of
from pages.shell.warm_up import is_ready
from pages.stage.links import kept_marks, place_in_link, to_take_away


def lessons() -> None:
    st.title("Lessons")
    st.markdown(
        "Each lesson asks a question. Make a guess, watch the run, and read the reason. The answer comes from the run that you "
        "see, whatever its seed. The easy ones of each method come first.",
        help=f"Seed: {meaning('seed')}",
    )
    with st.container(horizontal=True):
        st.page_link(page_named("how_it_works"))
        st.page_link(page_named("glossary"))
    for fault in library().faults:
        st.warning(plain(f"A file is left out. {fault}"))
    # Draw the lectures in the folder of one's own, and the form for another one.
    for name, lecture in library().lectures.items():
        with st.container(border=True):
            st.markdown(f"### {plain(lecture.title)}")
            _lecture(name)
    with st.expander("Make a lecture: several lessons, and questions of your own", icon=":material/playlist_add:"):
        named = {f"{s.name}/{lesson.name}": lesson.title for s in SETTINGS.values() for lesson in lessons_of(s)}
        st.selectbox("Add a lesson", named, None, lambda n: f"{named[n]} ({n})", "lecture-add", on_change=_add)
        text = st.text_area(
            "Lessons and questions in their order, one a line", key=PARTS, height=170, help=_HOW_TO_WRITE
        )
        if text.strip():
            _lecture(text.strip())
    marks = kept_marks()
    for setting in sorted(SETTINGS.values(), key=lambda setting: setting.name != START):
        if lessons_of(setting):
            _of_setting(setting, marks)


PARTS = "lecture-parts"  # key of the text with the parts of a lecture


_HOW_TO_WRITE = """Write a question with its answers after bars: `Who knows? | I do | I do not`, a number between two ends as
`How many? | 0 to 100`, a place on the map as `Where? | map`."""


def _add() -> None:
    """Add the chosen lesson as the last part."""
    chosen = st.session_state["lecture-add"]
    if chosen is not None:
        st.session_state[PARTS] = "\n".join([*st.session_state.get(PARTS, "").split("\n"), chosen]).strip()
        st.session_state["lecture-add"] = None


def _lecture(text: str) -> None:
    """Draw the ways to hold a lecture; `text` is its name or its parts."""
    try:
        lecture = lecture_in(text)
    except DSGError as error:
        st.warning(plain(str(error)))
        return
    setting, query = link_to_part(lecture.parts[0], text)
    with st.container(horizontal=True, vertical_alignment="center"):
        _to_a_class(SETTINGS[setting], query, lecture.title)
        notes = beside_this_page("notes", {"of": text}).geturl()
        st.link_button("Notes to print", notes, icon=":material/notes:", type="tertiary")
        if text not in library().lectures:
            parts = "".join(f"    {json.dumps(part, ensure_ascii=False)},\n" for part in lecture.parts)
            file = f"title = {json.dumps(lecture.title, ensure_ascii=False)}\nparts = [\n{parts}]\n"
            icon = ":material/download:"
            st.download_button("Save as a file", file, "lecture.toml", "application/toml", icon=icon, type="tertiary")


def _to_a_class(setting: type[Setting], query: dict[str, str], title: str) -> None:
    label, icon = label_about("Show it to a class", title), ":material/co_present:"
    st.page_link(page_of(setting), label=label, icon=icon, query_params=query)


def _of_setting(setting: type[Setting], marks: dict[str, int]) -> None:
    profile, lessons = profile_of(setting), lessons_of(setting)
    st.header(profile.full_name)
    st.markdown(profile.card)
    with st.container(key=f"lessons-{setting.name}"):
        for start in range(0, len(lessons), 3):
            for column, lesson in zip(st.columns(3), lessons[start : start + 3], strict=False):
                with column, st.container(border=True, height="stretch"):
                    _card(setting, lesson, marks.get(f"{setting.name}:{lesson.name}", 0))


def _card(setting: type[Setting], lesson: GuidedLesson, done: int) -> None:
    """Draw a lesson's card; `done` is the number of its steps that the reader has done."""
    n, begun, teach = len(lesson.steps), 0 < done < len(lesson.steps), label_about("Teach this", lesson.title)
    st.image(
        picture_of_data(str(lesson.values_at(0).get("data", dataset_choice(setting).default))),
        width=160,
        alt=f"The points that the run of “{lesson.title}” learns from.",
    )
    st.markdown(f"### {lesson.title}")
    link = place_in_link(setting, lesson, done) if begun else link_to_guided(setting, lesson.name)
    st.page_link(
        page_of(setting),
        label=label_about(
            f"Go on with step {done + 1} of {n}" if begun else f"Begin ({lesson.minutes} min, {n} steps)", lesson.title
        ),
        icon=":material/play_arrow:",
        query_params=link,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        # the line has its room before the browser has said what is done
        st.caption(":green[✓ Done]" if done >= n else "\N{NO-BREAK SPACE}", width="stretch")
        with st.popover(teach, key=f"teach-{setting.name}-{lesson.name}", type="tertiary"):
            _to_a_class(setting, link_to_guided(setting, lesson.name) | {"present": "1"}, lesson.title)
            to_take_away(setting, lesson, label_about("Handout", lesson.title))


lessons()
is_ready()
