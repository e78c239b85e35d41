"""The workbench's run over ten seeds, without leaving the page: thin traces, their median and band, and a mean with its error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from dsgcore.experiments import Run, Spec
from dsgcore.studies import Gathered, Results, StoreError, curves_of
from pages.charts import figures as charts
from pages.charts.live_plotly import live_chart
from pages.controls.own_file import plain
from pages.studies.curve_charts import seeds_figure
from pages.studies.going import Exploring, exploring, look_at, refresh, store_of
from pages.studies.progress import TICK_SECONDS, draw_button, say_progress

N_SEEDS = 10
HEIGHT = 260


def draw_repeats(run: Run) -> None:
    """Draw the way to ten runs that differ in their seed only, and what has come of them."""
    state = exploring(f"repeats_{run.problem.name}")
    first = run.spec.seed
    try:
        look_at(state, Gathered((replace(run.spec, seed=0),), tuple(range(first, first + N_SEEDS))))
        refresh(state)
    except StoreError as error:
        st.error(plain(str(error)))
        return
    if state.refused:
        st.caption(plain(f"Over {N_SEEDS} seeds: {state.refused}."))
        return
    with st.container(key="part-repeats"):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            with st.container(width="content"):
                draw_button(state, "repeats", f"This, {N_SEEDS} times", is_primary=False)
            with st.container(width="stretch"):
                status = st.empty()
        tick = TICK_SECONDS if state.is_going else None
        st.fragment(_answer, run_every=tick)(run.problem.name, status, run.n_iter, state.is_going)


def _answer(setting: str, status: st.delta_generator.DeltaGenerator, n_iter: int, was_going: bool) -> None:
    state = exploring(f"repeats_{setting}")
    if state.made is None:
        return
    refresh(state)
    with status.container():
        if not say_progress(state, f"{N_SEEDS} seeds"):
            _say(state)
    _draw(state, n_iter)
    if was_going and not state.is_going:
        st.rerun()


def _say(state: Exploring) -> None:
    """Say what came of the seeds, or what there is to ask for."""
    assert state.made is not None
    results: Results = state.made.results("score")
    name, n = state.made.study.spec.problem.score_name, int(results.n[0])
    if n < 2:
        st.caption(
            "The same run with other seeds: other data where they are drawn, other labels, batches and features."
        )
        return
    diverged = f", {results.n_diverged[0]} diverged" if results.n_diverged[0] else ""
    st.markdown(
        f"Test {name} **{results.mean[0]:.4f} ± {results.error[0]:.2g}** (mean and standard error of {n} seeds{diverged}), "
        f"from {results.low[0]:.4f} to {results.high[0]:.4f}."
    )


def _draw(state: Exploring, n_iter: int) -> None:
    assert state.made is not None
    there = [name for name in state.made.hashes if name in state.made.stored]
    spec: Spec = state.made.study.spec
    if not there:
        return
    curves = curves_of(store_of(state, spec), [name for name in there if name is not None])
    theme = "dark" if st.context.theme.type == "dark" else "light"
    title = f"Test {spec.problem.score_name}, {len(there)} seeds"
    figure = seeds_figure(curves, title=title, n_iter=n_iter, color=charts.INK[theme])
    alt = f"{title}: median {np.nanmax(curves.middle[-1:]):.4f} at the end." if len(curves.t) else title
    live_chart(figure, key="chart-repeats", alt=alt, height=HEIGHT, save_as="seeds")
