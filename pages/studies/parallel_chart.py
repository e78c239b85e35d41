"""Chart of a study in parallel coordinates: one line for each point, through its values to its mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsgcore.studies.results import Results
from pages.charts import figures as charts
from pages.studies.study_charts import DIVERGED_COLOR, MOST_TICKS, AxisView, short_number, title_of

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
