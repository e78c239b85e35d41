"""The finished example on the pages Explore and Convergence, until the reader's own study begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import streamlit as st

from dsgcore.experiments import Spec
from dsgcore.settings import profile_of
from dsgcore.studies.examples import example_study, example_trajectories
from pages.controls.controls import controls_for
from pages.controls.own_file import entry_of
from pages.studies import showing, trajectory_showing
from pages.studies.asking import SCORE, TIME
from pages.studies.differing import values_of
from pages.studies.going import exploring
from pages.studies.question import NOTHING
from pages.studies.trajectory_asking import ALL, AskedTrajectories, Case
from pages.studies.trajectory_showing import LENGTH, Shown

NO_EXAMPLE = "The chart and the ranking appear here after Start, with the first runs."


def draw_example_study(asked: Spec, measure: str, view: str) -> None:
    """Draw the finished study of a setting and its data as the page draws the reader's own. An example has no time to a
    score."""
    setting = asked.problem.name
    made = example_study(setting)
    if made is None or made.study.spec.data.name != asked.data.name:
        st.caption(NO_EXAMPLE)
        return
    state = exploring("example")
    if state.made is not made:
        state.made, state.text, state.chosen = made, f"example {setting}", None
    with _example(made.study.spec, f"{len(made.points)} points × {len(made.study.seeds)} seeds"):
        showing.draw_answer(state, SCORE if measure == TIME else measure, view)


def example_of_ways(asked_of: Spec) -> tuple[AskedTrajectories, list[Shown]] | None:
    """Return the question of the finished trajectories of a setting on these data and their results, or None if there is no
    such example."""
    example = example_trajectories(asked_of.problem.name)
    if example is None or example[0].spec.data.name != asked_of.data.name:
        return None
    study = example[0]  # of one run, or of runs of several lengths
    specs, is_varied = study.specs, len(study.specs) > 1
    control = controls_for(type(study.spec.problem), study.spec.data.name)["n_iter"] if is_varied else None
    cases = tuple(Case(ALL, spec.solver.n_iter if is_varied else None, spec) for spec in specs)
    asked = AskedTrajectories(cases, len(study.seeds), LENGTH if is_varied else NOTHING, control)
    return asked, trajectory_showing.shown_of(asked, list(example[1]))


def draw_example_of_ways(asked: AskedTrajectories, shown: list[Shown]) -> None:
    """Draw finished trajectories as the page draws the reader's own."""
    n = len(asked.cases)
    with _example(asked.cases[0].spec, f"{n} curve{'s' * (n > 1)} × {asked.seeds} seeds"):
        trajectory_showing.draw_answer(asked, shown)


@contextmanager
def _example(spec: Spec, size: str) -> Iterator[None]:
    """Say that what is drawn inside is an example; below it, draw the values with which it was made."""
    problem = type(spec.problem)
    data = entry_of(problem, spec.data.name).title
    st.info(
        f"**Example:** {profile_of(problem).short} on the data {data}, {size}. These finished results come with DSG Lab and do "
        "not follow the choices above. Start replaces them.",
        icon=":material/lightbulb:",
    )
    yield
    with st.expander("Values of the example"):
        st.markdown("The varied values are on the axes.")
        st.dataframe(pd.DataFrame(values_of(spec)), width="stretch", hide_index=True)
