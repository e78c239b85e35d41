"""The first HTML that the browser gets: streamlit's own page with the app's style, title and chart library in its head.

Anything that a script sends arrives later. A style would then move what is already drawn, the browser's tab would be called
"Streamlit", and the library would load last, while everybody waits for the first chart. Streamlit also loads the code of
each widget only when it draws the first one, file after file.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import chain
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from dsgcore.experiments import SETTINGS
from pages.charts.assets import MODULES, address_of
from pages.charts.live_chart import LIBRARY_ADDRESS
from pages.shell.addresses import page_routes

__all__ = ["routes"]

_STATIC = Path(st.__file__).parent / "static"
_STREAMLITS_OWN = _STATIC / "index.html"
_STYLE = Path(__file__).with_name("style.css")

# The widgets of a setting's page, each in a file of streamlit's.
_WIDGETS = (
    "Selectbox",
    "PageLink",
    "Slider",
    "ButtonGroup",
    "Checkbox",
    "BidiComponent",
    "Button",
    "NumberInput",
    "Html",
)
_IMPORTED = re.compile(r"""(?:from|import)["'`]\./([\w.-]+\.js)["'`]""")
_AHEAD = '<link rel="modulepreload" crossorigin href="{}">\n'
# The library is fetched with the page, but starts only after the page has sent its request to the server.
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
    """Return the routes of the pages; none if streamlit's file is not as expected."""
    files = (path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
    pages = [page_routes(name, partial(_answer, bool(name))) for name in ("", *files, *SETTINGS)]
    return list(chain(*pages)) if _front_page(has_charts=True) else []


async def _answer(has_charts: bool, _request: Request) -> HTMLResponse:
    return HTMLResponse(_front_page(has_charts=has_charts), headers={"Cache-Control": "no-cache"})


@cache
def _front_page(*, has_charts: bool) -> str | None:
    """Return streamlit's own page with the app's style, title and chart library, which starts on this page or on the next
    one."""
    try:
        html = _STREAMLITS_OWN.read_text(encoding="utf-8")
    except OSError:
        return None
    head, found, rest = html.partition("</head>")
    style = f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n"
    library = (_NOW if has_charts else _LATER).format(LIBRARY_ADDRESS)
    head = head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>")
    own = [address_of(name) for name in MODULES]
    streamlits = [f"./static/js/{name}" for name in _parts(head)]
    ahead = "".join(_AHEAD.format(address) for address in [*own, *streamlits]) if has_charts else ""
    return head + style + ahead + library + found + rest if found else None


def _parts(head: str) -> list[str]:
    """Return the widgets' files and their imports that `head` lacks; return nothing if streamlit has other file names."""
    files = _STATIC / "static" / "js"
    waiting = [path.name for widget in _WIDGETS for path in files.glob(f"{widget}.*.js")]
    found: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in found and name not in head:
            found[name] = None
            waiting += _IMPORTED.findall((files / name).read_text(encoding="utf-8"))
    return list(found)
