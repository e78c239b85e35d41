"""A class's room on the lecturer's page: what the room is asked, the way in, the answers, and the presenter's bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.data.edits import PAIRS, labels_near
from dsgcore.experiments import Setting
from dsgcore.rooms.questions import LABELS, OWN, Asked, Places, Question, choice_of, plain_text, question_in
from dsgcore.rooms.rooms import MOST_ROUNDS, Key, RoomError, State, spaced
from dsgcore.settings import GuidedLesson
from dsgcore.settings.lessons import LETTERS, LessonError
from pages.room.door import draw_door
from pages.room.drawings import answers, draw, standing
from pages.room.entrance import ADDRESS, STYLE, rooms
from pages.session.bench import Bench, ClassState, forget_refusal
from pages.session.lesson_place import Place, Stage
from pages.shell.addresses import beside_this_page
from pages.shell.plain_text import plain
from pages.shell.room_key import Ticket, lead, leads

SECONDS_BETWEEN_LOOKS = 0.5
TIMES = (30, 60, 120)  # seconds
MOST_POINTS = 250  # of a map on a phone


@contextmanager
def refusal(bench: Bench) -> Iterator[None]:
    """Say on the page why what the block does is refused, until the next press."""
    forget_refusal(bench)
    try:
        yield
    except DSGError as error:
        bench.group.refused = str(error)
        bench.link.notices.append(bench.group.refused)


def ask_the_class(problem: type[Setting], bench: Bench) -> None:
    """Ask the class the step's question, or which points it would label if the step has none; open a room if needed."""
    group, place = bench.group, bench.lesson.place
    with refusal(bench):
        if group.room is None:
            room = rooms().open()
            group.ticket, group.room, group.told = Ticket(room), room, None
            lead(room)
        if place is not None and place.step.asks is None:
            ask_instead(bench, replace(_here(problem, place), kind=LABELS))


def ask_instead(bench: Bench, asked: Asked | None) -> None:
    """Ask the class this in place of the step's question; None asks that one again."""
    bench.group.asks, bench.group.is_turned = asked, True


def _here(problem: type[Setting], place: Place) -> Asked:
    return Asked(problem.name, place.lesson.name, place.number)


def is_led_elsewhere(bench: Bench) -> bool:
    """Return True if another tab leads the room, so that this page tells the class nothing."""
    return bench.group.room is not None and not leads(bench.group.room)


def offer_to_lead(bench: Bench) -> None:
    """Draw the question whether this tab shall lead the room."""
    room = bench.group.room
    assert room is not None
    st.html(STYLE)
    st.markdown(f"Room {spaced(room.code)} is led in another tab. Here you see the lesson without the class.")
    st.button("Take over here?", key="room-lead", on_click=lead, args=(room,))


def is_asked(bench: Bench) -> bool:
    """Return True if the room has a question now."""
    return bench.group.room is not None and bench.group.told is not None and bench.group.told[0] is not None


def ends_an_empty_vote(bench: Bench) -> bool:
    """Return True, once for each question, if a run would end a vote that has no answer yet; the room's panel says so."""
    group = bench.group
    if group.room is None or not is_asked(bench) or group.told[0].name == group.warned or is_led_elsewhere(bench):
        return False
    with suppress(RoomError):
        state = rooms().look(group.room)
        if state.is_open and not state.count:
            group.warned = group.told[0].name
            return True
    return False


def tell_the_room(problem: type[Setting], bench: Bench) -> None:
    """Send the step's question to the class. It is open until the run starts, and has a result when the run has ended."""
    group, place, room = bench.group, bench.lesson.place, bench.group.room
    if room is None or place is None or not leads(room):
        group.told = None  # all is told again when this tab leads
        return
    if group.told is None and group.asks is None:  # after a reload the class still has its question
        with suppress(RoomError):
            group.asks = rooms().look(room).asked
    asked = _asked(problem, bench, place)
    is_over = asked is not None and not asked.kind and place.stage is not Stage.QUESTION
    outcome = place.outcome if is_over else None
    if group.told == (asked, is_over, outcome):
        return
    try:
        rooms().ask(room, asked, _picture(bench) if asked is not None and asked.kind else None)
        if outcome is not None:
            rooms().tell(room, outcome)
        elif is_over:
            rooms().end(room)
        group.told = (asked, is_over, outcome)
    except RoomError as error:
        group.room = None
        bench.link.notices.append(str(error))


def _asked(problem: type[Setting], bench: Bench, place: Place) -> Asked | None:
    """Return the question of this moment, or None if the step has none. That on labels is of its step alone."""
    here, other = _here(problem, place), bench.group.asks
    if other is not None and (other.own or replace(other, kind="") == here):
        return other
    return None if place.step.asks is None else here


def _has_map(bench: Bench) -> bool:
    """Return True if the run has a map of two features."""
    return bench.shape is not None and bench.shape[1] == 2


def _picture(bench: Bench) -> Mapping[str, Any]:
    """Return the unlabeled points, along both sides from 0 to 1."""
    if bench.live is None or not _has_map(bench):
        return {}
    split = bench.live.run.split
    points = np.clip(split.X_train[split.y_train < 0][:MOST_POINTS].astype(float), 0, 1)
    return {"points": points.round(3).tolist()}


def room_panel(bench: Bench) -> None:
    """Draw the room of a presented lesson. It looks for answers twice a second."""
    st.html(STYLE)
    st.fragment(_panel, run_every=SECONDS_BETWEEN_LOOKS)(bench)


def _panel(bench: Bench) -> None:
    group, room = bench.group, bench.group.room
    if room is None or group.is_turned or not leads(room):
        group.is_turned = False
        st.rerun()  # the question is drawn outside of this fragment
    try:
        state = rooms().look(room)
    except DSGError as error:
        st.warning(plain(str(error)))
        return
    if state.asked is not None and state.asks is not None:
        with st.container(key="room-panel"):
            _board(group, room.code, state, state.asked, state.asks)
            _bar(bench, room, state, state.asked)


def _board(group: ClassState, code: str, state: State, asked: Asked, asks: Question) -> None:
    """Draw the way in while the room votes, the answers after the reveal, and how many have answered, or that nobody has."""
    if state.is_revealed and group.hidden != (asked.name, state.round):
        draw(answers(asks, state.rounds, state.result, state.picture))
    elif state.is_open:
        draw_door(code)
    again = "<span>Nobody has answered yet. Press again to run.</span>" * (asked.name == group.warned)
    inside = again * (not state.count) if state.is_open else f"<span>Room {spaced(code)}</span>"
    other = f"<b>{asks.text}</b><br>" * (asked.kind == LABELS)  # not the stage's question
    st.html(f'<p class="room-count" role="status">{other}{standing(state)} {inside}</p>')


def _bar(bench: Bench, room: Key, state: State, asked: Asked) -> None:
    """Draw the presenter's buttons."""
    with st.container(key="room-bar", horizontal=True, vertical_alignment="center", gap="small"):
        if state.is_revealed and bench.lesson.place is not None and bench.lesson.place.stage is Stage.OUTCOME:
            turn = () if bench.group.hidden == (asked.name, state.round) else (asked.name, state.round)
            does = "hide" if turn else "show"  # two buttons: a press that is carried out twice goes not back again
            _button(bench, f"{does.title()} answers", does, partial(setattr, bench.group, "hidden", turn), shortcut="V")
        else:
            _button(bench, "Reveal", "reveal", lambda: rooms().reveal(room), off=state.is_revealed, shortcut="V")
        _button(bench, "Vote again", "again", lambda: rooms().again(room), off=state.round >= MOST_ROUNDS)
        if state.is_revealed and state.count and _can_run_with_choice(bench, asked):
            _button(bench, "Run with the class's choice", "choice", partial(_run_with_choice, bench, state))
        else:
            _button(bench, "End vote", "close", lambda: rooms().end(room), off=not state.is_open)
        # A list is another one after a choice, so that it closes: it would cover the map.
        timer = f"room-timer-{state.round}-{state.left is None}"
        with st.popover("Timer", icon=":material/timer:", disabled=not state.is_open, key=timer):
            for seconds in TIMES:
                _button(bench, f"{seconds} seconds", f"timer-{seconds}", partial(rooms().end, room, float(seconds)))
        with st.popover("More", icon=":material/more_horiz:", key=f"room-more-{asked.name}-{state.is_shut}"):
            _more(bench, room, state, asked)


def _more(bench: Bench, room: Key, state: State, asked: Asked) -> None:
    results = beside_this_page(f"{ADDRESS}/{room.code}/results.html").geturl()
    st.link_button("Results", results, width="stretch")
    if not asked.own and (_has_map(bench) or asked.kind):
        label = "Back to the step" if asked.kind else "Ask: which points to label?"
        other = None if asked.kind else replace(asked, kind=LABELS)
        _button(bench, label, "labels", partial(ask_instead, bench, other), width="stretch")
    label = "Let in new phones again" if state.is_shut else "Let in no new phones"
    _button(bench, label, "shut", partial(rooms().shut, room, not state.is_shut), width="stretch")
    _button(bench, "Close the room and delete its answers", "end", partial(_end, bench, room), width="stretch")


def _button(
    bench: Bench, label: str, key: str, action: Callable[[], None], *, off: bool = False, **options: Any
) -> None:
    st.button(label, key=f"room-{key}", on_click=_do, args=(bench, action), disabled=off, **options)


def _do(bench: Bench, action: Callable[[], None]) -> None:
    if not is_led_elsewhere(bench):  # since the page was drawn
        with refusal(bench):
            action()


def _end(bench: Bench, room: Key) -> None:
    group = bench.group
    group.room = group.ticket = group.told = group.asks = None
    group.is_turned = True
    rooms().close(room)


def _can_run_with_choice(bench: Bench, asked: Asked) -> bool:
    """Return True if the answers to a question are a guess, or labels, with which a run can begin now."""
    place, live = bench.lesson.place, bench.live
    if place is None or live is None or asked.own:
        return False
    return not place.waits and type(live.run.problem).labels != PAIRS if asked.kind == LABELS else place.waits


def _run_with_choice(bench: Bench, state: State) -> None:
    """Start the run with what the class has answered: as the guess, or as the labels of the data."""
    place, asks = bench.lesson.place, state.asks
    if place is None or asks is None or bench.live is None:
        return
    choice = choice_of(asks, state.rounds[-1])
    if isinstance(asks, Places):
        bench.hand.change(labels_near(bench.live.run.split, choice))
    else:
        place.guesses[place.number] = choice
    bench.is_playing = bench.group.is_turned = True


def ask_anything(problem: type[Setting], bench: Bench) -> None:
    """Draw the button that opens the form of a lecturer's own question."""
    own = bench.group.own
    key = "" if own is None else own.kind  # another one after each question, so that the form closes and is empty
    with st.popover("Ask anything", icon=":material/forum:", type="tertiary", key=f"stage-asks-{key}"):
        text = st.text_area("Question, and below it the answers, one a line", key=f"room-own-{key}", height=210)
        st.caption("In place of answers: two ends of a number, such as 0 to 100, or the word map.")
        if st.button("Ask now", key="room-own-ask"):  # a callback would get the text before the last one
            with refusal(bench):
                ask_own(problem, bench, text)
                st.rerun()


def ask_own(problem: type[Setting], bench: Bench, text: str) -> None:
    """Put a lecturer's own question on the stage, and ask the class; raise `LessonError` if it cannot be asked."""
    place, group = bench.lesson.place, bench.group
    if isinstance(question_in(text), Places) and not _has_map(bench):
        raise LessonError("The data of this step have no map. Ask for answers or for a number.")
    if place is None:
        return
    if group.room is None:
        ask_the_class(problem, bench)
    group.asks = replace(_here(problem, place), kind=f"{OWN}-{token_hex(4)}", own=text)


def show_own_question(asked: Asked) -> None:
    """Draw a lecturer's own question and its answers for the class to read."""
    asks = question_in(asked.own)
    with st.container(key="stage-own"):
        st.markdown(f"## {plain(plain_text(asks.text))}")
        for letter, option in zip(LETTERS, getattr(asks, "options", ()), strict=False):
            st.markdown(f"**{letter}** {plain(plain_text(option.words))}")


def asked_lessons(room: Key) -> list[GuidedLesson | None]:
    """Return the lessons whose questions were asked in a room; none if it is closed."""
    with suppress(RoomError):
        return [one.asked.of_lesson for one in rooms().questions(room) if one.asked is not None]
    return []


def notes_address(bench: Bench) -> str:
    """Return the address of the notes for the lecturer's own screen: of the lecture, or of the lesson."""
    place, room = bench.lesson.place, bench.group.room
    of = bench.group.lecture_text or (f"{place.lesson.setting}/{place.lesson.name}" if place is not None else "")
    return beside_this_page("notes", {"of": of} | ({} if room is None else {"room": room.code})).geturl()
