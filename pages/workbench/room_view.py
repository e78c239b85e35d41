"""A class's room beside a lesson: the page draws it where the question is asked."""

from __future__ import annotations

from pages.room.drawings import LETTERS
from pages.room.lecturer import open_room, room_panel, tell_the_room

__all__ = ["LETTERS", "open_room", "room_panel", "tell_the_room"]
