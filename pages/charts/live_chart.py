"""A component that draws a plotly figure in place, several times a second."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2 import component


def theme_now() -> Literal["light", "dark"]:
    """Return the theme of the reader's page."""
    return "dark" if st.context.theme.type == "dark" else "light"


_PAGES = Path(__file__).parents[1]
FOLDER = "assets"
# By address: the folder of each module stays, so that modules import each other by the same paths as on disk.
MODULES = {path.relative_to(_PAGES).as_posix(): path for path in sorted(_PAGES.glob("*/browser/*.js"))}
# A component's script is not at the address of a module, so it cannot import one by a relative path. Streamlit calls the
# component again for each update, possibly before the module is there; the newest update is then the first to be shown.
_LOADER = """
const loading = import(new URL("{address}", document.baseURI));
export default function (mounted) {{
  let end = null, isOver = false;
  loading.then(module => {{ if (!isOver) end = module.default(mounted); }},
    () => mounted.parentElement.append("A script of this page could not be loaded. Load the page again."));
  return () => {{ isOver = true; end?.(); }};
}}
"""


@cache
def digest() -> str:
    """Return a digest of all modules. It is in their addresses, so a browser never mixes two versions."""
    content = sha256()
    for path in MODULES.values():
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


def address_of(module: str) -> str:
    """Return the address of a module below the root of the server; `module` is as in "charts/browser/chart.js"."""
    return f"{FOLDER}/{digest()}/{module}"


@cache
def mounted(name: str, module: str, css: str = "", html: str = "") -> Callable[..., Any]:
    """Return the component that a module draws."""
    return component(
        name, html=html or None, js=_LOADER.format(address=address_of(module)), css=css or None, isolate_styles=False
    )


# The style of every chart.
STYLE = (Path(__file__).parent / "browser" / "chart.css").read_text(encoding="utf-8")
# plotly.js's bundle of two-dimensional charts. It has a third of the size of the bundle in the Python package, and starts
# three times faster.
LIBRARY = Path(__file__).parent / "library" / "plotly-cartesian-4.1.1.min.js"
# Address of the bundle below the root of the server.
LIBRARY_ADDRESS = f"library/{LIBRARY.name}"


@dataclass(frozen=True)
class Chart:
    """A figure, encoded for the browser, with its name on the page and its text for screen readers."""

    key: str
    alt: str
    figure: str

    @classmethod
    def of(cls, key: str, figure: Mapping[str, Any]) -> Chart:
        """Return a figure of curves, with their last values as its text."""
        return cls(key, alt_of(figure), encoded(figure))


def nothing() -> None:
    """Do nothing: the only purpose of the call is to draw the page again."""


def alt_of(figure: Mapping[str, Any]) -> str:
    """Return a chart of curves in words: its title, and the name and the last value of each curve in its legend."""
    layout, ends = figure["layout"], dict[str, float]()
    for trace in figure["data"]:
        # A stacked curve may have two traces, above and below zero; the second one is not in the legend.
        before = ends.get(trace["name"], 0.0) if "stackgroup" in trace else 0.0
        if (trace.get("showlegend", True) or "stackgroup" in trace) and not trace.get("fill"):
            known = [y for y in trace.get("y") or () if y is not None]
            ends |= {trace["name"]: before + known[-1]} if known else {}
    values = ", ".join(f"{name} {value:.4g}" for name, value in ends.items())
    if not values and not any(len(trace.get("y", ())) for trace in figure["data"]):
        values = "nothing to draw yet"
    title, note = layout["title"]["text"], layout.get("meta", {}).get("note", "")
    return ". ".join(filter(None, [f"{title}: {values}" if values else title, note])) + "."


def live_chart(
    figure: Mapping[str, Any],
    *,
    key: str,
    height: int,
    alt: str = "",
    on_clicked: Callable[[], None] | None = None,
    save_as: str = "",
) -> None:
    """Draw `figure` in place: same node, no blank frame, zoom kept.

    Parameters
    ----------
    figure : mapping
        Plotly figure as plain data, with the keys ``data`` and ``layout``. NumPy arrays are allowed,
        and values that are not finite become gaps. Set ``layout.uirevision`` to a constant to keep
        zoom and hidden traces across updates, and to another value (the run's number, for example) to
        reset them. Fonts, grid, background and colour cycle follow the page's theme, light
        or dark, unless the layout sets them or carries a ``template`` that is not empty.

        Title and legend are above the plot, where they wrap and never cover a curve. The legend's buttons
        hide a curve and show the sentence in the trace's ``meta``. The layout's
        ``meta`` may hold a ``note``, a text beside the legend, ``help``, a sentence about the chart, and ``about``, what tells
        its button for a screen reader from those of charts with the same title.
    key : str
        Identity of the chart on its page, and its CSS class ``st-key-<key>``.
    height : int
        Height in pixels, with title and legend. A page's style sheet can override it for ``.st-key-<key> .live-chart``.
    alt : str, optional
        Text for a screen reader. By default the last values of the curves.
    on_clicked : callable, optional
        Called when a point of the chart is clicked; `sent` returns the point.
    save_as : str, optional
        File name, without ending, for the button that saves the chart as PNG, SVG, standalone HTML or
        CSV of its curves. By default the key.
    """
    around = {"alt": alt or alt_of(figure), "height": height, "library": LIBRARY_ADDRESS}
    around["save"] = save_as or key.removeprefix("chart-")
    clicks: dict[str, Any] = {} if on_clicked is None else {"on_clicked_change": on_clicked}
    mounted("live_chart", "charts/browser/chart.js", STYLE)(
        key=key,
        # Bytes are sent as they are. Other types would be encoded twice more, for the message and for its digest.
        data=f"{json.dumps(around)}\n{encoded(figure)}".encode(),
        width="stretch",
        height=height,
        **clicks,
    )


def sent(key: str, name: str) -> Any:
    """Return what a component has just sent under a name, such as the `customdata` of a "clicked" point; None without it."""
    return (st.session_state.get(key) or {}).get(name)


def encoded(figure: Mapping[str, Any]) -> str:
    """Encode `figure` compactly, with gaps instead of NaN, which the browser's JSON does not know."""
    try:
        return json.dumps(figure, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError:
        with_gaps = json.loads(json.dumps(figure, default=_plain), parse_constant=lambda _: None)
        return json.dumps(with_gaps, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a figure holds numbers, text, lists and mappings, got {type(value).__name__}")
