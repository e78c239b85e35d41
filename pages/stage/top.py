"""The first line of the stage: the lesson's question, how far the reader is, and the ways out."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import Setting
from pages.room.lecturer import ask_anything, is_led_elsewhere, notes_address
from pages.session.bench import Bench
from pages.session.lesson_place import Place
from pages.stage.moves import lesson_button
from pages.workbench.layout import is_presented


def top(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the title, the progress and the buttons."""
    st.markdown(f"# {place.lesson.title}")
    with st.container(key="stage-progress", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(progress(place))
        if is_presented():
            if not is_led_elsewhere(bench):
                ask_anything(problem, bench)
            with st.container(key="stage-notes", width="content"):
                st.link_button("Notes", notes_address(bench), icon=":material/notes:", type="tertiary")
        icon = ":material/close:"
        # Escape presses it, unless a list is open (shell/browser.py).
        lesson_button(bench, "Open the workbench", "lesson-leave", _leave, bench, icon=icon, type="tertiary")


def progress(place: Place) -> str:
    """Return the marks of the lesson's steps, with their number in words."""
    marks = "".join(f"<i{' data-done' * (number <= place.number)}></i>" for number in range(len(place.lesson.steps)))
    said = f"Step {place.number + 1} of {len(place.lesson.steps)}"
    return f'<div class="stage-steps"><span>{said}</span><span aria-hidden="true">{marks}</span></div>'


def _leave(bench: Bench) -> None:
    bench.lesson.place = None
