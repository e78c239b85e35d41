"""A guess drawn as a curve, by mouse, finger or arrow keys."""

from __future__ import annotations

from typing import Any

from dsgcore.settings import Curve
from dsgcore.settings.lessons import SHARES
from pages.charts.live_chart import mounted, nothing


def draw_curve(asks: Curve, *, key: str, page: str) -> tuple[float, ...] | None:
    """Let the reader draw a curve; return it, or None before anything was drawn."""
    middle = [(asks.low + asks.high) / 2] * len(SHARES)
    on_axis = {"words": asks.words, "low": asks.low, "high": asks.high}
    data = {"shares": list(SHARES), **on_axis, "values": middle, "page": page}
    html, script = '<div class="drawn-curve"></div>', "workbench/browser/drawn_curve.js"
    made = mounted("drawn_curve", script, html=html)(
        key=key, data=data, default={"guess": None}, on_guess_change=nothing
    )
    return _checked(asks, made.get("guess"))


def _checked(asks: Curve, drawn: Any) -> tuple[float, ...] | None:
    """Return the browser's values if they are a curve on the axis: anyone can send anything."""
    try:
        return None if drawn is None else asks.read(asks.say(drawn))
    except (TypeError, ValueError, OverflowError):
        return None
