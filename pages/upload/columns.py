"""The reading of an uploaded file: its format, and the role of each column."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from dsgcore.data.reading import (
    DATES,
    DELIMITERS,
    ENCODINGS,
    MARKS,
    MISSING,
    Look,
    Recipe,
    as_cell,
)
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
_ROLES = {name: role for role, name in ROLE_NAMES.items()}
COMMENTS = ("", "#", "%")


def is_drawn(key: str) -> bool:
    """Return True if the session keeps the state of a file's widgets."""
    return f"{key}-missing_words" in st.session_state


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
    delimiter = left.selectbox(
        "Cells are separated by",
        tuple(DELIMITERS),
        index=tuple(DELIMITERS).index(begun.delimiter),
        format_func=DELIMITERS.__getitem__,
        key=f"{key}-delimiter",
    )
    decimal = right.selectbox(
        "Decimal mark",
        (".", ","),
        index=(".", ",").index(begun.decimal),
        format_func={".": "point", ",": "comma"}.__getitem__,
        key=f"{key}-decimal",
    )
    encoding = left.selectbox("Encoding", ENCODINGS, index=ENCODINGS.index(begun.encoding), key=f"{key}-encoding")
    header = right.toggle("First line names the columns", begun.header, key=f"{key}-header")
    recipe = replace(recipe, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header)
    with st.popover("More about the text", width="stretch"):
        return _draw_seldom(recipe, begun, key)


def _draw_seldom(recipe: Recipe, begun: Recipe, key: str) -> Recipe:
    """Draw the settings that few texts need."""
    above = st.number_input(
        "Lines above the table", 0, 1000, begun.above, key=f"{key}-above", help="Such as a title. They are left out."
    )
    comment = st.selectbox(
        "Lines of comments begin with",
        COMMENTS,
        index=COMMENTS.index(begun.comment),
        format_func=lambda sign: sign or "nothing: there are none",
        key=f"{key}-comment",
    )
    units = st.toggle("The line below the names holds units", begun.units, key=f"{key}-units")
    escape = st.toggle("A backslash before a quote belongs to it", begun.escape, key=f"{key}-escape")
    return replace(recipe, above=above, comment=comment, units=units, escape=escape)


def guess(choosing: Choosing, look: Look, recipe: Recipe) -> None:
    """Guess the roles of the columns, once for each format, unless a link's recipe has them."""
    if choosing.format == recipe:
        return
    guessed = recipe if choosing.is_from_link and choosing.format is None else look.recipe
    choosing.guessed = {name: guessed.role(name) for name in look.names}
    roles = _with_label(choosing.guessed, look, guessed.column("label"))
    carried = {name: role for name, role in choosing.carried.items() if name in roles}
    label = next((name for name, role in carried.items() if role == "label"), None)
    roles = _with_label(roles, look, label) | carried
    choosing.format, choosing.label = recipe, next(name for name, role in roles.items() if role == "label")
    choosing.roles, choosing.edited = roles, dict(roles)
    choosing.version += 1


def _with_label(roles: dict[str, str], look: Look, label: str | None) -> dict[str, str]:
    """Return the roles with another column as the label; the previous label becomes a feature. The last column is the
    default."""
    before = next((name for name, role in roles.items() if role == "label"), None)
    label = label if label in roles else before or look.names[-1]
    was = {} if before in (None, label) else {before: look.alone[look.names.index(before)]}
    return roles | was | {str(label): "label"}


def draw_label(choosing: Choosing, look: Look, key: str) -> str:
    """Draw the choice of the label's column; when it changes, the previous label becomes a feature."""
    known = list(look.names)
    assert choosing.label is not None
    assert choosing.edited is not None
    label = st.selectbox(
        "Label",
        known,
        index=known.index(choosing.label),
        key=f"{key}-label-{choosing.version}",
        help="The column to predict. Rows where it is empty are unlabeled.",
    )
    if label != choosing.label:
        choosing.label, choosing.roles = label, _with_label(choosing.edited, look, label)
    return label


def draw_roles(choosing: Choosing, look: Look, label: str, key: str) -> tuple[tuple[str, str], ...]:
    """Draw the table of columns, with a role for each column except the label."""
    assert choosing.roles is not None
    head = look.first.head(3)
    others = [(j, name) for j, name in enumerate(look.names) if name != label]
    shown = pd.DataFrame(
        {
            "column": [as_cell(name) for _, name in others],
            "used as": [ROLE_NAMES.get(choosing.roles[name], "feature: number") for _, name in others],
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
    given = {name: _ROLES[role] for (_, name), role in zip(others, edited["used as"], strict=True)}
    choosing.edited = given | {label: "label"}
    roles = Recipe.from_dict({"format": choosing.begun.format, "roles": choosing.edited}).roles
    return roles


def draw_gaps(recipe: Recipe, begun: Recipe, key: str) -> Recipe:
    """Draw the choices for missing numbers, and for the number of directions that represent a text."""
    left, right = st.columns(2)
    missing = left.selectbox(
        "Missing numbers",
        MISSING,
        index=MISSING.index(begun.missing),
        format_func=lambda name: "drop the row" if name == "drop" else f"the column's {name}",
        key=f"{key}-missing",
    )
    recipe = replace(recipe, missing=missing)
    if not any(role == "text" for _, role in recipe.roles):
        return recipe
    directions = right.number_input(
        "Directions for a text",
        1,
        1000,
        begun.text_dimensions,
        key=f"{key}-text_dimensions",
        help="Singular directions of TF-IDF that describe a column of text.",
    )
    return replace(recipe, text_dimensions=directions)
