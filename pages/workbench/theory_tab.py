"""The Theory tab: the theorem and its assumptions, the parts of the risk, the setting's own charts, and a look inside f."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.cost import per_cent
from dsgcore.core.errors import DSGError
from dsgcore.diagnostics import amplitudes, feature_trajectory, feature_wave, has_inside, point_pull, point_trajectory
from dsgcore.experiments import LiveRun, Run, Spec, as_in_paper, kept_to, remedies, theory_of
from dsgcore.experiments.theory import paper_of
from dsgcore.glossary import meaning
from dsgcore.settings import panels, profile_of
from pages.charts import figures as charts
from pages.charts.detail_charts import confusion_chart, histogram_chart
from pages.charts.live_chart import live_chart
from pages.charts.run_map import color_of, diverging, heat, run_map
from pages.controls.control import Control
from pages.controls.controls import PICKER, controls_for
from pages.live.curves import bound_figure, risk_figure
from pages.live.map_view import map_state
from pages.session.bench import Bench
from pages.shell.plain_text import plain, short_number, with_minus

DETAILS_HEIGHT = 320


def details(bench: Bench, run: Run, *, theme: str) -> None:
    """Draw the details of the run's setting, f and its twin on the map, and the parts of f."""
    if not run.t:
        st.caption("There is nothing to show before the first iteration. Press Play or Step, then Pause.")
        return
    if not all(np.isfinite(f).all() for f in (run.test_values, run.labeled_values, run.unlabeled_values)):
        st.info("The scores are no longer finite, so they cannot be drawn. Choose a smaller step size.")
        return
    drawn: Counter[str] = Counter()
    for row in profile_of(run.problem).details(run):
        for column, panel in zip(st.columns(len(row)), row, strict=True):
            with column:
                _draw(panel, run, theme, drawn)
    if not has_inside(run) or not run.model_t:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="part-inside"):
        chosen = st.segmented_control("Look inside", list(_DRAWN), default=FEATURE, required=True, key="inside")
        beside = st.container(horizontal=True, width="content")
    _DRAWN[str(chosen)](bench, run, theme, beside)


def _draw(panel: panels.Panel, run: Run, theme: str, drawn: Counter[str]) -> None:
    kind, alt = "chart-details", getattr(panel, "alt", "Confusion matrix.")
    match panel:
        case str():
            st.markdown(panel)
            return
        case Mapping():
            st.dataframe(pd.DataFrame(dict(panel)), width="stretch", hide_index=True)
            return
        case tuple():
            for place, item in zip(st.columns(len(panel)), panel, strict=True):
                with place:
                    _metric(item, run)
            return
        case panels.Histogram():
            figure = histogram_chart(panel, theme=theme)
        case panels.Curves():
            curves, rule = list[charts.Curve](), {"dash": "dot", "width": 1.0, "in_legend": False}
            for line in panel.lines:
                look: dict[str, Any] = rule if line.is_faint else {}
                curves.append(charts.Curve(line.name, panel.t, line.values, color_of(line.role, theme), **look))
            figure = charts.line_chart(curves, title=panel.title, x_range=(0, run.length))
        case panels.Confusion():
            kind = "chart-confusion"
            figure = confusion_chart(panel, theme=theme)
    drawn[kind] += 1
    key = kind if drawn[kind] == 1 else f"{kind}-{drawn[kind]}"
    live_chart(figure, key=key, alt=alt, height=DETAILS_HEIGHT)


def _metric(item: panels.Metric | panels.OnRequest, run: Run) -> None:
    if isinstance(item, panels.Metric):
        st.metric(item.label, with_minus(item.value))
        return
    found, key = st.session_state.setdefault("_requested", {}), f"{item.name}_{run.spec.data}_{run.spec.seed}"

    def compute() -> None:
        try:
            found[key] = item.compute()
        except DSGError as error:
            found[key] = str(error)

    if key not in found:
        st.button(item.button, key=item.name, on_click=compute, help=item.help)
    elif isinstance(found[key], float):
        st.metric(item.label, short_number(found[key], ".3f"), help=item.help)
    else:
        st.warning(plain(found[key]))


INSIDE_HEIGHT = 290
FEATURE, POINT, ALL = "one feature", "one point", "all coefficients"


def _asked(label: str, most: int, key: str, usual: int = 1) -> int:
    return int(st.number_input(label, 1, most, usual, key=key, width=180))


def _feature(bench: Bench, run: Run, theme: str, beside: DeltaGenerator) -> None:
    with beside:
        t = _asked(f"Iteration, 1 to {run.n_iter:,}", run.n_iter, f"inside-t-{bench.begun.number}")
        m = run.model.blocks[min(t, run.model_t) - 1].shape[1]
        number = _asked(f"Feature, 1 to {m:,}", m, f"inside-feature-{bench.begun.number}-{m}")
    if t > run.model_t:
        st.caption(f"After step {run.model_t} the features of iteration {t} do not exist yet.")
        return
    wave, way = feature_wave(run.model, t, number, _grid(bench, run)), feature_trajectory(run.model, t, number)
    curve = charts.Curve("coefficient", np.arange(len(way)), way, charts.EXACT, in_legend=False)
    note = f"drawn at iteration {t}; {per_cent(way[-1] / way[t] if way[t] else 1.0)} of it remains"
    _beside(bench, run, wave, f"Contribution of feature {number} of iteration {t} to f", curve, note, theme)
    total = sum(block.shape[1] for block in run.model.blocks)
    st.caption(
        f"After step {run.model_t}, f is a sum of {total:,} random features. Each iteration draws new ones. This one adds at most "
        f"{np.abs(wave).max():.2g} here. No feature looks like f, but together they make f. Its coefficient was set when it "
        "was drawn. Since then, each iteration has only shrunk it, by the step size times the ridge."
    )


def _point(bench: Bench, run: Run, theme: str, beside: DeltaGenerator) -> None:
    with beside:
        n, usual = len(run.split.X_train), int(run.labeled_rows[0]) + 1
        row = _asked(f"Point, 1 to {n:,}", n, f"inside-point-{bench.begun.number}", usual) - 1
    pull, (t, coefficients) = point_pull(run, row, _grid(bench, run)), point_trajectory(run, row)
    xy = map_state(bench, run).plane.project(run.split.X_train[row : row + 1])
    star = charts.PointSet(f"point {row + 1}", xy, charts.INK[theme], "star", size=15)
    curve = charts.Curve("coefficient", t, coefficients, charts.EXACT, in_legend=False)
    note = f"{short_number(coefficients[-1])} now"
    _beside(bench, run, pull, f"Contribution of point {row + 1} to h", curve, note, theme, star)
    way = "up" if coefficients[-1] > 0 else "down"
    said = f"Point {row + 1} ({_kind(run, row)}) pulls h {way} around it"
    st.caption(
        f"{meaning('twin')} After step {run.model_t}, h is a sum with one kernel around each training point. "
        f"{said if coefficients[-1] else f'Point {row + 1} ({_kind(run, row)}) adds nothing yet'}. Its "
        "coefficient changes whenever the point is in a mini-batch. The curve shows it at the recorded iterations."
    )


def _kind(run: Run, row: int) -> str:
    """Return a training point's label as the method knows it."""
    label = int(run.split.y_train[row])
    if label < 0:
        return "unlabeled"
    return "in a similar pair" if run.problem.labels == "pairs" else plain(run.split.class_names[label])


def _all(bench: Bench, run: Run, theme: str, beside: DeltaGenerator) -> None:
    t, sizes = amplitudes(run.model)
    colors = (charts.EXACT, charts.PREDICTED, charts.TWIN, charts.UNLABELED)
    named = zip(sizes.items(), colors, strict=True)
    curves = [charts.Curve(name, t, values, color, width=1.5) for (name, values), color in named]
    look: dict[str, Any] = {"x_range": (0, run.length), "x_title": "iteration that drew the features"}
    figure = charts.line_chart(curves, title="Sizes of each iteration's coefficients in f", is_log_y=True, **look)
    live_chart(figure, key="chart-inside-all", height=INSIDE_HEIGHT)
    st.caption(
        f"After step {run.model_t}: for the features of each iteration, the largest coefficient and three quantiles (90 %, 50 %, "
        "10 %). If the first iterations are the largest, f still depends on its first steps. If the curves are level, later steps "
        "change f as much as the first ones."
    )


def _grid(bench: Bench, run: Run) -> NDArray:
    state = map_state(bench, run)
    return state.plane.grid(state.size)


def _beside(
    bench: Bench,
    run: Run,
    values: NDArray,
    title: str,
    curve: charts.Curve,
    note: str,
    theme: str,
    *more: charts.PointSet,
) -> None:
    """Draw values on the plane, among the training points, and beside them a curve over the iterations."""
    state = map_state(bench, run)
    drawn = heat(state.plane, values, diverging([values], 0.0, theme))
    figure = run_map(run, state.plane, drawn, title=title, theme=theme, revision=title)
    figure["data"] = [trace | {"showlegend": False} for trace in figure["data"]]
    figure["data"] += [charts.scatter(points, theme) for points in more]
    line = charts.line_chart([curve], title="Its coefficient", x_range=(0, run.length), revision=title, note=note)
    left, right = st.columns([1, 2])
    with left:
        alt = with_minus(f"{title}: from {values.min():.2g} to {values.max():.2g}.")
        live_chart(figure, key="chart-inside-map", alt=alt, height=INSIDE_HEIGHT)
    with right:
        live_chart(line, key="chart-inside-way", height=INSIDE_HEIGHT)


_DRAWN: dict[str, Callable[[Any, Run, str, DeltaGenerator], None]] = {FEATURE: _feature, POINT: _point, ALL: _all}


KEEP_HELP = "Starts a new run with values that meet the assumptions, as far as possible."


def theory(bench: Bench) -> None:
    """Show the theorem's promise and assumptions and whether the run meets them; draw the parts of the risk."""
    live, spec = bench.present, bench.present.run.spec
    said = theory_of(spec)
    st.markdown(said.statement)
    for assumption in said.assumptions:
        mark = ":green[● holds:]" if assumption.holds else "○ does not hold:"
        why_not = "" if assumption.holds else f" {assumption.why_not}"
        st.markdown(f"{mark} {assumption.sentence}{why_not}")
    st.page_link("pages/glossary.py", label="Glossary with equations", icon=":material/dictionary:", width="content")
    if kept_to(spec) != spec:
        with st.container(horizontal=True, vertical_alignment="center", key="keeping"):
            look: dict[str, Any] = {"key": "keep-to", "icon": ":material/rule:", "help": KEEP_HELP}
            st.button("Meet the assumptions", on_click=_set, args=(bench, remedies(spec)), **look)
            changed = [(c, before, after) for c, before, after in _to_set(spec, remedies(spec)) if before != after]
            sets = "; ".join(f"{c.parameter.label}: {c.told(before)} → {c.told(after)}" for c, before, after in changed)
            st.caption(f"{sets or 'The same values, without the changes during the run'}. {said.cost}", width="stretch")
    elif what_it_cost := _what_it_cost(live):
        st.caption(what_it_cost)
    if paper := paper_of(spec):  # the values of its own experiments, with their place in it
        wanted = as_in_paper(spec, len(live.run.split.X_train)).to_dict()
        sections = {section: wanted[section] for section in ("kernel", "problem", "solver")}
        with st.container(horizontal=True, vertical_alignment="center", key="papers-values"):
            if any(before != after for _, before, after in _to_set(spec, sections)):
                look = {"key": "as-in-paper", "icon": ":material/menu_book:"}
                st.button("As in the paper", on_click=_set, args=(bench, sections), **look)
            st.caption(f"**{paper.source}**: {paper.says}", width="stretch")
    if "bound" in live.run.history.names:
        live_chart(bound_figure(live), key="chart-bound", height=320)
    if len(live.run.history):
        live_chart(risk_figure(live, bench.view, "terms"), key="chart-terms", height=320)


def _set(bench: Bench, sections: Mapping[str, Mapping[str, Any]]) -> None:
    """Set the controls to these values, and start again."""
    bench.start_again({control.key: value for control, _, value in _to_set(bench.present.run.spec, sections)})


def _to_set(spec: Spec, sections: Mapping[str, Mapping[str, Any]]) -> list[tuple[Control, Any, Any]]:
    """Return the controls of these values, each with its present value and the new one."""
    now = spec.to_dict()
    kernel = sections.get("kernel", {}).get("name", spec.kernel.name)
    offered = controls_for(type(spec.problem), spec.data.name, kernel)
    return [
        (offered[key], now[section].get(name), value)
        for section, own in sections.items()
        for name, value in own.items()
        if (key := PICKER if (section, name) == ("kernel", "name") else name) in offered
    ]


def _what_it_cost(live: LiveRun) -> str:
    before, after = live.previous, live.run.history
    if not live.is_finished or before is None or not len(before) or live.previous_spec is None:
        return ""
    if kept_to(live.previous_spec) != live.run.spec:
        return ""
    name = live.run.problem.score_name
    return (
        f"Test {name} {after.last()['score_test']:.3f}; the previous run, which did not meet all assumptions, reached "
        f"{before.last()['score_test']:.3f}. A theorem is about the iterates, not about the test score."
    )
