"""The results of a study so far: its charts, the ranking of its points, and the link from a point to the workbench."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.studies import MEASURES, Results, Study, csv_of, table_of, time_to, usual_target
from dsgcore.studies.study import parameter_of
from pages.charts.figures import Figure
from pages.charts.live_chart import clicked, live_chart
from pages.controls.control import draw_download, in_link
from pages.shell.router import page_of
from pages.studies import study_charts as charts
from pages.studies.asking import SCORE, TARGET, TIME
from pages.studies.differing import said_difference
from pages.studies.going import Exploring, store_of
from pages.studies.links import draw_pin, link_to_run
from pages.studies.other_views import draw_contour, draw_importance, parallel
from pages.studies.question import pick
from pages.studies.study_charts import AxisView, axis_of, has_limit, short_number

VIEW, BEST_SHARE = "x_view", "x_best"
MAIN, PARALLEL, CONTOUR, SLICES, IMPORTANCE = VIEWS = "Together", "Parallel", "Contour", "One by one", "Importance"
SHARES = (1.0, 0.5, 0.25, 0.1, 0.05)
CHART = "chart-study"
HEIGHT, SLICE_HEIGHT = 460, 260
MOST_RANKED = 200
TO_SCORE = (
    "Seconds until the test score of a run first reaches the target, averaged over the seeds that "
    "reach it. It is blank if none does. In the ranking, points that reach it with more seeds come "
    "first. DSG Lab keeps only the total time of a run and spreads it evenly over the iterations."
)
EXPORT = (
    "`dsg-lab sweep study.json --csv study.csv` makes the runs of this study without a browser, and "
    "`dsg-lab study open study.json` opens it here again."
)
LIMIT = "The dashed line is the stability limit. A run with a step size above it grows without bound."


@dataclass(frozen=True)
class Look:
    """The view of a study: the measure, the kind of chart, the selected points, and the chosen point."""

    measure: str
    view: str
    is_kept: NDArray[np.bool_] | None
    chosen: int | None


def choose_view(state: Exploring) -> tuple[str, str]:
    """Draw the choices of the measure and of the chart."""
    with st.container(horizontal=True, vertical_alignment="center", key="part-study-view"):
        measure = choose_measure(state)
        view = pick("Axes", VIEWS, MAIN, VIEW)
    if measure == TIME:
        choose_target(state)
    return measure, view


def axes_of(state: Exploring) -> list[AxisView]:
    """Return the views of the study's axes."""
    study = state.runs.study
    views = []
    for axis in study.axes:
        p = parameter_of(study.spec, axis.name)
        scale = getattr(p, "scale", "linear")
        views.append(axis_of(p.label or p.name, axis.values, is_log=scale != "linear"))
    return views


def brush(state: Exploring, results: Results) -> NDArray[np.bool_]:
    """Draw the sliders that select lines of the parallel axes; return a mask of the selected points."""
    axes = axes_of(state)
    is_kept = np.ones(len(results.points), dtype=bool)
    places = st.columns(len(axes) + 1, gap="medium")
    for number, (axis, place) in enumerate(zip(axes, places, strict=False)):
        options = list(axis.values)
        if len(options) < 2 or axis.is_words:
            continue
        with place:
            low, high = st.select_slider(
                f"Select by {axis.label}",
                options,
                value=(options[0], options[-1]),
                format_func=axis.text,
                key=f"x-brush-{axis.label}-{hash(axis.values)}",
            )
        is_kept &= np.array([low <= point[number] <= high for point in results.points])
    with places[-1]:
        share = st.select_slider(
            "Select the best", SHARES[::-1], value=1.0, format_func=lambda s: f"{s:.0%}", key=BEST_SHARE
        )
    best = results.ranking()[: max(1, round(share * len(results.points)))]
    return is_kept & np.isin(np.arange(len(results.points)), best)


def draw_chart(state: Exploring, look: Look) -> None:
    """Draw the chart that suits the study's number of axes."""
    axes, results, name = axes_of(state), results_of(state, look.measure), name_of(state, look.measure)
    if not axes:
        st.caption("Only the seed varies. Choose a slider under “Vary”.")
        return
    if look.view in OTHER_VIEWS:
        OTHER_VIEWS[look.view](state, results, axes, name, HEIGHT)
        return
    figure = _figure(results, axes, name, look, state.chosen)
    live_chart(
        figure,
        key=CHART,
        alt=_alt(results, name),
        height=HEIGHT,
        on_clicked=partial(_choose, state),
    )
    if has_limit(figure):
        st.caption(LIMIT)
    if look.measure == TIME:
        st.caption(TO_SCORE)


def _figure(results: Results, axes: list[AxisView], name: str, look: Look, chosen: int | None) -> Figure:
    if is_parallel(results.study, look.view):
        kept = np.ones(len(results.points), dtype=bool) if look.is_kept is None else look.is_kept
        return parallel(results, axes, name=name, is_kept=kept, chosen=chosen)
    if len(axes) == 1:
        return charts.lines(results, axes[0], name=name, chosen=chosen)
    return charts.heat_map(results, axes, name=name, chosen=chosen)


def is_parallel(study: Study, view: str) -> bool:
    """Return True if a view draws the study on parallel axes, where lines can be selected."""
    is_plane = len(study.axes) <= 1 or (len(study.axes) == 2 and not any(axis.is_random for axis in study.axes))
    return view == PARALLEL or (view == MAIN and not is_plane)


def _choose(state: Exploring) -> None:
    place = clicked(CHART)
    if isinstance(place, int | float) and state.made is not None and 0 <= int(place) < len(state.made.points):
        state.chosen = int(place)


def _alt(results: Results, name: str) -> str:
    ranking = results.ranking()
    best = results.mean[ranking[0]] if len(ranking) else np.nan
    return f"{name} of {len(results.points)} points; the best has {short_number(best)}."


def _slices(state: Exploring, results: Results, axes: list[AxisView], name: str, height: int) -> None:
    """Draw all points over one axis after another."""
    for number, (place, axis) in enumerate(zip(st.columns(min(len(axes), 2)) * 2, axes, strict=False)):
        with place:
            figure = charts.slice_of(results, number, axis, name=name)
            live_chart(figure, key=f"{CHART}-{number}", alt=f"{name} over {axis.label}.", height=SLICE_HEIGHT)


OTHER_VIEWS = {SLICES: _slices, CONTOUR: draw_contour, IMPORTANCE: draw_importance}


def draw_ranking(state: Exploring, look: Look) -> None:
    """Draw the points in the order of the ranking, each with its difference from the best over the same seeds."""
    results, name = results_of(state, look.measure), name_of(state, look.measure)
    axes, ranking = axes_of(state), results.ranking()
    ranking = ranking[(results.n + results.n_diverged)[ranking] > 0][:MOST_RANKED]
    if not len(ranking):
        return
    names = name, f"minus the best ({unit_of(state, look.measure)})"
    rows = [_row(results, axes, names, int(place), int(ranking[0])) for place in ranking]
    st.dataframe(pd.DataFrame(rows), width="stretch", height=HEIGHT - 60, hide_index=True)
    n = len(results.study.seeds)
    st.caption(
        f"Mean ± standard error over {n} seed{'s' if n > 1 else ''}. The difference from the best has a 95 % interval, "
        f"paired over seeds. The best of {len(results.points):,} points was chosen by these numbers, so its true "
        "score is probably lower."
    )


def _row(results: Results, axes: list[AxisView], names: tuple[str, str], place: int, best: int) -> dict[str, Any]:
    name, difference_of = names
    point = {axis.label: axis.text(value) for axis, value in zip(axes, results.points[place], strict=True)}
    error = f" ± {results.error[place]:.2g}" if results.n[place] > 1 else ""
    mean = f"{results.mean[place]:.4g}{error}" if results.n[place] else "–"
    difference = "" if place == best else said_difference(results.compared(place, best))
    return {**point, name: mean + _missing(results, place), difference_of: difference}


def _missing(results: Results, place: int) -> str:
    """Return the number of a point's seeds in parentheses if it has no result for some of them; else an empty text."""
    n, diverged = int(results.n[place]), int(results.n_diverged[place])
    if n == len(results.study.seeds):
        return ""
    parts = [f"{n} seed{'s' * (n > 1)}"] * (n > 0) + [f"{diverged} diverged"] * (diverged > 0)
    return f" ({', '.join(parts)})" if parts else ""


def draw_way_out(state: Exploring, look: Look) -> None:
    """Draw the ways to use the results: a point as a run in the workbench, and the table."""
    study, outcomes = state.runs.study, state.runs.outcomes()
    with st.container(horizontal=True, vertical_alignment="bottom", key="part-study-out"):
        _draw_point(state, look)
        draw_download("Table (CSV)", "study.csv", lambda: csv_of(table_of(study, outcomes)))
        draw_download("Study (JSON)", "study.json", lambda: json.dumps(study.to_dict(), indent=2) + "\n")
    st.caption(EXPORT)


def _draw_point(state: Exploring, look: Look) -> None:
    """Draw the choice of a point and a seed, and the link to the run."""
    results, axes, seeds = results_of(state, look.measure), axes_of(state), state.runs.study.seeds
    there = results.n + results.n_diverged > 0
    ranking = [int(place) for place in results.ranking() if there[place]][:MOST_RANKED]
    if not ranking:
        return
    chosen = ranking[0] if state.chosen is None else state.chosen
    options = ranking if chosen in ranking else [chosen, *ranking]
    place = st.selectbox(
        "Point",
        options,
        index=options.index(chosen),
        key=f"x-point-{chosen}-{hash(state.text)}",
        format_func=lambda i: f"{charts.axis_texts(axes, results.points[i]) or 'the run'}: {_mean(results, i)}",
        width=420,
    )
    seed = st.selectbox("Seed", range(len(seeds)), format_func=lambda i: str(seeds[i]), width=90, key="x-point-seed")
    run = state.runs.runs[place * len(seeds) + min(seed, len(seeds) - 1)]
    if run.spec is not None:
        page, link = page_of(type(run.spec.problem)), link_to_run(run.spec)
        st.page_link(page, label="Open this run", icon=":material/open_in_new:", query_params=link, width="content")
        draw_pin(run.spec, "pin-point")


def _mean(results: Results, place: int) -> str:
    return short_number(results.mean[place]) if results.n[place] else "diverged"


MEASURE = "x_measure"
TIME_NAME = "time to score"
# Seconds that a drawing may read curves before it shows the results so far.
SECONDS_TO_READ = 0.2


def choose_measure(state: Exploring) -> str:
    """Draw the choice of the measure."""
    say = {name: words_of(name) for name in (*MEASURES, TIME)} | {SCORE: score_name(state)}
    return pick("Compare by", say, SCORE, MEASURE, say.__getitem__)


def words_of(measure: str) -> str:
    """Return the name of a measure in the choice; the score has its own name in each setting."""
    return TIME_NAME if measure == TIME else MEASURES[measure].name


def score_name(state: Exploring) -> str:
    """Return the name of the score in this study."""
    return f"test {state.runs.study.spec.problem.score_name}"


def name_of(state: Exploring, measure: str) -> str:
    """Return the name of a measure in this study, on axes and in tables."""
    if measure == TIME:
        return f"seconds to {target(state):g}" if target(state) is not None else TIME_NAME
    return score_name(state) if measure == SCORE else MEASURES[measure].name


def unit_of(state: Exploring, measure: str) -> str:
    """Return the unit of a difference in a measure; a measure without a unit is named itself."""
    if measure in (TIME, "seconds"):
        return "s"
    return state.runs.study.spec.problem.score_name if measure == SCORE else MEASURES[measure].name


def choose_target(state: Exploring) -> None:
    """Draw the choice of the score to reach."""
    usual = _usual(state)
    chosen = st.number_input(
        f"{score_name(state).capitalize()} to reach",
        0.0,
        1.0,
        None,
        0.01,
        key=TARGET.key,
        format="%.3f",
        placeholder="auto" if usual is None else f"auto: {usual:g}",
        help="The default is 0.01 below the mean of the best point.",
        width=240,
    )
    in_link(TARGET, chosen)


def _usual(state: Exploring) -> float | None:
    return usual_target(state.runs.results(SCORE))


def target(state: Exploring) -> float | None:
    """Return the score to reach, or None if there is no run."""
    chosen = st.session_state.get(TARGET.key)
    return _usual(state) if chosen is None else float(chosen)


def results_of(state: Exploring, measure: str) -> Results:
    """Return the results of a measure so far."""
    if measure != TIME:
        return state.runs.results(measure)
    wanted = target(state)
    return state.runs.results(time_to(1.0 if wanted is None else wanted, state.curves))


def read_curves(state: Exploring, measure: str) -> bool:
    """Read the curves that the measure needs from the finished runs; return True if all are read."""
    if measure != TIME or state.made is None:
        return True
    return state.curves.read(store_of(state, state.made.study.spec), state.made.stored, SECONDS_TO_READ)
