"""The first HTML that the browser gets: Streamlit's own page with the app's style, title, modules and chart library in its head.

Anything that a script sends arrives later. A style would then move what is already drawn, the browser's tab would be called
"Streamlit", and the library would load last, while everybody waits for the first chart.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import chain
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from dsgcore.experiments import SETTINGS
from pages.charts.assets import MODULES, address_of
from pages.charts.live_chart import LIBRARY_ADDRESS
from pages.server.streamlit_gaps import UNTIL_DRAWN, first_page, scripts_of
from pages.shell.addresses import page_routes

__all__ = ["routes"]

_STYLE = Path(__file__).with_name("style.css")
_AHEAD = '<link rel="modulepreload" crossorigin href="{}">\n'
# What Streamlit's pages here consist of. It loads the script of each kind only when it draws the first one.
_EVERYWHERE = ("StreamlitMarkdown", "PageLink", "Html", "BidiComponent", "Button")
_CONTROLS = ("Selectbox", "Slider", "ButtonGroup", "Checkbox", "NumberInput", "WidgetLabel", "Tooltip")
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
# Streamlit's page has scripts and styles of its own in the text, and plotly makes functions. Nothing comes from, or goes to,
# another server. Any page may hold the app in a frame: it has no accounts, and no button whose click could harm.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self' ws: wss: data: blob:; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",  # a link holds the experiment
    "X-Content-Type-Options": "nosniff",
}
_LATER = '<link rel="prefetch" as="script" href="{}">\n'


def routes() -> list[Route]:
    """Return the routes of the pages; none if Streamlit's first page is not as expected."""
    files = (path.stem for path in Path(__file__).parents[1].glob("[!_]*.py"))
    pages = [page_routes(name, partial(_answer, bool(name))) for name in ("", *files, *SETTINGS)]
    return list(chain(*pages)) if _front_page(has_charts=True) else []


async def _answer(has_charts: bool, _request: Request) -> HTMLResponse:
    return HTMLResponse(_front_page(has_charts=has_charts), headers=_HEADERS)


@cache
def _front_page(*, has_charts: bool) -> str:
    """Return Streamlit's own page with the app's style, title and chart library, which starts on this page or on the next
    one."""
    head, found, rest = first_page().partition("</head>")
    head = head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>")
    style = f"<style>\n{UNTIL_DRAWN}\n{_STYLE.read_text(encoding='utf-8')}</style>\n"
    own = [address_of(name) for name in MODULES] if has_charts else []
    streamlits = scripts_of(*_EVERYWHERE, *(_CONTROLS if has_charts else ()))
    ahead = "".join(_AHEAD.format(address) for address in [*own, *streamlits] if address not in head)
    library = (_NOW if has_charts else _LATER).format(LIBRARY_ADDRESS)
    return head + style + ahead + library + found + rest if found else ""
