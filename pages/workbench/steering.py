"""What moving a control does to the run: nothing, a change from the next iteration on, or a new beginning."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.experiments import Setting, Spec, long_work
from dsgcore.experiments.cost import check_cost
from dsgcore.experiments.jobs import JobState
from pages.controls.bad_input import BAD_INPUT
from pages.controls.changes import CHANGES, changes_to_text, with_changes
from pages.controls.control import key_of
from pages.controls.own_file import plain
from pages.controls.view_choices import SLIDER, SPEED, viewed
from pages.workbench.bench import BUDGET, MOST_DIGITS, Bench, begin, begin_prepared


def follow(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Bring the run in line with what the controls ask for: leave it, steer it, or begin another."""
    try:
        if bench.wants_link or bench.asked is None:
            _follow_link(problem, bench, asked)
        elif bench.preparation is not None and asked == bench.asked and not bench.wants_restart:
            if bench.preparation.job.state is JobState.DONE:
                begin_prepared(bench)
        elif bench.live is None or bench.preparation is not None or bench.wants_restart or _wants_new_run(bench, asked):
            bench.wants_restart = False
            begin(bench, asked)
        elif asked != bench.asked:
            check_cost(asked, BUDGET, bench.shape)
            bench.live.steer(asked.values_at(0))
        bench.asked = asked
    except BAD_INPUT as error:
        st.error(plain(str(error)))


def _wants_new_run(bench: Bench, asked: Spec) -> bool:
    if bench.asked is None or asked == bench.asked:
        return False
    assert bench.live is not None
    problem = type(asked.problem)
    if viewed(problem, SLIDER) == "redo" or viewed(problem, SPEED) == "instant":
        return True
    if bench.live.run.is_finished or not bench.live.run.t:
        return True
    # What the run is to find by itself is found before it begins; so is a graph that takes long.
    if any(value is None and bench.asked.values_at(0)[name] is not None for name, value in asked.values_at(0).items()):
        return True
    if long_work(asked, bench.live.run.split) is not None:
        return True
    return _without_steerable(asked) != _without_steerable(bench.asked)


def _without_steerable(spec: Spec) -> dict[str, Any]:
    plain = spec.to_dict()
    for section in ("solver", "problem"):
        plain[section] = {name: v for name, v in plain[section].items() if name not in spec.steerable}
    return plain


def _follow_link(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Begin the run that the link says, unless it is the one that the page was left with.

    A link that holds an iteration shows the run as it was there. The link is read first: once the run has begun, nothing may
    end this before it is where the link says.
    """
    changes, at, look = (_linked(key_of(problem, name)) for name in (CHANGES, "at", "look"))
    bench.wants_link = False
    if bench.spec is not None and (asked, changes) == (bench.asked, changes_to_text(bench.spec)):
        return
    spec = asked
    try:
        spec = with_changes(asked, changes)
    except BAD_INPUT as error:
        bench.notices.append(str(error))
    begin(bench, spec, at)
    if look.isascii() and look.isdigit() and len(look) <= MOST_DIGITS:
        bench.look = int(look)  # where the run comes so far


def _linked(key: str) -> str:
    return str(st.query_params.get(key, ""))
