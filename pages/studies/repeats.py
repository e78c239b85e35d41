"""The workbench's run over ten seeds, on the same page: thin traces, their median and band, and a mean with its error."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dsgcore.core.metrics import Effect
from dsgcore.experiments import Run, Spec
from dsgcore.studies import Results, StoreError, Study, StudyError, curves_of
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart, theme_now
from pages.shell.plain_text import plain
from pages.studies.differing import said_difference
from pages.studies.going import (
    Exploring,
    draw_transport,
    exploring,
    finished,
    look_at,
    refresh,
    say_progress,
    store_of,
    watched_runs,
)
from pages.studies.trajectory_charts import seeds_figure

N_SEEDS = 10
HEIGHT = 260
COLORS = {Effect.HELPS: "green", Effect.HURTS: "red", Effect.TIE: "gray"}


def draw_repeats(run: Run) -> None:
    """Draw the button for ten runs that differ only in their seed, and their results."""
    state = exploring(f"repeats_{run.problem.name}")
    first = run.spec.seed
    try:
        seeds = tuple(range(first, first + N_SEEDS))
        look_at(state, Study(run.spec, seeds=seeds, others=_twin_of(run.spec)))
        refresh(state)
    except StoreError as error:
        st.error(plain(str(error)))
        return
    except StudyError as error:  # edits by hand that fit one seed
        st.caption(plain(f"Over {N_SEEDS} seeds: {error}."))
        return
    if state.refused:
        st.caption(plain(f"Over {N_SEEDS} seeds: {state.refused}."))
        return
    with st.container(key="part-repeats"):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            draw_transport(state, "repeats", _say, f"Run with {N_SEEDS} seeds", is_primary=False)
        watched_runs(state, _draw, run.n_iter)


def _twin_of(spec: Spec) -> tuple[Spec, ...]:
    """Return the run's twin, if it has one."""
    twin = spec.baseline()
    return () if twin.problem == spec.problem else (twin,)


def _say(state: Exploring) -> None:
    """Show the results over the seeds, or a sentence on the button before there are any."""
    if say_progress(state, f"{N_SEEDS} seeds"):
        return
    results: Results = state.runs.results("score")
    problem, n = state.runs.study.spec.problem, int(results.n[0])
    if n < 2:
        twin = f" and the run for comparison, “{problem.baseline_name}”," if len(results.points) > 1 else ""
        st.caption(
            f"Repeats this run{twin} with other seeds: other data (if generated), labels, mini-batches and features."
        )
        return
    diverged = f", {results.n_diverged[0]} diverged" if results.n_diverged[0] else ""
    st.markdown(
        f"Test {problem.score_name} **{results.mean[0]:.4f} ± {results.error[0]:.2g}** "
        f"(mean and standard error of {n} seeds{diverged}), from {results.low[0]:.4f} to {results.high[0]:.4f}."
    )
    if len(results.points) > 1:
        _say_effect(results, problem.baseline_name)


def _say_effect(results: Results, twin: str) -> None:
    """Show the effect of the method compared with its twin, over the same seeds, and the rule for the verdict."""
    found = results.compared(0, 1)
    if found.effect is None:
        return
    name, score = found.effect.name, results.study.spec.problem.score_name
    st.markdown(
        f":{COLORS[found.effect]}-badge[{name}] Compared with “{twin}”: **{said_difference(found)}** in test {score}, paired over "
        f"{found.n} seeds, with the same data, labels, mini-batches and features. "
        f"{name} means that {found.effect.value} (Student's t)."
    )


def _draw(state: Exploring, n_iter: int) -> None:
    spec: Spec = state.runs.study.spec
    own, of_twin = (finished(state, number) for number in (0, 1))
    if not own:
        return
    store = store_of(state, spec)
    curves = curves_of(store, own)
    twin = (spec.problem.baseline_name, curves_of(store, of_twin)) if of_twin else None
    theme = theme_now()
    title = f"Test {spec.problem.score_name}, {len(own)} seeds"
    figure = seeds_figure(curves, title=title, n_iter=n_iter, color=charts.INK[theme], twin=twin)
    alt = f"{title}: median {np.nanmax(curves.middle[-1:]):.4f} at the end." if len(curves.t) else title
    live_chart(figure, key="chart-repeats", alt=alt, height=HEIGHT, save_as="seeds")
