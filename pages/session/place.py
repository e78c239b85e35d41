"""The run's position in the link: its iteration, its changes, and the other entries that have no control."""

from __future__ import annotations

import time

import streamlit as st

from dsgcore.experiments import Setting
from pages.controls.link import OF_THE_FRAME, changes_to_text
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
    bench.link.texts = {name: text for name, text in said.items() if name not in OF_THE_FRAME} | kept


def place_of(problem: type[Setting], bench: Bench) -> dict[str, str]:
    """Return the run's entries in the link besides the controls that are drawn."""
    assert bench.spec is not None
    _note_place(bench)
    lesson = bench.lesson.place.text if bench.lesson.place is not None else ""
    changes = changes_to_text(bench.spec)
    race, room = bench.view.race or bench.link.race, bench.lesson.room  # read once: the script may close it meanwhile
    kept = link.kept(
        problem,
        changes=changes,
        edits=bench.hand.text,
        at=bench.link.at,
        look=str(bench.look or ""),
        lesson=lesson,
        race=race,
        room="" if room is None else room.code,
    )
    return kept | bench.link.undrawn


def _note_place(bench: Bench) -> None:
    if bench.preparation is not None:
        bench.link.at = bench.preparation.at
        return
    assert bench.live is not None
    t, now = bench.live.run.t, time.monotonic()
    if bench.link.going_to:
        bench.link.at = f"{bench.link.going_to}{PLAYING * bench.link.plays_on}"
    elif not bench.is_playing or bench.live.is_finished:
        bench.link.at = str(t) if t else ""
    elif t and now - bench.link.at_noted >= SECONDS_BETWEEN_PLACES:
        bench.link.at, bench.link.at_noted = f"{t}{PLAYING}", now
