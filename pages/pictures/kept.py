"""Pictures that are files, because a page should not wait for runs. CONTRIBUTING.md says how to draw them again."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from pathlib import Path

from pages.charts.figures import INK
from pages.charts.live_chart import theme_now

FOLDER = Path(__file__).parent
CURRENT_COLOR = "currentColor"  # the page puts its theme's ink there


@dataclass(frozen=True)
class Picture:
    """A picture as SVG text, its width in pixels, and its text for a screen reader."""

    svg: str
    width: int
    alt: str


def file_of(name: str) -> Path:
    """Return the path of the picture of a setting, of a term or of a paper's figure, which may not exist."""
    return FOLDER / f"{name}.svg"


def kept_picture(name: str) -> Picture | None:
    """Return a picture in the colours of the reader's theme, or None if there is none of this name."""
    file = file_of(name)
    if not file.is_file():
        return None
    svg = file.read_text(encoding="utf-8")
    root = ET.fromstring(svg)
    return Picture(svg.replace(CURRENT_COLOR, INK[theme_now()]), int(root.get("width", 0)), root.get("aria-label", ""))


def still(picture: Picture) -> Picture:
    """Return the last frame of a moving picture, for readers who have asked their system for less motion.

    A browser does not tell a picture in a file about that wish.
    """
    frames = re.compile(r"<style>.*?</style>|<g\b.*?</g>(?=.*<g\b)", re.DOTALL)
    return replace(picture, svg=frames.sub("", picture.svg))
