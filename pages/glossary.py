"""The Glossary page: each term with a sentence for students and one for researchers."""

from __future__ import annotations

import inspect

import streamlit as st

import dsgcore
from dsgcore.glossary import TOPICS, Term
from pages.pictures.kept import kept_picture
from pages.shell.page_link import given, say_in_link
from pages.shell.warm_up import is_ready

SEARCH = "find"  # also its name in the link


def glossary() -> None:
    """Draw the page."""
    st.title("Glossary")
    st.markdown(
        "Each entry explains a word of this app: first without theory, then with the papers' equations. You find the same "
        "sentences beside the words: at the **?** of a chart, a tile or a control, and at each word of a legend."
    )
    if SEARCH not in st.session_state:
        st.session_state[SEARCH] = given(SEARCH)
    wanted = st.text_input(
        "Search",
        key=SEARCH,
        type="search",
        live=True,
        placeholder="A word, such as kernel",
        max_chars=60,
        width=320,
    )
    say_in_link(SEARCH, wanted or "", SEARCH)
    with st.container(key="glossary-terms"):
        # Draw the entries that contain the text, below the titles of their topics.
        found = {topic.title: [term for term in topic.terms if _contains(term, (wanted or ""))] for topic in TOPICS}
        for title, terms in found.items():
            if terms:
                st.header(title)
            for term in terms:
                st.subheader(term.name, anchor=term.anchor)
                if picture := kept_picture(f"term-{term.anchor}"):
                    st.image(picture.svg, width=picture.width, alt=picture.alt)
                st.markdown(f"{term.student}\n\n{term.researcher}")
        if not any(found.values()):
            st.info("No entry contains this text. Try a shorter word.")
        _in_python()


def _contains(term: Term, wanted: str) -> bool:
    """Return True if each word of the text occurs in an entry, in upper or lower case."""
    text = " ".join([term.name, *term.drawn_as, term.student, term.researcher]).casefold()
    return all(word in text for word in wanted.casefold().split())


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
