"""The Glossary page: each term with a sentence for students and one for researchers."""

from __future__ import annotations

import streamlit as st

from dsgcore.glossary import TOPICS, Term
from pages.gallery.gallery import kept_picture
from pages.shell.page_link import given, say_in_link
from pages.shell.warm_up import is_ready

SEARCH = "find"  # also its name in the link


def _text(term: Term) -> str:
    return " ".join([term.name, *term.drawn_as, term.student, term.researcher]).casefold()


def glossary() -> None:
    st.title("Glossary")
    st.markdown(
        "Each entry explains a word of this app: first without theory, then with the papers' equations. You find the same "
        "sentences beside the words: at the **?** of a chart, a tile or a control, and at each word of a legend."
    )
    if SEARCH not in st.session_state:
        st.session_state[SEARCH] = given(SEARCH)
    wanted = st.text_input(
        "Search", key=SEARCH, type="search", live=True, placeholder="A word, such as kernel", max_chars=60, width=320
    )
    say_in_link(SEARCH, wanted or "", SEARCH)
    with st.container(key="glossary-terms"):
        # Draw the entries that contain the text, below the titles of their topics.
        words = (wanted or "").casefold().split()
        found = {
            topic.title: [term for term in topic.terms if all(word in _text(term) for word in words)]
            for topic in TOPICS
        }
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


glossary()
is_ready()
