"""Every term of the app, explained once: in a sentence for a student, and one for a researcher with the equation.

Charts, tiles and axes ask `meaning` for what stands under their names; the glossary's page lists all of it.
"""

from __future__ import annotations

from dsgcore.glossary.learning import DATA, FUNCTION, OBJECTIVE
from dsgcore.glossary.running import ERRORS, LIMITS, SCORES, STEPS
from dsgcore.glossary.term import Term, Topic

__all__ = ["TOPICS", "Term", "Topic", "meaning", "term"]

TOPICS = (DATA, FUNCTION, OBJECTIVE, STEPS, ERRORS, LIMITS, SCORES)
_BY_NAME = {
    name.casefold(): entry for topic in TOPICS for entry in topic.terms for name in (entry.name, *entry.drawn_as)
}
_BEFORE = ("test ", "train ")


def term(name: str) -> Term | None:
    """Return the entry of a word as a tile, a legend, an axis or a chart's title has it; None where there is none."""
    said = name.casefold().partition(", average")[0]
    forms = (said, *(said.removeprefix(word) for word in _BEFORE))
    return next((_BY_NAME[form] for form in forms if form in _BY_NAME), None)


def meaning(name: str) -> str:
    """Return the sentence for a student; empty for what needs none, such as a class's own name."""
    found = term(name)
    return "" if found is None else found.student
