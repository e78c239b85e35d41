"""Each answer leaves as soon as it is written.

Streamlit opens the socket that it listens on without naming its protocol, and asyncio then takes the connections for something
else than TCP: the system holds back the second part of each answer until the browser has confirmed the first, some 40 ms for each
of a page's hundred files and for many a message of a drawing.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

_OPEN_FILES = "/dev/fd"  # of this process; not there on Windows, where all is as before


@asynccontextmanager
async def without_delay(_app: Any) -> AsyncIterator[None]:
    """Set every socket that this process listens on to send at once: the life of the server's app begins when it is open."""
    if os.path.isdir(_OPEN_FILES):
        for number in os.listdir(_OPEN_FILES):
            with suppress(OSError):  # closed meanwhile
                _send_at_once(int(number))
    yield


def _send_at_once(number: int) -> None:
    """Set a listening TCP socket's option, which its connections take over; others and plain files stay as they are."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return
    with socket.socket(fileno=os.dup(number)) as opened:
        is_tcp = opened.family in (socket.AF_INET, socket.AF_INET6)
        if is_tcp and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
