"""The workbench's run over ten seeds, on the same page: thin traces, their median and band, and a mean with its error."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dsgcore.core.metrics import Effect
from dsgcore.experiments import Run
from dsgcore.studies import StoreError, Study, StudyError, curves_of
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart, theme_now
from pages.shell.plain_text import plain
from pages.studies.differing import said_difference
from pages.studies.going import Exploring, draw_transport, exploring, look_at, say_progress, watched_runs

N_SEEDS = 10
HEIGHT = 260
THIN = 0.35
COLORS = {Effect.HELPS: "green", Effect.HURTS: "red", Effect.TIE: "gray"}


def draw_repeats(run: Run) -> None:
    """Draw the button for ten runs, and for ten of the twin if there is one, that differ only in their seed; and their
    results."""
    state = exploring(f"repeats_{run.problem.name}")
    first, twin = run.spec.seed, run.spec.baseline()
    others = () if twin.problem == run.problem else (twin,)
    try:
        look_at(state, Study(run.spec, seeds=tuple(range(first, first + N_SEEDS)), others=others))
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


def _say(state: Exploring) -> None:
    """Show the results over the seeds and the effect compared with the twin, or a sentence on the button before there are
    any."""
    if say_progress(state, f"{N_SEEDS} seeds"):
        return
    results = state.runs.results("score")
    problem, n, has_twin = results.study.spec.problem, int(results.n[0]), len(results.points) > 1
    if n < 2:
        twin = f" and the run for comparison, “{problem.baseline_name}”," if has_twin else ""
        others = "other data (if generated), labels, mini-batches and features"
        st.caption(f"Repeats this run{twin} with other seeds: {others}.")
        return
    diverged = f", {results.n_diverged[0]} diverged" if results.n_diverged[0] else ""
    st.markdown(
        f"Test {problem.score_name} **{results.mean[0]:.4f} ± {results.error[0]:.2g}** "
        f"(mean and standard error of {n} seeds{diverged}), from {results.low[0]:.4f} to {results.high[0]:.4f}."
    )
    found = results.compared(0, 1) if has_twin else None
    if found is not None and found.effect is not None:
        name = found.effect.name
        st.markdown(
            f":{COLORS[found.effect]}-badge[{name}] Compared with “{problem.baseline_name}”: **{said_difference(found)}** in "
            f"test {problem.score_name}, paired over {found.n} seeds, with the same data, labels, mini-batches and features. "
            f"{name} means that {found.effect.value} (Student's t)."
        )


def _draw(state: Exploring, n_iter: int) -> None:
    problem, own, of_twin = state.runs.study.spec.problem, state.finished(0), state.finished(1)
    if not own:
        return
    found, color = curves_of(state.store, own), charts.INK[theme_now()]
    thin: dict[str, Any] = {"width": 1.0, "opacity": THIN, "in_legend": False}
    curves = [charts.Curve(f"seed {i}", found.t, row, color, **thin) for i, row in enumerate(found.values)]
    band: dict[str, Any] = {"band": (found.low, found.high), "band_name": "lowest to highest"}
    curves.append(charts.Curve("median", found.t, found.middle, color, width=3.0, **band))
    if of_twin:
        twin, name = curves_of(state.store, of_twin), f"{problem.baseline_name}, median"
        curves.append(charts.Curve(name, twin.t, twin.middle, charts.TWIN, dash="dot", width=2.5))
    title = f"Test {problem.score_name}, {len(own)} seeds"
    figure = charts.line_chart(curves, title=title, x_range=(0, n_iter))
    alt = f"{title}: median {np.nanmax(found.middle[-1:]):.4f} at the end." if len(found.t) else title
    live_chart(figure, key="chart-repeats", alt=alt, height=HEIGHT, save_as="seeds")
