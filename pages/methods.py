"""The page Methods: what each of the five methods learns, and from what."""

from __future__ import annotations

import streamlit as st

from pages.gallery.method_cards import method_cards
from pages.shell.warm_up import is_ready


def methods() -> None:
    """Draw the page."""
    st.title("Methods")
    st.markdown(
        "Five methods learn from a few labels and many unlabeled points. They differ in what they learn, and in what a label is."
    )
    method_cards(has_acronyms=True)
    with st.container(horizontal=True, gap="medium"):
        st.page_link("pages/data.py", label="Which method for my data?", icon=":material/trophy:", width="content")
        st.page_link("pages/how_it_works.py", label="How it works", icon=":material/lightbulb:", width="content")
        st.page_link("pages/papers.py", label="Their papers", icon=":material/article:", width="content")


methods()
is_ready()
