"""Glossary of the app: each term has an explanation for students and one with the paper's equation (`glossary.toml`).

Charts, tiles and axes show the text that `meaning` returns. The Glossary page lists all entries.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dsgcore.solver.parameters import SOLVER_PARAMETERS

_BEFORE = ("test ", "train ")


@dataclass(frozen=True)
class Term:
    """Word of the app and its meaning."""

    name: str
    # Explanation without theory, shown beside the word.
    student: str
    # Explanation with the paper's equation, as Markdown with formulas.
    researcher: str
    # Other names for it, in tiles, legends, axes and chart titles.
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


def _read() -> Iterator[Topic]:
    """Yield the topics of the file; a term that names a parameter has that parameter's sentence."""
    sentences = {parameter.name: parameter.sentence for parameter in SOLVER_PARAMETERS}

    def made(said: Mapping[str, Any]) -> Term:
        student = sentences[said["parameter"]] if "parameter" in said else said["student"].replace("\n", " ")
        return Term(said["name"], student, said["researcher"].replace("\n", " "), tuple(said.get("drawn_as", ())))

    for said in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["topic"]:
        yield Topic(said["title"], tuple(map(made, said["term"])))


TOPICS = tuple(_read())
_BY_NAME = {
    name.casefold(): entry for topic in TOPICS for entry in topic.terms for name in (entry.name, *entry.drawn_as)
}


@lru_cache(maxsize=1024)  # a name can come from a file
def term(name: str) -> Term | None:
    """Return the entry for a word in a tile, a legend, an axis or a chart title, or None if it has no entry."""
    said = name.casefold().partition(", average")[0]
    forms = (said, *(said.removeprefix(word) for word in _BEFORE))
    return next((_BY_NAME[form] for form in forms if form in _BY_NAME), None)


def meaning(name: str) -> str:
    """Return the explanation for students, or "" if the word needs none, such as the name of a class."""
    found = term(name)
    return "" if found is None else found.student
