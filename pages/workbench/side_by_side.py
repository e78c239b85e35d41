"""F, h and |f − h| side by side on the same plane, at the same step, with one colour scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dsgcore.experiments import Run
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.live_plotly import live_chart
from pages.charts.run_map import run_map, surface_on
from pages.workbench.map_view import centre_of, map_state

HEIGHT = 290


def side_by_side(bench: Any, run: Run, theme: str) -> None:
    """Draw the three maps of a run that has a twin, and the largest error."""
    if run.problem.decision == "highest" or not run.t:
        return
    state = map_state(bench, run)
    assert state.surface is not None
    f = state.surface.values(run.model).astype(float)
    h = run.exact_values(state.surface.points).astype(float)
    if not (np.isfinite(f).all() and np.isfinite(h).all()):
        return
    centre = centre_of(run)
    reach = float(max(np.abs(f - centre).max(), np.abs(h - centre).max())) or 1.0
    drawn = {"f": (f, centre), "h": (h, centre), "|f − h|": (np.abs(f - h), 0.0)}
    for place, (name, (values, middle)), key in zip(st.columns(3), drawn.items(), KEYS, strict=True):
        heat = charts.heat(surface_on(state.plane, values, state.size), middle, theme, reach=reach)
        figure = run_map(run, state.plane, heat, title=name, theme=theme, revision=f"{bench.number}-{state.axes}")
        figure["data"] = [trace | {"showlegend": False} for trace in figure["data"]]
        with place:
            alt = f"Map of {name} at step {run.model_t}: from {values.min():.3g} to {values.max():.3g}."
            live_chart(figure, key=key, alt=alt, height=HEIGHT)
    largest = drawn["|f − h|"][0].max()
    st.caption(
        f"After step {run.model_t}, with one colour scale for all three maps. |f − h| is at most {largest:.2g} here, "
        f"and f goes from "
        f"{f.min():.3g} to {f.max():.3g}. {words.F} {words.H}"
    )


KEYS = ("chart-side-f", "chart-side-h", "chart-side-error")
