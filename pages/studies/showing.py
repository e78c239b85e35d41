"""The results of a study so far: its charts, the ranking of its points, and the ways to use a point."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.experiments.spec import FILE
from dsgcore.studies import Results, csv_of, importance, response, table_of, time_to, usual_target
from dsgcore.studies.importance import N_SPLITS
from pages.charts.live_chart import live_chart, sent
from pages.controls.control import buttons, draw_download, in_link
from pages.shell.plain_text import plain, short_number
from pages.shell.router import page_of
from pages.studies import study_charts as charts
from pages.studies.asking import CONTOUR, IMPORTANCE, MAIN, MEASURE, PARALLEL, SAID, SCORE, SLICES, TARGET, TIME, VIEW
from pages.studies.differing import said_difference, said_mean
from pages.studies.going import Exploring, draw_whole_page
from pages.studies.links import link_to_run
from pages.studies.pins import draw_pin
from pages.studies.study_charts import AxisView, axes_of

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
CHART = "chart-study"
HEIGHT, SLICE_HEIGHT = 460, 260
MOST_RANKED = 200
# Seconds that a drawing may read curves before it shows the results so far.
SECONDS_TO_READ = 0.2
TO_SCORE = (
    "Seconds until the test score of a run first reaches the target, averaged over the seeds that "
    "reach it. It is blank if none does. In the ranking, points that reach it with more seeds come "
    "first. DSG Lab keeps only the total time of a run and spreads it evenly over the iterations."
)
EXPORT = (
    "`dsg-lab sweep study.json --csv study.csv` makes the runs of this study without a browser, and "
    "`dsg-lab study open study.json` opens it here again."
)
BEST = "The best of {:,} points was chosen by these numbers, so its true score is probably lower."
EQUAL = "All means are equal, so no point is the best."
LIMIT = "The dashed line is the stability limit. A run with a step size above it grows without bound."
WAITS = "This chart is drawn when the runs have ended."
HOW = (
    "Permutation importance: a forest (scikit-learn's ExtraTreesRegressor) learns the points' means from 70 % of the points. "
    "Then the values of one slider are shuffled among the other points. The importance is the slider's share in the loss of "
    f"R². Bars are means of {N_SPLITS} random splits. Whiskers leave out the most extreme split at both ends."
)
HOW_CONTOUR = (
    "The mean prediction of a forest (scikit-learn's ExtraTreesRegressor) at these two values, over all points' values of "
    "the other sliders. It smooths the noise of seeds. × marks points that diverged."
)


def choose_view(state: Exploring) -> tuple[str, str]:
    """Draw the choices of the measure and of the chart."""
    score = f"test {state.runs.study.spec.problem.score_name}"
    with st.container(horizontal=True, vertical_alignment="center", key="part-study-view"):
        say = (SAID | {SCORE: score}).__getitem__
        measure = str(buttons(replace(MEASURE, say=say), label_visibility="collapsed"))
        view = str(buttons(VIEW, label_visibility="collapsed"))
    if measure == TIME:
        usual = usual_target(state.runs.results(SCORE))
        target = st.number_input(
            f"{score.capitalize()} to reach",
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
        in_link(TARGET, target)
    return measure, view


@dataclass(frozen=True)
class Answer:
    """What a study has found so far, for the measure and the kind of chart that the reader has chosen."""

    state: Exploring
    measure: str
    view: str

    @cached_property
    def target(self) -> float | None:
        """The score to reach, or None if there is no run."""
        chosen = st.session_state.get(TARGET.key)
        return usual_target(self.state.runs.results(SCORE)) if chosen is None else float(chosen)

    @cached_property
    def results(self) -> Results:
        """The results of the measure."""
        if self.measure != TIME:
            return self.state.runs.results(self.measure)
        return self.state.runs.results(time_to(1.0 if self.target is None else self.target, self.state.curves))

    @cached_property
    def axes(self) -> list[AxisView]:
        """The study's axes."""
        return axes_of(self.state.runs.study)

    @property
    def name(self) -> str:
        """The measure's name on axes and in tables."""
        if self.measure == TIME:
            return SAID[TIME] if self.target is None else f"seconds to {self.target:g}"
        return f"test {self.results.study.spec.problem.score_name}" if self.measure == SCORE else SAID[self.measure]

    @property
    def unit(self) -> str:
        """The unit of a difference; a measure without a unit is named itself."""
        of_time = dict.fromkeys((TIME, "seconds"), "s")
        return (of_time | {SCORE: self.results.study.spec.problem.score_name}).get(self.measure, self.name)


def draw_answer(state: Exploring, measure: str, view: str) -> None:
    """Draw the chart, the ranking, and the ways to use a point."""
    is_all_read = measure != TIME or state.curves.read(state.store, state.runs.stored, SECONDS_TO_READ)
    answer = Answer(state, measure, view)
    axes = answer.results.study.axes
    is_plane = len(axes) == 1 or (len(axes) == 2 and not any(axis.is_random for axis in axes))
    has_lines = bool(axes) and (view == PARALLEL or (view == MAIN and not is_plane))  # on parallel axes, to be selected
    is_kept = _brush(answer) if has_lines else None
    chart, ranking = st.columns([5, 6], gap="small")
    with chart:
        if not answer.axes:
            st.caption("Only the seed varies. Choose a slider under “Vary”.")
        elif view in OTHER_VIEWS:
            OTHER_VIEWS[view](answer)
        else:
            _draw_chart(answer, is_kept)
    with ranking:
        _draw_ranking(answer)
    if state.runs.n_there:
        _draw_way_out(answer)
    if not is_all_read:
        st.rerun()


def _brush(answer: Answer) -> NDArray[np.bool_]:
    results = answer.results
    is_kept = np.ones(len(results.points), dtype=bool)
    places = st.columns(len(answer.axes) + 1, gap="medium")
    for number, (axis, place) in enumerate(zip(answer.axes, places, strict=False)):
        options = list(axis.values)
        if len(options) < 2 or axis.is_words:
            continue
        low, high = place.select_slider(
            f"Select by {axis.label}",
            options,
            value=(options[0], options[-1]),
            format_func=axis.text,
            key=f"x-brush-{axis.label}-{hash(axis.values)}",
        )
        is_kept &= np.array([low <= point[number] <= high for point in results.points])
    share = places[-1].select_slider("Select the best", SHARES, value=1.0, format_func=per_cent, key="x_best")
    best = results.ranking()[: max(1, round(share * len(results.points)))]
    return is_kept & np.isin(np.arange(len(results.points)), best)


def _draw_chart(answer: Answer, is_kept: NDArray[np.bool_] | None) -> None:
    results, axes, state = answer.results, answer.axes, answer.state
    own: dict[str, Any] = {"name": answer.name, "chosen": state.chosen}
    if is_kept is not None:
        figure = charts.parallel(results, axes, is_kept=is_kept, **own)
    else:
        figure = charts.lines(results, axes[0], **own) if len(axes) == 1 else charts.heat_map(results, axes, **own)

    def choose() -> None:
        place = sent(CHART, "clicked")
        if isinstance(place, int | float) and 0 <= int(place) < len(results.points):
            state.chosen = int(place)

    ranking = results.ranking()
    best = short_number(results.mean[ranking[0]]) if len(ranking) else "nan"
    who = "each has" if results.are_equal else "the best has"
    alt = f"{answer.name} of {len(results.points)} points; {who} {best}."
    live_chart(figure, key=CHART, alt=alt, height=HEIGHT, on_clicked=choose)
    if any(trace.get("name") == charts.LIMIT for trace in figure["data"]):
        st.caption(LIMIT)
    if answer.measure == TIME:
        st.caption(TO_SCORE)


def _slices(answer: Answer) -> None:
    for number, (place, axis) in enumerate(zip(st.columns(min(len(answer.axes), 2)) * 2, answer.axes, strict=False)):
        with place:
            figure = charts.slice_of(answer.results, number, axis, name=answer.name)
            live_chart(figure, key=f"{CHART}-{number}", alt=f"{answer.name} over {axis.label}.", height=SLICE_HEIGHT)


def _learned(answer: Answer, what: str, learn: Callable[..., Any], *places: int) -> Any:
    """Return what a forest learns of the results, or None after a sentence that says why there is nothing."""
    if not answer.state.is_over:
        st.caption(WAITS)
        return None
    found = answer.state.remember((what, answer.name, *places), lambda: learn(answer.results, *places))
    if isinstance(found, str):
        st.info(plain(f"No {what}. {found}"))
        return None
    return found


def _importance(answer: Answer) -> None:
    found = _learned(answer, "importance", importance)
    if found is None:
        return
    (low, high), labels, title = found.ends, [axis.label for axis in answer.axes], f"Importance for {answer.name}"
    order = np.argsort(-found.mean, kind="stable")
    spread = [f"{per_cent(low[i])} to {per_cent(high[i])}" for i in order]
    table = {"slider": [labels[i] for i in order], "importance": [per_cent(found.mean[i]) for i in order]}
    rows = pd.DataFrame(table | {"range over splits": spread})
    said = ", ".join(f"{slider} {share} ({ends})" for slider, share, ends in rows.itertuples(index=False))
    figure = charts.importance_figure(found, labels, title=title)
    live_chart(figure, key="chart-importance", alt=f"{title}: {said}.", height=HEIGHT // 2)
    st.dataframe(rows, width="stretch", hide_index=True)
    st.caption(
        f"{HOW} The forests explain {per_cent(found.fit)} of the variance of the held-out points, of {found.n} in all."
    )


def _contour(answer: Answer) -> None:
    axes, labels = answer.axes, [axis.label for axis in answer.axes]
    if len(axes) < 2:
        st.info("A contour needs two sliders. Choose another one under “Vary”.")
        return
    across, up = 0, 1
    if len(axes) > 2:
        left, right = st.columns(2)
        first = left.selectbox("Across", labels, index=0, key="x-contour-across")
        second = right.selectbox("Up", [label for label in labels if label != first], key=f"x-contour-up-{first}")
        across, up = labels.index(first), labels.index(second)
    found = _learned(answer, "contour", response, across, up)
    if found is None:
        return
    pair = axes[across], axes[up]
    figure = charts.contour_figure(found, answer.results, pair, (across, up), name=answer.name)
    choose = np.argmax if answer.results.measure.is_better_high else np.argmin
    row, column = np.unravel_index(choose(found.values), found.values.shape)
    at = charts.point_text(pair, (found.across[column], found.up[row]))
    best = f"{short_number(found.values[row, column])} at {at}"
    alt = f"{answer.name} over {labels[across]} and {labels[up]}. The best is {best}."
    live_chart(figure, key="chart-contour", alt=alt, height=HEIGHT)
    st.caption(HOW_CONTOUR)


OTHER_VIEWS = {SLICES: _slices, CONTOUR: _contour, IMPORTANCE: _importance}


def _draw_ranking(answer: Answer) -> None:
    results, n_seeds, rows = answer.results, len(answer.results.study.seeds), []
    ranking = _ranked(results)
    for place in ranking:
        n, diverged = int(results.n[place]), int(results.n_diverged[place])
        row = {axis.label: axis.text(value) for axis, value in zip(answer.axes, results.points[place], strict=True)}
        # the seeds with a result, if it is not all of them
        parts = [f"{n} seed{'s' * (n > 1)}"] * (n > 0) + [f"{diverged} diverged"] * (diverged > 0)
        missing = f" ({', '.join(parts)})" if n < n_seeds else ""
        is_best = place == ranking[0]
        difference = "" if is_best else said_difference(results.compared(place, ranking[0]))
        rows.append(
            row | {answer.name: said_mean(results, place) + missing, f"minus the best ({answer.unit})": difference}
        )
    if rows:
        st.dataframe(pd.DataFrame(rows), width="stretch", height=HEIGHT - 60, hide_index=True)
        st.caption(
            f"Mean ± standard error over {n_seeds} seed{'s' if n_seeds > 1 else ''}. The difference from the best has a 95 % "
            f"interval, paired over seeds. {EQUAL if results.are_equal else BEST.format(len(results.points))}"
        )


def _ranked(results: Results) -> list[int]:
    """Return the first points of the ranking that have a run."""
    there = results.n + results.n_diverged > 0
    return [int(place) for place in results.ranking() if there[place]][:MOST_RANKED]


def _draw_way_out(answer: Answer) -> None:
    state, results = answer.state, answer.results
    study, ranking, seeds = results.study, _ranked(results), results.study.seeds
    with st.container(horizontal=True, vertical_alignment="bottom", key="part-study-out"):
        if ranking:
            chosen = ranking[0] if state.chosen is None else state.chosen
            options = ranking if chosen in ranking else [chosen, *ranking]

            def say(place: int) -> str:
                mean = short_number(results.mean[place]) if results.n[place] else "diverged"
                return f"{charts.point_text(answer.axes, results.points[place]) or 'the run'}: {mean}"

            def choose() -> None:
                place = st.session_state[key]  # a text is that of a mean before the last run
                if isinstance(place, int) and place != chosen:
                    state.chosen = place

            # Each best point has a box of its own: a browser that still shows the one before sends it as if it were chosen.
            key = f"x-point-{hash((state.text, chosen if state.chosen is None else None))}"
            if st.session_state.get(key) != chosen:
                st.session_state[key] = chosen
            place = st.selectbox("Point", options, key=key, format_func=say, width=420, on_change=choose)
            said: dict[str, Any] = {"format_func": lambda i: str(seeds[i])}
            seed = st.selectbox("Seed", range(len(seeds)), width=90, key="x-point-seed", **said)
            run = state.runs.runs[place * len(seeds) + min(seed, len(seeds) - 1)]
            if run.spec is not None:
                page, link, icon = page_of(type(run.spec.problem)), link_to_run(run.spec), ":material/open_in_new:"
                st.page_link(page, label="Open this run", icon=icon, query_params=link, width="content")
                draw_pin(run.spec, "pin-point", on_pin=draw_whole_page)
        draw_download("Table (CSV)", "study.csv", lambda: csv_of(table_of(study, state.runs.outcomes())))
        draw_download("Study (JSON)", "study.json", lambda: json.dumps(study.to_dict(), indent=2) + "\n")
    st.caption(EXPORT + (f" Both need {plain(str(study.spec.data.path))}." if study.spec.data.name == FILE else ""))
