"""The view that phones get of a room: the question, and after the reveal all answers and the result of the run."""

from __future__ import annotations

from typing import Any

from dsgcore.rooms.questions import OWN, plain_question, tally
from dsgcore.rooms.rooms import Rooms, State


def for_phones(rooms: Rooms, code: str, state: State) -> dict[str, Any]:
    """Return a room's state as phones draw it. Nothing of the answers is in it before the reveal."""
    said: dict[str, Any] = {"version": state.version, "entry": state.entry, "isOpen": state.is_open}
    asks = None if state.asked is None else state.asked.question
    if state.asked is None or asks is None:
        return said
    said |= {"name": state.asked.name, "round": state.round, "question": plain_question(asks)}
    said |= {
        "picture": {name: part for name, part in state.picture.items() if name != OWN},
        "isRevealed": state.is_revealed,
    }
    if state.is_revealed:
        said["tallies"] = [tally(asks, guesses) for guesses in rooms.revealed(code, state.asked)]
        said["result"] = state.result
    return said
