"""A class's room on the lecturer's page: the address for answers, and the guesses as they arrive."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import SplitResult

import numpy as np
import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Pick
from dsgcore.studies.rooms import Asked, Key, RoomError
from pages.controls.own_file import plain
from pages.session.bench import Bench
from pages.session.lesson_place import Place, Stage
from pages.shell.addresses import (
    address_in_network,
    beside_this_page,
    command_for_phones,
    has_a_proxy,
    is_of_this_machine,
    listens_here_alone,
)
from pages.shell.answering import ADDRESS, rooms
from pages.shell.room_key import Ticket
from pages.workbench.drawn_curve import lay_over, show_curve

SECONDS_BETWEEN_LOOKS = 0.5
BINS = 10
LETTERS = "ABCDEFGH"


def tell_the_room(problem: type[Setting], bench: Bench) -> None:
    """Send the step's question to the class: open while it is shown, closed when the run starts."""
    place = bench.lesson.place
    if bench.lesson.room is None or place is None or place.stage is Stage.TEXT or place.step.asks is None:
        return
    asked = Asked(problem.name, place.lesson.name, place.number, place.stage is Stage.QUESTION)
    if bench.lesson.asked_room != asked:
        try:
            rooms().ask(bench.lesson.room, asked)
            bench.lesson.asked_room = asked
        except RoomError as error:
            bench.lesson.room = None
            bench.link.notices.append(str(error))


def open_room(bench: Bench) -> None:
    """Open a room for a class."""
    try:
        bench.lesson.room, bench.lesson.asked_room = rooms().open(), None
        bench.lesson.ticket = Ticket(bench.lesson.room)
    except RoomError as error:
        bench.link.notices.append(str(error))


def where_to_answer(room: Key) -> None:
    """Show the address for answers, and a remedy if phones cannot reach it."""
    there = for_phones(beside_this_page(ADDRESS, {"code": room.code}))
    shown = plain(f"{there.netloc}{there.path}")
    st.markdown(f"Answer on your phone: **{shown}**, code **{room.code}** ([open]({there.geturl()}))")
    if is_of_this_machine(there.hostname):
        _say_why_no_phone_can()


def for_phones(there: SplitResult) -> SplitResult:
    """Return an address that other machines can reach: replace a name such as localhost by the machine's own address."""
    if not is_of_this_machine(there.hostname) or (listens_here_alone() and not has_a_proxy()):
        return there
    host = address_in_network()
    port = f":{there.port}" if there.port is not None else ""
    return there if host is None else there._replace(netloc=f"{host}{port}")


def _say_why_no_phone_can() -> None:
    icon = ":material/phonelink_off:"
    if not listens_here_alone():
        st.warning("Phones cannot reach this page, because this machine has no network.", icon=icon)
        return
    st.warning(
        "Phones cannot reach this page, because the server listens on this machine only. Start it with this command. Then "
        "everyone in your network can open the app.",
        icon=icon,
    )
    st.code(command_for_phones(), language=None, wrap_lines=True)


def guesses_as_they_come(bench: Bench) -> None:
    """Draw the guesses, updated twice a second while the question is open."""
    is_open = bench.lesson.place is not None and bench.lesson.place.stage is Stage.QUESTION
    st.fragment(_guesses, run_every=SECONDS_BETWEEN_LOOKS if is_open else None)(bench)


def _guesses(bench: Bench) -> None:
    if bench.lesson.room is None or bench.lesson.asked_room is None or bench.lesson.place is None:
        return
    try:
        found = rooms().guesses(bench.lesson.room, bench.lesson.asked_room)
    except RoomError as error:
        st.warning(str(error))
        return
    with st.container(key="room-guesses"):
        st.caption(f"{len(found)} answered")
        _draw(bench.lesson.place, found)


def _draw(place: Place, found: list[Any]) -> None:
    asks = place.step.asks
    outcome = place.outcome if place.stage is Stage.OUTCOME else None
    if isinstance(asks, Pick):
        right = None if outcome is None else asks.right(outcome)
        names = [f"{letter}{' ✓' * (o is right)}" for letter, o in zip(LETTERS, asks.options, strict=False)]
        st.html(bars([(name, found.count(k)) for k, name in enumerate(names)]))
    elif isinstance(asks, Curve):
        _draw_middle(asks, found, None if outcome is None else asks.came_to(outcome))
    elif asks is not None:
        counts, edges = np.histogram(found, bins=BINS, range=(asks.low, asks.high))
        names = [f"{low:.2g} to {high:.2g}" for low, high in pairwise(edges)]
        st.html(bars(list(zip(names, counts.tolist(), strict=True))))


def _draw_middle(asks: Curve, found: list[Any], came_to: list[float] | None) -> None:
    """Draw the median of all guessed curves at each place, with the outcome over it."""
    if not found:
        return
    middle, key = np.median(np.array(found), axis=0).tolist(), f"room-curve-{len(found)}"
    if came_to is None:
        show_curve(asks, middle, key=key)
    else:
        lay_over(asks, middle, came_to, key=f"{key}-outcome")


def bars(rows: list[tuple[str, int]]) -> str:
    """Return a histogram of rows, each with its number in words as well."""
    most = max([1, *(n for _, n in rows)])
    said = ", ".join(f"{name}: {n}" for name, n in rows)
    lines = "".join(
        f'<div><b>{name}</b><i><u style="width: {100 * n / most:.0f}%"></u></i><span>{n}</span></div>'
        for name, n in rows
    )
    return f'<div class="room-bars" role="img" aria-label="Guesses: {said}">{lines}</div>'
