"""The layout that all setting pages share: controls in the sidebar, transport above, the live run, and tabs."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.experiments import (
    SETTINGS,
    Health,
    Setting,
    StopReason,
)
from pages.controls import controls
from pages.controls.control import key_of
from pages.controls.kernel_picker import make_ready
from pages.controls.undrawn import keep_choice
from pages.controls.view_choices import (
    GRAPH,
    LOG_OBJECTIVE,
    PARTS,
    choices_of_view,
    draw_choice,
    draw_flag,
    map_choice,
)
from pages.shell.turns import drawing, turns
from pages.shell.warm_up import is_ready
from pages.workbench import live_views as views
from pages.workbench import tabs
from pages.workbench.bench import Bench, go_on, once, try_again
from pages.workbench.coming import bench_key, bench_of, bring_back, hold_of, keep_place
from pages.workbench.details import details
from pages.workbench.four_runs_view import four_runs_tab
from pages.workbench.head import head, say_what_to_do, waits_for_file
from pages.workbench.layout import hidden_parts, lay_out
from pages.workbench.lesson_panel import panel
from pages.workbench.limits_view import limits_strip, step_limits
from pages.workbench.looking_back import look_back, seen
from pages.workbench.map_axes import draw_axes, keep_axes, refused_axes
from pages.workbench.preparing import TICK_SECONDS as PREPARING_SECONDS
from pages.workbench.preparing import sign
from pages.workbench.presenting import left_out, set_stage
from pages.workbench.sidebar import spec_of_controls
from pages.workbench.steering import follow
from pages.workbench.suggest_view import suggest_button, suggestion
from pages.workbench.theory_tab import theory
from pages.workbench.ticking import advance, is_seen, is_ticking, note, pace_of, tick_here
from pages.workbench.transport import transport

OTHER_TABS = ("Details", "Limits", "Compare", "Theory", "Data", "Code")
Room = DeltaGenerator  # a place on the page for the fragment's output


def workbench(name: str) -> None:
    """Draw the page of the setting `name`."""
    with hold_of(name).taken():
        _page(name)


def _page(name: str) -> None:
    problem = SETTINGS[name]
    bench = bench_of(problem)
    set_stage(bench)
    bench.hidden = hidden_parts() | left_out(bench)
    bench.undrawn.clear()
    lay_out(bench.hidden)
    own_file_place = st.container()
    asked, step_place, suggest_place = spec_of_controls(problem, bench, own_file_place)
    if not is_ready():
        return
    if asked is not None:
        make_ready(asked.kernel.name)
        follow(problem, bench, asked)
    if bench.has_empty_boxes and bench.live is None:
        st.rerun()  # without a run there is no first curve to wait for
    if step_place is not None and suggest_place is not None:
        step_limits(bench, step_place)
        suggest_button(bench, suggest_place)
    head(problem, bench)
    lesson = st.container()
    is_waiting = waits_for_file(problem)
    has_run = bench.live is not None or bench.preparation is not None
    status = transport(problem, bench, is_active=has_run and not is_waiting)
    with lesson:
        panel(problem, bench)
        suggestion(bench)
    if bench.live is not None:
        bring_back(bench)
        bench.notices += [said for said in refused_axes(bench.live.run) if said not in bench.notices]
    for notice in bench.notices:
        st.warning(notice, icon=":material/link_off:")
    if bench.live is not None and bench.live.run.engine.caution:
        st.warning(bench.live.run.engine.caution, icon=":material/warning:")
    if bench.preparation is not None and not is_waiting:
        _prepare(bench, name, may_begin=asked is not None)
        return
    if bench.live is None or is_waiting:
        say_what_to_do(problem)
        return
    with st.container(key="part-numbers"):
        tiles, limits = st.empty(), st.empty()
    look, health = st.empty(), st.empty()
    pace = pace_of(bench)
    live_tab, *other_tabs = [st.container()] if "tabs" in bench.hidden else _tabs()
    tabs_shown = dict(zip(OTHER_TABS, other_tabs, strict=False))  # none if they are hidden
    bench.opened |= {tab for tab, place in tabs_shown.items() if place.open}
    results = tabs_shown["Compare"].empty() if tabs_shown else None
    with live_tab:
        _view_controls(problem, bench)
        bench.is_page_drawn = True
        st.fragment(_live, run_every=pace[0])(name, pace, status, tiles, limits, look, health, results)
    for tab, place in tabs_shown.items():
        # A tab is drawn when it is first opened, so that the page appears sooner and the browser loads tables and code on
        # demand.
        if tab in bench.opened:
            with place:
                _draw_tab(tab, bench, problem)


def _prepare(bench: Bench, name: str, *, may_begin: bool) -> None:
    """Show the progress of the preparation that the next run needs."""
    assert bench.preparation is not None
    _keep_view(SETTINGS[name], bench)
    keep_place(SETTINGS[name], bench)
    is_going = not bench.preparation.job.is_over
    with st.container(key="preparing"):
        st.fragment(_sign, run_every=PREPARING_SECONDS if is_going else None)(name, may_begin)


def _sign(name: str, may_begin: bool) -> None:
    bench: Bench = st.session_state[bench_key(name)]
    if bench.preparation is not None:
        sign(bench.preparation, partial(try_again, bench), may_begin=may_begin)


def _halve(bench: Bench, problem: type[Setting]) -> None:
    """Set the step slider to the stop nearest to half of its value, and start again."""
    assert bench.asked is not None
    step = bench.asked.solver.step_size
    if step is None:
        assert bench.live is not None
        step = bench.live.run.engine.automatic_step
        assert step is not None
    bench.given[key_of(problem, "step_size")] = controls.half_step(step)
    bench.wants_restart = True


def _tabs() -> Any:
    # Opening a tab draws it again.
    return st.tabs(["Live", *OTHER_TABS], key="tabs", on_change="rerun")


def _draw_tab(tab: str, bench: Bench, problem: type[Setting]) -> None:
    assert bench.live is not None
    if tab not in ("Data", "Limits"):
        tabs.as_of(bench, tab.lower())
    match tab:
        case "Details":
            details(bench, seen(bench).run, theme=_theme())
        case "Limits":
            four_runs_tab(bench, _theme())
        case "Compare":
            tabs.compare(bench.live)
        case "Theory":
            theory(bench)
        case "Data":
            tabs.data(bench.live)
        case "Code":
            tabs.code(bench)


def _view_controls(problem: type[Setting], bench: Bench) -> None:
    """Draw the choices of the view: the function on the map, the objective's axis, and the chart below the map."""
    if "view" in bench.hidden:
        _keep_view(problem, bench)
        return
    with st.container(key="part-view", horizontal=True, vertical_alignment="center", gap="small"):
        if bench.live is not None and "map" not in bench.hidden:
            draw_choice(problem, map_choice(problem))
            draw_axes(bench.live.run)
            if bench.live.run.engine.has_graph:
                draw_flag(problem, GRAPH)
        draw_flag(problem, LOG_OBJECTIVE)
        draw_flag(problem, PARTS)


def _keep_view(problem: type[Setting], bench: Bench) -> None:
    """Keep the choices of the view without drawing them."""
    for choice in choices_of_view(problem):
        keep_choice(problem, choice, bench.undrawn)
    if bench.live is not None:
        keep_axes(bench.live.run, bench.undrawn)


def _live(
    name: str,
    pace: tuple[float | None, bool],
    status: Room | None,
    tiles: Room,
    limits: Room,
    look: Room,
    health: Room,
    results: Room | None,
) -> None:
    """Draw the run, and advance it unless ticks do that; status, numbers, health and results go to their places on the page.

    This is the page's only fragment.
    """
    bench: Bench = st.session_state[bench_key(name)]
    with bench.hold.taken():
        if bench.live is None:
            return
        before = bench.look
        look_back(bench, look)
        keep_place(SETTINGS[name], bench)
        bench.is_playing = bench.is_playing and not bench.live.is_finished
        if bench.wants_restart or pace_of(bench) != pace or (bench.has_empty_boxes and is_seen(bench)):
            # a button in here has moved a slider outside, the first curve is there, or the last tick has arrived
            st.rerun()
        has_ended = _advance(bench)
        is_urgent, bench.is_page_drawn = bench.is_page_drawn, False
        with drawing.turn(is_urgent=is_urgent):
            _draw(bench, status, tiles, limits, health)
            if results is not None and "Compare" in bench.opened:
                with results.container():
                    tabs.results(bench.live)
        if bench.look != before and "Details" in bench.opened and not bench.is_showing:
            st.rerun()  # the details show the same step
        if has_ended:
            st.rerun()  # once, so that the ticking ends and the transport bar shows it


def _draw(bench: Bench, status: Room | None, tiles: Room, limits: Room, health: Room) -> None:
    """Draw the current state of the run."""
    assert bench.live is not None
    hidden, theme = bench.hidden, _theme()
    note(bench, theme)
    if status is not None:
        with status.container(key="status"):
            views.status(bench.live, is_playing=bench.is_playing and not bench.is_held, going_to=bench.going_to)
    if "tiles" not in hidden:
        with tiles.container(key="part-tiles"):
            views.tiles(seen(bench))
    if "limits" not in hidden:
        limits_strip(bench, limits)
    _health(bench, health)
    views.plots(bench, theme=theme, hidden=hidden, order=time.time())
    tick_here(type(bench.live.run.problem).name, bench)


def _advance(bench: Bench) -> bool:
    """Make the iterations of one drawing, unless ticks do; return True if the run, or its way to an iteration, has ended."""
    assert bench.live is not None
    if is_ticking(bench):
        return False
    was_finished, was_going = bench.live.is_finished, bench.going_to
    if was_going:
        go_on(bench)
    elif bench.is_playing and not was_finished and not bench.is_held:
        with turns.turn():
            advance(bench, _never)
    is_finished = bench.live.is_finished
    has_ended = (is_finished and not was_finished) or (was_going > 0 and not bench.going_to)
    if has_ended:
        bench.is_playing = bench.is_playing and not is_finished
    return has_ended


def _never() -> bool:
    return False


def _health(bench: Bench, place: DeltaGenerator) -> None:
    """Show a warning and a remedy if the numbers grow or have diverged."""
    assert bench.live is not None
    run = bench.live.run
    reason = run.stop_reason if run.stop_reason is StopReason.DIVERGED else None
    if reason is None and run.health is not Health.GROWING:
        place.empty()
        return
    with place.container(key="part-health", horizontal=True, vertical_alignment="center", gap="xsmall"):
        if reason is not None:
            st.error(reason.value, icon=":material/error:")
            arguments = (bench, bench.drawn, _halve, bench, type(run.problem))
            st.button("Halve the step size", key="halve", on_click=once, args=arguments)
        else:
            st.warning(run.health.value, icon=":material/trending_up:")


def _theme() -> str:
    return "dark" if st.context.theme.type == "dark" else "light"
