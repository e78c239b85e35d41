"""Ticks: the changes of a page between two drawings by its script.

A drawing by the script takes about fifty messages. A tick is one request and one answer, which the browser puts into the
page. The browser asks for the next tick after it has shown the last one, and a hidden page asks for none. The pace
therefore follows the load.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from secrets import token_hex
from typing import Any
from weakref import WeakValueDictionary

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.shell.addresses import base_path
from pages.shell.sharing import arrive

ADDRESS = "tick"
# Number of ticks that may wait for their turn.
AT_ONCE = 256
LONGEST_TOKEN = 64
LEAST_PACKED = 1000  # bytes
_TEXT = "text/plain; charset=utf-8"
_HEADERS = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
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

    `answer` gets what the browser asks for besides a tick, or "". `cookie` is what the browser is to keep, which no script reads.
    """

    def __init__(self, answer: Callable[[str], bytes], cookie: Mapping[str, Any] | None = None) -> None:
        self.answer, self.cookie, self.token = answer, cookie, token_hex(16)
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


class TickDoor:
    """The door in front of Streamlit's server, at which ticks are answered.

    Behind it each request passes layers for sessions, paths and routes, which take as long as sending the answer. A request
    names the token of a page, and after a space what the browser asks for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._path = app, f"{base_path()}/{ADDRESS}"
        _is_served.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix(scope.get("root_path", ""))
        is_tick = scope["type"] == "http" and scope["method"] == "POST" and path == self._path
        await (await _answer(Request(scope, receive)) if is_tick else self._app)(scope, receive, send)


async def _answer(request: Request) -> Response:
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > LONGEST_TOKEN:
        return Response(status_code=400)  # unread
    token, _, asked = (await request.body()).decode("ascii", "replace").partition(" ")
    ticker = _tickers.get(token)
    if ticker is None or ticker.is_lost:
        return Response(LOST, headers=_HEADERS, media_type=_TEXT)
    if ticker.cookie is not None:
        response, is_secure = Response(headers=_HEADERS), request.url.scheme == "https"
        # Without a path a cookie holds for the folder of the address that sets it, which is that of the pages.
        response.set_cookie(**ticker.cookie, path=None, secure=is_secure, httponly=True, samesite="strict")
        return response
    can_unpack = "gzip" in request.headers.get("accept-encoding", "")
    content, headers = await anyio.to_thread.run_sync(_sent, ticker, asked, can_unpack, limiter=_limiter())
    return Response(content, headers=headers, media_type=_TEXT)


def _sent(ticker: Ticker, asked: str, can_unpack: bool) -> tuple[bytes, dict[str, str]]:
    """Return the answer as it is sent: compressed quickly, unless it is short or the caller cannot unpack it."""
    content = ticker.answer(asked)
    if len(content) < LEAST_PACKED or not can_unpack:
        return content, _HEADERS
    return gzip.compress(content, 1), _HEADERS | {"Content-Encoding": "gzip"}


@cache
def _limiter() -> CapacityLimiter:
    return CapacityLimiter(AT_ONCE)  # a separate limiter, so that waiting ticks do not delay files
