"""A term, explained once: where it is drawn, on the glossary's page, and in help."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word of the app, and what it means.

    Attributes
    ----------
    student : str
        One sentence that needs no theory; said where the word stands.
    researcher : str
        One sentence with the papers' equation. Markdown with formulas.
    drawn_as : tuple of str
        What it is called besides: in tiles, legends, on axes and above charts.
    """

    name: str
    student: str
    researcher: str
    drawn_as: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Its place on the glossary's page."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True)
class Topic:
    """Terms that are read together."""

    title: str
    terms: tuple[Term, ...]
