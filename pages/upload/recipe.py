"""The reading of an uploaded file as widgets: its format, the role of each column, and what its labels mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dsgcore.data.reading import DATES, DELIMITERS, ENCODINGS, MARKS, MISSING, Look, Recipe, as_cell
from dsgcore.data.reading.cells import as_number
from dsgcore.data.reading.labels import BINARY, has_known_order
from dsgcore.data.reading.recipe import NONE
from dsgcore.experiments import Setting
from pages.controls.own_file import Choosing

ROLE_NAMES = {
    "number": "feature: number",
    **{role: f"feature: number like {role.removeprefix('number ')}" for role in MARKS},
    **{role: f"feature: {role}" for role in DATES},
    "category": "feature: category",
    "text": "feature: text",
    "pair": "pair id",
    "index": "row index: left out",
    "ignore": "ignore",
}
COMMENTS = {"": "nothing: there are none", "#": "#", "%": "%"}


def is_drawn(key: str) -> bool:
    """Return True if the session keeps the state of a file's widgets."""
    return f"{key}-missing_words" in st.session_state


def _pick(place: Any, label: str, options: Iterable[str], usual: str, key: str, **more: Any) -> str:
    """Draw a choice that begins with its usual option."""
    known = list(options)
    return str(place.selectbox(label, known, index=known.index(usual), key=key, **more))


def draw_format(begun: Recipe, key: str) -> Recipe:
    """Draw the settings for reading the bytes, starting from the detected format."""
    words = st.text_input(
        "Cells that mean a missing value",
        ", ".join(word for word in begun.missing_words if word),
        key=f"{key}-missing_words",
        help="Separate them with commas. An empty cell always means a missing value.",
    )
    recipe = replace(begun, missing_words=("", *(word.strip() for word in words.split(",") if word.strip())))
    if begun.format != "delimited":
        st.caption("This format needs no settings.")
        return recipe
    left, right = st.columns(2)
    signs, marks = DELIMITERS.__getitem__, {".": "point", ",": "comma"}
    recipe = replace(
        recipe,
        delimiter=_pick(
            left, "Cells are separated by", DELIMITERS, begun.delimiter, f"{key}-delimiter", format_func=signs
        ),
        decimal=_pick(right, "Decimal mark", marks, begun.decimal, f"{key}-decimal", format_func=marks.__getitem__),
        encoding=_pick(left, "Encoding", ENCODINGS, begun.encoding, f"{key}-encoding"),
        header=right.toggle("First line names the columns", begun.header, key=f"{key}-header"),
    )
    with st.popover("More about the text", width="stretch"):  # what few texts need
        help_above, begins = "Such as a title. They are left out.", "Lines of comments begin with"
        help_below = "Such as units or a survey's questions. They are left out."
        signs, above = COMMENTS.__getitem__, begun.above
        return replace(
            recipe,
            above=st.number_input("Lines above the table", 0, 1000, above, key=f"{key}-above", help=help_above),
            comment=_pick(st, begins, COMMENTS, begun.comment, f"{key}-comment", format_func=signs),
            below=st.number_input("Lines below the names", 0, 10, begun.below, key=f"{key}-below", help=help_below),
            escape=st.toggle("A backslash before a quote belongs to it", begun.escape, key=f"{key}-escape"),
        )


def guess(choosing: Choosing, look: Look, recipe: Recipe) -> None:
    """Guess the roles of the columns, once for each format, unless a link's recipe has them."""
    if choosing.format == recipe:
        return
    guessed = recipe if choosing.is_from_link and choosing.format is None else look.recipe
    roles = _with_label({name: guessed.role(name) for name in look.names}, look, guessed.column("label"))
    choosing.format, choosing.label, choosing.roles, choosing.edited = recipe, _label_of(roles), roles, dict(roles)
    choosing.version += 1


def _label_of(roles: dict[str, str]) -> str | None:
    return next((name for name, role in roles.items() if role == "label"), None)


def _with_label(roles: dict[str, str], look: Look, label: str | None) -> dict[str, str]:
    """Return the roles with another column as the label; the previous label becomes a feature. The last column is the
    default."""
    before = _label_of(roles)
    label = label if label in roles else before or look.names[-1]
    was = {} if before in (None, label) else {before: look.alone[look.names.index(before)]}
    return roles | was | {str(label): "label"}


def draw_label(choosing: Choosing, look: Look, key: str) -> str:
    """Draw the choice of the label's column; when it changes, the previous label becomes a feature."""
    assert choosing.label is not None
    assert choosing.edited is not None
    about = "The column to predict. Rows where it is empty are unlabeled."
    label = _pick(st, "Label", look.names, choosing.label, f"{key}-label-{choosing.version}", help=about)
    if label != choosing.label:
        choosing.label, choosing.roles = label, _with_label(choosing.edited, look, label)
    return label


def draw_columns(choosing: Choosing, look: Look, label: str, recipe: Recipe, key: str) -> Recipe:
    """Draw the table of columns, with a role for each column except the label, and what is done about gaps and texts."""
    assert choosing.roles is not None
    head, begun = look.first.head(3), choosing.begun
    others = [(j, name) for j, name in enumerate(look.names) if name != label]
    shown = pd.DataFrame(
        {
            "column": [as_cell(name) for _, name in others],
            "used as": [ROLE_NAMES.get(choosing.roles[name], ROLE_NAMES["number"]) for _, name in others],
            "first values": [", ".join(cell or "–" for cell in head.iloc[:, j]) for j, _ in others],
        }
    )
    edited = st.data_editor(
        shown,
        column_config={"used as": st.column_config.SelectboxColumn(options=list(ROLE_NAMES.values()), required=True)},
        disabled=["column", "first values"],
        hide_index=True,
        width="stretch",
        height=min(280, 38 + 35 * len(shown)),
        key=f"{key}-roles-{choosing.version}-{label}",
    )
    roles = {name: role for role, name in ROLE_NAMES.items()}
    choosing.edited = {name: roles[used] for (_, name), used in zip(others, edited["used as"], strict=True)}
    choosing.edited[label] = "label"
    recipe = replace(recipe, roles=Recipe.from_dict({"format": begun.format, "roles": choosing.edited}).roles)
    left, right = st.columns(2)

    def say(name: str) -> str:
        return "drop the row" if name == "drop" else f"the column's {name}"

    gaps = _pick(left, "Missing numbers", MISSING, begun.missing, f"{key}-missing", format_func=say)
    recipe = replace(recipe, missing=gaps)
    if not any(role == "text" for _, role in recipe.roles):
        return recipe
    about, own = "Singular directions of TF-IDF that describe a column of text.", f"{key}-text_dimensions"
    directions = right.number_input("Directions for a text", 1, 1000, begun.text_dimensions, key=own, help=about)
    return replace(recipe, text_dimensions=directions)


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
    if is_continuous:
        bins = chosen or recipe.bins
        bins = st.number_input("Equal-frequency bins of the label", 2, 100, bins, key=f"{key}-bins")
        recipe = replace(recipe, bins=bins)
    elif (few := st.session_state.get(f"{key}-few", chosen)) is not None:
        recipe = replace(recipe, bins=few, positive=None, order=())
    elif problem.labels in BINARY and 2 <= len(names) <= 1000:
        usual = recipe.positive if recipe.positive in names else names[-1]
        recipe = replace(recipe, positive=_pick(st, "Positive class", names, str(usual), f"{key}-positive"))
    elif problem.labels == "ordinal" and 2 <= len(names) <= 50:
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
        if not is_continuous and all(as_number(name) is not None for name in names):
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
    usual, written = recipe.order or names, "Classes from the lowest to the highest"
    text = st.text_input(written, ", ".join(usual), key=f"{key}-order", help="Separated by commas.")
    is_usual = text == ", ".join(names)
    given = tuple(names) if is_usual else tuple(name.strip() for name in text.split(","))
    if has_known_order(names):
        return () if list(given) == names else given
    st.caption(":orange[:material/help:] These words have no known order: put them from the lowest to the highest.")
    return given
