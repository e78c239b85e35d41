"""The page Methods: what each method learns, and from what."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of
from dsgcore.settings import profile_of
from pages.gallery.gallery import method_cards
from pages.shell.router import page_named
from pages.shell.warm_up import is_ready

# What one label says, by the labels that a setting takes.
A_LABEL = {
    "pairs": "a pair of points that belong together",
    "binary": "one of two classes",
    "ordinal": "one of several classes that have an order",
    "classes": "one of several classes",
}


def methods() -> None:
    st.title("Methods")
    st.markdown(
        "Five methods learn from a few labels and many unlabeled points. They differ in what they learn, and in what a label is. "
        "**Labels** learns from labels alone: it is the algorithm that four of them extend."
    )
    method_cards(has_acronyms=True)
    lines = ["| Method | A label is | It is judged by | Lessons | Paper |", f"|{'---|' * 5}"]
    for setting in SETTINGS.values():
        profile, (_, paper) = profile_of(setting), setting.citation.split(", ", 1)
        score, n = f"{setting.score_name} on points that were held out", len(lessons_of(setting))
        lines.append(f"| **{profile.full_name}** | {A_LABEL[setting.labels]} | {score} | {n} | {paper} |")
    with st.container(key="table-of-methods"):
        st.markdown("\n".join(lines))
    with st.container(horizontal=True, gap="medium"):
        st.page_link("pages/data.py", label="Which method for my data?", icon=":material/trophy:")
        st.page_link(page_named("how_it_works"))
        st.page_link(page_named("papers"), label="Their papers")


methods()
is_ready()
