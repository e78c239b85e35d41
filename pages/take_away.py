"""The page "To take away": a lesson as a handout to print, as exercises with hidden answers, and in a frame."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting, SpecError
from dsgcore.settings import GuidedLesson, profile_of
from pages.controls.control import refused
from pages.handouts.making import Making, Shown, kept
from pages.handouts.paper import Links, handout
from pages.shell.plain_text import plain, say_of_link
from pages.shell.turns import turns
from pages.shell.warm_up import is_ready
from pages.stage.links import NAMED, address_of, answer, exercise, named, place_in_link
from pages.workbench.tabs import draw_frame

Lesson = tuple[type[Setting], GuidedLesson]
LESSONS: dict[str, Lesson] = {
    named(setting, lesson): (setting, lesson) for setting in SETTINGS.values() for lesson in profile_of(setting).guided
}
MAKING = "_handout"  # key, in the session's state, of the handout that is in progress
SLICE, TICK_SECONDS = 0.05, 0.1


def take_away() -> None:
    """Draw the page."""
    st.title("To take away")
    st.markdown("Take a lesson home: as a handout, as an exercise, or inside your own page.")
    setting, lesson = LESSONS[_chosen()]
    if not is_ready():
        return
    with st.container(key="take-away"):
        _handout(setting, lesson)
        _links(setting, lesson)
        _frame(setting, lesson)


def _chosen() -> str:
    """Draw the choice of a lesson; show a warning if the link names an unknown one."""
    asked = st.query_params.get(NAMED)
    if asked is not None and asked not in LESSONS and NAMED not in st.session_state:
        say_of_link(f"In the link, {NAMED} must name a lesson, got {refused(asked)}; the first lesson is shown.")
    return st.selectbox("Lesson", list(LESSONS), key=NAMED, bind="query-params")


def _handout(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.header("A handout")
    st.markdown(
        "The handout has questions with room for answers, and the answers on a separate page. Open the "
        "file and print it."
    )
    shown = kept(setting, lesson)
    if shown is not None:
        _download(setting, lesson, shown)
        return
    making = st.session_state.get(MAKING)
    if not isinstance(making, Making) or making.lesson is not lesson:
        st.button("Make the handout", key="handout-make", type="primary", on_click=_make, args=(setting, lesson))
        return
    st.fragment(_go_on, run_every=TICK_SECONDS)(making)
    st.button("Cancel", key="handout-stop", on_click=_give_up)


def _make(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.session_state[MAKING] = Making(setting, lesson)


def _give_up() -> None:
    st.session_state.pop(MAKING, None)


def _go_on(making: Making) -> None:
    """Make a slice of the handout."""
    try:
        with turns.turn():
            making.go_on(SLICE)
    except SpecError as error:
        st.error(plain(f"{error}."))
        return
    if making.is_done:
        _give_up()
        st.rerun()
    st.progress(making.share, text="Running the steps of the lesson")


def _download(setting: type[Setting], lesson: GuidedLesson, shown: tuple[Shown, ...]) -> None:
    steps = range(len(lesson.steps))
    links = [Links(*(address_of(setting, made(setting, lesson, k)) for made in (exercise, answer))) for k in steps]
    st.download_button(
        "Download the handout (HTML)",
        partial(handout, setting, lesson, shown, links),
        f"{setting.name}-{lesson.name}.html",
        "text/html",
        on_click="ignore",
        icon=":material/download:",
        type="primary",
        key="handout-get",
    )


def _links(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.header("Links")
    st.markdown(
        "An *exercise* hides the answer. The guess goes into the address, which students hand in. (It is "
        "not an exam: anyone can change the address.) The other link shows the answer."
    )
    for number, step in enumerate(lesson.steps):
        asked = step.asks.text if step.asks is not None else step.goal.text if step.goal is not None else ""
        st.subheader(f"{number + 1}. {asked}")
        for said, made in (("Exercise", exercise), ("Answer", answer)):
            st.caption(said)
            st.code(address_of(setting, made(setting, lesson, number)), language=None, wrap_lines=True)


def _frame(setting: type[Setting], lesson: GuidedLesson) -> None:
    st.header("In your own page")
    st.markdown("The lesson in a frame, without navigation and tabs.")
    draw_frame(address_of(setting), place_in_link(setting, lesson, 0) | {"hide": "tabs,limits"}, key="take-away-theme")


take_away()
