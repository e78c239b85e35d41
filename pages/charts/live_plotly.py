"""A component that draws a plotly figure in place, several times a second.

`st.plotly_chart` cannot do this (streamlit 1.67, issues 8782 and 11424). The content of the figure is part of the identity
of its element, so each new data point replaces the chart: a blank frame appears, and zoom and hover are lost. Without the
content in the identity the node stays, but the curve freezes, because the browser reads a figure only when its identity is
new. This component therefore hands the figure to `Plotly.react`. It uses public streamlit interfaces only. If one of them
is missing, charts are drawn with `st.plotly_chart`, after one warning.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

__all__ = ["LIBRARY", "LIBRARY_ADDRESS", "Chart", "Drawing", "Occasion", "clicked", "draw", "encoded", "live_chart"]

_log = logging.getLogger(__name__)

# The browser's part of the component: its script and its style, next to this file.
_SCRIPT, _STYLE = (Path(__file__).with_name(f"live_plotly.{kind}") for kind in ("js", "css"))
# plotly.js's bundle of two-dimensional charts. It has a third of the size of the bundle in the Python package, and starts
# three times faster.
LIBRARY = Path(__file__).parent / "library" / "plotly-cartesian-4.1.1.min.js"
# Address of the bundle below the root of the server.
LIBRARY_ADDRESS = f"library/{LIBRARY.name}"
_DEFAULT_HEIGHT = 450  # plotly's default
_CONFIG: Mapping[str, Any] = {"displayModeBar": False, "displaylogo": False}


@dataclass(frozen=True)
class Drawing:
    """An encoded figure. A figure that stays the same is encoded once, not at each drawing of the page."""

    text: str
    height: int


@dataclass(frozen=True)
class Occasion:
    """A drawing that the browser reports once it is done.

    The browser does not report it after it has left the page, because the server would then go back to that page.
    """

    page: str  # the last part of its address
    number: int


def encoded(figure: Mapping[str, Any]) -> Drawing:
    """Return the figure, encoded for the browser."""
    return Drawing(_to_json(figure), (figure.get("layout") or {}).get("height") or _DEFAULT_HEIGHT)


@dataclass(frozen=True)
class Chart:
    """A figure with its place on the page; see `live_chart` for the rest."""

    key: str
    alt: str
    drawing: Drawing
    height: int


def live_chart(
    figure: Mapping[str, Any],
    *,
    key: str,
    alt: str,
    height: int | None = None,
    config: Mapping[str, Any] = _CONFIG,
    on_drawn: Callable[[], None] | None = None,
    occasion: Occasion | None = None,
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
        ``meta`` may hold a ``note``, a text beside the legend, and ``help``, a sentence about the chart.
    key : str
        Identity of the chart on its page, and its CSS class ``st-key-<key>``.
    alt : str
        Text for a screen reader; it may change from one update to the next.
    height : int, optional
        Height in pixels, with title and legend; by default the figure's ``layout.height``, or 450. It may
        change. A page's style sheet can override it for ``.st-key-<key> .live-chart``.
    config : mapping
        Plotly's configuration; by default no mode bar. It is read when the chart is first drawn.
    on_drawn : callable, optional
        Called after the browser has drawn the chart. The page, or the chart's fragment, is then drawn again.
    occasion : Occasion, optional
        `on_drawn` is called once for each occasion, and never without one.
    on_clicked : callable, optional
        Called when a point of the chart is clicked; `clicked` returns the point.
    save_as : str, optional
        File name, without ending, for the button that saves the chart as PNG, SVG, standalone HTML or
        CSV of its curves. By default the key.
    """
    draw(
        encoded(figure),
        key=key,
        alt=alt,
        height=height,
        config=config,
        on_drawn=on_drawn,
        occasion=occasion,
        on_clicked=on_clicked,
        save_as=save_as,
    )


def draw(
    drawing: Drawing,
    *,
    key: str,
    alt: str,
    height: int | None = None,
    config: Mapping[str, Any] = _CONFIG,
    on_drawn: Callable[[], None] | None = None,
    occasion: Occasion | None = None,
    on_clicked: Callable[[], None] | None = None,
    save_as: str = "",
    order: float = 0.0,
) -> None:
    """Draw an encoded figure; see `live_chart` for the rest.

    If ticks change the chart as well, the browser ignores a figure whose `order` is below the order of the one it shows.
    """
    pixels, text = height or drawing.height, drawing.text
    mount = _component()
    if mount is None:
        if on_drawn is not None:
            on_drawn()  # without the component no browser reports the drawing
        st.plotly_chart(
            json.loads(text),
            key=key,
            alt=alt,
            width="stretch",
            height=pixels,
            theme="streamlit",
            config=dict(config),
        )
        return
    told = asdict(occasion) if occasion is not None else None
    around = {"key": key, "order": order, "alt": alt, "height": pixels, "occasion": told}
    around |= {"config": dict(config), "library": LIBRARY_ADDRESS, "save": save_as or key.removeprefix("chart-")}
    clicks: dict[str, Any] = {} if on_clicked is None else {"on_clicked_change": on_clicked}
    mount(
        key=key,
        # Bytes are sent as they are. Other types would be encoded twice more, for the message and for its digest.
        data=f"{json.dumps(around)}\n{text}".encode(),
        width="stretch",
        height=pixels,
        on_drawn_change=on_drawn or _nobody_waits,
        **clicks,
    )


def clicked(key: str) -> Any:
    """Return the `customdata` of the point that was just clicked, or None."""
    state = st.session_state.get(key)
    return None if state is None else state.get("clicked")


def _nobody_waits() -> None:
    """Do nothing: a report arrived that was asked for earlier."""


def _to_json(figure: Mapping[str, Any]) -> str:
    """Encode `figure` compactly, with gaps instead of NaN, which the browser's JSON does not know."""
    try:
        return json.dumps(figure, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError:
        figure = json.loads(json.dumps(figure, default=_plain))
        return json.dumps(_with_gaps(figure), separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    """Turn NumPy arrays and scalars into lists and numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a figure holds numbers, text, lists and mappings, got {type(value).__name__}")


def _with_gaps(value: Any) -> Any:
    """Replace values that are not finite by None, at any depth."""
    if isinstance(value, dict):
        return {name: _with_gaps(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_gaps(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def _component() -> Callable[..., Any] | None:
    """Register the component, or return None if this streamlit or plotly lacks what it needs."""
    try:
        from streamlit.components.v2 import component
    except ImportError as missing:
        _log.warning("charts are drawn with st.plotly_chart and will flicker: %s", missing)
        return None
    if not LIBRARY.is_file():
        _log.warning("charts are drawn with st.plotly_chart and will flicker: no file %s", LIBRARY)
        return None
    js, css = (path.read_text(encoding="utf-8") for path in (_SCRIPT, _STYLE))
    return component("live_plotly", js=js, css=css, isolate_styles=False)
