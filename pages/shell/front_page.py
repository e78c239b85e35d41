"""What the browser is given first: streamlit's own HTML with our style, title and chart library in its head.

What a script says arrives later: a style sent by it moves what is already there, the browser's tab is called "Streamlit"
until then, and the library would be read when all else is there, while everybody waits for the first chart.
"""

from __future__ import annotations

import gzip
from functools import cache, partial
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dsgcore.experiments import SETTINGS
from pages.charts.live_plotly import LIBRARY, LIBRARY_ADDRESS

__all__ = ["routes"]

_STREAMLITS_OWN = Path(st.__file__).parent / "static" / "index.html"
_STYLE = Path(__file__).with_name("style.css")


_NOW = '<script defer src="{}" onerror="this.remove()"></script>\n'
_LATER = '<link rel="prefetch" as="script" href="{}">\n'


def routes() -> list[Route]:
    """Return the addresses of the chart library and of the pages; of these none where streamlit's file is not as expected."""
    files = (path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
    pages = [Route(f"/{name}", partial(_answer, bool(name))) for name in ("", *files, *SETTINGS)]
    return [Route(f"/{LIBRARY_ADDRESS}", _library), *(pages if _front_page(has_charts=True) else [])]


async def _answer(has_charts: bool, _request: Request) -> HTMLResponse:
    return HTMLResponse(_front_page(has_charts=has_charts), headers={"Cache-Control": "no-cache"})


def _library(request: Request) -> Response:
    """Return the chart library, which stays the same for as long as it has this address."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    kind = "text/javascript"
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(LIBRARY.read_bytes(), headers=headers, media_type=kind)
    return Response(_packed(), headers=headers | {"Content-Encoding": "gzip"}, media_type=kind)


@cache
def _packed() -> bytes:
    return gzip.compress(LIBRARY.read_bytes())  # once: it takes as long as a page does


@cache
def _front_page(*, has_charts: bool) -> str | None:
    """Return streamlit's own page with our style, our title, and the charts' library: for the next page, or this one."""
    try:
        html = _STREAMLITS_OWN.read_text(encoding="utf-8")
    except OSError:
        return None
    head, found, rest = html.partition("</head>")
    style = f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n"
    # Deferred: it is run when streamlit's own script has begun and waits for the server.
    library = (_NOW if has_charts else _LATER).format(f"./{LIBRARY_ADDRESS}")
    head = head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>")
    return head + style + library + found + rest if found else None
