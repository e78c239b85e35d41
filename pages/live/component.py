"""The live view in the page: a head with the run's words and numbers above the tabs, and its charts in the tab Live.

Both mounts share one state in the browser (`browser/shown.js`). The head gets the snapshots, from the script and from ticks.
The charts have a mount of their own because Streamlit draws a tab's content inside the tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from pages.charts.live_chart import CONFIG, LIBRARY_ADDRESS, STYLE, loader

HEAD, CHARTS = "live-head", "live-charts"
_BROWSER = Path(__file__).parent / "browser"
_STYLE = (_BROWSER / "live.css").read_text(encoding="utf-8")


def nothing() -> None:
    """Do nothing: the only purpose of the call is to draw the page again."""


def draw_head(data: bytes, *, on_remedy: Callable[[], None] = nothing) -> None:
    """Draw status, scrubber and what limits the run; `on_remedy` follows a press on its remedy."""
    _head()(
        key=HEAD,
        data=data,
        width="stretch",
        height="content",
        on_remedy_change=on_remedy,
        on_redraw_change=nothing,
    )


def draw_charts(*, on_edit: Callable[[], None], lesson: Mapping[str, Any] | None = None) -> None:
    """Draw the place of the charts. `edits_asked` returns the edits of the data that were just made in the map.

    In a lesson they have no buttons of their own. `lesson` then holds `first`, the picture that a phone shows first, the map
    or the chart; `step`, which changes when the reader should see that picture again; and `canTurn`, if a phone offers both.
    """
    data = {"config": dict(CONFIG), "library": LIBRARY_ADDRESS, "lesson": None if lesson is None else dict(lesson)}
    _charts()(key=CHARTS, data=data, width="stretch", height="content", on_edit_change=on_edit)


def edits_asked() -> object:
    """Return what the map has just sent: the name of its mount, and numbered edits."""
    return (st.session_state.get(CHARTS) or {}).get("edit")


@cache
def _head() -> Callable[..., Any]:
    return component("live_head", js=loader("live/browser/head.js"), css=_STYLE, isolate_styles=False)


@cache
def _charts() -> Callable[..., Any]:
    return component("live_charts", js=loader("live/browser/charts.js"), css=STYLE, isolate_styles=False)
