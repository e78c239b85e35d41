"""A class's room beside a lesson: the page draws it where the question is asked."""

from __future__ import annotations

from pages.room.asking import ask_anything, end_own_question, show_own_question
from pages.room.drawings import LETTERS
from pages.room.lecturer import (
    ask_for_labels,
    is_asked,
    is_led_elsewhere,
    offer_to_lead,
    open_room,
    room_panel,
    tell_the_room,
)

__all__ = [
    "LETTERS",
    "ask_anything",
    "ask_for_labels",
    "end_own_question",
    "is_asked",
    "is_led_elsewhere",
    "offer_to_lead",
    "open_room",
    "room_panel",
    "show_own_question",
    "tell_the_room",
]
