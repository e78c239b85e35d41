"""The HTML frame that embeds a page of the app in another page; its address holds the whole run."""

from __future__ import annotations

import html
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

# Streamlit's names of the themes; None follows the reader's device.
THEMES = {"as on the reader's device": None, "light": "light_theme", "dark": "dark_theme"}
HEIGHT = 900


def draw_frame(address: str, given: Mapping[str, str], *, key: str) -> None:
    """Draw the frame's HTML, and the choice of its theme."""
    choice = st.segmented_control("Theme of the frame", list(THEMES), default="light", required=True, key=key)
    st.code(frame(address, given, theme=THEMES[choice or "light"]), language="html", wrap_lines=True)


def frame(address: str, given: Mapping[str, str], *, theme: str | None) -> str:
    """Return a frame's HTML, escaped so that no value in the link can end the attribute."""
    options = {"embed": "true"} | ({"embed_options": theme} if theme is not None else {})
    source = html.escape(f"{address}?{urlencode({**given, **options})}")
    return f'<iframe src="{source}" title="DSG Lab" width="100%" height="{HEIGHT}"></iframe>'
