"""The explanation of one word, for charts, the Glossary page and help texts."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """Word of the app and its meaning.

    Attributes
    ----------
    student : str
        Explanation without theory, shown beside the word.
    researcher : str
        Explanation with the paper's equation, as Markdown with formulas.
    drawn_as : tuple of str
        Other names for it, in tiles, legends, axes and chart titles.
    """

    name: str
    student: str
    researcher: str
    drawn_as: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Anchor of the entry on the Glossary page."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True)
class Topic:
    """Group of related terms."""

    title: str
    terms: tuple[Term, ...]
