"""Suggested values for the controls: a search in the background that uses no hidden data, and a button that sets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.experiments import Spec, begin_suggesting, with_values
from dsgcore.jobs import JobState, shared_queue
from dsgcore.model_selection import FoldError, Suggestion
from pages.controls.control import Control
from pages.controls.controls import controls_for
from pages.session.bench import LEASE_SECONDS, Bench, Suggesting, button, follow_click
from pages.shell.job_panel import job_panel, watched
from pages.shell.plain_text import plain
from pages.workbench.steering import take

SECONDS, DEFAULT, MORE = (10, 20, 60, 180), 20, 60
TABLE_HEIGHT = 250
WHAT = (
    "Searches for better values of the most important parameters. It starts from the present slider "
    "values, scores each candidate on held-out labeled points, and keeps the better half until the "
    "time is over. It never uses test points or hidden labels. The run goes on meanwhile."
)
HOW = (
    "Each row is a candidate. The first round uses an eighth of the iterations and two folds. The "
    "best third goes on to the next round. The score is the method's own score on the labels of the "
    "folds. For similar pairs it is minus the estimated risk, which needs no label. The difference is to the current "
    "values in the same round, with its 95 % interval."
)


def suggest_button(bench: Bench, where: DeltaGenerator) -> None:
    """Draw the button that starts the search, and the choice of its time."""
    asked = bench.jobs.suggested
    is_going = asked is not None and asked.job is not None and not asked.job.is_over
    with where.container(key="suggest", horizontal=True, vertical_alignment="bottom", gap="small"):
        place = st.container(width="stretch")
        look: dict[str, Any] = {"format_func": "{} s".format, "label_visibility": "collapsed", "width": 90}
        seconds = st.selectbox("Seconds", SECONDS, index=SECONDS.index(DEFAULT), key="suggest-seconds", **look)
        label = "Searching …" if is_going else "Suggest"
        is_off = bench.live is None or bench.jobs.preparation is not None
        icon: dict[str, Any] = {"icon": ":material/auto_fix_high:", "help": WHAT, "width": "stretch"}
        with place:
            button(bench, label, "suggest-values", _begin, bench, seconds, disabled=is_going or is_off, **icon)


def _begin(bench: Bench, seconds: int, before: Suggesting | None = None) -> None:
    """Start a search, or continue one from its result."""
    assert bench.begun.asked is not None
    spec, search = bench.begun.asked, None
    if before is not None and before.job is not None:
        spec, search = before.spec, before.job.result.search
    try:
        split, lease = bench.present.run.split, LEASE_SECONDS
        job = begin_suggesting(shared_queue(), spec, split, float(seconds), search=search, lease=lease)
    except FoldError as error:
        bench.jobs.suggested = Suggesting(spec, None, str(error))
        return
    bench.jobs.suggested = Suggesting(spec, job, is_set=before is not None and before.is_set)


def suggestion(bench: Bench) -> None:
    """Show the progress and the result of the search; show nothing without a search, or if it was for other data."""
    asked = bench.jobs.suggested
    if asked is None or bench.begun.asked is None:
        return
    if (asked.spec.data, asked.spec.seed) != (bench.begun.asked.data, bench.begun.asked.seed):
        _close(bench)
        return
    with st.container(key="part-suggested", border=True):
        watched(asked.job, _panel, bench)


def _panel(bench: Bench) -> None:
    follow_click(bench)
    asked = bench.jobs.suggested
    if asked is None:
        return
    job, said = asked.job, f"No suggestion is possible here: {plain(asked.refused)}."
    if job is not None and job.is_over and job.state is not JobState.DONE:
        said = f"Cancelled after {job.seconds:.1f} s." if job.state is JobState.CANCELLED else plain(job.error)
    elif job is not None:

        def doing() -> tuple[float, str]:
            share, what = job.progress or (0.0, "starting")
            return share, f"Searching: {what}, {job.seconds:.0f} s"

        job_panel(job, "suggest", doing, lambda: _found(bench, asked, job.result))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(said, width="stretch")
        _close_button(bench)


def _close_button(bench: Bench) -> None:
    button(bench, "Close", "suggest-close", _close, bench, icon=":material/close:", type="tertiary")


def _close(bench: Bench) -> None:
    if bench.jobs.suggested is not None and bench.jobs.suggested.job is not None:
        bench.jobs.suggested.job.cancel()
    bench.jobs.suggested = None


def _found(bench: Bench, asked: Suggesting, found: Suggestion) -> None:
    offered = controls_for(type(asked.spec.problem), asked.spec.data.name, asked.spec.kernel.name)
    spec = asked.spec
    own, other = (_values(one, found.parameters) for one in (spec, with_values(spec, found.parameters)))
    changes = {name: value for name, value in other.items() if value != own[name]}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(said_of(asked.spec, found, changes, offered), width="stretch")
        if asked.is_set or changes:
            # Offer to set the values, or to restore the previous ones after they are set.
            values: Mapping[str, Any] = {} if asked.is_set else found.parameters
            label, icon = ("Undo", "undo") if asked.is_set else ("Use these values", "check")
            look = {"icon": f":material/{icon}:", "type": "secondary" if asked.is_set else "primary"}
            button(bench, label, "suggest-set", _set, bench, asked, found, values, **look)
        if found.search is not None:
            label = f"Go on for {MORE} s more"
            button(bench, label, "suggest-more", _begin, bench, MORE, asked, icon=":material/more_time:")
        _close_button(bench)
    with st.expander(f"Candidates ({len(found.tried)})"):
        st.dataframe(_table(asked.spec, found, offered), width="stretch", height=TABLE_HEIGHT, hide_index=True)
        # Draw the choice of any row, and the button that sets its values.
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            rows = range(1, len(found.tried) + 1)
            row = st.selectbox("Row", rows, key=f"suggest-row-{len(found.tried)}", width=110)
            values = found.tried[row - 1].parameters
            button(bench, "Use it anyway", "suggest-use", _set, bench, asked, found, values, icon=":material/check:")
        st.caption(HOW)


def _values(spec: Spec, names: Any) -> dict[str, Any]:
    owners = (spec.solver, spec.problem, spec.kernel)
    return {name: getattr(next(o for o in owners if hasattr(o, name)), name) for name in names}


def _set(bench: Bench, asked: Suggesting, found: Suggestion, parameters: Mapping[str, Any]) -> None:
    """Set the controls to a candidate's values; no parameters are the values before the search."""
    asked.is_set = bool(parameters)
    take(bench, _values(with_values(asked.spec, parameters), _tuned(found)))


def _tuned(found: Suggestion) -> set[str]:
    return {name for one in found.tried for name in one.parameters}


def said_of(spec: Spec, found: Suggestion, changes: dict[str, Any], offered: dict[str, Control]) -> str:
    """Say what to set, or why the values stay, with the gain and its interval."""
    n, name = len(found.tried), spec.problem.score_name
    gain = found.gain
    spread = f"{signed(gain.low, 3)} to {signed(gain.high, 3)}, 95 % over {gain.n:,} {gain.unit}"
    measured = f"{signed(gain.mean, 3)} ({spread})" if np.isfinite(gain.low) else ""
    if found.reason:
        return f"**The values stay**: {plain(found.sentence())}"
    if not changes:
        best = (
            f"The largest gain is {signed(gain.mean, 3)}" if gain.mean > 0 else f"The best one loses {-gain.mean:.3f}"
        )
        if round(gain.mean, 3) == 0:
            best = "The best one gains nothing"
        said = f"in {found.seconds:.0f} s, none of {n} candidates was clearly better on held-out folds."
        return f"**The values stay**: {said}{f' {best} ({spread}).' if measured else ''}"
    own = _values(spec, changes)
    said = ", ".join(
        f"{offered[k].parameter.label} {offered[k].told(own[k])} → {offered[k].told(v)}" for k, v in changes.items()
    )
    return (
        f"**{plain(said)}**: {name} {measured} on held-out folds, compared with the current values. It is the best of {n} "
        f"candidates, tried in {found.seconds:.0f} s, so the real gain is probably smaller."
    )


def signed(value: float, digits: int) -> str:
    """Return a difference with its sign, or without one if it rounds to zero."""
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def _table(spec: Spec, found: Suggestion, offered: dict[str, Control]) -> pd.DataFrame:
    """Return the candidates in the order of their ranking, with their differences from the current values."""
    own, rows = _values(spec, sorted(_tuned(found), key=list(offered).index)), list[dict[str, str]]()
    for number, (one, gain) in enumerate(zip(found.tried, found.gains, strict=True), start=1):
        is_other = bool(one.parameters)
        interval = f"{signed(gain.low, 4)} to {signed(gain.high, 4)}" if np.isfinite(gain.low) and is_other else ""
        row = {
            "row": str(number),
            "": "" if is_other else "current",
            "score": f"{one.mean:.4f}" if np.isfinite(one.mean) else "diverged",
            "difference": signed(gain.mean, 4) if np.isfinite(gain.mean) and is_other else "",
            "95 % interval": interval,
            "folds": str(len(one.scores)),
            "iterations": str(one.n_iter),
        }
        values = {**own, **one.parameters}
        rows.append(row | {offered[name].parameter.label: offered[name].say(value) for name, value in values.items()})
    return pd.DataFrame(rows)
