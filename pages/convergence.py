"""The Convergence page: trajectories to the optimum over seeds, beside the theorem's promise and assumptions."""

from __future__ import annotations

import streamlit as st

from dsgcore.studies import convergences
from pages.controls.control import draw_download
from pages.shell.warm_up import get_ready, is_ready
from pages.studies import trajectory_showing as showing
from pages.studies.examples import draw_values, example_of_ways, say_example, waits_for_study
from pages.studies.going import (
    Exploring,
    draw_and_look,
    draw_study_transport,
    exploring,
    store_of,
    watched_runs,
)
from pages.studies.onward import open_with
from pages.studies.trajectory_asking import AskedTrajectories, draw_question
from pages.workbench.steering import run_before

PLACE = "ways"


def page() -> None:
    """Draw the question, the progress of its answer, and the answer."""
    open_with("convergence", run_before())
    st.title("Convergence")
    st.markdown(
        "Does a run converge to the right solution, and as fast as the theorem predicts? Run it with "
        "several seeds and compare the slopes. Then break an assumption and see what happens."
    )
    state = exploring(PLACE)
    get_ready()
    asked = draw_and_look(state, draw_question)
    if asked is None or not is_ready():
        return
    draw_study_transport(state, "ways", "curve")
    watched_runs(state, _answer, asked)


def _answer(state: Exploring, asked: AskedTrajectories) -> None:
    """Draw the answer so far."""
    shown = showing.shown_of(asked, _found(state))
    example = example_of_ways(asked.cases[0].spec) if waits_for_study(state) else None
    if example is not None:
        asked, shown = example
        n = len(asked.cases)
        say_example(asked.cases[0].spec, f"{n} curve{'s' * (n > 1)} × {asked.seeds} seeds")
    if shown:
        showing.say_answer(asked, shown)
        quantity, over = showing.choose_view(shown)
        showing.draw_charts(asked, shown, quantity, over)
        showing.draw_table(asked, shown, quantity)
        showing.draw_assumptions(shown)
        draw_download("All curves (CSV)", "convergence.csv", lambda: showing.table_of_ways(shown))
    if example is not None:
        draw_values(asked.cases[0].spec)


def _found(state: Exploring) -> list:
    """Return the results of each case, read from the store again if there are new runs."""
    made = state.runs
    noted = st.session_state.get("_ways_found")
    now = state.text, made.n_there
    if noted is None or noted[0] != now:
        there = [key if key in made.stored else None for key in made.hashes]
        noted = now, convergences(made.study, there, store_of(state, made.study.spec))
        st.session_state["_ways_found"] = noted
    return list(noted[1])


page()
