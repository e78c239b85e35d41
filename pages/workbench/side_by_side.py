"""F, h and |f − h| side by side on the same plane, at the same step: one colour scale for f and h, and one from 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dsgcore.experiments import Run
from pages.charts import figures as charts
from pages.charts import words
from pages.charts.live_chart import live_chart
from pages.charts.run_map import run_map, surface_on
from pages.live.map_view import map_state, score_heats

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
    drawn = {"f": f, "h": h, "|f − h|": np.abs(f - h)}
    scores, error = [surface_on(state.plane, values, state.size) for values in drawn.values()][:2], drawn["|f − h|"]
    heats = score_heats(run, scores, theme)
    reach = (heats[0]["zmax"] - heats[0]["zmin"]) / 2
    heats.append(charts.heat(surface_on(state.plane, error, state.size), None, theme, reach=reach))
    for place, (name, values), heat, key in zip(st.columns(3), drawn.items(), heats, KEYS, strict=True):
        figure = run_map(run, state.plane, heat, title=name, theme=theme, revision=f"{bench.number}-{state.axes}")
        figure["data"] = [trace | {"showlegend": False} for trace in figure["data"]]
        with place:
            alt = f"Map of {name} at step {run.model_t}: from {values.min():.3g} to {values.max():.3g}."
            live_chart(figure, key=key, alt=alt, height=HEIGHT)
    st.caption(
        f"The maps show step {run.model_t}. {words.F} {words.H} f and h have the same colour scale, and "
        f"f goes from {f.min():.3g} to {f.max():.3g}. The scale of |f − h| begins at 0 and is half as "
        f"long. |f − h| is at most {error.max():.2g} here."
    )


KEYS = ("chart-side-f", "chart-side-h", "chart-side-error")
