"""The start of the server's app, before the first visit."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from pages.shell.no_delay import without_delay
from pages.shell.warm_up import warm_up

# The page with the most imports, for which the first visit would otherwise wait.
_PAGE = "pages.workbench.page"


@asynccontextmanager
async def life(app: Any) -> AsyncIterator[None]:
    """Prepare in the background what every visit needs, and send each answer without delay."""
    threading.Thread(target=_get_ready, name="get-ready", daemon=True).start()
    async with without_delay(app):
        yield


def _get_ready() -> None:
    import_module(_PAGE)
    warm_up()
