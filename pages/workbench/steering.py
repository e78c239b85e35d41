"""The run of a setting's page: opened by a link, with Back or from the menu, and brought in line with the controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.data import DataError, IncompleteDataError
from dsgcore.data.datasets import SEED, CountError
from dsgcore.data.edits import AS_GENERATED
from dsgcore.data.reading.cells import as_number
from dsgcore.experiments import Setting, Spec, load_split, long_work
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.engine import check_cost
from dsgcore.jobs import JobState
from dsgcore.lessons import lessons_of
from pages.controls.control import BAD_INPUT, brief, in_words, refused, too_many
from pages.controls.controls import controls_for
from pages.controls.hand import EDITS, Hand, edits_in
from pages.controls.link import CHANGES, FILE_ENTRY, changes_to_text, names_of, with_changes
from pages.controls.own_file import store
from pages.controls.pickers import make_ready
from pages.controls.view import SLIDER, SPEED, viewed
from pages.race.state import bring_back as bring_back_race
from pages.room.lecturer import asked_lessons
from pages.session import link
from pages.session.bench import BUDGET, MOST_DIGITS, Bench, ClassState, begin, begin_prepared
from pages.session.lesson_place import place_in
from pages.session.link import LECTURE, lecture_in
from pages.shell.page_link import given, left, link_now
from pages.shell.plain_text import in_sentence, plain
from pages.shell.room_key import kept_key, kept_keys, lead_if_free
from pages.shell.ticks import Hold
from pages.studies.differing import differing
from pages.workbench.head import given_for, is_presented, refused_parts

MOST_MOVED = 2  # of the values that a moved control has changed, so many are said


def follow(problem: type[Setting], bench: Bench, asked: Spec) -> None:
    """Bring the run in line with the controls and the edits: leave it, steer it, or start another run."""
    make_ready(asked.kernel.name)
    notice, data, _ = bench.link.clamped
    bench.link.notices = [one for one in bench.link.notices if one != notice or data == asked.data]
    try:
        check_cost(asked, BUDGET)  # before edits of a lesson or of a link load the data
        asked = _with_edits(bench, asked)
        if bench.link.is_unread or bench.begun.asked is None:
            _follow_link(bench, asked)
        elif bench.jobs.preparation is not None and asked == bench.begun.asked and not bench.wants_restart:
            if bench.jobs.preparation.job.state is JobState.DONE:
                begin_prepared(bench)
        elif bench.jobs.preparation is not None or bench.wants_restart or _wants_new_run(bench, asked):
            bench.wants_restart = False
            begin(bench, asked)
            bench.begun.words = _moved(bench.begun.asked, asked) if bench.begun.asked else ""
        elif asked != bench.begun.asked:
            check_cost(asked, BUDGET, bench.shape)
            bench.present.steer(asked.values_at(0))
        bench.begun.asked = asked
    except IncompleteDataError as error:
        # Show edited data that lack what a run needs, until another edit completes them.
        if bench.live is None or bench.live.run.t:  # the map then shows no run of earlier data
            begin(bench, replace(asked, data=replace(asked.data, edits=())))
        bench.hand.lacks, bench.hand.split = error.next_step, load_split(asked, files=bench.files, may_lack=True)
        bench.surface, bench.begun.asked, bench.is_playing = None, asked, False
    except CountError as error:
        _clamp_labels(problem, bench, asked, error)
    except BAD_INPUT as error:
        st.error(plain(in_words(error, controls_for(problem, asked.data.name, asked.kernel.name))))


def _moved(before: Spec, asked: Spec) -> str:
    """Return what the controls have changed, in words: at most two values."""
    rows = differing([before, asked], ["before", "now"], leave_out=("data.edits",))  # they are seen on the map
    rows.sort(key=lambda row: not row["parameter"].startswith(("Data", "Reading")))  # which set others
    said = list[str]()
    for row in rows[:MOST_MOVED]:
        number = as_number(row["now"]) if "." in row["now"] else None
        said.append(f"{in_sentence(row['parameter'])} {row['now'] if number is None else brief(number)}")
    return ", ".join([*said, *["…"] * (len(rows) > MOST_MOVED)])


def _clamp_labels(problem: type[Setting], bench: Bench, asked: Spec, error: CountError) -> None:
    """Set the number of labels to one that the data have, and draw the page again; say so beside the run."""
    offered = controls_for(problem, asked.data.name, asked.kernel.name)
    earlier, data, number = bench.link.clamped
    bench.link.notices = [said for said in bench.link.notices if said != earlier]
    if asked.data.n_labeled == error.nearest:  # another number would not help
        st.error(plain(in_words(error, offered)))
        return
    number = number if data == replace(asked.data, edits=()) else asked.data.n_labeled  # one can lead to another
    notice = too_many(offered, number, error)
    bench.link.notices.append(notice)
    bench.link.clamped = notice, replace(asked.data, n_labeled=error.nearest, edits=()), number
    bench.given[offered["n_labeled"].key] = error.nearest
    st.rerun()


def _with_edits(bench: Bench, asked: Spec) -> Spec:
    """Return the controls' spec with the edits of its data. Edits from a link that do not suit the data are left out."""
    spec = bench.hand.edit(asked)
    if bench.hand.is_new and bench.lesson.place is not None:
        choice = bench.lesson.place.values.get(EDITS, AS_GENERATED)
        bench.hand.begin(with_choice(asked, choice, files=bench.files).data.edits)
        return bench.hand.edit(asked)
    if bench.link.is_unread and spec.data.edits:
        try:
            load_split(spec, files=bench.files, may_lack=True)
        except DataError as error:
            bench.link.notices.append(f"In the link, {error}; all edits are left out.")
            bench.hand = Hand()
            return asked
    return spec


def take(bench: Bench, changes: Mapping[str, Any]) -> None:
    """Set controls of the solver to other values, and start again."""
    if bench.live is None:  # other data were chosen at the same moment
        return
    spec = bench.live.run.spec
    offered = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    bench.start_again({offered[name].key: value for name, value in changes.items()})


def _wants_new_run(bench: Bench, asked: Spec) -> bool:
    if bench.live is None:
        return True
    if bench.begun.asked is None or asked == bench.begun.asked:
        return False
    problem = type(asked.problem)
    if bench.lesson.place is not None or viewed(problem, SLIDER) == "redo" or viewed(problem, SPEED) == "instant":
        return True
    if bench.present.run.is_finished or not bench.present.run.t:
        return True
    # Values that the run finds by itself are found before it starts. A graph that takes long is built before, too.
    if any(
        value is None and bench.begun.asked.values_at(0)[name] is not None for name, value in asked.values_at(0).items()
    ):
        return True
    if long_work(asked, bench.present.run.split) is not None:
        return True
    return _without_steerable(asked) != _without_steerable(bench.begun.asked)


def _without_steerable(spec: Spec) -> dict[str, Any]:
    plain = spec.to_dict()
    for section in ("solver", "problem"):
        plain[section] = {name: v for name, v in plain[section].items() if name not in spec.steerable}
    return plain


def _follow_link(bench: Bench, asked: Spec) -> None:
    """Start the run from the link, unless it is the run that the reader left on the page.

    If the link holds an iteration, the run advances to it. The link is read first, because nothing may interrupt the run on
    the way there.
    """
    changes, at, look = map(given, (CHANGES, "at", "look"))
    bench.link.is_unread = False
    if bench.spec is not None and (asked, changes) == (bench.begun.asked, changes_to_text(bench.spec)):
        return
    spec = asked
    try:
        spec = with_changes(asked, changes)
    except BAD_INPUT as error:
        bench.link.notices.append(f"In the link, {error}; all changes are left out.")
    begin(bench, spec, at)
    if look.isascii() and look.isdigit() and len(look) <= MOST_DIGITS:
        bench.back.t = int(look)  # clipped to the iterations of the run


def bench_key(name: str) -> str:
    """Return the key of the bench of the setting `name` in the session's state."""
    return f"_bench_{name}"


def run_before() -> Spec | None:
    """Return the run on the method's page from which the reader came to this page, or None."""
    bench: Bench | None = st.session_state.get(bench_key(link_now().before))
    return None if bench is None else bench.spec


def hold_of(name: str) -> Hold:
    """Return the hold on the run of that setting; a free one if there is no run yet."""
    bench: Bench | None = st.session_state.get(bench_key(name))
    return Hold() if bench is None else bench.feed.hold


def bench_of(problem: type[Setting]) -> Bench:
    """Return the session's bench for this page, and set the controls to values from buttons or from an earlier visit."""
    key = bench_key(problem.name)
    if key not in st.session_state:
        group = st.session_state.setdefault("_class", ClassState())
        st.session_state[key] = Bench(store(), group=group)
    bench: Bench = st.session_state[key]
    if bench.link.visit != link_now().visit:
        _enter(problem, bench)
    for name, value in bench.given.items():  # kept until the page is drawn: a request may end this at each of them
        st.session_state[name] = value
    return bench


def _enter(problem: type[Setting], bench: Bench) -> None:
    """Open the page with the values of its link; without any, as the reader left it."""
    opened, group = link_now(), bench.group
    own = opened.given
    if bench.live is not None and opened.is_plain:
        own |= left(problem.name)
    bench.link.notices = [*refused_parts(), *link.read_link(problem, own)]
    _take_place(problem, bench, own)
    bench.link.race = own.get(link.RACE, "")
    if (edits := own.get(EDITS, "")) != bench.hand.text:
        bench.hand = Hand(is_new=not edits)
        try:
            bench.hand.made = edits_in(edits)
        except BAD_INPUT as error:
            bench.link.notices.append(f"In the link, {error}; all edits are left out.")
    _take_room(bench, own)
    if (lecture := own.get(LECTURE, "")) != group.lecture_text:
        group.lecture, group.lecture_text, group.asks, group.part = None, lecture, None, None
        try:
            group.lecture = lecture_in(lecture) if lecture else None
        except DSGError as error:
            bench.link.notices.append(f"In the link, lecture cannot be followed: {error}")
    bench.link.is_unread, bench.link.visit = True, opened.visit


def _take_place(problem: type[Setting], bench: Bench, own: Mapping[str, str]) -> None:
    """Take the place in a guided lesson from the link. If the link sets no control, set the step's values."""
    known = [lesson.name for lesson in lessons_of(problem)]
    text = own.get(link.LESSON, "") or next(iter(known), "") * is_presented()
    if bench.lesson.place is not None and text == bench.lesson.place.text:
        return
    bench.lesson.place = place = place_in(problem, text) if text else None
    if place is not None and not set(own) & (set(names_of(problem).values()) - {FILE_ENTRY, SEED.name}):
        bench.given |= given_for(problem, place.values)
        bench.wants_restart = bench.live is not None
    elif text and place is None:
        of_them = f"one of {', '.join(known)}, and after a colon one of its steps"
        allowed = of_them if known else "left out, because this page has no lessons"
        bench.link.notices.append(
            f"In the link, lesson must be {allowed}, got {refused(text)}; the page starts without a lesson."
        )


def _take_room(bench: Bench, own: dict[str, str]) -> None:
    """Take the class's room from the link, and leave only the room's code in the link.

    A lesson that is opened again before a class goes on in a room of this browser in which it was asked before.
    """
    group, place = bench.group, bench.lesson.place
    if link.ROOM not in own:
        if place is not None and is_presented() and group.room is None:
            group.room = next((key for key in kept_keys() if place.lesson in asked_lessons(key)), None)
            if group.room is not None:
                lead_if_free(group.room)
        return
    code = own[link.ROOM] = own[link.ROOM].partition(".")[0]
    group.room = kept_key(code) or group.room
    if group.room is not None:
        lead_if_free(group.room)
    if code and is_presented() and (group.room is None or group.room.code != code):
        bench.link.notices.append(
            f"In the link, room must be one that this browser has opened, got {refused(code)}; "
            "press 'Ask the class' to open another."
        )


def bring_back(bench: Bench) -> None:
    """Load the race that the link names, after there is a run to compare it with."""
    if bench.link.race and bench.live is not None:
        named, bench.link.race = bench.link.race, ""
        notice = bring_back_race(named, bench.live)
        bench.link.notices += [notice] if notice else []
