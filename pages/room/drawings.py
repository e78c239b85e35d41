"""Drawings of a class's answers, as HTML without scripts: bars, curves over the outcome, and a map of choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from streamlit.components.v2 import component

from dsgcore.core.cost import per_cent
from dsgcore.core.parameters import counted
from dsgcore.rooms.questions import Places, Question, plain_text
from dsgcore.rooms.rooms import State
from dsgcore.settings import Curve, Estimate, Pick
from dsgcore.settings.lessons import LETTERS, SHARES

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
BINS = 10  # of a histogram, and of a map along each side
BAND = (0.1, 0.5, 0.9)  # shares: the low end, the median and the high end of drawn curves
FEW = 10  # of fewer curves the band holds all


def answers(
    asks: Question, rounds: Sequence[Sequence[Any]], result: Mapping[str, Any], picture: Mapping[str, Any]
) -> str:
    """Return the drawing of all rounds of a question; the run's answer is marked if there is one."""
    if isinstance(asks, Curve):
        return f'<figure class="room-figure">{_curves(asks, rounds, result.get("value"))}</figure>'
    if isinstance(asks, Places):
        return _maps(rounds, picture)
    return _bars(asks, rounds, result)


def standing(state: State) -> str:
    """Return how many have answered, and whether more can, as HTML for the lecturer."""
    turn = f"Round {state.round}: " * (state.round > 1)
    left = "" if state.left is None or not state.is_open else f", {state.left:.0f} s left"
    closed, shut = ", closed" * (not state.is_open), ", no new phones" * state.is_shut
    return f"<b>{turn}{state.count} answered</b>{left}{closed}{shut}"


def draw(html: str) -> None:
    """Put a drawing into the page of a lecturer."""
    _component()(key="room-drawing", data={"html": html})


@cache
def _component() -> Callable[..., Any]:
    return component("room_drawing", html='<div class="room-drawing"></div>', js=_SCRIPT, isolate_styles=False)


def _bars(asks: Pick | Estimate, rounds: Sequence[Sequence[Any]], result: Mapping[str, Any]) -> str:
    """Return a histogram: for each answer a bar of each round, as long as its share of the round's answers."""
    names, edges, words = _bins(asks)
    came_to = result.get("right", result.get("value"))
    right, *counts = (np.histogram(one, edges)[0] for one in ([] if came_to is None else [came_to], *rounds))
    marked = [name + " ✓" * int(n) for name, n in zip(names, right, strict=True)]
    rows, said = "", []
    for k, name in enumerate(marked):
        for number, count in enumerate(counts):
            share = f"{100 * count[k] / max(1, len(rounds[number])):.0f}%"
            text = f"<b>{name}</b> {words[k]}" * (number == 0)
            earlier = ' class="earlier"' * (number < len(counts) - 1)
            rows += f'<div{earlier}><p>{text}</p><i><u style="width: {share}"></u></i><span>{count[k]}</span></div>'
    for number, count in enumerate(counts):
        turn = f"{_ROUNDS[number]}: " * (len(counts) > 1)
        said.append(turn + ", ".join(f"{name}: {n}" for name, n in zip(marked, count, strict=True)))
    ticks = " data-ticks" * isinstance(asks, Estimate)  # their names are those of an axis
    key = '<p class="room-key">Pale: the first vote. Full: the second vote.</p>' * (len(counts) > 1)
    return f'<div class="room-bars" role="img" aria-label="Guesses: {"; ".join(said)}"{ticks}>{rows}</div>{key}'


def _bins(asks: Pick | Estimate) -> tuple[Sequence[str], NDArray, Sequence[str]]:
    """Return the names of the bars, the edges between their guesses, and the words of the answers."""
    if isinstance(asks, Pick):
        words = [escape(plain_text(option.words)) for option in asks.options]
        return LETTERS[: len(words)], np.arange(len(words) + 1) - 0.5, words
    edges = np.linspace(asks.low, asks.high, BINS + 1)
    digits = math.ceil(2 - math.log10(asks.high - asks.low))  # to a hundredth of the scale: years are no tens of years
    said = [f"{round(edge, digits):.10g}" for edge in edges.tolist()]
    return [f"{low} to {high}" for low, high in pairwise(said)], edges, [""] * BINS


def _curves(asks: Curve, rounds: Sequence[Sequence[Any]], outcome: Sequence[float] | None) -> str:
    """Return the band and the median of the last round's curves, the median of the round before, and the run's curve."""

    def points(values: Sequence[float] | NDArray) -> list[str]:
        shares = (asks.high - np.clip(values, asks.low, asks.high)) / (asks.high - asks.low)
        ys = _TOP + shares * (_H - _TOP - _BOTTOM)
        xs = _LEFT + np.array(SHARES) * (_W - _LEFT - _RIGHT)
        return [f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True)]

    def line(kind: str, values: Sequence[float] | NDArray, name: str) -> None:
        drawn.append(f'<polyline class="{kind}" points="{" ".join(points(values))}"/>')
        whens = ("at the start", *(f"after {per_cent(share)}" for share in SHARES[1:]))
        of_curve = (f"{when}: {value:.2f}" for when, value in zip(whens, values, strict=True))
        said.append(f"{name} {', '.join(of_curve)}")

    *before, last = rounds
    number, is_few = counted(len(last), "curve"), len(last) < FEW
    texts = (
        (_LEFT - 6, _TOP + 5, "end", f"{asks.high:g}"),
        (_LEFT - 6, _H - _BOTTOM + 4, "end", f"{asks.low:g}"),
        (_LEFT, _H - 8, "start", "start"),
        (_W - _RIGHT, _H - 8, "end", "end of the run"),
        (_LEFT, _TOP - 10, "start", escape(asks.words)),
    )
    drawn, said = [f'<text x="{x}" y="{y}" text-anchor="{way}">{text}</text>' for x, y, way, text in texts], [number]
    drawn.append(f'<path class="frame" d="M{_LEFT} {_TOP}V{_H - _BOTTOM}H{_W - _RIGHT}"/>')
    if before and before[0]:
        line("middle before", np.median(before[0], axis=0), "median of the first vote")
    if last:
        low, middle, high = np.quantile(last, (0.0, 0.5, 1.0) if is_few else BAND, axis=0)
        drawn.append(f'<polygon class="band" points="{" ".join([*points(high), *points(low)[::-1]])}"/>')
        line("middle", middle, "median")
    if outcome is not None:
        line("outcome", outcome, "outcome")
    label = escape(f"{asks.words}: {'; '.join(said)}")
    key = f"Band: {'all' if is_few else 'eight of ten'} curves. Dotted: the median"
    key += ", and pale that of the first vote" * bool(before) + "."
    key += " Line: the run." * (outcome is not None)
    return (
        f'<svg class="room-curves" viewBox="0 0 {_W} {_H}" {_box(_LEFT, _W - _RIGHT, _TOP, _H - _BOTTOM)} '
        f'role="img" aria-label="{label}">{"".join(drawn)}</svg>'
        f'<p class="room-key">{number}. {key}</p>'
    )


def _box(*ends: float) -> str:
    """Return the ends of the axes from left to bottom as an attribute, for a phone that draws its own answer there."""
    return f'data-box="{" ".join(map(str, ends))}"'


def _maps(rounds: Sequence[Sequence[Any]], picture: Mapping[str, Any]) -> str:
    """Return a map of each round, and what its colours mean."""
    turns = [f"{name}: " * (len(rounds) > 1) for name in _ROUNDS]
    maps = "".join(_map(turn, one, picture) for turn, one in zip(turns, rounds, strict=False))
    return f'<div class="room-maps">{maps}</div><p class="room-key">Stronger squares were chosen more often.</p>'


def _map(turn: str, guesses: Sequence[Any], picture: Mapping[str, Any]) -> str:
    """Return a map with the points, and squares whose colour is the stronger the more often they were chosen."""
    places = np.array(guesses, dtype=float).reshape(-1, 2)
    cells, *_edges = np.histogram2d(places[:, 0], places[:, 1], BINS, ((0, 1), (0, 1)))
    low, high = _EDGE, _MAP - _EDGE
    side, number = (high - low) / BINS, counted(len(guesses), "phone")
    drawn = [
        f'<rect class="cell" x="{low + i * side:.1f}" y="{high - (j + 1) * side:.1f}" width="{side:.1f}" '
        f'height="{side:.1f}" opacity="{0.8 * cells[i, j] / cells.max():.2f}"/>'
        for i, j in np.argwhere(cells)
    ]
    for x, y in picture.get("points", []):
        at = f'cx="{low + x * (high - low):.1f}" cy="{high - y * (high - low):.1f}"'
        drawn.append(f'<circle class="point" {at} r="3"/>')
    return (
        f'<figure class="room-figure"><figcaption>{turn}{number}</figcaption><svg class="room-map" '
        f'viewBox="0 0 {_MAP} {_MAP}" {_box(low, high, low, high)} role="img" '
        f'aria-label="Map of the points that {number} would label">{"".join(drawn)}'
        f'<rect class="frame" x="1" y="1" width="{_MAP - 2}" height="{_MAP - 2}"/></svg></figure>'
    )
