"""The start of the server's app, before the first visit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from pages.server.streamlit_gaps import send_at_once
from pages.shell.warm_up import warm_up
from pages.shell.watch import watch

# The page with the most imports, for which the first visit would otherwise wait.
_PAGE = "pages.stage.page"


@asynccontextmanager
async def life(_app: Any) -> AsyncIterator[None]:
    """Prepare in the background what every visit needs, send each answer at once, and watch over the server."""
    threading.Thread(target=_get_ready, name="get-ready", daemon=True).start()
    send_at_once()  # the server's app starts after the socket is open
    watching = asyncio.create_task(watch())
    yield
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


def _get_ready() -> None:
    import_module(_PAGE)
    warm_up()
