"""Draw a plotly figure that changes several times a second, in place.

`st.plotly_chart` cannot (streamlit 1.67, issues 8782 and 11424): the figure's content is part of
the element's identity, so each new data point removes the chart and builds another: a blank frame,
zoom and hover lost. Taking the content out of the identity keeps the node but freezes the curve,
because the browser's half reads a figure only when its identity is new. So the figure goes
through a small component of our own, which hands it to `Plotly.react`. Only public streamlit
interfaces are used; where one is missing, charts are drawn the stock way, after one warning.
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

# What the browser runs and how it looks, beside this file.
_SCRIPT, _STYLE = (Path(__file__).with_name(f"live_plotly.{kind}") for kind in ("js", "css"))
# plotly.js's own bundle of two-dimensional charts: a third of what the Python package has, and of the time that it takes to begin.
LIBRARY = Path(__file__).parent / "library" / "plotly-cartesian-4.1.1.min.js"
# Where the app's server has it, below its root.
LIBRARY_ADDRESS = f"library/{LIBRARY.name}"
_DEFAULT_HEIGHT = 450  # plotly's own
_CONFIG: Mapping[str, Any] = {"displayModeBar": False, "displaylogo": False}


@dataclass(frozen=True)
class Drawing:
    """A figure as it travels: one that stays the same for a while need not be encoded for each drawing of the page."""

    text: str
    height: int


@dataclass(frozen=True)
class Occasion:
    """A drawing that the browser is to tell of once it is there.

    It does not where it has left the page by then: told of a page that is left, the server would go back to it.
    """

    page: str  # the last part of its address
    number: int


def encoded(figure: Mapping[str, Any]) -> Drawing:
    """Return a figure as it travels."""
    return Drawing(_to_json(figure), (figure.get("layout") or {}).get("height") or _DEFAULT_HEIGHT)


@dataclass(frozen=True)
class Chart:
    """A figure with its place on the page; the rest as in `live_chart`."""

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
        Plotly figure as plain data, with the keys ``data`` and ``layout``; NumPy arrays are fine,
        and what is not finite becomes a gap. Set ``layout.uirevision`` to a constant to keep
        zoom and hidden traces across updates, and to another value (the run's number, say) to
        let go of them. Fonts, grid, background and colour cycle follow the page's theme, light
        or dark, unless the layout sets them or carries a ``template`` that is not empty.

        Title and legend stand above the plot, where they wrap and never cover a curve: buttons
        that hide a curve and, where a trace has a sentence in its ``meta``, tell it. The layout's
        ``meta`` may hold a ``note``, text beside the legend, and ``help``, a sentence on the whole.
    key : str
        Identity of the chart on its page, and its CSS class ``st-key-<key>``.
    alt : str
        What a screen reader says; may change from one update to the next.
    height : int, optional
        Pixels, title and legend included; by default the figure's ``layout.height``, or 450. May
        change, too. A page's style sheet can say otherwise, by ``.st-key-<key> .live-chart``.
    config : mapping
        Plotly's configuration; by default no mode bar. Read when the chart is first drawn.
    on_drawn : callable, optional
        Called once the browser has drawn the chart; the page, or the fragment that the chart is in, is then drawn anew.
    occasion : Occasion, optional
        `on_drawn` is called once for each occasion, and not where there is none.
    on_clicked : callable, optional
        Called when a point of the chart has been clicked; `clicked` says which one.
    save_as : str, optional
        Name of the files, without ending, that a button beside the title saves the chart in: as PNG, SVG, standalone HTML or
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
    """Draw a figure that has been encoded; the rest as in `live_chart`.

    Of a chart that ticks change as well, the browser draws none whose `order` is below that of the one it shows.
    """
    pixels, text = height or drawing.height, drawing.text
    mount = _component()
    if mount is None:
        if on_drawn is not None:
            on_drawn()  # nobody will tell
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
        # As bytes: all else would be encoded twice more, once for the message and once for its digest.
        data=f"{json.dumps(around)}\n{text}".encode(),
        width="stretch",
        height=pixels,
        on_drawn_change=on_drawn or _nobody_waits,
        **clicks,
    )


def clicked(key: str) -> Any:
    """Return the `customdata` of the point of a chart that has just been clicked; None where there is none."""
    state = st.session_state.get(key)
    return None if state is None else state.get("clicked")


def _nobody_waits() -> None:
    """Do nothing: a report that was asked for before has come late."""


def _to_json(figure: Mapping[str, Any]) -> str:
    """Encode `figure` compactly; the browser's JSON knows no NaN."""
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
    """Replace what is not finite by None, at any depth."""
    if isinstance(value, dict):
        return {name: _with_gaps(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_gaps(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def _component() -> Callable[..., Any] | None:
    """Register the component; None where this streamlit, or this plotly, has not what it takes."""
    try:
        from streamlit.components.v2 import component
    except ImportError as missing:
        _log.warning("charts are drawn the stock way and will flicker: %s", missing)
        return None
    if not LIBRARY.is_file():
        _log.warning("charts are drawn the stock way and will flicker: no file %s", LIBRARY)
        return None
    js, css = (path.read_text(encoding="utf-8") for path in (_SCRIPT, _STYLE))
    return component("live_plotly", js=js, css=css, isolate_styles=False)
