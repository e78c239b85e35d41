"""A guess drawn as a curve, by mouse, finger or arrow keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from dsgcore.settings import Curve
from dsgcore.settings.lessons import SHARES

_PLACES = tuple("at the start" if not share else f"after {share:.0%} of the iterations" for share in SHARES)


def draw_curve(asks: Curve, *, key: str, page: str) -> tuple[float, ...] | None:
    """Let the reader draw a curve; return it, or None before anything was drawn."""
    middle = [(asks.low + asks.high) / 2] * len(SHARES)
    data = _axes(asks) | {"values": middle, "page": page}
    made = _component()(key=key, data=data, default={"guess": None}, on_guess_change=_heard)
    return _checked(asks, made.get("guess"))


def _heard() -> None:
    """Do nothing: streamlit draws the page again, and the page then reads the curve."""


def _checked(asks: Curve, drawn: Any) -> tuple[float, ...] | None:
    """Return the browser's values if they are a curve on the axis. They are checked, because anyone can send anything."""
    try:
        return None if drawn is None else asks.read(asks.say(drawn))
    except (TypeError, ValueError):
        return None


def _axes(asks: Curve) -> dict[str, Any]:
    ends = {"low": asks.low, "high": asks.high, "lowest": f"{asks.low:g}", "highest": f"{asks.high:g}"}
    return {"shares": list(SHARES), "places": list(_PLACES), "words": asks.words, **ends}


@cache
def _component() -> Callable[..., Any]:
    script = Path(__file__).with_name("drawn_curve.js").read_text(encoding="utf-8")
    return component("drawn_curve", html='<div class="drawn-curve"></div>', js=script, isolate_styles=False)
