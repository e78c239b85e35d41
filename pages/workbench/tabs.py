"""The tabs Race, Data, Code, and Limits with the parts of a run's distance to the optimum."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st

from dsgcore.core.cost import per_cent
from dsgcore.core.parameters import counted
from dsgcore.data import CONVERSIONS
from dsgcore.data.datasets import AS_IS
from dsgcore.diagnostics import RunLimits, begin_limits, check_possible
from dsgcore.experiments import History, LiveRun, Run, script
from dsgcore.experiments.spec import FILE
from dsgcore.jobs import JobState, shared_queue
from dsgcore.solver.measures import DiagnosticsError
from pages.charts.detail_charts import LIMITS, parts_chart, shares_chart
from pages.charts.live_chart import live_chart, theme_now
from pages.controls.control import draw_download
from pages.controls.view import axes_asked
from pages.gallery import data_views
from pages.live.judgement import seen
from pages.live.map_view import points_right
from pages.race.views import race
from pages.session.bench import LEASE_SECONDS, PLAYING, Bench, Diagnosis, button, follow_click
from pages.session.link import ROOM
from pages.shell.job_panel import job_panel, watched
from pages.shell.page_link import link_now
from pages.shell.plain_text import label_about, plain, short_number, with_minus
from pages.studies.differing import NOT_THERE, differing
from pages.studies.links import draw_onward
from pages.studies.pins import draw_pin
from pages.studies.repeats import draw_repeats

# Streamlit's names of the themes; None follows the reader's device.
THEMES = {"as on the reader's device": None, "light": "light_theme", "dark": "dark_theme"}
FRAME_HEIGHT = 900


def draw_frame(address: str, given: Mapping[str, str], *, key: str) -> None:
    """Draw the frame's HTML, and the choice of its theme."""
    choice = st.segmented_control("Theme of the frame", list(THEMES), default="light", required=True, key=key)
    st.code(frame(address, given, theme=THEMES[choice or "light"]), language="html", wrap_lines=True)


def frame(address: str, given: Mapping[str, str], *, theme: str | None) -> str:
    """Return a frame's HTML, escaped so that no value in the link can end the attribute."""
    options = {"embed": "true"} | ({"embed_options": theme} if theme is not None else {})
    source = html.escape(f"{address}?{urlencode({**given, **options})}")
    return f'<iframe src="{source}" title="DSG Lab" width="100%" height="{FRAME_HEIGHT}"></iframe>'


def as_of(bench: Bench, tab: str) -> None:
    """Show the step of a tab. During the run only the Race tab's results follow it; the rest waits for an update."""
    if not bench.is_playing or bench.present.is_finished:
        st.caption(f"This tab shows step {seen(bench).run.model_t}.")
        return
    with st.container(key=f"as-of-{tab}", horizontal=True, vertical_alignment="center"):
        what = "The rest of this tab" if tab == "race" else "This tab"
        st.caption(f"{what} shows step {bench.present.run.t}. It does not change during the run.", width="content")
        label = label_about("Update", f"this tab, {tab.capitalize()}")
        st.button(label, key=f"anew-{tab}", icon=":material/refresh:", type="tertiary")


def results_and_race(live: LiveRun) -> None:
    """Draw the results so far: of this run, its labels-only twin and the previous run; the parameters that differ from the
    previous run's, the run over several seeds, and the race."""
    rows = {"this run": _summary(live.run.history)}
    if live.supervised is not None:
        rows[live.run.problem.baseline_name] = _summary(live.supervised.history)
    if live.previous is not None:
        rows["previous run"] = _summary(live.previous)
    said = pd.DataFrame(rows).T.map(lambda value: short_number(value, ".4g") if np.isfinite(value) else NOT_THERE)
    right = {name: st.column_config.TextColumn(alignment="right") for name in said.columns}
    st.dataframe(said, width="stretch", column_config=right)
    if live.run.t:
        st.caption(f"{points_right(live)}.")
    before = live.previous_spec
    if others := [] if before is None else differing([live.run.spec, before], ["this run", "previous run"]):
        st.markdown("Parameters that differ from the previous run:")
        st.dataframe(pd.DataFrame(others), width="stretch", hide_index=True)
    else:
        st.caption(
            "Change a parameter and run again. The charts keep the previous run as a pale line, and a table here lists "
            "the parameters that differ."
        )
    with st.container(horizontal=True, vertical_alignment="center", key="part-pin"):
        draw_pin(live.run.spec, f"pin-{live.run.problem.name}")
        draw_onward(live.run.spec)
    draw_repeats(live.run)
    race(live, axes_asked(live.run))


def _summary(history: History) -> dict[str, float]:
    row = history.last()
    if not row:
        return {}
    return {
        "iterations": row["t"],
        "objective": row["objective"],
        "test score": row["score_test"],
        "best test score": float(np.nanmax(history.column("score_test"))),
        "|f − h|²": row.get("error_mean", float("nan")),
    }


def data(live: LiveRun) -> None:
    """Describe the data and the hidden labels."""
    run, split = live.run, live.run.split
    conversion = run.spec.data.convert
    if conversion is not None and conversion != AS_IS:
        names = " against ".join(split.class_names) if len(split.class_names) == 2 else ", ".join(split.class_names)
        st.markdown(f"{CONVERSIONS[conversion]} Here: {plain(names)}.")
    theme = theme_now()
    data_views.split_views(split, run.problem.labels, theme, key="chart-tab")
    d = split.X_train.shape[1]
    st.caption(
        f"{counted(d, 'feature')}, scaling: {run.spec.data.scaling}, fitted on the training points. Only the diagnostic scores "
        "use the labels of unlabeled points."
    )
    if split.before is not None:
        st.caption("The columns and the table below show the data without your edits.")
    data_views.columns_and_table(run.spec, split.before or split, theme)


def code(bench: Bench) -> None:
    """Offer downloads: history, spec, model, a script that repeats the run, and the frame to embed it."""
    run = bench.present.run
    text = script(run)

    def history() -> str:
        content = io.StringIO()
        run.history.write_csv(content)
        return content.getvalue()

    with st.container(horizontal=True):
        draw_download("History (CSV)", "history.csv", history)
        draw_download("Spec (JSON)", "spec.json", lambda: run.spec.to_json(indent=2))
        draw_download("Model (NumPy)", "model.npz", lambda: _model_bytes(run))
        draw_download("Script (Python)", "repeat_run.py", lambda: text)
    fits = ", and fits the estimator to them" if "\nmodel.fit(" in text else ""
    st.markdown(
        f"This script repeats the run with the same data, mini-batches and features{fits}, so the numbers are the same."
        f"{' The model takes points that are scaled as those of this run.' * (run.spec.data.scaling != 'none')}"
    )
    st.code(text, language="python", wrap_lines=True)
    is_own = run.spec.data.name == FILE
    st.markdown(
        "To show this run in another page, paste this code there. (The link in your browser's address bar "
        f"holds all parameters{', but not your file: each reader must choose it in the sidebar' * is_own}.)"
    )
    # Without the class's room, this tab and the position of a running run.
    said = {name: text for name, text in link_now().said.items() if text and name not in (ROOM, "view.tab")}
    said = {name: text for name, text in said.items() if not text.endswith(PLAYING)}
    draw_frame(st.context.url or "", said | {"hide": "tabs" if is_own else "sidebar,tabs"}, key="frame-theme")
    st.caption(f"sha256 of the spec: {run.spec.sha256}")


def _model_bytes(run: Run) -> bytes:
    content = io.BytesIO()
    run.result.save(content)
    return content.getvalue()


HEIGHT = 300
WHAT = (
    "DSG Lab makes the run four times with the same seed: as it is, with all data in each step, with "
    "the exact kernel, and with both. The differences show how much mini-batches and random features "
    "cost. The rest is the distance that more iterations would cover. DSG Lab does this for five seeds, in "
    "the background."
)
READ = (
    "Each part is relative to the size of the optimum f*, over the training points. The remainder "
    "shows how the parts influence each other. It is negative if they cancel. |f − h|² below the map "
    "is larger than the true cost of the features, because later steps correct most of it."
)


def four_runs_tab(bench: Bench, theme: str) -> None:
    """Offer the four runs, and show their progress and their result."""
    run = bench.present.run
    try:
        check_possible(run.spec)
    except DiagnosticsError as error:
        st.info(f"Not available: {plain(str(error))}.", icon=":material/info:")
        return
    st.caption(WHAT)
    found = bench.jobs.diagnosis
    is_going = found is not None and not found.job.is_over
    label, kind = ("Measure it", "primary") if found is None else ("Measure again, for the current run", "secondary")
    look = {"icon": ":material/troubleshoot:", "type": kind, "disabled": is_going}
    button(bench, label, "find-limits", _begin, bench, **look)
    watched(None if found is None else found.job, _panel, bench, theme)


def _begin(bench: Bench) -> None:
    if bench.live is None:  # other data were chosen at the same moment
        return
    run, last = bench.live.run, bench.jobs.diagnosis
    before = last.job.result if last is not None and last.job.state is JobState.DONE else None
    job = begin_limits(shared_queue(), run.spec, run.split, lease=LEASE_SECONDS)
    bench.jobs.diagnosis = Diagnosis(job, bench.begun.number, before)


def _panel(bench: Bench, theme: str) -> None:
    follow_click(bench)
    found = bench.jobs.diagnosis
    if found is None:
        return
    job = found.job
    job_panel(
        job,
        "limits",
        lambda: (job.progress or 0.0, f"Four runs, five seeds: {job.seconds:.0f} s"),
        partial(_result, bench, found, theme),
    )


def _result(bench: Bench, found: Diagnosis, theme: str) -> None:
    limits: RunLimits = found.job.result
    if found.number != bench.begun.number:
        st.caption("These results belong to the previous run.")
    if found.before is not None:
        expected = f"expected {short_number(found.before.expected)}, " if found.before.expected is not None else ""
        said = f"was {_distance(found.before)}; {expected}it is now {_distance(limits)}"
        st.success(f"Effect of the change: the distance to the optimum {said}.", icon=":material/compare_arrows:")
    if limits.has_grown:
        st.caption("The run grows without bound.")
    else:
        state = "It has converged" if limits.converged else "It has not converged"
        st.caption(f"{state}: at the end, the distance to the optimum is {_distance(limits)}.")
    if limits.subsample is not None:
        st.caption(limits.subsample.sentence())
    runs = [run for run in limits.runs if len(run.t) == len(limits.runs[0].t)]
    if limits.has_grown or not runs:
        return
    # Each part's root mean square relative to the optimum, of shape (seeds, iterations), and its share of the whole.
    t, names = runs[0].t, (*LIMITS, "together")
    parts = {name: np.array([np.sqrt(getattr(run, name) / run.scale) for run in runs]) for name in names}
    squares = {name: np.mean(values**2, axis=0) for name, values in parts.items()}
    shares = {name: squares[name] / squares["together"] for name in LIMITS}
    left, right = st.columns(2)
    with left:
        live_chart(parts_chart(t, parts, theme=theme), key="chart-parts", height=HEIGHT)
    with right:
        figure = shares_chart(t, shares | {"remainder": 1.0 - sum(shares.values())})
        live_chart(figure, key="chart-shares", height=HEIGHT)
    st.dataframe(_table(limits), width="stretch")
    st.caption(READ)


def _distance(limits: RunLimits) -> str:
    size = short_number(limits.parts["together"])
    return "growing without bound" if limits.has_grown else f"{size} of the optimum's size"


def _table(limits: RunLimits) -> pd.DataFrame:
    rows = {said: (limits.parts[name], limits.shares[name]) for name, (said, *_) in LIMITS.items()}
    rows |= {"remainder, signed": (np.nan, limits.shares["remainder"]), "all together": (limits.parts["together"], 1.0)}
    said = {
        name: (short_number(part) if np.isfinite(part) else "–", with_minus(per_cent(share)))
        for name, (part, share) in rows.items()
    }
    return pd.DataFrame(said, ["relative to the optimum", "of the squared distance"]).T
