"""Ticks: the changes of a page between two drawings by its script.

A drawing by the script takes about fifty messages. A tick is one request and one answer, which the browser puts into the
page. The browser asks for the next tick after it has shown the last one, and a hidden page asks for none. The pace
therefore follows the load.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from secrets import token_hex
from weakref import WeakValueDictionary

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.server.sessions import arrive
from pages.shell.addresses import own_route

ADDRESS = "tick"
# Number of ticks that may wait for their turn.
AT_ONCE = 256
LONGEST_TOKEN = 64
GONE = b'{"isOver": true}'
# The server does not know the page's token, because it was restarted.
LOST = b'{"isOver": true, "isLost": true}'


class Hold:
    """The hold on a page's run: its script waits for it, and a tick gives way."""

    def __init__(self) -> None:
        self._lock, self._count = threading.RLock(), threading.Lock()
        self._n_waiting = 0

    @property
    def is_wanted(self) -> bool:
        """True if the script waits for the hold."""
        return self._n_waiting > 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the hold inside the block; one thread may take it several times."""
        self._wait(1)
        try:
            self._lock.acquire()
        finally:
            self._wait(-1)
        try:
            yield
        finally:
            self._lock.release()

    def _wait(self, change: int) -> None:
        with self._count:
            self._n_waiting += change

    @contextmanager
    def tried(self) -> Iterator[bool]:
        """Have the hold inside the block, if nobody has it or waits for it; yield True on success."""
        is_ours = not self.is_wanted and self._lock.acquire(blocking=False)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._lock.release()


class Ticker:
    """The answers to the ticks of one page, as long as its session is kept, for callers that know its token.

    Parameters
    ----------
    answer : callable
        Gets what the browser asks for besides a tick, or "".
    """

    def __init__(self, answer: Callable[[str], bytes]) -> None:
        self.answer, self.token = answer, token_hex(16)
        self._session = arrive()
        _tickers[self.token] = self

    @property
    def is_lost(self) -> bool:
        """True if the server has dropped the session, whose memory may stay for a while."""
        return self._session is not None and self._session.is_over()


_tickers: WeakValueDictionary[str, Ticker] = WeakValueDictionary()
_is_served = threading.Event()


def are_served() -> bool:
    """Return True if a server answers ticks."""
    return _is_served.is_set()


def tick_route() -> Route:
    """Return the route of ticks, which name the token of a page, and after a space what the browser asks for."""
    _is_served.set()
    return own_route(ADDRESS, _answer, methods=["POST"])


async def token_in(request: Request) -> str | None:
    """Return a request's body, or None without reading it if it is too long."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LONGEST_TOKEN:
        return None
    return (await request.body()).decode("ascii", "replace")


async def _answer(request: Request) -> Response:
    body = await token_in(request)
    if body is None:
        return Response(status_code=400)
    token, _, asked = body.partition(" ")
    ticker = _tickers.get(token)
    if ticker is None or ticker.is_lost:
        content = LOST
    else:
        content = await anyio.to_thread.run_sync(ticker.answer, asked, limiter=_limiter())
    return Response(content, headers={"Cache-Control": "no-store"}, media_type="text/plain; charset=utf-8")


@cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(AT_ONCE)  # a separate limiter, so that waiting ticks do not delay files
