"""The Explore page: up to four sliders varied over seeds, with runs in the background, and the most reliable choice."""

from __future__ import annotations

import streamlit as st

from pages.shell.warm_up import get_ready, is_ready
from pages.studies import showing
from pages.studies.asking import draw_question
from pages.studies.examples import draw_example_study, waits_for_study
from pages.studies.going import Exploring, draw_and_look, draw_study_transport, exploring, watched_runs
from pages.studies.links import draw_link_to_pins
from pages.studies.onward import open_with
from pages.studies.showing import read_curves, results_of
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
    measure, view = showing.choose_view(state)
    if waits_for_study(state):
        draw_example_study(state.made.study.spec, measure, view)
        return
    has_brush = bool(state.made.study.axes) and showing.is_parallel(state.made.study, view)
    is_kept = showing.brush(state, results_of(state, measure)) if has_brush else None
    look = showing.Look(measure, view, is_kept, state.chosen)
    watched_runs(state, _answer, look)
    if state.made.n_there:
        showing.draw_way_out(state, look)


def _answer(state: Exploring, look: showing.Look) -> None:
    """Draw the answer so far."""
    is_all_read = read_curves(state, look.measure)
    chart, ranking = st.columns([5, 6], gap="small")
    with chart:
        showing.draw_chart(state, look)
    with ranking:
        showing.draw_ranking(state, look)
    if state.chosen != look.chosen or not is_all_read:
        st.rerun()  # so that the elements outside of the fragment follow


page()
