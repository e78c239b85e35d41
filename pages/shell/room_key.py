"""The lecturer's key to a room, which the browser keeps in a cookie that no script can read, and in no address.

The page gets a ticket. Its browser sends the ticket as it sends ticks, and the answer sets the cookie. The key is therefore in
no page, no link and no log, and a page that is loaded again still has its room.

All tabs of that browser have the key, but only one leads the room: what another tab shows changes nothing for the class.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

import streamlit as st

from dsgcore.rooms.rooms import SECONDS_OF_LIFE, Key
from pages.shell.sharing import Session, arrive
from pages.shell.ticks import Ticker

__all__ = ["Ticket", "cookie_name", "kept_key", "kept_keys", "lead", "lead_if_free", "leads"]


class Ticket(Ticker):
    """The right to keep a key in the cookies of one browser, as long as the page's session holds the ticket."""

    def __init__(self, key: Key) -> None:
        cookie = {"key": cookie_name(key.code), "value": key.secret, "max_age": int(SECONDS_OF_LIFE)}
        super().__init__(lambda _: b"", cookie)


_leading: WeakValueDictionary[str, Session] = WeakValueDictionary()  # the session of a tab, by the code of the room


def lead(key: Key) -> None:
    """Let this tab lead the room, in place of another one."""
    if (tab := arrive()) is not None:
        _leading[key.code] = tab


def lead_if_free(key: Key) -> None:
    """Let this tab lead the room if no tab that is open leads it. A tab that is loaded again has closed before."""
    leader = _leading.get(key.code)
    if leader is None or not leader.is_connected:
        lead(key)


def leads(key: Key) -> bool:
    leader = _leading.get(key.code)
    return leader is not None and leader is arrive()


def kept_key(code: str) -> Key | None:
    """Return this browser's key to a room, or None."""
    secret = st.context.cookies.get(cookie_name(code))
    return Key(code, secret) if secret else None


def kept_keys() -> list[Key]:
    """Return this browser's keys to rooms, also to those that are closed."""
    start = cookie_name("")
    return [
        Key(name.removeprefix(start), secret) for name, secret in st.context.cookies.items() if name.startswith(start)
    ]


def cookie_name(code: str) -> str:
    """Return the name of the cookie with the key to a room."""
    return f"dsglab_room_{code}"
