"""The Details tab, with the charts that only one setting has. It is drawn with the page, not during the run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.experiments import Run
from dsgcore.settings import panels, profile_of
from pages.charts import figures as charts
from pages.charts.detail_charts import Sample, confusion_chart, histogram_chart
from pages.charts.live_chart import live_chart
from pages.charts.roles import color_of
from pages.session.bench import Bench
from pages.shell.plain_text import plain
from pages.workbench.inside_view import look_inside
from pages.workbench.side_by_side import side_by_side

HEIGHT = 320


def details(bench: Bench, run: Run, *, theme: str) -> None:
    """Draw the details of the run's setting, f and its twin on the map, and the parts of f."""
    if not run.t:
        st.caption("There is nothing to show before the first iteration. Press Play or Step, then Pause.")
        return
    if not _is_finite(run):
        st.info("The scores are no longer finite, so they cannot be drawn. Choose a smaller step size.")
        return
    drawn: Counter[str] = Counter()
    for row in profile_of(run.problem).details(run):
        for column, panel in zip(st.columns(len(row)), row, strict=True):
            with column:
                _draw(panel, run, theme, drawn)
    side_by_side(bench, run, theme)
    look_inside(bench, run, theme)


def _is_finite(run: Run) -> bool:
    """Return True if all scores are finite; the scores of a diverged run may not be."""
    return all(np.isfinite(f).all() for f in (run.test_values, run.labeled_values, run.unlabeled_values))


def _key(name: str, drawn: Counter[str]) -> str:
    """Return a chart's key: its kind, followed by a number from the second one on."""
    drawn[name] += 1
    return name if drawn[name] == 1 else f"{name}-{drawn[name]}"


def _draw(panel: panels.Panel, run: Run, theme: str, drawn: Counter[str]) -> None:
    match panel:
        case panels.Words():
            st.markdown(panel.text)
        case panels.Table():
            st.dataframe(pd.DataFrame(dict(panel.columns)), width="stretch", hide_index=True)
        case panels.Metrics():
            for place, item in zip(st.columns(len(panel.items)), panel.items, strict=True):
                with place:
                    _metric(item, run)
        case panels.Histogram():
            live_chart(_histogram(panel, theme), key=_key("chart-details", drawn), alt=panel.alt, height=HEIGHT)
        case panels.Curves():
            live_chart(_curves(panel, run, theme), key=_key("chart-details", drawn), alt=panel.alt, height=HEIGHT)
        case panels.Confusion():
            figure = confusion_chart(panel.y, panel.predicted, panel.names, title=panel.title, theme=theme)
            live_chart(figure, key=_key("chart-confusion", drawn), alt="Confusion matrix.", height=HEIGHT)


def _histogram(panel: panels.Histogram, theme: str) -> charts.Figure:
    return histogram_chart(
        [Sample(s.name, s.values, color_of(s.role, theme), s.is_faint) for s in panel.samples],
        title=panel.title,
        axis=panel.axis,
        theme=theme,
        marks=panel.marks,
        band=panel.band,
        is_share=panel.is_share,
    )


def _curves(panel: panels.Curves, run: Run, theme: str) -> charts.Figure:
    rule = {"dash": "dot", "width": 1.0, "in_legend": False}
    curves = [
        charts.Curve(line.name, panel.t, line.values, color_of(line.role, theme), **(rule if line.is_faint else {}))  # type: ignore[arg-type]
        for line in panel.lines
    ]
    return charts.line_chart(curves, title=panel.title, x_range=(0, run.length))


def _metric(item: panels.Metric | panels.OnRequest, run: Run) -> None:
    """Draw a number, or a button that computes it on request."""
    if isinstance(item, panels.Metric):
        st.metric(item.label, item.value)
        return
    found, key = st.session_state.setdefault("_requested", {}), f"{item.name}_{run.spec.data}_{run.spec.seed}"
    if key not in found:
        st.button(item.button, key=item.name, on_click=_compute, args=(item, found, key), help=item.help)
    elif isinstance(found[key], float):
        st.metric(item.label, f"{found[key]:.3f}", help=item.help)
    else:
        st.warning(plain(found[key]))


def _compute(item: panels.OnRequest, found: dict[str, float | str], key: str) -> None:
    try:
        found[key] = item.compute()
    except DSGError as error:
        found[key] = str(error)
