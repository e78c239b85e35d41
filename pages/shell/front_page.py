"""The first HTML that the browser gets: Streamlit's own page with the app's style, title, modules and chart library in its head.

Anything that a script sends arrives later. A style would then move what is already drawn, the browser's tab would be called
"Streamlit", and the library would load last, while everybody waits for the first chart.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from pages.charts.live_chart import FOLDER, LIBRARY, LIBRARY_ADDRESS, MODULES, address_of
from pages.shell.addresses import base_path, own_route, redirect
from pages.shell.streamlit_gaps import first_page, scripts_of
from pages.shell.warm_up import warm_up

__all__ = ["elsewhere", "routes"]

WHAT = "DSG Lab: learn from few labels and many points"
# The first words, which the browser asks for again until the page is drawn. style.css has them over Streamlit's empty page.
_STARTING = """<p class="starting" role="status">{said}</p><script>
(async function tell(asks) {{
  const words = document.querySelector(".starting");
  const asked = await fetch("{address}").then(answer => answer.ok ? answer.text() : "").catch(() => "");
  const page = document.querySelector(".stAppViewContainer"), isThere = page && getComputedStyle(page).visibility === "visible";
  const said = isThere ? "" : asked || words?.textContent;
  if (words) words.textContent = said;
  if (said !== undefined) {{
    document.documentElement.style.setProperty("--starting", JSON.stringify(said).replaceAll("\\\\n", "\\\\A "));
  }}
  if (asks && !isThere) setTimeout(tell, 500, asks - 1);
}})(120);
</script>"""
_SAID = "<!-- said -->"
ADDRESS = "starting"
HOME = "home"  # the file of the page whose address is empty
_STYLE = Path(__file__).with_name("style.css")
_AHEAD = '<link rel="modulepreload" crossorigin href="{}">\n'
# What Streamlit's pages here consist of. It loads the script of each kind only when it draws the first one.
_EVERYWHERE = ("StreamlitMarkdown", "PageLink", "Html", "BidiComponent", "Button")
_CONTROLS = ("Selectbox", "Slider", "ButtonGroup", "Checkbox", "NumberInput", "TextInput", "WidgetLabel", "Tooltip")
# A page arrives in pieces, and each moves the others. It stays hidden until they are there, or for 10 s. Once seen it stays so,
# because what is hidden loses the focus: a transition with a long delay keeps it. An animation with a delay costs nothing.
# What waits for the numerical core has a progress bar, and is shown at once; style.css has the words over the page until then.
UNTIL_DRAWN = """@keyframes seen {to {visibility: visible}}
.stAppViewContainer {visibility: hidden; transition: visibility 0s 99999s; animation: seen 1ms 10s forwards}
.stApp[data-test-script-state="notRunning"] .stAppViewContainer:has(h1):not(:has([data-testid="stSkeleton"])),
.stAppViewContainer:has(.stProgress) {visibility: visible; transition: none}
.stAppViewContainer :is(label, .stMarkdown > div) {visibility: inherit !important}  /* Streamlit makes these visible itself */
"""
# Where the server is. Without it, a page other than the first asks at its own address, and only then one level higher.
SERVER_IS_HERE = """<script>
window.__streamlit ??= (base => ({BACKEND_BASE_URL: base, MAIN_PAGE_BASE_URL: base}))(new URL(".", location.href).href);
</script>
"""
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
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self'{sockets} data: blob:; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
)
# For browsers that do not count a socket of the page's own server as 'self'.
_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[0-9a-f:.]+\](:\d+)?", re.ASCII | re.IGNORECASE)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Referrer-Policy": "same-origin",  # a link holds the experiment
    "X-Content-Type-Options": "nosniff",
}
# What Streamlit's server has. The browser seeks the first of these below the address of any page.
_STREAMLITS = re.compile(r"(.*/)?_stcore/.*|(component|media|static/(js|css|media))/.+|favicon\.png|manifest\.json")
_LATER = '<link rel="prefetch" as="script" href="{}">\n'


class _Elsewhere(Route):
    """The route of every address at which neither the app nor Streamlit has anything: it comes last."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave to Streamlit what it serves."""
        match, child = super().matches(scope)
        address = child.get("path_params", {}).get("address", "")
        return (Match.NONE, {}) if _STREAMLITS.fullmatch(address) else (match, child)


def routes() -> list[BaseRoute]:
    """Return the routes of the modules and the chart library, and of the pages if Streamlit's first page is as expected."""
    files = {LIBRARY_ADDRESS: LIBRARY} | {address_of(name): path for name, path in MODULES.items()}
    assets = [own_route(address, partial(_asset, path)) for address, path in files.items()]
    assets.append(own_route(f"{FOLDER}/{{other:path}}", lambda _: Response(status_code=404)))  # of another version
    if not _front_page(has_charts=True):
        return [*assets]
    base, page = base_path(), partial(_answer, True)
    # The base path without its slash leads to the one with it: relatively, because a proxy may have removed a prefix.
    without_slash = [Route(base, partial(redirect, f"{base.rpartition('/')[2]}/"))] if base else []
    return [*assets, *without_slash, *(own_route(name, page) for name in ("", *_pages())), own_route(ADDRESS, _say)]


def elsewhere() -> list[BaseRoute]:
    """Return the route of all other addresses, for the end of the list; none if Streamlit's first page is not as expected."""
    return [_Elsewhere(own_route("{address:path}", _lead).path, _lead)] if _front_page(has_charts=True) else []


def _pages() -> list[str]:
    """Return the addresses of the pages below the home page's, which has none of its own."""
    return [path.stem for path in Path(__file__).parents[1].glob("[!_]*.py") if path.stem != HOME] + [*SETTINGS]


@cache
def _page_of_word() -> dict[str, str]:
    """Return the address of the page that each word names: words of the menu, and names of methods."""
    words = {_letters(page): page for page in _pages()} | {HOME: "", "index": "", "indexhtml": ""}
    for name, setting in SETTINGS.items():
        profile = profile_of(setting)
        said = (profile.short, profile.short.split()[0], setting.title, profile.paper)
        words |= {_letters(word): name for word in said}
    return words


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


async def _lead(request: Request) -> Response:
    """Lead from a word of the menu, or from a folder, to its page. Any other address gets the page that offers all doors.

    A folder leads on because the browser would look for the page's scripts and for the server in it.
    """
    address = request.path_params["address"]
    parts = [part for part in address.split("/") if part]
    known = [_page_of_word()[word] for word in map(_letters, reversed(parts)) if word in _page_of_word()]
    if known or "/" in address:
        up = "../" * (request.scope.get("raw_path", request.url.path.encode()).count(b"/") - base_path().count("/") - 1)
        return await redirect(f"{up}{known[0] if known else quote(parts[-1])}" or "./", request)
    return await _answer(False, request, status=404)


def _said() -> str:
    """Return what the app is, and what is going on."""
    return f"{WHAT}\n{warm_up().said() or 'The page is on its way.'}"


async def _say(_request: Request) -> PlainTextResponse:
    return PlainTextResponse(_said(), headers={"Cache-Control": "no-store"})


async def _answer(has_charts: bool, request: Request, status: int = 200) -> HTMLResponse:
    host = request.headers.get("host", "")
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    headers = _HEADERS | {"Content-Security-Policy": _POLICY.format(sockets=sockets)}
    page = _front_page(has_charts=has_charts).replace(_SAID, _said())
    return HTMLResponse(page, status, headers)


@cache
def _front_page(*, has_charts: bool) -> str:
    """Return Streamlit's own page with the app's style, title and chart library, which starts on this page or on the next
    one."""
    head, found, rest = first_page().partition("</head>")
    # No style sheet keeps the browser from drawing the words for the start, which React replaces.
    head = head.replace('<link rel="stylesheet"', """<link rel="stylesheet" media="print" onload="this.media='all'\"""")
    starting = _STARTING.format(said=_SAID, address=ADDRESS)
    rest = rest.replace('<div id="root"></div>', f'<div id="root">{starting}</div>')
    head = head.replace("<title>Streamlit</title>", "<title>DSG Lab</title>")
    style = f"<style>\n{UNTIL_DRAWN}\n{_STYLE.read_text(encoding='utf-8')}</style>\n"
    own = [address_of(name) for name in MODULES] if has_charts else []
    streamlits = scripts_of(*_EVERYWHERE, *(_CONTROLS if has_charts else ()))
    ahead = "".join(_AHEAD.format(address) for address in [*own, *streamlits] if address not in head)
    library = (_NOW if has_charts else _LATER).format(LIBRARY_ADDRESS)
    return head + SERVER_IS_HERE + style + ahead + library + found + rest if found else ""


# The content at these addresses never changes: each address holds a digest or a version.
_OF_ASSETS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


def _asset(path: Path, request: Request) -> Response:
    kind = "text/javascript"
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(path.read_bytes(), headers=_OF_ASSETS, media_type=kind)
    return Response(_packed(path), headers=_OF_ASSETS | {"Content-Encoding": "gzip"}, media_type=kind)


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())  # once, because the library takes as long as drawing a page
