"""What moving a control does to the run: nothing, a change from the next iteration on, or a new beginning."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore import ParameterError, ProblemError, SpecError
from dsgcore.data import DataError
from dsgcore.experiments import Setting, Spec
from pages import _controls as controls
from pages import _link as link
from pages._bench import Bench, begin
from pages._own_file import plain

BAD_INPUT = (SpecError, ParameterError, ProblemError, DataError)


def follow(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Bring the run in line with what the controls ask for: leave it, steer it, or begin another."""
    try:
        if bench.live is None:
            _begin_from_link(problem, bench, asked)
        elif bench.wants_restart or _wants_new_run(bench, asked):
            bench.wants_restart = False
            begin(bench, asked)
        elif asked != bench.asked:
            bench.live.steer(asked.values_at(0))
        bench.asked = asked
    except BAD_INPUT as error:
        st.error(plain(str(error)))


def _wants_new_run(bench: Bench, asked: Spec) -> bool:
    if bench.asked is None or asked == bench.asked:
        return False
    if st.session_state.get("slider") == "redo" or st.session_state.get("speed") == "instant":
        return True
    assert bench.live is not None
    if bench.live.run.is_finished or not bench.live.run.t:
        return True
    return _without_steerable(asked) != _without_steerable(bench.asked)


def _without_steerable(spec: Spec) -> dict[str, Any]:
    plain = spec.to_dict()
    for section in ("solver", "problem"):
        plain[section] = {name: v for name, v in plain[section].items() if name not in spec.steerable}
    return plain


def _begin_from_link(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Begin a session's first run; a link that holds an iteration shows the run as it was there, paused.

    The link is read first: once the run has begun, nothing may end this before it is where the link says.
    """
    changes, at = (_linked(controls.key_of(problem, name)) for name in ("changes", "at"))
    spec = asked
    try:
        spec = link.with_changes(asked, changes)
    except BAD_INPUT as error:
        bench.notices.append(str(error))
    begin(bench, spec)
    if at:
        _go_to(bench, at)


def _linked(key: str) -> str:
    return str(st.query_params.get(key, ""))


def _go_to(bench: Bench, at: str) -> None:
    """Make the run's iterations up to the one that a link names, and pause there."""
    assert bench.live is not None
    if not at.isascii() or not at.isdigit() or not 1 <= int(at) <= bench.live.run.n_iter:
        allowed = f"a whole number between 1 and {bench.live.run.n_iter}"
        bench.notices.append(f"In the link, at must be {allowed}, got {at[:40]!r}; the run begins at its start.")
        return
    bench.live.advance(int(at))
    bench.is_playing = False
