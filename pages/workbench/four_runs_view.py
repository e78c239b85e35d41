"""The Limits tab: the parts of a run's distance to the optimum, measured with four runs over seeds. The judgement uses them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.diagnostics import RunLimits, begin_limits, check_possible
from dsgcore.jobs import JobError, JobState, shared_queue
from dsgcore.solver.exact import DiagnosticsError
from pages.charts.detail_charts import LIMIT_NAMES, parts_chart, shares_chart
from pages.charts.live_chart import live_chart
from pages.session.bench import Bench, Diagnosis, follow_click, once
from pages.shell.job_panel import job_panel, watched
from pages.shell.plain_text import plain

LEASE_SECONDS, HEIGHT = 90.0, 300
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
    found = bench.diagnosis
    is_going = found is not None and not found.job.is_over
    _button(bench, is_going=is_going)
    watched(None if found is None else found.job, _panel, bench, theme)


def _button(bench: Bench, *, is_going: bool) -> None:
    arguments = (bench, bench.drawn, _begin, bench)
    is_first = bench.diagnosis is None
    st.button(
        "Measure it" if is_first else "Measure again, for the current run",
        key="find-limits",
        icon=":material/troubleshoot:",
        type="primary" if is_first else "secondary",
        disabled=is_going,
        on_click=once,
        args=arguments,
    )


def _begin(bench: Bench) -> None:
    if bench.live is None:  # other data were chosen at the same moment
        return
    run, last = bench.live.run, bench.diagnosis
    before = last.job.result if last is not None and last.job.state is JobState.DONE else None
    try:
        job = begin_limits(shared_queue(), run.spec, run.split, lease=LEASE_SECONDS)
    except (DiagnosticsError, JobError) as error:
        bench.link.notices.append(str(error))
        return
    bench.diagnosis = Diagnosis(job, bench.number, before)


def _panel(bench: Bench, theme: str) -> None:
    follow_click(bench)
    found = bench.diagnosis
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
    if found.number != bench.number:
        st.caption("These results belong to the previous run.")
    if found.before is not None:
        st.success(_brought(found.before, limits), icon=":material/compare_arrows:")
    st.caption(_distance(limits))
    if limits.subsample is not None:
        st.caption(limits.subsample.sentence())
    runs = [run for run in limits.runs if len(run.t) == len(limits.runs[0].t)]
    if limits.has_grown or not runs:
        return
    t = runs[0].t
    parts = {name: _relative(runs, name) for name in (*LIMIT_NAMES, "together")}
    left, right = st.columns(2)
    with left:
        live_chart(parts_chart(t, parts, theme=theme), key="chart-parts", alt=_alt(limits), height=HEIGHT)
    with right:
        live_chart(shares_chart(t, _shares(parts)), key="chart-shares", alt=_alt_shares(limits), height=HEIGHT)
    st.dataframe(_table(limits), width="stretch")
    st.caption(READ)


def _relative(runs: list[Any], name: str) -> NDArray:
    """Return a part's root mean square relative to the optimum, of shape (seeds, iterations)."""
    return np.array([np.sqrt(getattr(run, name) / run.scale) for run in runs])


def _shares(parts: dict[str, NDArray]) -> dict[str, NDArray]:
    squares = {name: np.mean(values**2, axis=0) for name, values in parts.items()}
    shares = {name: squares[name] / squares["together"] for name in LIMIT_NAMES}
    return shares | {"remainder": 1.0 - sum(shares.values())}


def _brought(before: RunLimits, now: RunLimits) -> str:
    expected = f"expected {before.expected:.3g}, " if before.expected is not None else ""
    was, is_now = before.parts["together"], now.parts["together"]
    was_said = f"{was:.3g}" if np.isfinite(was) and was < 1e4 else "growing without bound"
    now_said = f"{expected}it is now {is_now:.3g} of the optimum's size"
    return f"Effect of the change: the distance to the optimum was {was_said}; {now_said}."


def _distance(limits: RunLimits) -> str:
    if limits.has_grown:
        return "The run grows without bound."
    state = "It has converged" if limits.converged else "It has not converged"
    return f"{state}: at the end, the distance to the optimum is {limits.parts['together']:.3g} of the optimum's size."


def _table(limits: RunLimits) -> pd.DataFrame:
    rows = {
        **{LIMIT_NAMES[name]: (limits.parts[name], limits.shares[name]) for name in LIMIT_NAMES},
        "remainder, signed": (np.nan, limits.shares["remainder"]),
        "all together": (limits.parts["together"], 1.0),
    }
    plain_rows = {
        name: {
            "relative to the optimum": f"{part:.3g}" if np.isfinite(part) else "–",
            "of the squared distance": f"{share:z.0%}",
        }
        for name, (part, share) in rows.items()
    }
    return pd.DataFrame(plain_rows).T


def _alt(limits: RunLimits) -> str:
    said = ", ".join(f"{LIMIT_NAMES[name]} {limits.parts[name]:.3g}" for name in LIMIT_NAMES)
    return f"Distance to the optimum over iterations, at the end: {said}, all together {limits.parts['together']:.3g}."


def _alt_shares(limits: RunLimits) -> str:
    said = ", ".join(f"{LIMIT_NAMES.get(name, name)} {share:z.0%}" for name, share in limits.shares.items())
    return f"Shares of the squared distance over iterations, at the end: {said}."
