"""What the server's app does as it begins, before anybody has asked for a page."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from pages.shell.no_delay import without_delay
from pages.shell.warm_up import warm_up

# With all that it imports: what the first visit, or one that a restarted server finds still there, would wait for.
_PAGE = "pages.workbench.page"


@asynccontextmanager
async def life(app: Any) -> AsyncIterator[None]:
    """Get ready in the background what every visit needs, and let each answer leave at once."""
    threading.Thread(target=_get_ready, name="get-ready", daemon=True).start()
    async with without_delay(app):
        yield


def _get_ready() -> None:
    import_module(_PAGE)
    warm_up()
