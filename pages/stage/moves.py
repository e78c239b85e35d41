"""The moves of a reader on the stage: guess, run, play again, another seed, and from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.data.edits import DRAWN, EDITS, UNMARKED
from dsgcore.experiments import Setting
from dsgcore.lessons import lesson_named, lessons_of
from dsgcore.settings import GuidedLesson, LessonStep
from pages.controls.hand import Hand
from pages.room.lecturer import (
    ask_instead,
    ask_own,
    ask_the_class,
    ends_an_empty_vote,
    is_asked,
    is_led_elsewhere,
)
from pages.session.bench import Bench, once
from pages.session.lesson_place import Place, Stage
from pages.session.link import link_to_part, number_of
from pages.stage.links import to_take_away
from pages.stage.step import is_exercise
from pages.workbench.head import given_for, guide, is_presented
from pages.workbench.sidebar import roll, toggle


def lesson_button(
    bench: Bench, label: str, key: str, action: Callable[..., None], *arguments: Any, **options: Any
) -> None:
    """Draw a button of a lesson. A late click does nothing after the reader has left the lesson."""
    st.button(
        label,
        key=key,
        on_click=once,
        args=(bench, bench.drawing.number, _while_there, bench, action, *arguments),
        **options,
    )


def _while_there(bench: Bench, action: Callable[..., None], *arguments: Any) -> None:
    if bench.lesson.place is not None:
        action(*arguments)


def moves(problem: type[Setting], bench: Bench, place: Place, guess: Any) -> None:
    """Draw the buttons that lead on and back. The button that leads on is always at the same place."""
    with st.container(key="lesson-on", horizontal=True, vertical_alignment="center", gap="small"):
        if bench.group.part is not None:
            _lead_on(problem, bench, place)
            return
        if bench.group.own is not None:
            more: dict[str, Any] = {"shortcut": "Right", "type": "primary"}
            lesson_button(bench, "Back to the lesson", "lesson-back-to", ask_instead, bench, None, **more)
            return
        if place.number and not (place.is_last and place.stage is Stage.OUTCOME):
            lesson_button(
                bench, "Back", "lesson-back", go_to_step, problem, bench, -1, shortcut="Left", type="tertiary"
            )
        if place.stage is Stage.QUESTION:
            _ask(problem, bench, guess)
        elif is_exercise(bench):
            return
        elif place.stage is Stage.RUN:
            _wait(problem, bench, place)
        else:
            _go_on(problem, bench, place)


def _ask(problem: type[Setting], bench: Bench, guess: Any) -> None:
    """Draw the button that starts the run. Before a class it needs no guess."""
    if is_presented() and bench.group.room is None:
        lesson_button(bench, "Ask the class", "room-open", ask_the_class, problem, bench, icon=":material/group:")
    off = guess is None and not is_presented()
    label = "Run" if is_presented() and guess is None else "Guess and run"
    lesson_button(bench, label, "lesson-run", answered, bench, guess, type="primary", shortcut="Right", disabled=off)


def answered(bench: Bench, guess: Any) -> None:
    """Keep the guess, if there is one, and start the run."""
    place = bench.lesson.place
    assert place is not None
    if ends_an_empty_vote(bench):
        return
    if guess is None:
        place.released.add(place.number)
    else:
        place.guesses[place.number] = guess
    bench.is_playing = True


def _wait(problem: type[Setting], bench: Bench, place: Place) -> None:
    if place.step.goal is None and is_presented() and bench.live is not None:
        lesson_button(bench, "To the end", "lesson-end", to_the_end, bench, type="primary", shortcut="Right")
    elif place.step.goal is None:
        st.button("Next", key="lesson-next", type="primary", disabled=True)
    else:
        may_ask = is_presented() and not is_asked(bench) and not is_led_elsewhere(bench)
        if may_ask and place.values.get(EDITS) == UNMARKED:
            lesson_button(bench, "Ask the class", "room-open", ask_the_class, problem, bench, icon=":material/group:")
        icon = ":material/visibility:"
        key = "Right" if is_presented() else None  # a remote control has no other way on
        lesson_button(bench, "Show me", "lesson-show", show_solution, problem, bench, icon=icon, shortcut=key)


def to_the_end(bench: Bench) -> None:
    """Let the run reach its last iteration at once."""
    if bench.live is not None:
        bench.link.going_to, bench.link.plays_on = bench.live.run.n_iter, False


def _go_on(problem: type[Setting], bench: Bench, place: Place) -> None:
    if not place.is_last:
        lesson_button(bench, "Next", "lesson-next", go_to_step, problem, bench, 1, type="primary", shortcut="Right")
    else:
        _lead_on(problem, bench, place)


def _lead_on(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the button that leads on from a lesson, or from a question of a lecture."""
    number = _next_part(bench, place.lesson)
    if number is not None and bench.group.lecture is not None:
        label = "Next question" if "|" in bench.group.lecture.parts[number] else "Next lesson"
        more: dict[str, Any] = {"type": "primary", "shortcut": "Right"}
        lesson_button(bench, label, "lesson-following", go_to_part, problem, bench, number, **more)
        return
    to_take_away(problem, place.lesson, "Handout")
    following = next_lesson(problem, place.lesson) if bench.group.lecture is None else None
    if following is None:
        st.page_link("pages/lessons.py", label="All lessons", icon=":material/school:", width="content")
    else:
        lesson_button(
            bench, "Next lesson", "lesson-following", guide, bench, problem, following, type="primary", shortcut="Right"
        )


def _next_part(bench: Bench, lesson: GuidedLesson) -> int | None:
    """Return the number of the lecture's next part, or None at its end, or beside it."""
    lecture = bench.group.lecture
    if lecture is None:
        return None
    here = bench.group.part if bench.group.part is not None else number_of(lecture, lesson)
    return None if here is None or here + 1 == len(lecture.parts) else here + 1


def go_to_part(problem: type[Setting], bench: Bench, number: int) -> None:
    """Ask the lecture's question of that number, or go to its lesson, which may be on another setting's page."""
    group = bench.group
    assert group.lecture is not None
    part, group.part, group.asks = group.lecture.parts[number], number, None
    try:
        if "|" in part:
            ask_own(problem, bench, part)
            return
        lesson = lesson_named(part)
    except DSGError as error:  # the step has no map, or a file was changed meanwhile; the next press leads on
        bench.link.notices.append(str(error))
        return
    group.part = None
    if lesson.setting == problem.name:
        guide(bench, problem, lesson)
    else:
        group.going = link_to_part(part, group.lecture_text)


def next_lesson(problem: type[Setting], lesson: GuidedLesson) -> GuidedLesson | None:
    """Return the setting's lesson after this one, or None at the last."""
    all_lessons = lessons_of(problem)
    following = all_lessons[all_lessons.index(lesson) + 1 :]
    return following[0] if following else None


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
    bench.given = given_for(problem, place.values)
    bench.hand = Hand(taken=bench.hand.taken)
    bench.wants_restart = True


def go_to_step(problem: type[Setting], bench: Bench, steps: int) -> None:
    """Go to another step and set its values."""
    place = bench.lesson.place
    assert place is not None
    place.go(steps)
    bench.given = given_for(problem, place.lesson.values_at(place.number))
    bench.hand = Hand(taken=bench.hand.taken)
    bench.wants_restart = True
