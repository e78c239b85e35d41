"""The HTML that the browser is given first: streamlit's own, with our style and title in its head.

What a script says arrives later: a style sent by it moves what is already there, and the browser's tab is called "Streamlit"
until then.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from dsgcore.experiments import SETTINGS

__all__ = ["routes"]

_STREAMLITS_OWN = Path(st.__file__).parent / "static" / "index.html"
_STYLE = Path(__file__).with_name("style.css")


def routes() -> list[Route]:
    """Return the address of every page of the app; none where streamlit's own file is not as expected."""
    html = _front_page()
    if html is None:
        return []

    async def answer(_request: Request) -> HTMLResponse:
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"})

    files = (path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
    return [Route(f"/{name}", answer) for name in ("", *files, *SETTINGS)]


def _front_page() -> str | None:
    """Return streamlit's own page with our style and title."""
    try:
        html = _STREAMLITS_OWN.read_text(encoding="utf-8")
    except OSError:
        return None
    head, found, rest = html.partition("</head>")
    style = f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n"
    return head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>") + style + found + rest if found else None
