"""A lecturer's own question: typed in class, asked at once, and shown on the stage in place of the step's question."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.core.errors import DSGError
from dsgcore.experiments import Setting
from dsgcore.rooms.questions import LONGEST_TEXT, MOST_OPTIONS, Asked, own_question
from pages.room.drawings import LETTERS
from pages.room.lecturer import has_map, open_room
from pages.session.bench import Bench
from pages.shell.plain_text import plain

_KINDS = {"answers": "pick", "a number": "number", "a place on the map": "map"}


def ask_anything(problem: type[Setting], bench: Bench) -> None:
    """Draw the button that opens the form of a lecturer's own question."""
    key = f"stage-asks-{bench.lesson.n_own}"  # another key after each question, so that the form closes
    with st.popover("Ask anything", icon=":material/forum:", type="tertiary", key=key):
        text = st.text_input("Question", key="room-own-text", max_chars=LONGEST_TEXT)
        kinds = [kind for kind in _KINDS if has_map(bench) or _KINDS[kind] != "map"]
        kind = _KINDS[st.radio("The class gives", kinds, key="room-own-kind", horizontal=True)]
        said: dict[str, Any] = {"kind": kind, "text": text}
        if kind == "pick":
            lines = st.text_area(f"Answers, one a line, at most {MOST_OPTIONS}", key="room-own-answers", height=170)
            said["options"] = lines.splitlines()
        elif kind == "number":
            low, high = st.columns(2)
            said["low"] = low.number_input("from", value=0.0, key="room-own-low")
            said["high"] = high.number_input("to", value=100.0, key="room-own-high")
        if st.button("Ask now", key="room-own-ask"):  # a callback would get the texts before the last one
            _ask(problem, bench, said)


def _ask(problem: type[Setting], bench: Bench, said: dict[str, Any]) -> None:
    place = bench.lesson.place
    if place is None:
        return
    try:
        own = own_question(said)
    except DSGError as error:
        bench.link.notices.append(str(error))
        return
    if bench.lesson.room is None:
        open_room(bench)
    bench.lesson.own = Asked(problem.name, place.lesson.name, place.number).asks_too(own)
    bench.lesson.n_own += 1
    st.rerun()


def end_own_question(bench: Bench) -> None:
    """Go back to the lesson."""
    bench.lesson.own = None


def show_own_question(asked: Asked) -> None:
    """Draw a lecturer's own question and its answers for the class to read."""
    assert asked.own is not None
    st.markdown(f"## {plain(asked.own.text)}")
    for letter, option in zip(LETTERS, getattr(asked.own, "options", ()), strict=False):
        st.markdown(f"**{letter}** {plain(option.words)}")
