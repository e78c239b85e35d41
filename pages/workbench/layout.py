"""The parts of a setting's page, and their layout: the map and the three plots fit in a window of 1366 x 768.

A hidden part is not drawn. `pages/controls/view.py` keeps the values of its controls.
"""

from __future__ import annotations

from collections.abc import Set

import streamlit as st

from pages.controls.control import refused

ANSWER = "answer"  # the answer to a lesson's question or goal
PARTS = ("sidebar", "transport", "view", "limits", "map", "curves", "error", "tabs", ANSWER)


def hidden_parts() -> set[str]:
    """Return the parts that the link's `hide=` names, for teaching and for pages that embed this one."""
    return set(",".join(st.query_params.get_all("hide")).split(",")) & set(PARTS)


def is_presented() -> bool:
    """Return True if the link shows a lesson to a class."""
    return st.query_params.get("present") == "1"


# As on the stage, by the same unit: a page that is shown to a class is readable from the last row.
_PRESENTED = """<style>@media (min-width: 961px) {
  :root {font-size: max(16px, min(1.4vw, 2.5vh)) !important}
  .stMain {--st-chart-projected: 1; --st-chart-type: 18; --row: clamp(300px, 100vh - 19.8rem, 800px)}
  .stMain :is(.live-chart-head, .live-chart-title, .live-chart-word, .live-chart-value) {font-size: 0.9rem !important}
  .stMain :is(.live-head button, .live-step, .wipe-rule span) {font-size: 0.75rem !important}
  .st-key-part-transport > :has(.stSelectbox) {width: 8rem !important}
  .stMain .live-charts[data-places~="map"] > [data-place="below"] {display: none}  /* a class is not shown what needs scrolling */
}
@media (min-width: 1600px) {.stMain {--st-chart-type: 26}}</style>"""


def enlarge_for_a_class() -> None:
    """Make a page that is shown to a class readable from the last row, if the link says so."""
    if is_presented():
        st.html(_PRESENTED)


def refused_parts() -> list[str]:
    """Return a sentence about names in the link's `hide=` that are no part of the page."""
    unknown = set(",".join(st.query_params.get_all("hide")).split(",")) - {*PARTS, ""}
    if not unknown:
        return []
    given = refused(",".join(sorted(unknown)))
    return [f"In the link, hide must name parts of the page ({', '.join(PARTS)}), got {given}; that is left out."]


def lay_out(hidden: Set[str]) -> None:
    """Give the room of these parts to the others."""
    style = "".join(_ROOM[part] for part in sorted(hidden & set(_ROOM)))
    style += _EMBEDDED * bool(st.context.is_embedded)
    if hidden & set(_HEAD):
        style += f".st-key-part-head {{min-height: {sum(_HEAD[part] for part in set(_HEAD) - hidden):g}rem !important}}"
    if style:
        st.html(f"<style>{style}</style>")


# Heights of the live view's rows above the charts, in rem.
_HEAD = {"transport": 1.9, "limits": 2.65}
_ROOM = {
    "view": ".stMain #chart-map .live-chart-head {padding-top: 0 !important} "
    ".stMain #chart-map .live-chart-title {display: inline !important}",
}
_EMBEDDED = ".stMainBlockContainer:has(> * > * > .st-key-part-sentence) {padding-top: 1rem !important}"
