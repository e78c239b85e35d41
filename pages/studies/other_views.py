"""Other views of a study: importance of its sliders, its measure over two of them, and parallel coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.studies import Importance, Response, Results, importance, response
from dsgcore.studies.importance import N_SPLITS
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart
from pages.shell.plain_text import plain
from pages.studies.going import Exploring
from pages.studies.study_charts import (
    DIVERGED_COLOR,
    MEAN_COLOR,
    MOST_TICKS,
    AxisView,
    dots,
    short_number,
    title_of,
    value_axis,
)

HOW = (
    "Permutation importance: a forest (scikit-learn's ExtraTreesRegressor) learns the points' means from 70 % of the points. "
    "Then the values of one slider are shuffled among the other points. The importance is the slider's share in the loss of "
    f"R². Bars are means of {N_SPLITS} random splits. Whiskers leave out the most extreme split at both ends."
)
HOW_CONTOUR = (
    "The mean prediction of a forest (scikit-learn's ExtraTreesRegressor) at these two values, over all points' values of "
    "the other sliders. It smooths the noise of seeds. × marks points that diverged."
)
WAITS = "This chart is drawn when the runs have ended."


def draw_importance(state: Exploring, results: Results, axes: Sequence[AxisView], name: str, height: int) -> None:
    """Draw the importance of each slider, with its spread, or the reason why there is none."""
    if state.is_going:
        st.caption(WAITS)
        return
    found: Importance = _remembered(state, ("importance", name), lambda: importance(results))
    if found.reason:
        st.info(plain(f"No importance. {found.reason}"))
        return
    low, high = found.ends
    order = np.argsort(-found.mean, kind="stable")
    rows = [
        {
            "slider": axes[i].label,
            "importance": f"{found.mean[i]:.0%}",
            "range over splits": f"{low[i]:.0%} to {high[i]:.0%}",
        }
        for i in order
    ]
    said = ", ".join(f"{row['slider']} {row['importance']} ({row['range over splits']})" for row in rows)
    figure = importance_figure(found, [axis.label for axis in axes], title=f"Importance for {name}")
    live_chart(figure, key="chart-importance", alt=f"Importance for {name}: {said}.", height=height // 2)
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True)
    st.caption(
        f"{HOW} The forests explain {found.fit:.0%} of the variance of the held-out points, of {found.n} in all."
    )


def importance_figure(found: Importance, labels: Sequence[str], *, title: str) -> charts.Figure:
    """Return a bar for each axis, the most important one on top, with whiskers over the splits."""
    order = np.argsort(found.mean, kind="stable")
    (low, high), mean = found.ends, found.mean
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [labels[i] for i in order],
        "x": charts.four_digits(mean[order]),
        "marker": {"color": MEAN_COLOR},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": charts.four_digits((high - mean)[order]),
            "arrayminus": charts.four_digits((mean - low)[order]),
            "color": DIVERGED_COLOR,
        },
        "hovertemplate": "%{y}: %{x:.0%}<extra></extra>",
    }
    figure = charts.plain_figure([bars], title=title)
    figure["layout"] |= {
        "xaxis": {"title": {"text": "share"}, "tickformat": ".0%", "range": [0, 1.02]},
        "yaxis": {"automargin": True},
    }
    return figure


def draw_contour(state: Exploring, results: Results, axes: Sequence[AxisView], name: str, height: int) -> None:
    """Draw the measure over two sliders that the reader chooses, or the reason why there is none."""
    if len(axes) < 2:
        st.info("A contour needs two sliders. Choose another one under “Vary”.")
        return
    across, up = _chosen_pair(axes)
    if state.is_going:
        st.caption(WAITS)
        return
    found: Response = _remembered(state, ("contour", name, across, up), lambda: response(results, across, up))
    if found.reason:
        st.info(plain(f"No contour. {found.reason}"))
        return
    figure = contour_figure(found, results, (axes[across], axes[up]), (across, up), name=name)
    choose = np.argmax if results.measure.is_better_high else np.argmin
    row, column = np.unravel_index(choose(found.values), found.values.shape)
    best = f"{axes[across].label} {axes[across].text(found.across[column])}, {axes[up].label} {axes[up].text(found.up[row])}"
    alt = f"{name} over {axes[across].label} and {axes[up].label}. The best is {short_number(found.values[row, column])} at {best}."
    live_chart(figure, key="chart-contour", alt=alt, height=height)
    st.caption(HOW_CONTOUR)


def _chosen_pair(axes: Sequence[AxisView]) -> tuple[int, int]:
    """Draw the choice of two sliders; return their places."""
    labels = [axis.label for axis in axes]
    if len(axes) == 2:
        return 0, 1
    left, right = st.columns(2)
    across = left.selectbox("Across", labels, index=0, key="x-contour-across")
    others = [label for label in labels if label != across]
    up = right.selectbox("Up", others, index=0, key=f"x-contour-up-{across}")
    return labels.index(across), labels.index(up)


def contour_figure(
    found: Response, results: Results, axes: tuple[AxisView, AxisView], places: tuple[int, int], *, name: str
) -> charts.Figure:
    """Return filled contours of a response, with the study's points on them."""
    surface = {
        "type": "contour",
        "x": list(found.across),
        "y": list(found.up),
        "z": charts.four_digits(found.values),
        "colorscale": charts.SEQUENTIAL,
        "reversescale": not results.measure.is_better_high,
        "colorbar": charts.COLORBAR,
        "ncontours": 12,
        "hovertemplate": "%{z:.4g}<extra></extra>",
    }
    known = np.isfinite(results.mean)
    gone = results.n_diverged >= len(results.study.seeds)
    figure = charts.plain_figure(
        [
            surface,
            _points(
                results, known, places, "points", {"color": "white", "size": 5, "line": {"color": "black", "width": 1}}
            ),
            *(
                [_points(results, gone, places, "diverged", {"symbol": "x", "color": DIVERGED_COLOR})]
                if gone.any()
                else []
            ),
        ],
        title=f"{name}: mean prediction",
    )
    figure["layout"] |= {"xaxis": _axis(axes[0]), "yaxis": _axis(axes[1])}
    return figure


def _axis(axis: AxisView) -> dict[str, Any]:
    """Return an axis from the lowest to the highest value. Many values have ticks of their own choice."""
    if axis.is_words or len(axis.values) <= MOST_TICKS:
        return value_axis(axis)
    ends = [float(axis.values[0]), float(axis.values[-1])]
    kind, shown = ("log", np.log10(ends).tolist()) if axis.is_log else ("linear", ends)
    return {"type": kind, "title": {"text": axis.label}, "range": shown, "nticks": MOST_TICKS, "showgrid": False}


def _points(results: Results, which: Any, places: tuple[int, int], name: str, marker: dict[str, Any]) -> dict[str, Any]:
    shown = [point for point, is_shown in zip(results.points, which, strict=True) if is_shown]
    x, y = ([point[place] for point in shown] for place in places)
    return dots(name, x, y, marker)


def _remembered(state: Exploring, kind: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """Return what `make` returns, from memory if no run has come since."""
    key = state.text, state.runs.n_there, kind
    if state.remembered is None or state.remembered[0] != key:
        state.remembered = key, make()
    return state.remembered[1]


N_COLORS = 12
MOST_CURVES = 2000


def parallel(
    results: Results, axes: Sequence[AxisView], *, name: str, is_kept: NDArray[np.bool_], chosen: int | None
) -> charts.Figure:
    """Return each point as a line across its axes to its mean. Unselected lines are grey, and diverged ones end before the
    mean."""
    columns = np.array(
        [axis.places([point[i] for point in results.points]) for i, axis in enumerate(axes)], dtype=float
    )
    known = np.isfinite(results.mean)
    low, high = _ends(results.mean[known])
    columns = np.vstack([columns, (results.mean - low) / ((high - low) or 1.0)])
    shown = np.nonzero(known)[0][:MOST_CURVES]
    grey = [i for i in shown if not is_kept[i]]
    traces = [_curves(columns, grey, DIVERGED_COLOR, 0.25, "not selected")] if grey else []
    traces += _by_color(results, columns, [i for i in shown if is_kept[i]])
    gone = [i for i in np.nonzero(results.n_diverged >= len(results.study.seeds))[0][:MOST_CURVES]]
    if gone:
        traces.append(_curves(columns[:-1], gone, DIVERGED_COLOR, 0.5, "diverged", dash="dot"))
    if chosen is not None:
        traces.append(_curves(columns, [chosen], "#E69F00", 1.0, "chosen", width=3.5))
    figure = charts.plain_figure(traces, title=title_of(results, name))
    names = [axis.label for axis in axes]
    figure["layout"] |= {
        "xaxis": {
            "tickvals": list(range(len(names) + 1)),
            "ticktext": [*names, name],
            "range": [-0.25, len(names) + 0.35],
            "zeroline": False,
            "gridwidth": 2,
        },
        "yaxis": {"visible": False, "range": [-0.06, 1.06]},
        "annotations": _scale_texts(axes, (low, high)),
        "hovermode": "closest",
    }
    return figure


def _ends(values: NDArray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _by_color(results: Results, columns: NDArray, kept: list[int]) -> list[dict[str, Any]]:
    """Return the selected lines in a few colours of the map's scale, by their mean, with the best drawn last."""
    worth = columns[-1, kept] if results.measure.is_better_high else 1.0 - columns[-1, kept]
    colors = charts.sequential_colors(np.linspace(0.0, 0.95, N_COLORS).tolist())
    steps = np.minimum((worth * N_COLORS).astype(int), N_COLORS - 1)
    groups = ([i for i, own in zip(kept, steps, strict=True) if own == step] for step in range(N_COLORS))
    return [
        _curves(columns, group, color, 0.8, "", width=1.5) for group, color in zip(groups, colors, strict=True) if group
    ]


def _curves(
    columns: NDArray,
    which: list[int],
    color: str,
    opacity: float,
    name: str,
    *,
    width: float = 1.0,
    dash: str = "solid",
) -> dict[str, Any]:
    """Return many lines as one trace, with gaps between them."""
    heights = np.full((len(which), len(columns) + 1), np.nan)
    heights[:, :-1] = columns[:, which].T
    x = np.tile([*range(len(columns)), len(columns) - 1], len(which))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "showlegend": bool(name),
        "x": x.tolist(),
        "y": charts.four_digits(heights.ravel()),
        "line": {"color": color, "width": width, "dash": dash},
        "opacity": opacity,
        "hoverinfo": "skip",
        "connectgaps": False,
    }


def _scale_texts(axes: Sequence[AxisView], ends: tuple[float, float]) -> list[dict[str, Any]]:
    """Return the values along each of the parallel axes."""
    scales: list[list[tuple[float, str]]] = []
    for axis in axes:
        step = -(-len(axis.values) // MOST_TICKS)
        some = axis.values[::step]
        scales.append([(float(at), axis.text(v)) for at, v in zip(axis.places(some), some, strict=True)])
    scales.append([(share, short_number(ends[0] + share * (ends[1] - ends[0]))) for share in (0, 0.25, 0.5, 0.75, 1)])
    look = {"showarrow": False, "xanchor": "right", "xshift": -4, "font": {"size": 11}}
    look |= {"templateitemname": "on ground", "visible": True}  # lines pass behind the text (charts/browser/chart.js)
    return [{"x": i, "y": at, "text": text, **look} for i, scale in enumerate(scales) for at, text in scale]
