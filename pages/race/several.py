"""A race of several methods at growing sizes: the choice of rivals, and test score against seconds while it goes on."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dsgcore.experiments import LiveRun
from dsgcore.experiments.race import (
    FIXED_FEATURES,
    GB,
    NO_UNLABELED,
    Heat,
    competitors,
    plain_name,
    run_heats,
    summaries,
    title,
    usual_rivals,
    usual_sizes,
    why_not_fixed,
)
from dsgcore.experiments.spec import FILE
from dsgcore.jobs import Job, shared_queue
from pages.charts import figures as charts
from pages.charts.live_chart import live_chart
from pages.race.result import choice
from pages.shell.job_panel import job_panel, watched
from pages.shell.plain_text import plain

LEASE_SECONDS, MEMORY = 20.0, 4.0
MOST_RIVALS, USUAL_RIVALS, MOST_SEEDS, USUAL_SEEDS = 6, 4, 10, 3
_HEATS = "_heats"  # key of the sessions' races of several, by setting
BY_TIME, BY_SIZE = "over seconds", "over unlabeled points"


def several(live: LiveRun) -> None:
    """Draw the choice of rivals, sizes and seeds, and the race of the setting."""
    setting = live.run.problem.name
    kinds = list(map(plain_name, competitors(setting)))
    can_be_fixed = not why_not_fixed(live.run.spec)
    with st.expander("Race several methods, as the numbers of points grow", key="part-heats"):
        names = st.multiselect(
            "Rivals",
            [*kinds, *[FIXED_FEATURES] * can_be_fixed],
            default=usual_rivals(setting)[:USUAL_RIVALS],
            format_func=partial(title, live.run.spec),
            max_selections=MOST_RIVALS,
            key=f"heats-rivals-{setting}",
        )
        n_seeds = st.slider("Seeds", 1, MOST_SEEDS, USUAL_SEEDS, key=f"heats-seeds-{setting}")
        sizes = usual_sizes(live.run.split)
        if sizes == (0,):
            st.caption(f"{NO_UNLABELED.capitalize()}.")
            return
        st.caption(
            f"The run and its rivals learn from {', '.join(f'{n:,}' for n in sizes)} unlabeled points. A fit that is expected "
            f"to take over a minute, or takes more than {MEMORY:g} GB, is left out."
        )
        known: dict[str, Job] = st.session_state.setdefault(_HEATS, {})
        job = known.get(setting)
        is_going = job is not None and not job.is_over
        look: dict[str, Any] = {"icon": ":material/sports_score:", "disabled": is_going or not names}
        st.button("Race them", key="heats-start", on_click=_begin, args=(live, tuple(names), sizes, n_seeds), **look)
        watched(job, _panel, live)


def _begin(live: LiveRun, names: tuple[str, ...], sizes: tuple[int, ...], n_seeds: int) -> None:
    split = live.run.split if live.run.spec.data.name == FILE else None
    given = (live.run.spec, names, sizes, n_seeds, split)
    job = shared_queue().submit(run_heats, *given, memory_limit=int(MEMORY * GB), lease=LEASE_SECONDS)
    st.session_state[_HEATS][live.run.problem.name] = job


def _panel(live: LiveRun) -> None:
    job = st.session_state[_HEATS].get(live.run.problem.name)
    if job is None:
        return
    if not job.is_over and job.progress is not None:
        _draw(live, job.progress[2])
    job_panel(job, "heats", partial(_doing, job), lambda: _draw(live, job.result))


def _doing(job: Job) -> tuple[float, str]:
    if job.progress is None:
        return 0.0, f"starting · {job.seconds:.0f} s"
    done, total, heats = job.progress
    last = f"{heats[-1].method}, {heats[-1].n_unlabeled:,} unlabeled points"
    return done / total, f"{last} · {done} of {total} · {job.seconds:.0f} s"


def _draw(live: LiveRun, heats: tuple[Heat, ...]) -> None:
    """Draw each method's median score over its seconds or the points, the range over the seeds, and what was left out."""
    by = choice("Along the axis", (BY_TIME, BY_SIZE), key="heats-axis")
    found, ours = summaries(heats), title(live.run.spec, "")
    curves = []
    for i, (method, own) in enumerate(found.groupby("method", sort=False)):
        x, score = own["seconds" if by == BY_TIME else "n_unlabeled"].to_numpy(float), own["score"].to_numpy()
        color = charts.COLORS[i % len(charts.COLORS)]
        band = (own["low"].to_numpy(), own["high"].to_numpy()) if len(own) > 1 else None
        curves.append(charts.Curve(str(method), x, score, color, width=3.0 if method == ours else 2.0, band=band))
    name = f"Test {live.run.problem.score_name}"
    x_title = "seconds of training" if by == BY_TIME else "unlabeled points"
    ticks = () if by == BY_TIME else found["n_unlabeled"]
    figure = charts.line_chart(curves, title=name, is_log_x=True, x_title=x_title, x_ticks=ticks, revision=by)
    for trace in figure["data"][-len(curves) :]:
        trace |= {"mode": "lines+markers", "marker": {"color": trace["line"]["color"]}}
    figure["layout"]["hovermode"] = "closest"
    alt = f"{name} of {len(curves)} methods {by}."
    live_chart(figure, key="chart-heats", alt=alt, height=380)
    notes = dict.fromkeys(f"{heat.method} at {heat.n_unlabeled:,}: {heat.note}." for heat in heats if heat.note)
    if notes:
        st.caption(plain(" ".join(notes)))
