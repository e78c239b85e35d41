"""The stage: a step of a lesson on one screen, with its question, its pictures and its controls, and nothing else.

The words are in `step.py`, the buttons in `moves.py`, and the layout in `stage.css`. All areas have a fixed room, so nothing
moves when the explanation takes the place of the question.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.data.edits import EDITS
from dsgcore.experiments import SETTINGS, Setting, Spec
from dsgcore.settings import Curve
from dsgcore.settings.lessons import MAP
from pages.controls.control import keep
from pages.controls.pickers import open_setting
from pages.controls.view import SPEED, TAB, seed_control, view_control
from pages.live.tick import draw_charts, draw_head, head_data
from pages.room.lecturer import (
    ask_anything,
    is_asked,
    is_led_elsewhere,
    notes_address,
    offer_to_lead,
    room_panel,
    tell_the_room,
)
from pages.session.bench import Bench, Scene, view_of
from pages.session.lesson_place import Place, Stage
from pages.session.link import begin_place, keep_place
from pages.shell.page_link import keep_room_key
from pages.shell.sharing import drawing
from pages.shell.warm_up import is_ready
from pages.stage.links import keep_mark
from pages.stage.moves import is_painted, lesson_button, moves, steps_of_run
from pages.stage.step import answer, is_exercise, lines_of_answer, text
from pages.workbench.head import ANSWER, PARTS, hidden_parts, is_presented
from pages.workbench.page import edit, go_further, keep_view, prepare, workbench
from pages.workbench.sidebar import spec_without_sidebar
from pages.workbench.steering import bench_of, follow, hold_of

_STYLE = Path(__file__).with_suffix(".css")
LINE_HEIGHT = 1.4  # in rem
AREAS = ("top", "text", "answer", "moves", "pictures", "room", "tools")
# Parts of the workbench that the stage can show. The link of an exercise hides some of them.
SHOWN = {"transport", "map", "curves", "error", ANSWER}


def setting_page(name: str) -> None:
    """Draw the page of the setting `name`: a lesson on the stage, or the workbench. Both show the same run."""
    with hold_of(name).taken():
        problem = SETTINGS[name]
        bench = bench_of(problem)
        begin_place(bench)
        draw = workbench if bench.lesson.place is None else stage
        draw(problem, bench)
        # A drawing that another request ends comes before this. That request has the values that the browser knew before.
        bench.given = {}


def stage(problem: type[Setting], bench: Bench) -> None:
    place = bench.lesson.place
    assert place is not None
    if bench.group.going is not None:
        going, bench.group.going = bench.group.going, None
        open_setting(*going)
        return
    bench.drawing.number += 1
    hidden = (set(PARTS) - SHOWN) | hidden_parts() | ({"transport"} if place.waits else set())
    bench.view = replace(bench.view, hidden=frozenset(hidden))
    st.html(_STYLE)
    sizes = f"--title: {len(place.lesson.title)};"
    if not isinstance(place.step.asks, Curve):  # which is drawn in the answer's area
        sizes += f" --answer: {LINE_HEIGHT * lines_of_answer(place):g}rem"
    st.html(f"<style>.st-key-stage {{{sizes}}}</style>")
    with st.container(key="stage"):
        areas = {name: st.container(key=f"stage-{name}") for name in AREAS}
    with areas["tools"]:
        asked, run = _tools(problem, bench, place)
    with areas["answer"]:
        is_warm = is_ready()
    if is_warm and asked is not None:
        follow(problem, bench, asked)
    with areas["top"]:  # with the run, whose data say if the class can be asked for a place on the map
        _top(problem, bench, place)
    if not is_warm:
        return
    with areas["pictures"]:
        _pictures(problem, bench, place, run, may_begin=asked is not None)
    with run:  # after the pictures, which may end an instant run
        steps_of_run(problem, bench, place)
    with areas["room"]:  # it may add a notice, which the text shows
        _room(problem, bench, place)
    with areas["text"]:
        text(bench, place)
    with areas["answer"]:
        guess = answer(problem, bench, place)
    with areas["moves"]:
        moves(problem, bench, place, guess)
    keep_mark(problem, place, "" if bench.group.room is None else bench.group.room.code)


def _top(problem: type[Setting], bench: Bench, place: Place) -> None:
    st.markdown(f"# {place.lesson.title}")
    with st.container(key="stage-progress", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(progress(place))
        if is_presented():
            if not is_led_elsewhere(bench):
                ask_anything(problem, bench)
            with st.container(key="stage-notes", width="content"):
                st.link_button("Notes", notes_address(bench), icon=":material/notes:", type="tertiary")
        icon = ":material/close:"
        # Escape presses it, unless a list is open (shell/manners.js).
        lesson_button(bench, "Open the workbench", "lesson-leave", _leave, bench, icon=icon, type="tertiary")


def progress(place: Place) -> str:
    """Return the marks of the lesson's steps, with their number in words."""
    marks = "".join(f"<i{' data-done' * (number <= place.number)}></i>" for number in range(len(place.lesson.steps)))
    said = f"Step {place.number + 1} of {len(place.lesson.steps)}"
    return f'<div class="stage-steps"><span>{said}</span><span aria-hidden="true">{marks}</span></div>'


def _leave(bench: Bench) -> None:
    bench.lesson.left, bench.lesson.place = bench.lesson.place, None


def _tools(problem: type[Setting], bench: Bench, place: Place) -> tuple[Spec | None, DeltaGenerator]:
    """Draw the step's controls.

    Return the spec, or None with an error if it is not valid, and the place for the run's status and buttons.
    """
    controls = st.container(key="stage-controls", horizontal=True, vertical_alignment="center", gap="medium")
    keep(view_control(problem, SPEED))
    keep(seed_control(problem))
    with controls:
        asked = spec_without_sidebar(problem, bench, place.step.controls, is_locked=place.waits)
    return asked, st.container(key="stage-run", horizontal=True, vertical_alignment="center", gap="small")


def _pictures(problem: type[Setting], bench: Bench, place: Place, run: DeltaGenerator, *, may_begin: bool) -> None:
    """Draw the live view: the run's step, the map, and the step's chart."""
    if bench.jobs.preparation is not None:
        prepare(bench, problem.name, may_begin=may_begin)
        return
    keep_view(problem, bench, TAB)
    if bench.live is None:
        return
    bench.view = view_of(bench.live, bench.view.hidden, _scene(bench, place))
    go_further(bench)
    place.note(None if bench.hand.lacks else bench.live)
    bench.view = replace(bench.view, scene=_scene(bench, place))  # a run that has just ended shows more
    keep_place(bench)
    with drawing.turn(is_urgent=True):
        data = head_data(bench)
    with run.container(key="stage-status"):
        draw_head(data)
    is_on_map = place.waits or not place.step.chart or (EDITS in place.step.controls and place.stage is Stage.RUN)
    first = "map" if is_on_map else "curves"
    named = f"{place.lesson.name} {place.number} {first}"
    draw_charts(on_edit=partial(edit, bench), lesson={"first": first, "step": named, "canTurn": not place.waits})


def _room(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the class's room, if the lesson is shown to a class: in the chart's place, and after the run in a part of it."""
    if not is_presented():
        return
    tell_the_room(problem, bench)
    if bench.group.ticket is not None:
        keep_room_key(bench.group.ticket.token)
    is_elsewhere = is_led_elsewhere(bench)
    is_own = bench.group.own is not None
    if not (is_asked(bench) or is_elsewhere) or (place.stage is Stage.RUN and place.step.goal is None and not is_own):
        return
    with st.container(key=f"stage-class-{'question' if is_own or place.stage is Stage.QUESTION else 'outcome'}"):
        (offer_to_lead if is_elsewhere else room_panel)(bench)


def _scene(bench: Bench, place: Place) -> Scene:
    """Return what the step shows of its run now."""
    step, asks, outcome = place.step, place.step.asks, place.stage is Stage.OUTCOME
    is_drawn = isinstance(asks, Curve)
    is_hidden = bool(bench.view.hidden & {"curves"}) or (
        is_drawn and place.waits
    )  # the reader draws in the chart's place
    return Scene(
        has_map=MAP in step.show and "map" not in bench.view.hidden,
        chart="" if is_hidden else step.chart,
        measures=step.measures,
        can_edit=EDITS in step.controls,
        can_paint=is_painted(step),
        guess=place.guess if is_drawn and place.guess is not None else (),
        ends=(asks.low, asks.high) if isinstance(asks, Curve) else (),
        has_ghost=not bench.hand.lacks
        and place.first.setdefault(place.number, bench.begun.number) < bench.begun.number
        and (outcome or step.goal is not None)
        and not is_exercise(bench),
    )
