"""A guided lesson in front of a class: one thing at a time, large, with keys for next and back, and notes for the lecturer."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Estimate, Pick
from pages.session.bench import Bench
from pages.session.lesson_place import Place, Stage
from pages.shell.browser import keep_room_key
from pages.workbench.drawn_curve import show_curve
from pages.workbench.layout import PARTS
from pages.workbench.lesson_steps import go_to_step, lesson_button, light_up, show_solution
from pages.workbench.room_view import LETTERS, open_room, room_panel, tell_the_room

_STYLE = Path(__file__).with_suffix(".css")
# Measures that the error's chart and the map show; the curves show all others.
_OF_THE_ERROR = ("error_share", "lag", "overstated")


def is_presented() -> bool:
    """Return True if the link presents a lesson to a class."""
    return st.query_params.get("present") == "1"


def set_stage(bench: Bench) -> None:
    """Start a step of a presented lesson with its text; a lesson that is not presented has no stages."""
    if bench.lesson.place is not None and is_presented() == (bench.lesson.place.stage is None):
        bench.lesson.place.stage = Stage.TEXT if is_presented() else None


def left_out(bench: Bench) -> Set[str]:
    """Return the parts of the page to hide at this stage."""
    place = bench.lesson.place
    if place is None or place.stage is None:
        return frozenset()
    if place.stage is not Stage.RUN:
        return set(PARTS) - ({"map"} if place.stage is Stage.TEXT else set())
    is_of_the_error = any(measure.startswith(_OF_THE_ERROR) for measure in place.step.measures)
    shown = {"map", "error" if is_of_the_error else "curves"} | ({"sidebar"} if place.step.goal else set())
    return set(PARTS) - shown


def presented(problem: type[Setting], bench: Bench) -> None:
    """Draw the current stage, with buttons and keys for next and back."""
    place = bench.lesson.place
    assert place is not None
    tell_the_room(problem, bench)
    if bench.lesson.ticket is not None:
        keep_room_key(bench.lesson.ticket.name)
    st.html(_STYLE)
    with st.container(key="presented"):
        match place.stage:
            case Stage.TEXT:
                st.markdown(f"# {place.lesson.title}")
                st.markdown(place.step.text)
            case Stage.QUESTION:
                _question(bench, place)
            case Stage.RUN:
                _run(problem, bench, place)
            case Stage.OUTCOME:
                _outcome(bench, place)
        _keys(problem, bench, place)
        if st.query_params.get("notes") == "1":
            _notes(place)


def _question(bench: Bench, place: Place) -> None:
    asks = place.step.asks
    assert asks is not None
    st.markdown(f"# {asks.text}")
    if isinstance(asks, Pick):
        st.markdown("\n".join(f"- **{letter}** {o.words}" for letter, o in zip(LETTERS, asks.options, strict=False)))
    elif isinstance(asks, Estimate):
        st.markdown(f"A number between {asks.low:g} and {asks.high:g}.")
    else:
        st.markdown(f"From {asks.low:g} to {asks.high:g}, from the first iteration to the last.")
    if bench.lesson.room is None:
        lesson_button(bench, "Ask the class", "room-open", open_room, bench, icon=":material/group:")
        return
    room_panel(bench)


def _run(problem: type[Setting], bench: Bench, place: Place) -> None:
    step = place.step
    st.markdown(f"## {step.asks.text if step.asks is not None else step.goal.text if step.goal is not None else ''}")
    if step.goal is not None and place.outcome is None:
        light_up(problem, place)
        lesson_button(bench, "Show me", "lesson-show", show_solution, problem, bench, type="tertiary")


def _outcome(bench: Bench, place: Place) -> None:
    st.markdown(f"# {_came_to(place)}")
    if isinstance(place.step.asks, Curve) and place.outcome is not None and bench.lesson.room is None:
        show_curve(place.step.asks, place.step.asks.came_to(place.outcome), key=f"presented-curve-{place.number}")
    room_panel(bench)
    st.markdown(place.step.explanation)
    if place.is_last:
        st.markdown(f"**What you learned:** {place.lesson.learned}")


def _came_to(place: Place) -> str:
    """Return the outcome of the run in one line."""
    asks, outcome = place.step.asks, place.outcome
    if outcome is None or asks is None:
        return "Goal reached."
    if isinstance(asks, Pick):
        right = asks.right(outcome)
        letter = "" if right is None else LETTERS[asks.options.index(right)]
        return "None of these. Try another seed." if right is None else f"{letter}. {right.words}"
    if isinstance(asks, Estimate):
        return f"{asks.words[0].upper()}{asks.words[1:]} is {outcome.get(asks.measure, float('nan')):.2f}"
    return f"{asks.words[0].upper()}{asks.words[1:]}, in this run"


def _keys(problem: type[Setting], bench: Bench, place: Place) -> None:
    off = {"disabled": place.stage is Stage.RUN and place.outcome is None}
    is_over = place.is_last and place.stage is Stage.OUTCOME
    with st.container(key="presented-keys", horizontal=True, vertical_alignment="center", gap="small"):
        lesson_button(
            bench, "Back", "present-back", _back, problem, bench, shortcut="Left", disabled=place.is_beginning
        )
        if not is_over:
            lesson_button(bench, "Next", "present-next", _next, problem, bench, shortcut="Right", type="primary", **off)
        st.caption(f"{place.lesson.title} · step {place.number + 1} of {len(place.lesson.steps)}")


def _next(problem: type[Setting], bench: Bench) -> None:
    """Show the next stage; the run starts at its stage."""
    place = bench.lesson.place
    assert place is not None
    if place.stage is Stage.OUTCOME:
        go_to_step(problem, bench, 1)
        return
    place.turn(1)
    bench.is_playing = place.stage is Stage.RUN or bench.is_playing


def _back(problem: type[Setting], bench: Bench) -> None:
    """Show the previous stage, or the first stage of the previous step."""
    place = bench.lesson.place
    assert place is not None
    if place.stage is Stage.TEXT:
        go_to_step(problem, bench, -1)
    else:
        place.turn(-1)


def _notes(place: Place) -> None:
    with st.container(key="lesson-notes", border=True):
        st.markdown(f"**Notes.** {place.step.notes or 'This step has no notes.'}")
