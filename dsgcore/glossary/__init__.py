"""Glossary of the app: each term has an explanation for students and one with the paper's equation.

Charts, tiles and axes show the text that `meaning` returns. The Glossary page lists all entries.
"""

from __future__ import annotations

from functools import lru_cache

from dsgcore.glossary.learning import DATA, FUNCTION, OBJECTIVE
from dsgcore.glossary.running import ERRORS, LIMITS, SCORES, STEPS
from dsgcore.glossary.term import Term, Topic

__all__ = ["TOPICS", "Term", "Topic", "meaning", "term"]

TOPICS = (DATA, FUNCTION, OBJECTIVE, STEPS, ERRORS, LIMITS, SCORES)
_BY_NAME = {
    name.casefold(): entry for topic in TOPICS for entry in topic.terms for name in (entry.name, *entry.drawn_as)
}
_BEFORE = ("test ", "train ")


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
