"""What the browser is given first: streamlit's own HTML with our style, title and chart library in its head.

What a script says arrives later: a style sent by it moves what is already there, the browser's tab is called "Streamlit"
until then, and the library would be read when all else is there, while everybody waits for the first chart. Likewise
streamlit's page asks for the code of a slider when it draws the first one, and for what that needs one after the other.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, partial
from itertools import chain
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dsgcore.experiments import SETTINGS
from pages.charts.live_plotly import LIBRARY, LIBRARY_ADDRESS
from pages.shell.addresses import own_route, page_routes

__all__ = ["routes"]

_STATIC = Path(st.__file__).parent / "static"
_STREAMLITS_OWN = _STATIC / "index.html"
_STYLE = Path(__file__).with_name("style.css")

# What a setting's page is drawn with, each in a file of streamlit's own.
_WIDGETS = (
    "Selectbox",
    "PageLink",
    "Slider",
    "ButtonGroup",
    "Checkbox",
    "BidiComponent",
    "Button",
    "NumberInput",
    "Metric",
    "Html",
)
_IMPORTED = re.compile(r"""(?:from|import)["'`]\./([\w.-]+\.js)["'`]""")
_AHEAD = '<link rel="modulepreload" crossorigin href="./static/js/{}">\n'
# Fetched with the page, and begun while the server works on what it has been asked for: sooner it would keep the page from asking.
_NOW = """<link rel="preload" as="script" href="{0}">
<script>
(function begin(waits) {{
  const isAsked = document.querySelector('[data-test-connection-state="CONNECTED"]');
  if (waits && !isAsked) return setTimeout(begin, 20, waits - 1);
  if (document.querySelector('script[src$="{0}"]')) return;
  const script = document.createElement("script");
  script.src = "{0}";
  script.onerror = () => script.remove();
  document.head.append(script);
}})(250);
</script>
"""
_LATER = '<link rel="prefetch" as="script" href="{}">\n'


def routes() -> list[Route]:
    """Return the addresses of the chart library and of the pages, but no pages if streamlit's file is not as expected."""
    files = (path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
    pages = [page_routes(name, partial(_answer, bool(name))) for name in ("", *files, *SETTINGS)]
    return [own_route(LIBRARY_ADDRESS, _library), *(chain(*pages) if _front_page(has_charts=True) else [])]


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
    library = (_NOW if has_charts else _LATER).format(LIBRARY_ADDRESS)
    head = head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>")
    ahead = "".join(_AHEAD.format(name) for name in _parts(head)) if has_charts else ""
    return head + style + ahead + library + found + rest if found else None


def _parts(head: str) -> list[str]:
    """Return the files of the widgets and of what they need that `head` lacks; none where streamlit calls them otherwise."""
    files = _STATIC / "static" / "js"
    waiting = [path.name for widget in _WIDGETS for path in files.glob(f"{widget}.*.js")]
    found: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in found and name not in head:
            found[name] = None
            waiting += _IMPORTED.findall((files / name).read_text(encoding="utf-8"))
    return list(found)
