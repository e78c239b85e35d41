"""Answers that leave as soon as they are written.

Streamlit opens its listening socket without naming a protocol, so asyncio does not treat the connections as TCP. The system
then delays the second part of each answer until the browser has confirmed the first. That takes about 40 ms for each of a
page's hundred files, and for many messages of a drawing.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

_OPEN_FILES = "/dev/fd"  # of this process; Windows has no such folder, and nothing changes there


@asynccontextmanager
async def without_delay(_app: Any) -> AsyncIterator[None]:
    """Set every listening socket of this process to send at once. The server's app starts after the socket is open."""
    if os.path.isdir(_OPEN_FILES):
        for number in os.listdir(_OPEN_FILES):
            with suppress(OSError):  # closed meanwhile
                _send_at_once(int(number))
    yield


def _send_at_once(number: int) -> None:
    """Set the option on a listening TCP socket, from which its connections inherit it; leave other sockets and files alone."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return
    with socket.socket(fileno=os.dup(number)) as opened:
        is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6)
        if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
