"""The moves of a reader on the stage: guess, run, play again, another seed, and from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dsgcore.data.edits import DRAWN, EDITS, UNMARKED
from dsgcore.experiments import Setting
from dsgcore.lessons import lesson_named, lessons_of
from dsgcore.settings import LessonStep
from pages.room.lecturer import (
    ask_instead,
    ask_own,
    ask_the_class,
    ends_an_empty_vote,
    is_asked,
    is_led_elsewhere,
    refusal,
)
from pages.session.bench import Bench, once
from pages.session.lesson_place import Place, Stage
from pages.session.link import link_to_part, number_of
from pages.stage.links import to_take_away
from pages.stage.step import is_exercise
from pages.workbench.head import begin_step, guide, is_presented
from pages.workbench.sidebar import roll, toggle

ONWARD: dict[str, Any] = {"type": "primary", "shortcut": "Right"}  # of the button that leads on


def lesson_button(
    bench: Bench, label: str, key: str, action: Callable[..., None], *arguments: Any, **options: Any
) -> None:
    """Draw a button of a lesson. A late click does nothing after the reader has left the lesson."""

    def act() -> None:
        if bench.lesson.place is not None:
            action(*arguments)

    st.button(label, key=key, on_click=once, args=(bench, bench.drawing.number, act), **options)


def moves(problem: type[Setting], bench: Bench, place: Place, guess: Any) -> None:
    """Draw the buttons that lead on and back. The button that leads on is always at the same place."""
    group = bench.group
    if group.own is not None and group.lecture is not None and group.own.own in group.lecture.parts:
        group.part = group.lecture.parts.index(group.own.own)  # a reload has forgotten it
    with st.container(key="lesson-on", horizontal=True, vertical_alignment="center", gap="small"):
        if group.part is not None:
            _lead_on(problem, bench, place)
            return
        if group.own is not None:
            lesson_button(bench, "Back to the lesson", "lesson-back-to", ask_instead, bench, None, **ONWARD)
            return
        if place.number and not (place.is_last and place.stage is Stage.OUTCOME):
            lesson_button(
                bench, "Back", "lesson-back", go_to_step, problem, bench, -1, shortcut="Left", type="tertiary"
            )
        if place.stage is Stage.QUESTION:
            _ask(problem, bench, guess)
        elif is_exercise(bench):
            return
        elif place.stage is Stage.RUN and place.step.goal is not None and not (is_presented() and bench.is_going):
            may_ask = is_presented() and not is_asked(bench) and not is_led_elsewhere(bench)
            if may_ask and place.values.get(EDITS) == UNMARKED:
                _ask_button(problem, bench)
            icon = ":material/visibility:"
            key = "Right" if is_presented() else None  # a remote control has no other way on
            lesson_button(bench, "Show me", "lesson-show", show_solution, problem, bench, icon=icon, shortcut=key)
        elif place.stage is Stage.RUN and is_presented() and bench.live is not None:
            lesson_button(bench, "To the end", "lesson-end", to_the_end, bench, **ONWARD)
        elif place.stage is Stage.RUN:
            st.button("Next", key="lesson-next", type="primary", disabled=True)
        elif not place.is_last:
            lesson_button(bench, "Next", "lesson-next", go_to_step, problem, bench, 1, **ONWARD)
        else:
            _lead_on(problem, bench, place)


def _ask_button(problem: type[Setting], bench: Bench) -> None:
    lesson_button(bench, "Ask the class", "room-open", ask_the_class, problem, bench, icon=":material/group:")


def _ask(problem: type[Setting], bench: Bench, guess: Any) -> None:
    """Draw the button that starts the run. Before a class it needs no guess."""
    if is_presented() and bench.group.room is None:
        _ask_button(problem, bench)
    off = guess is None and not is_presented()
    label = "Run" if is_presented() and guess is None else "Guess and run"
    lesson_button(bench, label, "lesson-run", answered, bench, guess, disabled=off, **ONWARD)


def answered(bench: Bench, guess: Any) -> None:
    """Keep the guess, if there is one, and start the run."""
    place = bench.lesson.place
    assert place is not None
    if ends_an_empty_vote(bench):
        return
    if guess is None:
        place.shown.add(place.number)
    else:
        place.guesses[place.number] = guess
    bench.is_playing = True


def to_the_end(bench: Bench) -> None:
    """Let the run reach its last iteration at once."""
    if bench.live is not None:
        bench.link.going_to, bench.link.plays_on = bench.live.run.n_iter, False


def _lead_on(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the button that leads on from a lesson, or from a question of a lecture."""
    lecture, lessons = bench.group.lecture, lessons_of(problem)
    if lecture is not None:  # beside it, or after its end, nothing follows
        part = bench.group.part if bench.group.part is not None else number_of(lecture, place.lesson)
        if part is not None and part + 1 < len(lecture.parts):
            label = "Next question" if "|" in lecture.parts[part + 1] else "Next lesson"
            lesson_button(bench, label, "lesson-following", go_to_part, problem, bench, part + 1, **ONWARD)
            return
    to_take_away(problem, place.lesson, "Handout")
    # By its place, because a lesson's file may have been saved again or deleted meanwhile.
    here = (place.lesson.order, place.lesson.name)
    following = [one for one in lessons if (one.order, one.name) > here and lecture is None]
    if following:
        lesson_button(bench, "Next lesson", "lesson-following", guide, bench, problem, following[0], **ONWARD)
    else:
        st.page_link("pages/lessons.py", label="All lessons", icon=":material/school:")


def go_to_part(problem: type[Setting], bench: Bench, number: int) -> None:
    """Ask the lecture's question of that number, or go to its lesson, which may be on another setting's page."""
    group = bench.group
    assert group.lecture is not None
    part, group.part, group.asks = group.lecture.parts[number], number, None
    with refusal(bench):  # the step has no map, or a file was changed meanwhile; the next press leads on
        if "|" in part:
            ask_own(problem, bench, part)
            return
        lesson = lesson_named(part)
        group.part = None
        if lesson.setting == problem.name:
            guide(bench, problem, lesson)
        else:
            group.going = link_to_part(part, group.lecture_text)


def steps_of_run(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the buttons of the run. There is nothing to play before the guess."""
    if place.waits:
        return
    is_going, is_over = bench.is_going, bench.live is not None and bench.live.is_finished and not bench.is_held
    label, icon = ("Again", "replay") if is_over else ("Pause", "pause") if is_going else ("Play", "play_arrow")
    more: dict[str, Any] = {"icon": f":material/{icon}:", "shortcut": "P", "disabled": bench.is_held}
    lesson_button(bench, label, "play", toggle, bench, is_going, **more)
    if not is_painted(place.step):  # its controls are many, and its data are the reader's own
        lesson_button(bench, "Another seed", "dice", roll, problem, bench, icon=":material/casino:")


def is_painted(step: LessonStep) -> bool:
    """Return True if the reader paints the data of a step."""
    return step.goal is not None and step.goal.solution.get(EDITS) in DRAWN


def show_solution(problem: type[Setting], bench: Bench) -> None:
    """Set the controls to values that reach the goal."""
    place = bench.lesson.place
    assert place is not None
    place.shown.add(place.number)
    begin_step(problem, bench, place.values)


def go_to_step(problem: type[Setting], bench: Bench, steps: int) -> None:
    place = bench.lesson.place
    assert place is not None
    place.go(steps)
    begin_step(problem, bench, place.lesson.values_at(place.number))
