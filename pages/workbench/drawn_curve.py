"""A guess drawn as a curve, by mouse, finger or arrow keys, and drawn over the outcome of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dsgcore.settings import Curve
from dsgcore.settings.guided.questions import SHARES

_PLACES = tuple("at the start" if not share else f"after {share:.0%} of the iterations" for share in SHARES)


def draw_curve(asks: Curve, *, key: str, page: str) -> tuple[float, ...] | None:
    """Let the reader draw a curve; return it, or None before anything was drawn."""
    component = _component()
    if component is None:
        return _by_sliders(asks, key)
    middle = [(asks.low + asks.high) / 2] * len(SHARES)
    data = _axes(asks) | {"values": middle, "page": page}
    made = component(key=key, data=data, default={"guess": None}, on_guess_change=_heard)
    return _checked(asks, made.get("guess"))


def _heard() -> None:
    """Do nothing: streamlit draws the page again, and the page then reads the curve."""


def _checked(asks: Curve, drawn: Any) -> tuple[float, ...] | None:
    """Return the browser's values if they are a curve on the axis. They are checked, because anyone can send anything."""
    try:
        return None if drawn is None else asks.read(asks.say(drawn))
    except (TypeError, ValueError):
        return None


def _by_sliders(asks: Curve, key: str) -> tuple[float, ...]:
    """Return the values of sliders, one for each place, if this streamlit has no such components."""
    middle = (asks.low + asks.high) / 2
    labels = [f"{asks.words}, {place}" for place in _PLACES]
    return tuple(st.slider(label, asks.low, asks.high, middle, key=f"{key}-{label}") for label in labels)


def lay_over(asks: Curve, guess: Sequence[float], came_to: Sequence[float], *, key: str) -> None:
    """Draw the guess as a dashed line with open marks, and the outcome as a solid line."""
    said = "; ".join(f"{p}: guess {g:.2f}, outcome {c:.2f}" for p, g, c in zip(_PLACES, guess, came_to, strict=True))
    inside = [min(asks.high, max(asks.low, value)) for value in came_to]
    component = _component()
    if component is None:
        st.caption(said)
        return
    component(key=key, data=_axes(asks) | {"values": list(guess), "outcome": inside, "said": said})
    st.html(f'<div class="lesson-ends"><span>○ guess</span><span>● {asks.words}</span></div>')


def show_curve(asks: Curve, came_to: Sequence[float] | None, *, key: str) -> None:
    """Draw the outcome alone."""
    component = _component()
    if came_to is None or component is None:
        return
    said = "; ".join(f"{p}: {c:.2f}" for p, c in zip(_PLACES, came_to, strict=True))
    inside = [min(asks.high, max(asks.low, value)) for value in came_to]
    component(key=key, data=_axes(asks) | {"values": inside, "outcome": inside, "said": said})


def _axes(asks: Curve) -> dict[str, Any]:
    ends = {"low": asks.low, "high": asks.high, "lowest": f"{asks.low:g}", "highest": f"{asks.high:g}"}
    return {"shares": list(SHARES), "places": list(_PLACES), "words": asks.words, **ends}


@cache
def _component() -> Callable[..., Any] | None:
    try:
        from streamlit.components.v2 import component
    except ImportError:
        return None
    script = Path(__file__).with_name("drawn_curve.js").read_text(encoding="utf-8")
    return component("drawn_curve", html='<div class="drawn-curve"></div>', js=script, isolate_styles=False)
