"""The Glossary page: each term with a sentence for students and one for researchers."""

from __future__ import annotations

import inspect

import streamlit as st

import dsgcore
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
        _in_python()


def _topic(topic: Topic) -> None:
    st.header(topic.title)
    for term in topic.terms:
        _term(term)


def _term(term: Term) -> None:
    st.subheader(term.name, anchor=term.anchor)
    st.markdown(f"{term.student}\n\n{term.researcher}")


def _in_python() -> None:
    """Show the docstring of a public name. A docstring is part of the installation; the built API reference is not."""
    st.header("In Python", anchor="in-python")
    st.markdown(
        "Choose a name to read its parameters and an example. `python .ci/reference.py build/reference` builds the whole API "
        "reference, with a page for each class and function."
    )
    name = st.selectbox(
        "Name in `dsgcore`", dsgcore.__all__, index=None, placeholder="Choose a class or function", key="in-python"
    )
    if name is not None:
        st.code(inspect.getdoc(getattr(dsgcore, name)), language=None, wrap_lines=True)


glossary()
is_ready()
