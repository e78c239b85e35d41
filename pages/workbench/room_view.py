"""A class's room on the lecturer's page: where to answer, and the guesses as they come."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import streamlit as st

from dsgcore.experiments import Setting
from dsgcore.settings import Curve, Pick
from dsgcore.studies.rooms import Asked, Key, RoomError, key_from
from pages.shell.answering import ADDRESS, rooms
from pages.workbench.bench import Bench
from pages.workbench.drawn_curve import lay_over, show_curve
from pages.workbench.lesson_place import Place, Stage

SECONDS_BETWEEN_LOOKS = 0.5
BINS = 10
LETTERS = "ABCDEFGH"


def tell_the_room(problem: type[Setting], bench: Bench) -> None:
    """Put the step's question to the class: open while it is shown, closed as the run begins."""
    place = bench.place
    if bench.room is None or place is None or place.stage is Stage.TEXT or place.step.asks is None:
        return
    asked = Asked(problem.name, place.lesson.name, place.number, place.stage is Stage.QUESTION)
    if bench.asked_room != asked:
        try:
            rooms().ask(bench.room, asked)
            bench.asked_room = asked
        except RoomError as error:
            bench.room = None
            bench.notices.append(str(error))


def open_room(bench: Bench) -> None:
    """Open a room for a class."""
    try:
        bench.room, bench.asked_room = rooms().open(), None
    except RoomError as error:
        bench.notices.append(str(error))


def room_in(text: str) -> Key | None:
    """Return the key of a room that a link says; None where it says none."""
    return key_from(text) if text else None


def where_to_answer(room: Key) -> None:
    """Say where the class answers."""
    there = urlsplit(st.context.url or "")
    address = urlunsplit((there.scheme, there.netloc, f"/{ADDRESS}", f"code={room.code}", ""))
    st.markdown(f"Answer on your phone: **{there.netloc}/{ADDRESS}**, code **{room.code}** ([open]({address}))")


def guesses_as_they_come(bench: Bench) -> None:
    """Draw the guesses, anew twice a second while answers are taken."""
    is_open = bench.place is not None and bench.place.stage is Stage.QUESTION
    st.fragment(_guesses, run_every=SECONDS_BETWEEN_LOOKS if is_open else None)(bench)


def _guesses(bench: Bench) -> None:
    if bench.room is None or bench.asked_room is None or bench.place is None:
        return
    try:
        found = rooms().guesses(bench.room, bench.asked_room)
    except RoomError as error:
        st.warning(str(error))
        return
    with st.container(key="room-guesses"):
        st.caption(f"{len(found)} answered")
        _draw(bench.place, found)


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
    """Draw the curve that is in the middle of all guesses at each place, and over it what came."""
    if not found:
        return
    middle, key = np.median(np.array(found), axis=0).tolist(), f"room-curve-{len(found)}"
    if came_to is None:
        show_curve(asks, middle, key=key)
    else:
        lay_over(asks, middle, came_to, key=f"{key}-outcome")


def bars(rows: list[tuple[str, int]]) -> str:
    """Return a histogram of rows; each says its number in words as well."""
    most = max([1, *(n for _, n in rows)])
    said = ", ".join(f"{name}: {n}" for name, n in rows)
    lines = "".join(
        f'<div><b>{name}</b><i><u style="width: {100 * n / most:.0f}%"></u></i><span>{n}</span></div>'
        for name, n in rows
    )
    return f'<div class="room-bars" role="img" aria-label="Guesses: {said}">{lines}</div>'
