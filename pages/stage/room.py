"""The class on the stage: where to answer, and the answers. They have the chart's place before the run, and a part of it after."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import Setting
from pages.room.lecturer import is_asked, is_led_elsewhere, offer_to_lead, room_panel, tell_the_room
from pages.session.bench import Bench
from pages.session.lesson_place import Place, Stage
from pages.shell.browser import keep_room_key
from pages.workbench.layout import is_presented


def room(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the class's room, if the lesson is shown to a class."""
    if not is_presented():
        return
    tell_the_room(problem, bench)
    if bench.group.ticket is not None:
        keep_room_key(bench.group.ticket.name)
    is_elsewhere = is_led_elsewhere(bench)
    is_own = bench.group.own is not None
    if not (is_asked(bench) or is_elsewhere) or (place.stage is Stage.RUN and place.step.goal is None and not is_own):
        return
    with st.container(key=f"stage-class-{'question' if is_own or place.stage is Stage.QUESTION else 'outcome'}"):
        (offer_to_lead if is_elsewhere else room_panel)(bench)
