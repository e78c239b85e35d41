"""What is drawn again and again in its own place of the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from pages.charts.live_chart import nothing

_numbers = count()  # of parts, of which one function may draw several, and of their drawings


def repeated(draw: Callable[..., None], seconds: float | None, *given: Any) -> None:
    """Draw what a function draws, and draw it again after so long, once the page is at rest; None: once only.

    Streamlit's own `run_every` asks for a part also while the page is being drawn. Parts of that drawing can then be lost, and
    the browser, which has no place for the part, shows nothing any more ("Cannot set a node at a delta path").
    """
    st.fragment(_draw)(next(_numbers), draw, seconds, given)


def _draw(number: int, draw: Callable[..., None], seconds: float | None, given: tuple[Any, ...]) -> None:
    if seconds is not None:
        with st.container(key=f"part-state-again-{number}"):
            data = {"seconds": seconds, "drawing": next(_numbers)}  # the browser is told of each drawing
            _component()(key=f"again-{number}", data=data, on_again_change=nothing)
    draw(*given)


@cache
def _component() -> Callable[..., Any]:
    script = (Path(__file__).parent / "again.js").read_text(encoding="utf-8")
    return component("drawn_again", js=script, isolate_styles=False)
