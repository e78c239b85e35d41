"""The Papers page: each figure or table of the five papers with its statement, and what DSG Lab measures on the paper's sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dsgcore.comparing.reproductions import (
    AXES,
    FASTER,
    IN_PART,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    Reproduced,
    Reproduction,
    carry_out_reproduction,
    find_set,
    how_to_get,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.jobs import Job, shared_queue
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.settings import PaperFigure, profile_of
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart
from pages.shell.job_panel import job_panel, watched
from pages.shell.page_link import given, say_in_link
from pages.shell.plain_text import label_about, with_minus
from pages.shell.router import page_named
from pages.shell.warm_up import is_ready
from pages.studies.links import link_to_figure

# The marks differ in shape, not only in colour.
MARKS = {
    REPRODUCED: ":green[✓]",
    IN_PART: ":orange[◐]",
    NOT_REPRODUCED: ":red[✗]",
    UNDECIDED: ":gray[?]",
    NOT_RUN: ":gray[–]",
}
PAPER = "paper"  # also its name in the link: the link of a figure opens its paper
LEASE_SECONDS = 20.0
_JOBS = "_quick_forms"  # key of the quick forms that the session runs
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star", "hexagon")
SETS_AT_ONCE = 5  # a card with the tables of more sets scrolls inside
STATES = {"holds": "✓", "fails": "✗", "open": "?"}


def page() -> None:
    """Draw a card for each figure of the chosen method's paper."""
    st.title("Figures of the papers")
    st.markdown(
        "Each card has the paper's statement, and what DSG Lab measured on the paper's own sets, against its rivals. "
        "The verdict is computed: the statement holds against a rival if the 95 % interval of the difference over the "
        "seeds says so. If one value for all points, which is chance, scores as well as the methods, the scores decide "
        "nothing: the comparison is open, and no method counts as faster."
    )
    st.caption(" · ".join(f"{mark} {outcome}" for outcome, mark in MARKS.items()))
    first = given(PAPER) if given(PAPER) in SETTINGS else next(iter(SETTINGS))
    st.session_state.setdefault(PAPER, first)
    names = {name: profile_of(one).full_name for name, one in SETTINGS.items()}
    chosen = st.segmented_control("Paper", names, format_func=names.__getitem__, key=PAPER, required=True) or first
    say_in_link(PAPER, chosen, PAPER)
    setting, (paper, figures) = SETTINGS[chosen], (AS_IN_PAPER.get(chosen), profile_of(SETTINGS[chosen]).figures)
    st.header(names[chosen])
    said = f"**{paper.source}**: {paper.says}" if paper else "Its experiments are not measured here."
    st.markdown(f"{setting.citation}. {said}")
    with st.container(key=f"papers-{chosen}"):
        for start in range(0, len(figures), 3):
            for column, number in zip(st.columns(3), range(start, min(start + 3, len(figures))), strict=False):
                with column, st.container(border=True, height="stretch"):
                    _card(setting, figures[number], number)


def _card(setting: type[Setting], figure: PaperFigure, number: int) -> None:
    asked = reproductions()[f"{setting.name}/{figure.name}"]
    found, (n_runs, link) = kept(asked), link_to_figure(setting.name, number)
    about = f"{profile_of(setting).full_name}, {figure.title}"
    st.markdown(f"### {figure.title}\n**{figure.asks}**\n\nThe paper: {figure.says}")
    st.markdown(
        f"{MARKS[found.outcome]} **{found.outcome.capitalize()}.** {asked.checked} {found.size} {with_minus(asked.why)}"
    )
    if len(found.fits):
        _draw(found, about)
        with st.expander(label_about("Each comparison", about)):
            sets = found.fits["dataset"].nunique()
            st.container(height="content" if sets <= SETS_AT_ONCE else 600, border=False).markdown(_table(found))
    if found.missing:
        st.caption(f"Not run: needs {', '.join(found.missing)}.")
    _offer_quick(asked, about)
    st.markdown(f"A study of the method alone: {figure.differs}")
    label = label_about(f"Open {figure.title} ({n_runs:,} runs)", about)
    st.page_link(page_named("explore"), label=label, query_params=link)


def _offer_quick(asked: Reproduction, about: str) -> None:
    """Offer the quick form as a button, if its sets are in the cache; else say how to get them."""
    st.markdown(f"On your machine: `dsg-lab reproduce {asked.name} --data FOLDER`, or `--quick` in minutes.")
    quick = reproduction(asked.name, is_quick=True)
    if missing := [name for name in quick.sets if find_set(name, None) is None]:
        st.caption(f"Once its sets are there, a button runs the quick form. {how_to_get(missing)}")
        return
    jobs: dict[str, Job] = st.session_state.setdefault(_JOBS, {})
    job, key = jobs.get(asked.name), f"quick-{asked.name}"

    def begin() -> None:
        jobs[asked.name] = shared_queue().submit(carry_out_reproduction, quick, lease=LEASE_SECONDS)

    def panel() -> None:
        if job is not None:
            done, total, words = job.progress or (0, 1, "starting")
            job_panel(job, key, lambda: (done / total, words), result)

    def result() -> None:
        assert job is not None
        found: Reproduced = job.result
        st.markdown(f"The quick form: {MARKS[found.outcome]} **{found.outcome}.**\n\n{_table(found)}")

    is_going = job is not None and not job.is_over
    st.button(label_about("Run the quick form", about), key=key, disabled=is_going, on_click=begin)
    watched(job, panel)


def _table(found: Reproduced) -> str:
    """Return each check, and a table of each set: the mean score and seconds of each method at the end of the axis, in Markdown."""
    lines = [f"- {STATES[check.state]} {with_minus(check.words)}" for check in found.checks]
    ends = found.fits[found.fits["at"] == found.fits.groupby("dataset")["at"].transform("max")]
    for name, of_set in ends.groupby("dataset", sort=False):
        means = of_set.groupby("method", sort=False)[["score", "seconds"]].mean()
        lines += ["", f"| {name} | score, % | seconds |", "|---|---|---|"]
        lines += [f"| {method} | {100 * own.score:.1f} | {own.seconds:.3g} |" for method, own in means.iterrows()]
        lines += [f"| chance | {100 * of_set['chance'].mean():.1f} | |"]
    return "\n".join(lines)


def _draw(found: Reproduced, about: str) -> None:
    """Draw the means over the seeds along the figure's axis on its first set, or the scores on all sets."""
    asked, dataset = found.asked, found.fits["dataset"].iloc[0]
    what, curves = "seconds" if asked.claim == FASTER else "score", list[charts.Curve]()
    if len(getattr(asked, asked.axis)) > 1:
        title = f"Seconds on {dataset}" if what == "seconds" else f"Score on {dataset}, %"
        of_set = found.fits[found.fits["dataset"] == dataset]
        for i, (name, own) in enumerate(of_set.groupby("method", sort=False)):
            middle, color, dash = own.groupby("at")[what].mean(), charts.COLORS[i % 8], charts.DASHES[i % 8]
            x, y = middle.index.to_numpy(float), middle.to_numpy() * (1.0 if what == "seconds" else 100.0)
            curves.append(charts.Curve(str(name), x, y, color, dash=dash))
        options: dict[str, Any] = {"is_log_x": True, "is_log_y": what == "seconds", "x_title": AXES[asked.axis]}
        options["x_ticks"] = of_set["at"]
        figure = charts.line_chart(curves, title=title, **options)
        for trace in figure["data"]:
            trace |= {"mode": "lines+markers", "marker": {"color": trace["line"]["color"]}}
    else:
        title = "Scores at the end of the axis, %"
        traces = [*_scores(found.fits)]
        figure = charts.plain_figure(traces, title=title)
        # Marks of a set are side by side, because equal scores would hide each other. Plotly's axis would then begin at zero.
        means, spreads = (
            np.concatenate(v) for v in zip(*((t["y"], t["error_y"]["array"]) for t in traces), strict=True)
        )
        low, high = np.nanmin(means - spreads), np.nanmax(means + spreads)
        room = 0.05 * (high - low) + 0.5
        figure["layout"] |= {"scattermode": "group", "yaxis": {"range": [low - room, high + room]}}
    figure["layout"].setdefault("meta", {})["about"] = about  # several figures have a chart of the same title
    live_chart(figure, key=f"chart-{asked.name.replace('/', '-')}", alt=f"{asked.name}: {title}.", height=260)


def _scores(fits: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a trace of marks for each method: its mean score on each set, with the spread over the seeds."""
    for i, (method, own) in enumerate(fits.groupby("method", sort=False)):
        by = own.groupby("dataset", sort=False)["score"]
        mean, spread = 100 * by.mean(), 100 * by.std(ddof=0)
        marker = {"color": charts.COLORS[i % 8], "symbol": SYMBOLS[i % 8], "size": 8}
        error = {"type": "data", "array": spread.tolist(), "thickness": 1}
        yield charts.dots(str(method), mean.index, mean, marker, error_y=error, hoverinfo="all")


page()
is_ready()
