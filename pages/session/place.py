"""The run's position in the link: its iteration, its changes, and the other entries that have no control."""

from __future__ import annotations

import time

import streamlit as st

from dsgcore.experiments import Setting
from pages.controls.changes import changes_to_text
from pages.controls.names import OF_THE_FRAME
from pages.race.state import name_in_link
from pages.session import link
from pages.session.bench import PLAYING, Bench
from pages.shell.browser import keep_in_link

# Seconds between updates of the iteration in the link during a run.
SECONDS_BETWEEN_PLACES = 3.0


def keep_place(problem: type[Setting], bench: Bench) -> None:
    """Write the changes and the run's iteration into the link: when the run pauses, and every few seconds during it."""
    kept = place_of(problem, bench)
    keep_in_link(problem.name, kept, bench.session)
    said = st.query_params.to_dict()
    bench.link = {name: text for name, text in said.items() if name not in OF_THE_FRAME} | kept


def place_of(problem: type[Setting], bench: Bench) -> dict[str, str]:
    """Return the run's entries in the link besides the controls that are drawn."""
    assert bench.spec is not None
    _note_place(bench)
    lesson = bench.place.text if bench.place is not None else ""
    changes = changes_to_text(bench.spec)
    race, room = name_in_link(problem.name) or bench.race, bench.room.code if bench.room is not None else ""
    look = str(bench.look or "")
    kept = link.kept(problem, changes=changes, at=bench.at, look=look, lesson=lesson, race=race, room=room)
    return kept | bench.undrawn


def _note_place(bench: Bench) -> None:
    if bench.preparation is not None:
        bench.at = bench.preparation.at
        return
    assert bench.live is not None
    t, now = bench.live.run.t, time.monotonic()
    if bench.going_to:
        bench.at = f"{bench.going_to}{PLAYING * bench.plays_on}"
    elif not bench.is_playing or bench.live.is_finished:
        bench.at = str(t) if t else ""
    elif t and now - bench.at_noted >= SECONDS_BETWEEN_PLACES:
        bench.at, bench.at_noted = f"{t}{PLAYING}", now
