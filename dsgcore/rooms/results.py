"""Results of all questions of a class's room, as a table without names."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgcore.rooms.questions import Asked, is_right, plain_text
from dsgcore.rooms.rooms import Key, Rooms
from dsgcore.settings import Pick

COLUMNS = ("number", "setting", "lesson", "step", "question", "round", "answer", "right")


@dataclass(frozen=True)
class Answered:
    """A question of a room with the guesses of each round, and what the run said."""

    asked: Asked
    rounds: list[list[Any]]
    result: Mapping[str, Any]
    picture: Mapping[str, Any]


def all_answered(rooms: Rooms, key: Key) -> list[Answered]:
    """Return all questions of a room in the order in which they were asked; raise `RoomError` without its key."""
    return [
        Answered(asked, rooms.rounds(key, asked), result, picture) for asked, result, picture in rooms.questions(key)
    ]


def results_csv(answered: list[Answered]) -> str:
    """Return a table with a row for each answer. The rows of a round are sorted, so they tell nothing of who answered."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, one in enumerate(answered, start=1):
        asks = one.asked.question
        if asks is None:
            continue
        place = (number, one.asked.setting, one.asked.lesson, one.asked.step + 1, plain_text(asks.text))
        for turn, guesses in enumerate(one.rounds, start=1):
            for guess in guesses:
                right = is_right(asks, guess, one.result)
                said = plain_text(asks.options[guess].words) if isinstance(asks, Pick) else asks.say(guess)
                table.writerow([*place, turn, said, "" if right is None else "yes" if right else "no"])
    return text.getvalue()
