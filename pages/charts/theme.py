"""The theme of the browser, which charts and pictures follow."""

from __future__ import annotations

from typing import Literal

import streamlit as st


def theme_now() -> Literal["light", "dark"]:
    """Return the theme of the reader's page."""
    return "dark" if st.context.theme.type == "dark" else "light"
