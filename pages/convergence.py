"""The Convergence page: trajectories to the optimum over seeds, beside the theorem's promise and assumptions."""

from __future__ import annotations

import streamlit as st

from dsgcore.studies import convergences
from pages.shell.warm_up import get_ready, is_ready
from pages.studies.examples import draw_example_of_ways, example_of_ways
from pages.studies.going import Exploring, draw_and_look, draw_study_transport, exploring, watched_runs
from pages.studies.links import open_with
from pages.studies.trajectory_asking import AskedTrajectories, draw_question
from pages.studies.trajectory_showing import draw_answer, shown_of
from pages.workbench.steering import run_before


def page() -> None:
    """Draw the question, the progress of its answer, and the answer."""
    open_with("convergence", run_before())
    st.title("Convergence")
    st.markdown(
        "Does a run converge to the right solution, and as fast as the theorem predicts? Run it with "
        "several seeds and compare the slopes. Then break an assumption and see what happens."
    )
    state = exploring("ways")
    get_ready()
    asked = draw_and_look(state, draw_question)
    if asked is None or not is_ready():
        return
    draw_study_transport(state, "ways", "curve")
    watched_runs(state, _answer, asked)


def _answer(state: Exploring, asked: AskedTrajectories) -> None:
    example = example_of_ways(asked.cases[0].spec) if state.waits else None
    if example is not None:
        draw_example_of_ways(*example)
        return
    made = state.runs
    there = [key if key in made.stored else None for key in made.hashes]
    found = state.remember(("ways",), lambda: convergences(made.study, there, state.store))
    if shown := shown_of(asked, found):
        draw_answer(asked, shown)


page()
