"""The frame in which another page shows one of ours: HTML whose address holds what it is to show."""

from __future__ import annotations

import html
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

# What Streamlit calls them; of the reader's own system where none is named.
THEMES = {"as on the reader's device": None, "light": "light_theme", "dark": "dark_theme"}
HEIGHT = 900


def draw_frame(address: str, given: Mapping[str, str], *, key: str) -> None:
    """Offer the frame's HTML, light or dark as it is chosen."""
    choice = st.segmented_control("Theme of the frame", list(THEMES), default="light", required=True, key=key)
    st.code(frame(address, given, theme=THEMES[choice or "light"]), language="html", wrap_lines=True)


def frame(address: str, given: Mapping[str, str], *, theme: str | None) -> str:
    """Return a frame's HTML: no value of the link can end the attribute that holds it."""
    options = {"embed": "true"} | ({"embed_options": theme} if theme is not None else {})
    source = html.escape(f"{address}?{urlencode({**given, **options})}")
    return f'<iframe src="{source}" title="DSG Lab" width="100%" height="{HEIGHT}"></iframe>'
