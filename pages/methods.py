"""The page Methods: what each method learns, and from what."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from pages.gallery.gallery import method_cards
from pages.shell.warm_up import is_ready

# What one label says, by the labels that a setting takes.
A_LABEL = {
    "pairs": "a pair of points that belong together",
    "binary": "one of two classes",
    "ordinal": "one of several classes that have an order",
    "classes": "one of several classes",
}


def methods() -> None:
    """Draw the page."""
    st.title("Methods")
    st.markdown(
        "Five methods learn from a few labels and many unlabeled points. They differ in what they learn, and in what a label is. "
        "**Labels** learns from labels alone: it is the algorithm that four of them extend."
    )
    method_cards(has_acronyms=True)
    rows = ("Method", "A label is", "It is judged by", "Lessons", "Paper"), ("---",) * 5, *map(_row, SETTINGS)
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
    with st.container(horizontal=True, gap="medium"):
        st.page_link("pages/data.py", label="Which method for my data?", icon=":material/trophy:", width="content")
        st.page_link("pages/how_it_works.py", label="How it works", icon=":material/lightbulb:", width="content")
        st.page_link("pages/papers.py", label="Their papers", icon=":material/article:", width="content")


def _row(name: str) -> tuple[str, ...]:
    setting, profile = SETTINGS[name], profile_of(SETTINGS[name])
    _, paper = setting.citation.split(", ", 1)
    score = f"{setting.score_name} on points that were held out"
    return f"**{profile.full_name}**", A_LABEL[setting.labels], score, str(len(profile.lessons)), paper


methods()
is_ready()
