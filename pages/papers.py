"""The Papers page: each figure or table of the five papers with its statement, and what DSG Lab measures on the paper's sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from dsgcore.comparing.reproductions import (
    AXES,
    FASTER,
    IN_PART,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    Fit,
    Reproduction,
    Verdict,
    find_set,
    how_to_get,
    kept_verdict,
    reproduction,
    reproductions,
    run_quick,
    size_of,
    words_of_check,
)
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.jobs import shared_queue
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import PaperFigure, profile_of
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart
from pages.shell.job_panel import job_panel, watched
from pages.shell.warm_up import is_ready
from pages.studies.onward import link_to_figure

# The marks differ in shape, not only in colour.
MARKS = {
    REPRODUCED: ":green[✓]",
    IN_PART: ":orange[◐]",
    NOT_REPRODUCED: ":red[✗]",
    UNDECIDED: ":gray[?]",
    NOT_RUN: ":gray[–]",
}
LEASE_SECONDS = 20.0
_JOBS = "_quick_forms"  # key of the quick forms that the session runs
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
STATES = {"holds": "✓", "fails": "✗", "open": "?"}


def page() -> None:
    """Draw a card for each figure."""
    st.title("Figures of the papers")
    st.markdown(
        "Each card has the paper's statement, and what DSG Lab measured on the paper's own sets, against its rivals. "
        "The verdict is computed: the statement holds against a rival if the 95 % interval of the difference over the "
        "seeds says so."
    )
    st.caption(" · ".join(f"{mark} {outcome}" for outcome, mark in MARKS.items()))
    for setting in SETTINGS.values():
        profile = profile_of(setting)
        st.header(profile.full_name)
        st.markdown(_source(setting))
        with st.container(key=f"papers-{setting.name}"):
            _cards(setting, profile.figures)


def _source(setting: type[Setting]) -> str:
    """Return the paper, and the values of its experiments with their place in it."""
    paper = AS_IN_PAPER.get(setting.name)
    said = f"**{paper.source}**: {paper.says}" if paper else "Its experiments are not measured here."
    return f"{setting.citation}. {said}"


def _cards(setting: type[Setting], figures: tuple[PaperFigure, ...]) -> None:
    for start in range(0, len(figures), 3):
        for column, number in zip(st.columns(3), range(start, min(start + 3, len(figures))), strict=False):
            with column, st.container(border=True, height="stretch"):
                _card(setting, figures[number], number)


def _card(setting: type[Setting], figure: PaperFigure, number: int) -> None:
    asked = reproductions()[f"{setting.name}/{figure.name}"]
    found, (n_runs, link) = kept_verdict(asked), link_to_figure(setting.name, number)
    st.markdown(f"### {figure.title}\n**{figure.asks}**\n\nThe paper: {figure.says}")
    st.markdown(f"{MARKS[found.outcome]} **{found.outcome.capitalize()}.** {size_of(asked, found)} {asked.why}")
    if found.fits:
        _draw(asked, found)
        with st.expander("Each comparison"):
            st.markdown(_table(asked, found))
    if found.missing:
        st.caption(f"Not run: needs {', '.join(found.missing)}.")
    _offer_quick(asked)
    st.markdown(f"A study of the method alone: {figure.differs}")
    st.page_link(
        "pages/explore.py",
        label=f"Open {figure.title} ({n_runs:,} runs)",
        icon=":material/grid_on:",
        query_params=link,
        width="content",
    )


def _offer_quick(asked: Reproduction) -> None:
    """Offer the quick form as a button, if its sets are in the cache; else say how to get them."""
    st.markdown(f"On your machine: `dsg-lab reproduce {asked.name} --data FOLDER`, or `--quick` in minutes.")
    if missing := [name for name in reproduction(asked.name, is_quick=True).sets if find_set(name, None) is None]:
        st.caption(f"Once its sets are there, a button runs the quick form. {how_to_get(missing)}")
        return
    job = st.session_state.setdefault(_JOBS, {}).get(asked.name)
    is_going = job is not None and not job.is_over
    st.button(
        "Run the quick form", key=f"quick-{asked.name}", disabled=is_going, on_click=_begin_quick, args=(asked.name,)
    )
    watched(job, _quick_panel, asked)


def _begin_quick(name: str) -> None:
    st.session_state[_JOBS][name] = shared_queue().submit(run_quick, name, lease=LEASE_SECONDS)


def _quick_panel(asked: Reproduction) -> None:
    job = st.session_state[_JOBS].get(asked.name)
    if job is None:
        return
    done, total, words = job.progress or (0, 1, "starting")

    def result() -> None:
        found: Verdict = job.result
        st.markdown(f"The quick form: {MARKS[found.outcome]} **{found.outcome}.**\n\n{_table(asked, found)}")

    job_panel(job, f"quick-{asked.name}", lambda: (done / total, words), result)


def _table(asked: Reproduction, found: Verdict) -> str:
    lines = [f"- {STATES[check.state]} {words_of_check(asked, check)}" for check in found.checks]
    return "\n".join([*lines, "", *_means(found)])


def _means(found: Verdict) -> list[str]:
    """Return the mean score and seconds of each method on each set at the end of the axis, as a table in Markdown."""
    rows = ["| set | method | score | seconds |", "|---|---|---|---|"]
    for dataset in dict.fromkeys(fit.dataset for fit in found.fits):
        last = max(fit.at for fit in found.fits if fit.dataset == dataset)
        for method, fits in _by_method(found, dataset).items():
            ends = [fit for fit in fits if fit.at == last]
            score, seconds = (np.mean([getattr(fit, name) for fit in ends]) for name in ("score", "seconds"))
            rows.append(f"| {dataset} | {method} | {100 * score:.1f} | {seconds:.3g} |")
    return rows


def _by_method(found: Verdict, dataset: str) -> dict[str, list[Fit]]:
    methods: dict[str, list[Fit]] = {}
    for fit in found.fits:
        if fit.dataset == dataset:
            methods.setdefault(fit.method, []).append(fit)
    return methods


def _draw(asked: Reproduction, found: Verdict) -> None:
    """Draw the medians over the seeds along the figure's axis on its first set, or the scores on all sets."""
    dataset = found.fits[0].dataset
    what = "seconds" if asked.claim == FASTER else "score"
    if len(getattr(asked, asked.axis)) > 1:
        curves = [
            charts.Curve(method, *_median(fits, what), charts.COLORS[i % 8], dash=charts.DASHES[i % 8])
            for i, (method, fits) in enumerate(_by_method(found, dataset).items())
        ]
        title = f"{what.capitalize()} on {dataset}"
        figure = charts.line_chart(
            curves, title=title, is_log_x=True, is_log_y=what == "seconds", x_title=AXES[asked.axis]
        )
        for trace in figure["data"]:
            trace |= {"mode": "lines+markers", "marker": {"color": trace["line"]["color"]}}
    else:
        title = "Scores at the end of the axis"
        figure = charts.plain_figure(_scores(found), title=title)
    live_chart(figure, key=f"chart-{asked.name.replace('/', '-')}", alt=f"{asked.name}: {title}.", height=260)


def _median(fits: list[Fit], what: str) -> tuple[np.ndarray, np.ndarray]:
    places = sorted({fit.at for fit in fits})
    medians = [np.median([getattr(fit, what) for fit in fits if fit.at == place]) for place in places]
    return np.array(places), np.array(medians)


def _scores(found: Verdict) -> list[dict[str, Any]]:
    """Return a trace of marks for each method: its mean score on each set, with the spread over the seeds."""
    traces: list[dict[str, Any]] = []
    for i, method in enumerate(dict.fromkeys(fit.method for fit in found.fits)):
        own = [fit for fit in found.fits if fit.method == method]
        sets = list(dict.fromkeys(fit.dataset for fit in own))
        scores = [[fit.score for fit in own if fit.dataset == name] for name in sets]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": method,
                "x": sets,
                "y": [float(np.mean(each)) for each in scores],
                "error_y": {"type": "data", "array": [float(np.std(each)) for each in scores], "thickness": 1},
                "marker": {"color": charts.COLORS[i % 8], "symbol": SYMBOLS[i % 8], "size": 8},
            }
        )
    return traces


page()
is_ready()
