"""The class on the stage: where to answer, and the answers. They lie over the chart before the run, and over the map after it."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import Setting
from pages.session.bench import Bench
from pages.session.lesson_place import Place, Stage
from pages.shell.browser import keep_room_key
from pages.workbench.layout import is_presented
from pages.workbench.room_view import room_panel, tell_the_room


def room(problem: type[Setting], bench: Bench, place: Place) -> None:
    """Draw the class's room, if the lesson is shown to a class."""
    if not is_presented():
        return
    tell_the_room(problem, bench)
    if bench.lesson.ticket is not None:
        keep_room_key(bench.lesson.ticket.name)
    if bench.lesson.room is None or place.step.asks is None or place.stage is Stage.RUN:
        return
    with st.container(key=f"stage-class-{place.stage.name.lower()}"):
        room_panel(bench)
