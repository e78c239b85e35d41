"""The Explore page: up to four sliders varied over seeds, with runs in the background, and the most reliable choice."""

from __future__ import annotations

import streamlit as st

from pages.shell.warm_up import get_ready, is_ready
from pages.studies.asking import draw_question
from pages.studies.examples import draw_example_study
from pages.studies.going import draw_and_look, draw_study_transport, exploring, watched_runs
from pages.studies.links import open_with
from pages.studies.pins import draw_link_to_pins
from pages.studies.showing import choose_view, draw_answer
from pages.workbench.steering import run_before


def page() -> None:
    """Draw the question, the progress of its answer, and the answer."""
    open_with("explore", run_before())
    st.title("Explore")
    st.markdown("One run can be luck. Vary up to four sliders over several seeds, and see which choice is reliable.")
    with st.container(horizontal=True, gap="small"):
        draw_link_to_pins()
        st.page_link(
            "pages/papers.py", label="Figures of the papers, as studies", icon=":material/article:", width="content"
        )
    state = exploring("explore")
    get_ready()
    if draw_and_look(state, draw_question) is None or not is_ready():
        return
    draw_study_transport(state, "study", "point")
    if state.made is None:
        return
    measure, view = choose_view(state)
    if state.waits:
        draw_example_study(state.made.study.spec, measure, view)
    else:
        watched_runs(state, draw_answer, measure, view)


page()
