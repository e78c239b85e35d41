"""Drawings of a class's answers, as HTML without scripts: bars, curves over the outcome, and a map of choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from streamlit.components.v2 import component

from dsgcore.rooms.questions import BINS, Places, Question, plain_text, tally
from dsgcore.settings import Curve, Estimate, Pick
from dsgcore.settings.lessons import SHARES

LETTERS = "ABCDEFGH"
# Streamlit removes drawings from HTML, so a component puts them into the page. They are made of numbers and the project's words.
_SCRIPT = """
export default function ({data, parentElement}) {
  const place = parentElement.querySelector(".room-drawing");
  if (place.drawn !== data.html) place.innerHTML = place.drawn = data.html;
}
"""
_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 480, 260, 44, 12, 30, 28
_MAP, _EDGE = 340, 10
_ROUNDS = ("first vote", "second vote")


def answers(
    asks: Question, rounds: Sequence[Sequence[Any]], result: Mapping[str, Any], picture: Mapping[str, Any]
) -> str:
    """Return the drawing of all rounds of a question; the run's answer is marked if there is one."""
    tallies = [tally(asks, guesses) for guesses in rounds]
    if isinstance(asks, Curve):
        return f'<figure class="room-figure">{_curves(asks, tallies, result.get("value"))}</figure>'
    if isinstance(asks, Places):
        return _maps(tallies, picture)
    return _bars(asks, tallies, result)


def draw(html: str) -> None:
    """Put a drawing into the page of a lecturer."""
    _component()(key="room-drawing", data={"html": html})


@cache
def _component() -> Callable[..., Any]:
    return component("room_drawing", html='<div class="room-drawing"></div>', js=_SCRIPT, isolate_styles=False)


def _bars(asks: Pick | Estimate, tallies: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> str:
    """Return a histogram: for each answer a bar of each round, as long as its share of the round's answers."""
    names, right = _names(asks), _right(asks, result)
    words = [escape(plain_text(option.words)) for option in getattr(asks, "options", ())] or [""] * len(names)
    rows = []
    for k, name in enumerate(names):
        mark = " ✓" * (k == right)
        for number, one in enumerate(tallies):
            count, share = one["counts"][k], one["counts"][k] / max(1, one["n"])
            said = f"<b>{name}{mark}</b> {words[k]}" if number == 0 else ""
            earlier = ' class="earlier"' * (number < len(tallies) - 1)
            rows.append(
                f'<div{earlier}><p>{said}</p><i><u style="width: {100 * share:.0f}%"></u></i><span>{count}</span></div>'
            )
    said = "; ".join(
        f"{f'{_ROUNDS[number]}: ' if len(tallies) > 1 else ''}"
        + ", ".join(f"{name}{' ✓' * (k == right)}: {one['counts'][k]}" for k, name in enumerate(names))
        for number, one in enumerate(tallies)
    )
    ticks = " data-ticks" * isinstance(asks, Estimate)  # their names are those of an axis
    label = escape(f"Guesses: {said}")
    return f'<div class="room-bars" role="img" aria-label="{label}"{ticks}>{"".join(rows)}</div>{_key(tallies)}'


def _key(tallies: Sequence[Mapping[str, Any]]) -> str:
    said = "Pale: the first vote. Full: the second vote."
    return f'<p class="room-key">{said}</p>' if len(tallies) > 1 else ""


def _names(asks: Pick | Estimate) -> list[str]:
    if isinstance(asks, Pick):
        return list(LETTERS[: len(asks.options)])
    edges = np.linspace(asks.low, asks.high, BINS + 1)
    return [f"{low:.2g} to {high:.2g}" for low, high in pairwise(edges)]


def _right(asks: Pick | Estimate, result: Mapping[str, Any]) -> int | None:
    """Return the number of the bar in which the run's answer lies."""
    if isinstance(asks, Pick):
        return result.get("right")
    value = result.get("value")
    if value is None or not asks.low <= value <= asks.high:
        return None
    return min(BINS - 1, int((value - asks.low) / (asks.high - asks.low) * BINS))


def _curves(asks: Curve, tallies: Sequence[Mapping[str, Any]], outcome: Sequence[float] | None) -> str:
    """Return the band and the median of the last round's curves, the median of the round before, and the run's curve."""

    def points(values: Sequence[float]) -> list[str]:
        inside = [min(asks.high, max(asks.low, value)) for value in values]
        ys = [_TOP + (asks.high - v) / (asks.high - asks.low) * (_H - _TOP - _BOTTOM) for v in inside]
        xs = [_LEFT + share * (_W - _LEFT - _RIGHT) for share in SHARES]
        return [f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True)]

    *before, one = tallies
    drawn, said = [_frame(asks)], [counted(one["n"], "curve")]
    for first in before:
        if "middle" in first:
            drawn.append(f'<polyline class="middle before" points="{" ".join(points(first["middle"]))}"/>')
            said.append(f"median of the first vote {_in_words(first['middle'])}")
    if "middle" in one:
        drawn.append(f'<polygon class="band" points="{" ".join([*points(one["high"]), *points(one["low"])[::-1]])}"/>')
        drawn.append(f'<polyline class="middle" points="{" ".join(points(one["middle"]))}"/>')
        said.append(f"median {_in_words(one['middle'])}")
    if outcome is not None:
        drawn.append(f'<polyline class="outcome" points="{" ".join(points(outcome))}"/>')
        said.append(f"outcome {_in_words(outcome)}")
    label = escape(f"{asks.words}: {'; '.join(said)}")
    key = "Band: eight of ten curves. Dotted: the median" + ", and pale that of the first vote" * bool(before) + "."
    key += " Line: the run." * (outcome is not None)
    return (
        f'<svg class="room-curves" viewBox="0 0 {_W} {_H}" {_box(_LEFT, _W - _RIGHT, _TOP, _H - _BOTTOM)} '
        f'role="img" aria-label="{label}">{"".join(drawn)}</svg>'
        f'<p class="room-key">{counted(one["n"], "curve")}. {key}</p>'
    )


def _box(*ends: float) -> str:
    """Return the ends of the axes from left to bottom as an attribute, for a phone that draws its own answer there."""
    return f'data-box="{" ".join(map(str, ends))}"'


def counted(n: int, one: str) -> str:
    """Return a number of things in words."""
    return f"{n} {one}{'s' * (n != 1)}"


def _in_words(values: Sequence[float]) -> str:
    return ", ".join(
        f"{'at the start' if not share else f'after {share:.0%}'}: {value:.2f}"
        for share, value in zip(SHARES, values, strict=True)
    )


def _frame(asks: Curve) -> str:
    ends = "".join(
        f'<text x="{_LEFT - 6}" y="{y}" text-anchor="end">{value:g}</text>'
        for value, y in ((asks.high, _TOP + 5), (asks.low, _H - _BOTTOM + 4))
    )
    along = f'<text x="{_LEFT}" y="{_H - 8}">start</text>'
    along += f'<text x="{_W - _RIGHT}" y="{_H - 8}" text-anchor="end">end of the run</text>'
    axes = f'<path class="frame" d="M{_LEFT} {_TOP}V{_H - _BOTTOM}H{_W - _RIGHT}"/>'
    return f'{axes}{ends}{along}<text x="{_LEFT}" y="{_TOP - 10}">{escape(asks.words)}</text>'


def _maps(tallies: Sequence[Mapping[str, Any]], picture: Mapping[str, Any]) -> str:
    """Return a map of each round, and what its colours mean."""
    titles = [counted(one["n"], "phone") for one in tallies]
    if len(tallies) > 1:
        titles = [f"{name}: {title}" for name, title in zip(_ROUNDS, titles, strict=True)]
    maps = "".join(
        f'<figure class="room-figure"><figcaption>{title}</figcaption>{_map(one, picture)}</figure>'
        for title, one in zip(titles, tallies, strict=True)
    )
    key = "The stronger the colour of a square, the more often it was chosen."
    return f'<div class="room-maps">{maps}</div><p class="room-key">{key}</p>'


def _map(one: Mapping[str, Any], picture: Mapping[str, Any]) -> str:
    """Return a map with the points, and squares whose colour is the stronger the more often they were chosen."""
    cells = one["cells"]
    most, side = max(1, *(max(column) for column in cells)), (_MAP - 2 * _EDGE) / len(cells)
    squares = "".join(
        f'<rect class="cell" x="{_EDGE + i * side:.1f}" y="{_MAP - _EDGE - (j + 1) * side:.1f}" '
        f'width="{side:.1f}" height="{side:.1f}" '
        f'opacity="{0.8 * number / most:.2f}"/>'
        for i, column in enumerate(cells)
        for j, number in enumerate(column)
        if number
    )
    dots = "".join(
        f'<circle class="point" cx="{_EDGE + x * (_MAP - 2 * _EDGE):.1f}" cy="{_MAP - _EDGE - y * (_MAP - 2 * _EDGE):.1f}" r="3"/>'
        for x, y in picture.get("points", [])
    )
    label = f"Map of the points that {counted(one['n'], 'phone')} would label"
    return (
        f'<svg class="room-map" viewBox="0 0 {_MAP} {_MAP}" {_box(_EDGE, _MAP - _EDGE, _EDGE, _MAP - _EDGE)} '
        f'role="img" aria-label="{label}">{squares}{dots}'
        f'<rect class="frame" x="1" y="1" width="{_MAP - 2}" height="{_MAP - 2}"/></svg>'
    )
