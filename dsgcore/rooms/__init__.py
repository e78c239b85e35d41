"""Rooms for a class: questions, the guesses of phones in rounds, and their results, without names."""

from dsgcore.rooms.questions import Asked, Places
from dsgcore.rooms.rooms import Key, RoomError, Rooms, State

__all__ = ["Asked", "Key", "Places", "RoomError", "Rooms", "State"]
