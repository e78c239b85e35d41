"""Head of a setting's page, with its lessons and what to do before the first run; and the page's parts with their layout."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.experiments import Setting
from dsgcore.experiments.race import title
from dsgcore.experiments.spec import FILE
from dsgcore.lessons import lessons_of
from dsgcore.settings import GuidedLesson, profile_of
from pages.controls import controls
from pages.controls.control import key_of, refused
from pages.controls.hand import Hand
from pages.controls.own_file import read_file
from pages.controls.pickers import seen_key
from pages.session.bench import Bench
from pages.session.lesson_place import Place
from pages.shell.plain_text import as_sentence, plain


def head(problem: type[Setting], bench: Bench) -> None:
    """Draw the page's heading, and a sentence about the method and these data."""
    profile, sentence, run = profile_of(problem), problem.sentence, None if bench.live is None else bench.live.run
    if run is not None:
        profile, sentence = replace(profile, paper=title(run.spec, "")), run.problem.sentence_of_run
    said = f"# {profile.full_name}\n{as_sentence(sentence)}"
    if run is not None and bench.jobs.preparation is None:
        data, labels, n = run.spec.data, f"{len(run.labeled_rows):,} labels", len(run.split.X_train)
        data_title = plain(str(data.path)) if data.name == FILE else DATASETS[data.name].title
        if problem.labels == "pairs":
            labels = f"{len(run.labeled_rows) // 2:,} similar pairs"
        said += f" Here: {labels}, {n - len(run.labeled_rows):,} unlabeled points of *{data_title}*."
    with st.container(key="part-sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(said)
        if bench.live is not None and bench.live.run.spec.changes:
            look: dict[str, Any] = {"key": "forget", "type": "tertiary", "help": _FORGET_HELP}
            st.button("Forget the changes", on_click=setattr, args=(bench, "wants_restart", True), **look)
        if bench.lesson.left is not None:
            look = {"key": "lesson-return", "type": "tertiary", "icon": ":material/school:"}
            st.button("Back to the lesson", on_click=_return, args=(problem, bench, bench.lesson.left), **look)


def draw_lessons(problem: type[Setting], bench: Bench) -> None:
    """Draw the setting's lessons, and its values for short trials, as buttons."""
    profile = profile_of(problem)
    st.markdown("**Lessons**")
    st.page_link("pages/how_it_works.py", label="How it works", icon=":material/lightbulb:")
    with st.container(horizontal=True, gap="xsmall"):
        for guided in lessons_of(problem):
            more: dict[str, Any] = {"key": f"guided-{guided.name}", "icon": ":material/school:"}
            st.button(guided.title, on_click=guide, args=(bench, problem, guided), **more)
        for number, lesson in enumerate(profile.lessons):
            key = f"preset-{number}"
            st.button(lesson.name, key=key, help=lesson.sentence, on_click=_apply, args=(problem, bench, lesson.values))


def guide(bench: Bench, problem: type[Setting], lesson: GuidedLesson) -> None:
    """Begin a guided lesson at its first step."""
    _return(problem, bench, Place(lesson))


def _return(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Open a lesson at a place, with the values of its step."""
    bench.lesson.place, bench.lesson.left = place, None
    begin_step(problem, bench, place.values)


def begin_step(problem: type[Setting], bench: Bench, values: Mapping[str, Any]) -> None:
    """Start again with the values of a lesson's step, and without edits of the data."""
    bench.hand = Hand(taken=bench.hand.taken)
    _apply(problem, bench, values)


def _apply(problem: type[Setting], bench: Bench, values: Mapping[str, Any]) -> None:
    bench.given = {}
    bench.start_again(given_for(problem, values))


def given_for(problem: type[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every control by its key: the lesson's, or the default."""
    dataset, offered = controls.lesson_controls(problem, values)
    given = {c.key: values.get(name, c.parameter.default) for name, c in offered.items()}
    return given | {key_of(problem, "data"): dataset, seen_key(problem): dataset}


_FORGET_HELP = "Start over with the present slider values, without the record of changes."


def waits_for_file(problem: type[Setting]) -> bool:
    """Return True if the page needs a file and has none yet."""
    return st.session_state.get(key_of(problem, "data")) == FILE and read_file(problem) is None


CHOOSE_FILE = """Choose a file in the sidebar, under *Data* (on a phone, open the sidebar with »). It needs one row for each
point and a column with the labels. Then its columns and first rows appear here, and the run begins.

Rows without a label are welcome: they are the unlabeled points. The file goes to this app only, and the app forgets it at the
end of the session (your browser keeps it for a reload, an hour at most)."""
REFUSED_FILE = (
    "This file cannot be learned from as it is: the sidebar says why, under *Data* (on a phone, open it with »)."
)


ANSWER = "answer"  # the answer to a lesson's question or goal
PARTS = ("sidebar", "transport", "view", "limits", "map", "curves", "error", "tabs", ANSWER)


def _to_hide() -> frozenset[str]:
    return frozenset(",".join(st.query_params.get_all("hide")).split(","))


def hidden_parts() -> frozenset[str]:
    """Return the parts that the link's `hide=` names, for teaching and for pages that embed this one."""
    return _to_hide() & frozenset(PARTS)


def is_presented() -> bool:
    """Return True if the link shows a lesson to a class."""
    return st.query_params.get("present") == "1"


# As on the stage, by the same unit: a page that is shown to a class is readable from the last row.
_PRESENTED = """<style>@media (min-width: 961px) {
  :root {font-size: max(16px, min(1.4vw, 2.5vh)) !important}
  .stMain {--st-chart-projected: 1; --st-chart-type: 18; --row: clamp(300px, 100vh - 19.8rem, 800px)}
  .stMain :is(.live-chart-head, .live-chart-title, .live-chart-word, .live-chart-value) {font-size: 0.9rem !important}
  .stMain :is(.live-head button, .live-step, .wipe-rule span) {font-size: 0.75rem !important}
  .st-key-part-transport > :has(.stSelectbox) {width: 8rem !important}
  .stMain .live-charts[data-places~="map"] > [data-place="below"] {display: none}  /* a class is not shown what needs scrolling */
}
@media (min-width: 1600px) {.stMain {--st-chart-type: 26}}</style>"""


def enlarge_for_a_class() -> None:
    """Make a page that is shown to a class readable from the last row, if the link says so."""
    if is_presented():
        st.html(_PRESENTED)


def refused_parts() -> list[str]:
    """Return a sentence about names in the link's `hide=` that are no part of the page."""
    given = ",".join(sorted(_to_hide() - {*PARTS, ""}))
    allowed = f"parts of the page ({', '.join(PARTS)})"
    return [f"In the link, hide must name {allowed}, got {refused(given)}; that is left out."] if given else []


def lay_out(hidden: Set[str]) -> None:
    """Give the room of these parts to the others."""
    style = "".join(_ROOM[part] for part in sorted(hidden & set(_ROOM)))
    style += _EMBEDDED * bool(st.context.is_embedded)
    if hidden & set(_HEAD):
        style += f".st-key-part-head {{min-height: {sum(_HEAD[part] for part in set(_HEAD) - hidden):g}rem !important}}"
    if style:
        st.html(f"<style>{style}</style>")


# Heights of the live view's rows above the charts, in rem.
_HEAD = {"transport": 1.9, "limits": 2.65}
_ROOM = {
    "view": ".stMain #chart-map .live-chart-head {padding-top: 0 !important} "
    ".stMain #chart-map .live-chart-title {display: inline !important}",
}
_EMBEDDED = ".stMainBlockContainer:has(> * > * > .st-key-part-sentence) {padding-top: 1rem !important}"
