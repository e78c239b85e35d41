"""The lecturer's key to a room, which the browser keeps in a cookie that no script can read, and in no address.

The page gets a ticket. Its browser sends the ticket to an address of the app, and the answer sets the cookie. The key is
therefore in no page, no link and no log, and a page that is loaded again still has its room.

All tabs of that browser have the key, but only one leads the room: what another tab shows changes nothing for the class.
"""

from __future__ import annotations

from secrets import token_hex
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dsgcore.rooms.rooms import SECONDS_OF_LIFE, Key
from pages.shell.addresses import own_route
from pages.shell.sessions import Session, arrive
from pages.shell.ticks import token_in

__all__ = ["ADDRESS", "Ticket", "cookie_name", "kept_key", "key_route", "lead", "lead_if_free", "leads"]

# A cookie without a path holds for the folder of the address that sets it, so this address is next to the pages.
ADDRESS = "room-key"


class Ticket:
    """The right to keep a key in the cookies of one browser, as long as the page's session holds the ticket."""

    def __init__(self, key: Key) -> None:
        self.key, self.name = key, token_hex(16)
        _tickets[self.name] = self


_tickets: WeakValueDictionary[str, Ticket] = WeakValueDictionary()


class Tab:
    """A tab of a browser, as long as the server keeps its session."""

    def __init__(self, session: Session | None) -> None:
        self.session = session


_leading: WeakValueDictionary[str, Tab] = WeakValueDictionary()  # by the code of the room


def _this_tab() -> Tab:
    if "_tab" not in st.session_state:
        st.session_state["_tab"] = Tab(arrive())
    tab: Tab = st.session_state["_tab"]
    return tab


def lead(key: Key) -> None:
    """Let this tab lead the room, in place of another one."""
    _leading[key.code] = _this_tab()


def lead_if_free(key: Key) -> None:
    """Let this tab lead the room if no tab that is open leads it. A tab that is loaded again has closed before."""
    leader = _leading.get(key.code)
    if leader is None or leader.session is None or not leader.session.is_connected:
        lead(key)


def leads(key: Key) -> bool:
    """Return True if this tab leads the room."""
    return _leading.get(key.code) is _this_tab()


def key_route() -> Route:
    """Return the route at which a browser gets the cookie for its ticket."""
    return own_route(ADDRESS, _keep, methods=["POST"])


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


async def _keep(request: Request) -> Response:
    ticket = _tickets.get(await token_in(request) or "")
    if ticket is None:
        return Response(status_code=404)
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        cookie_name(ticket.key.code),
        ticket.key.secret,
        max_age=int(SECONDS_OF_LIFE),
        path=None,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response
