"""The layout that all setting pages share: controls in the sidebar, transport above, the live run, and tabs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from pages.charts.live_chart import sent, theme_now
from pages.controls.control import buttons, draw, in_link, keep, key_of
from pages.controls.own_file import choosing_key
from pages.controls.view import (
    EDIT,
    GRAPH,
    LOG_OBJECTIVE,
    MISTAKES,
    TAB,
    TRUTH,
    axes_of,
    choices_of_view,
    divider_choice,
    map_choice,
    refused_axes,
    view_control,
)
from pages.live.judgement import judgement_of, seen, settle, show_next
from pages.live.tick import (
    CHARTS,
    FIRST_ITERATIONS,
    SLICE_SECONDS,
    advance,
    draw_charts,
    draw_head,
    head_data,
    is_ticking,
)
from pages.session.bench import Bench, Tried, follow_click, go_on, once, sign, try_again, view_of
from pages.session.link import keep_place
from pages.shell.job_panel import watched
from pages.shell.plain_text import plain, say_of_link
from pages.shell.sharing import drawing, turns
from pages.shell.warm_up import is_ready
from pages.workbench import tabs
from pages.workbench.head import (
    CHOOSE_FILE,
    REFUSED_FILE,
    enlarge_for_a_class,
    head,
    hidden_parts,
    lay_out,
    waits_for_file,
)
from pages.workbench.sidebar import spec_of_controls, step_limits, transport
from pages.workbench.steering import bench_key, bring_back, follow, take
from pages.workbench.suggest_view import suggest_button, suggestion
from pages.workbench.tabs import four_runs_tab
from pages.workbench.theory_tab import details, theory

DETAILS = "Details"  # a box at the end of the tab Theory


def workbench(problem: type[Setting], bench: Bench) -> None:
    """Draw the workbench of a setting."""
    bench.view = replace(bench.view, hidden=hidden_parts())
    lay_out(bench.view.hidden)
    enlarge_for_a_class()
    own_file_place = st.container()
    asked, step_place, suggest_place = spec_of_controls(problem, bench, own_file_place)
    if not is_ready():
        return
    if asked is not None:
        follow(problem, bench, asked)
    if step_place is not None and suggest_place is not None:
        step_limits(bench, step_place)
        suggest_button(bench, suggest_place)
    head(problem, bench)
    above = st.container()
    is_waiting = waits_for_file(problem)
    has_run = bench.live is not None or bench.jobs.preparation is not None
    transport(problem, bench, is_active=has_run and not is_waiting)
    with above:
        suggestion(bench)
    if bench.live is not None:
        bring_back(bench)
        bench.link.notices += [said for said in refused_axes(bench.live.run) if said not in bench.link.notices]
    for notice in bench.link.notices:
        say_of_link(notice)
    if bench.live is not None and bench.live.run.engine.caution:
        st.warning(plain(bench.live.run.engine.caution), icon=":material/warning:")
    if bench.jobs.preparation is not None and not is_waiting:
        prepare(bench, problem.name, may_begin=asked is not None)
        return
    if is_waiting:
        has_file = choosing_key(problem) in st.session_state or st.session_state.get(key_of(problem, "upload"))
        st.info(REFUSED_FILE if has_file else CHOOSE_FILE, icon=":material/upload_file:")
    elif bench.live is not None:
        _draw_run(problem, bench)


def _draw_run(problem: type[Setting], bench: Bench) -> None:
    live_head = st.container(key="part-head")
    tab, are_hidden = view_control(problem, TAB), "tabs" in bench.view.hidden
    with st.container(key="part-tabs"):
        places: Any = [st.container()] if are_hidden else st.tabs(tab.options, key=tab.key, on_change="rerun")
    live_tab, *_ = places
    tabs_shown = dict(zip(tab.options[1:], places[1:], strict=False))  # none if they are hidden
    chosen = keep(tab) if are_hidden else in_link(tab, st.session_state[tab.key])
    bench.drawing.tab = tab.usual if are_hidden else chosen
    bench.drawing.opened |= {bench.drawing.tab}
    with live_tab:
        _view_controls(problem, bench)
    bench.view = view_of(bench.present, bench.view.hidden)
    go_further(bench)
    keep_place(bench)
    with drawing.turn(is_urgent=True):
        data = head_data(bench)
    with live_head:
        draw_head(data, on_remedy=partial(once, bench, bench.drawing.number, _apply, bench))
    with live_tab:
        draw_charts(on_edit=partial(edit, bench))
    for tab, place in tabs_shown.items():
        # A tab is drawn when it is first opened, so that the page appears sooner and the browser loads tables and code on
        # demand.
        if tab in bench.drawing.opened:
            with place:
                _draw_tab(tab, bench)


def go_further(bench: Bench) -> None:
    """Advance the run by one drawing, unless ticks do. At its end draw the page again, because the buttons change."""
    was_going = bench.is_playing
    if is_ticking(bench):  # the page opens with a curve, and ticks make its other iterations
        first = min(FIRST_ITERATIONS, bench.link.going_to or FIRST_ITERATIONS)
        bench.present.advance(max(0, first - bench.present.run.t), SLICE_SECONDS)
    elif bench.back.is_moving:
        show_next(bench)
    elif bench.link.going_to or bench.is_going:
        with turns.turn():
            (go_on if bench.link.going_to else advance)(bench, lambda: False)
    bench.is_playing = bench.is_playing and not bench.present.is_finished
    settle(bench)
    if was_going and not bench.is_playing:
        st.rerun()


def prepare(bench: Bench, name: str, *, may_begin: bool) -> None:
    """Show the progress of the preparation that the next run needs."""
    assert bench.jobs.preparation is not None
    keep_view(SETTINGS[name], bench, TAB)
    keep_place(bench)
    with st.container(key="preparing"):
        watched(bench.jobs.preparation.job, _sign, name, may_begin)


def _sign(name: str, may_begin: bool) -> None:
    bench: Bench = st.session_state[bench_key(name)]
    follow_click(bench)
    if bench.jobs.preparation is not None:
        sign(bench.jobs.preparation, partial(once, bench, bench.drawing.number, try_again, bench), may_begin=may_begin)


def _apply(bench: Bench) -> None:
    """Apply the judgement's remedy, and keep its cause's value, to show the effect."""
    found = None if bench.live is None else judgement_of(bench)
    if found is not None and found.remedy:
        before = found.figure(found.cause)
        tried = None if before is None else Tried(bench.begun.number + 1, found.cause, before.value, found.expected)
        bench.begun.tried = tried
        take(bench, {name: value for own in found.changes.values() for name, value in own.items()})


def edit(bench: Bench) -> None:
    """Take the edits of the data that the reader has made in the map."""
    asked = sent(CHARTS, "edit")
    with bench.feed.hold.taken():
        if bench.live is not None:
            bench.hand.take(asked, bench.live.run.spec, bench.live.run.split)


def _draw_tab(tab: str, bench: Bench) -> None:
    if tab not in ("Data", "Limits"):
        tabs.as_of(bench, tab.lower())
    match tab:
        case "Limits":
            four_runs_tab(bench, theme_now())
        case "Race":
            tabs.results_and_race(bench.present)
        case "Theory":
            theory(bench)
            with st.expander("Details: scores, single features and points", key="details", on_change="rerun") as box:
                bench.drawing.opened |= {DETAILS} if box.open else set()
                if DETAILS in bench.drawing.opened:
                    details(bench, seen(bench).run, theme=theme_now())
        case "Data":
            tabs.data(bench.present)
        case "Code":
            tabs.code(bench)


def _view_controls(problem: type[Setting], bench: Bench) -> None:
    """Draw the choices of the view: the function on the map, and the objective's axis."""
    if "view" in bench.view.hidden:
        keep_view(problem, bench)
        return
    with st.container(key="part-view", horizontal=True, vertical_alignment="center", gap="small"):
        if bench.live is not None and "map" not in bench.view.hidden:
            buttons(view_control(problem, map_choice(problem)), label_visibility="collapsed")
            draw(view_control(problem, EDIT))
        with st.popover("Show", key="shown", width="content"):
            if bench.live is not None and "map" not in bench.view.hidden:
                buttons(view_control(problem, divider_choice(problem)))
                for flag in (*([GRAPH] if bench.live.run.engine.has_graph else []), TRUTH, MISTAKES):
                    draw(view_control(problem, flag))
                for axis in axes_of(bench.live.run):
                    draw(axis)
            (keep if "curves" in bench.view.hidden else draw)(view_control(problem, LOG_OBJECTIVE))


def keep_view(problem: type[Setting], bench: Bench, *others: Any) -> None:
    """Keep the choices of the view, and others, without drawing them."""
    for choice in (*choices_of_view(problem), *others):
        keep(view_control(problem, choice))
    for axis in [] if bench.live is None else axes_of(bench.live.run):
        keep(axis)
