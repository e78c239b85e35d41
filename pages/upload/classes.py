"""The conversion of an uploaded file's labels: the positive class, the number of bins, and the order of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dsgcore.data.reading import Look, Recipe
from dsgcore.data.reading.cells import as_number
from dsgcore.data.reading.labels import BINARY, has_known_order
from dsgcore.data.reading.recipe import NONE
from dsgcore.experiments import Setting


def draw_classes(
    problem: type[Setting], recipe: Recipe, begun: Recipe, ask: Callable[[Recipe], Look], key: str
) -> Recipe:
    """Draw the conversion of the labels: the positive class, the number of bins, the order of classes.

    `ask` returns the table, with its classes, that a recipe reads.
    """
    label = str(recipe.column("label"))
    key = f"{key}-{label}"
    if begun.column("label") == label:
        recipe = replace(recipe, positive=begun.positive, bins=begun.bins, order=begun.order)
    unlabeled = st.session_state.get(f"{key}-unlabeled", begun.unlabeled or NONE).strip()
    chosen, asked = recipe.bins, ask(replace(recipe, unlabeled=unlabeled or None, bins=None))
    recipe, names = asked.recipe, list(asked.classes)
    is_continuous = recipe.bins is not None
    few = None if is_continuous else st.session_state.get(f"{key}-few", chosen)
    may_be_cut = not is_continuous and all(as_number(name) is not None for name in names)
    if is_continuous:
        bins = st.number_input("Equal-frequency bins of the label", 2, 100, chosen or recipe.bins, key=f"{key}-bins")
        recipe = replace(recipe, bins=bins)
    elif few is not None:
        recipe = replace(recipe, bins=few, positive=None, order=())
    if problem.labels in ("binary", "pairs") and recipe.bins is None and 2 <= len(names) <= 1000:
        usual = recipe.positive if recipe.positive in names else names[-1]
        positive = st.selectbox("Positive class", names, index=names.index(usual), key=f"{key}-positive")
        recipe = replace(recipe, positive=positive)
    elif problem.labels == "ordinal" and recipe.bins is None and 2 <= len(names) <= 50:
        recipe = replace(recipe, order=_order(names, recipe, key))
    with st.popover("More about the label", width="stretch"):
        st.text_input(
            "A label that means “not labeled”",
            begun.unlabeled or NONE,
            key=f"{key}-unlabeled",
            help="Rows with this label, and rows with an empty cell, are unlabeled. auto: -1, if there are "
            "two or more other labels. "
            "none: every label is a class.",
        )
        if may_be_cut:
            st.number_input(
                "Cut the numbers of the label into bins",
                2,
                2 if problem.labels in BINARY else 100,
                chosen,
                key=f"{key}-few",
                placeholder="none: each number is a class",
                help="Each bin holds about equally many rows.",
            )
    return recipe


def _order(names: list[str], recipe: Recipe, key: str) -> tuple[str, ...]:
    """Draw the order of the classes, lowest first."""
    text = st.text_input(
        "Classes from the lowest to the highest",
        ", ".join(recipe.order or names),
        key=f"{key}-order",
        help="Separated by commas.",
    )
    is_usual = text == ", ".join(names)
    given = tuple(names) if is_usual else tuple(name.strip() for name in text.split(","))
    if has_known_order(names):
        return () if list(given) == names else given
    st.caption(":orange[:material/help:] These words have no known order: put them from the lowest to the highest.")
    return given
