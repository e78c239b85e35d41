"""Opening a setting's page: the first time, from a link, with Back or from the menu."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.data.datasets import SEED
from dsgcore.experiments import Setting, Spec
from dsgcore.lessons import lessons_of
from pages.controls.control import BAD_INPUT, refused
from pages.controls.hand import EDITS, Hand, edits_in
from pages.controls.link import FILE_ENTRY, names_of
from pages.controls.own_file import store
from pages.race.state import bring_back as bring_back_race
from pages.room.lecturer import asked_lessons
from pages.session import link
from pages.session.bench import Bench, ClassState
from pages.session.lecture import LECTURE, lecture_in
from pages.session.lesson_place import place_in
from pages.shell.page_link import left, link_now
from pages.shell.room_key import kept_key, kept_keys, lead_if_free
from pages.shell.sessions import page_before, visit
from pages.shell.ticks import Hold
from pages.workbench.head import given_for
from pages.workbench.layout import is_presented, refused_parts


def bench_key(name: str) -> str:
    """Return the key of the bench of the setting `name` in the session's state."""
    return f"_bench_{name}"


def run_before() -> Spec | None:
    """Return the run on the method's page from which the reader came to this page, or None."""
    bench: Bench | None = st.session_state.get(bench_key(page_before()))
    return None if bench is None else bench.spec


def hold_of(name: str) -> Hold:
    """Return the hold on the run of that setting; a free one if there is no run yet."""
    bench: Bench | None = st.session_state.get(bench_key(name))
    return Hold() if bench is None else bench.hold


def bench_of(problem: type[Setting]) -> Bench:
    """Return the session's bench for this page, and set the controls to values from buttons or from an earlier visit."""
    key = bench_key(problem.name)
    if key not in st.session_state:
        group = st.session_state.setdefault("_class", ClassState())
        st.session_state[key] = Bench(store(), problem.name, group=group)
    bench: Bench = st.session_state[key]
    if bench.link.visit != visit():
        _enter(problem, bench)
    _take_given(bench)
    return bench


def _enter(problem: type[Setting], bench: Bench) -> None:
    """Open the page with the values of its link; without any, as the reader left it."""
    opened = link_now()
    own = opened.given
    if bench.live is not None and opened.is_plain:
        own |= left(problem.name)
    bench.link.notices = [*refused_parts(), *link.read_link(problem, own)]
    _take_place(problem, bench, own)
    bench.link.race = own.get(link.RACE, "")
    _take_edits(bench, own.get(EDITS, ""))
    _take_room(bench, own)
    _take_lecture(bench, own.get(LECTURE, ""))
    bench.link.is_unread, bench.link.visit = True, visit()


def _take_place(problem: type[Setting], bench: Bench, own: Mapping[str, str]) -> None:
    """Take the place in a guided lesson from the link. If the link sets no control, set the step's values."""
    text = own.get(link.LESSON, "") or _first_of(problem) * is_presented()
    if bench.lesson.place is not None and text == bench.lesson.place.text:
        return
    bench.lesson.place = place_in(problem, text) if text else None
    if text and bench.lesson.place is None:
        bench.link.notices.append(_no_lesson(problem, text))
        return
    given = given_for(problem, bench.lesson.place.values) if bench.lesson.place is not None else {}
    of_the_spec = set(names_of(problem).values()) - {FILE_ENTRY, SEED.name}
    if given and not set(own) & of_the_spec:
        bench.given |= given
        bench.wants_restart = bench.live is not None


def _take_edits(bench: Bench, text: str) -> None:
    """Take the edits of the data from the link."""
    if text == bench.hand.text:
        return
    bench.hand = Hand(is_new=not text)
    try:
        bench.hand.made = edits_in(text)
    except BAD_INPUT as error:
        bench.link.notices.append(f"In the link, {error}; all edits are left out.")


def _take_room(bench: Bench, own: dict[str, str]) -> None:
    """Take the class's room from the link, and leave only the room's code in the link."""
    if link.ROOM not in own:
        _join_again(bench)
        return
    code = own[link.ROOM] = own[link.ROOM].partition(".")[0]
    bench.group.room = kept_key(code) or bench.group.room
    if bench.group.room is not None:
        lead_if_free(bench.group.room)
    if code and is_presented() and (bench.group.room is None or bench.group.room.code != code):
        bench.link.notices.append(
            f"In the link, room must be one that this browser has opened, got {refused(code)}; "
            "press 'Ask the class' to open another."
        )


def _join_again(bench: Bench) -> None:
    """Go on in a room of this browser in which this lesson was asked before, if it is opened again before a class."""
    place = bench.lesson.place
    if place is None or not is_presented() or bench.group.room is not None:
        return
    for key in kept_keys():
        if place.lesson in asked_lessons(key):
            bench.group.room = key
            lead_if_free(key)
            return


def _take_lecture(bench: Bench, text: str) -> None:
    """Take the lecture from the link."""
    group = bench.group
    if text == group.lecture_text:
        return
    group.lecture, group.lecture_text, group.asks, group.part = None, text, None, None
    try:
        group.lecture = lecture_in(text) if text else None
    except DSGError as error:
        bench.link.notices.append(f"In the link, lecture cannot be followed: {error}")


def _first_of(problem: type[Setting]) -> str:
    return next((lesson.name for lesson in lessons_of(problem)), "")


def _no_lesson(problem: type[Setting], text: str) -> str:
    known = [lesson.name for lesson in lessons_of(problem)]
    allowed = (
        f"one of {', '.join(known)}, and after a colon one of its steps"
        if known
        else "left out, because this page has no lessons"
    )
    return f"In the link, lesson must be {allowed}, got {refused(text)}; the page starts without a lesson."


def _take_given(bench: Bench) -> None:
    """Set the controls to the given values, one at a time, because a rerun may interrupt this at each of them."""
    while bench.given:
        key = next(iter(bench.given))
        st.session_state[key] = bench.given[key]
        del bench.given[key]


def bring_back(bench: Bench) -> None:
    """Load the race that the link names, after there is a run to compare it with."""
    if bench.link.race and bench.live is not None:
        named, bench.link.race = bench.link.race, ""
        notice = bring_back_race(named, bench.live)
        bench.link.notices += [notice] if notice else []
