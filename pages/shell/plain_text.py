"""Texts of links and files as they are written: no links, pictures, colours or formulas."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Return a text for Streamlit's Markdown that shows it as it is written."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
