"""Home: what this is, the five settings, and the data."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._router import ensure_routed
from pages._warm_up import is_ready


@dataclass(frozen=True)
class Card:
    """A setting, or the data, as the home page shows it."""

    title: str
    paper: str
    sentence: str
    icon: str
    page: str


CARDS = (
    Card(
        "Similar-unlabeled",
        "TSGSU",
        "Learn a classifier from pairs that belong together, and from points without any label.",
        ":material/link:",
        "pages/similar_unlabeled.py",
    ),
    Card(
        "AUC",
        "QSG-S2AUC",
        "Rank positives above negatives with a few labels and many unlabeled points.",
        ":material/leaderboard:",
        "pages/auc.py",
    ),
    Card(
        "S3VM",
        "TSGS3VM",
        "Push the decision boundary through the gaps between unlabeled points.",
        ":material/call_split:",
        "pages/s3vm.py",
    ),
    Card(
        "Ordinal",
        "QS3ORAO",
        "Rank points whose classes have an order, with few of them labeled.",
        ":material/format_list_numbered:",
        "pages/ordinal.py",
    ),
    Card(
        "Multi-class",
        "PS3VT",
        "Tell many classes apart with a graph over unlabeled points and a penalty on small singular values.",
        ":material/category:",
        "pages/multiclass.py",
    ),
    Card(
        "Data",
        "the gallery",
        "Generated and measured sets, each in every setting that it suits: look at one closely before a run does.",
        ":material/table_chart:",
        "pages/data.py",
    ),
)

_STYLE = """
[data-testid="stMainBlockContainer"] {padding-top: 4.2rem; max-width: 1120px}
"""


def home() -> None:
    """Draw the home page."""
    st.html(f"<style>{_STYLE}</style>")
    st.title("DSG Lab")
    st.markdown(
        "Kernel methods for data with few labels, **scaled by sampling everything**: points, pairs and the features of the "
        "kernel itself. Move a slider and watch the objective, the accuracy and the error of the random features answer."
    )
    for start in range(0, len(CARDS), 3):
        for column, card in zip(st.columns(3), CARDS[start : start + 3], strict=False):
            with column:
                _draw(card)
    st.caption(
        "One recursion drives four of the five: f ← (1 − ηλ) f − η Σ c(x) φ(x)′φ(·), with fresh random features φ at every "
        "iteration. The same seed gives the same numbers: a link holds the whole experiment."
    )


def _draw(card: Card) -> None:
    with st.container(border=True, height=215):
        st.markdown(f"#### {card.icon} {card.title}")
        st.markdown(card.sentence)
        st.page_link(card.page, label=f"Open {card.paper}", icon=":material/arrow_forward:")


ensure_routed()
home()
is_ready()
