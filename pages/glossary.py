"""The glossary: each term once, in a sentence for a student and one for a researcher."""

from __future__ import annotations

import streamlit as st

from dsgcore.glossary import TOPICS, Term, Topic
from pages.shell.warm_up import is_ready


def glossary() -> None:
    """Draw the page."""
    st.title("Glossary")
    st.markdown(
        "What the words of this app mean: first in a sentence that needs no theory, then with the papers' equations. The same "
        "sentences stand where the words do: at the **?** beside a chart's title, a tile or a control, and at each "
        "word of a legend."
    )
    with st.container(key="glossary-terms"):
        for topic in TOPICS:
            _topic(topic)


def _topic(topic: Topic) -> None:
    st.header(topic.title)
    for term in topic.terms:
        _term(term)


def _term(term: Term) -> None:
    st.subheader(term.name, anchor=term.anchor)
    st.markdown(f"{term.student}\n\n{term.researcher}")


glossary()
is_ready()
