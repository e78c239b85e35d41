"""One's own file: choosing it, how it is read, what its columns are, and what was done to it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.data import DataError
from dsgcore.data.reading import (
    DELIMITERS,
    ENCODINGS,
    MISSING,
    Limits,
    Recipe,
    Source,
    Table,
    as_cell,
    dataset_of,
    guess_role,
    guess_roles,
    label_names,
    sniff_format,
    suit,
    unpacked,
)
from dsgcore.experiments import Setting
from dsgcore.experiments.settings import FILE
from pages import _controls as controls
from pages._own_file import OwnFile, keep, own_file, plain, store, suited_to_own

LAST = "_last_file"
SHOWN_ROWS = 20
ROLE_NAMES = {
    "number": "feature: number",
    "category": "feature: category",
    "text": "feature: text",
    "pair": "pair id",
    "ignore": "ignore",
}
_ROLES = {name: role for role, name in ROLE_NAMES.items()}
_LONGEST_LINK = 20_000


@dataclass
class Choosing:
    """Where a page is with its file: which one, the recipe that its widgets begin with, and the roles they show."""

    name: str
    sha256: str
    begun: Recipe
    is_from_link: bool = False
    format: Recipe | None = None  # that the roles were guessed for
    label: str | None = None
    roles: dict[str, str] | None = None  # that the editor began with
    edited: dict[str, str] | None = None
    version: int = 0


def draw_upload(problem: type[Setting], place: DeltaGenerator) -> dict[str, Any] | None:
    """Draw the uploader in the sidebar and the file's columns at `place`; return the spec's data section, or None.

    Whatever is wrong with the file is said in a sentence.
    """
    key = controls.key_of(problem, "upload")
    _linked_keys(problem)  # noted while the link is still as it was given
    limits = Limits()
    uploaded = st.file_uploader(
        "A table with a column of labels",
        key=key,
        help="Each row a point. The file stays in this session, and goes when it ends.",
        on_change=_forget_if_removed,
        args=(problem, key),
    )
    st.caption(f"CSV, TSV, Parquet, LIBSVM or .npz. {limits.sentence()}")
    try:
        choosing = _choosing(problem, uploaded)
        if choosing is not None:
            return _read(problem, choosing, place)
        _ask(problem)
    except DataError as error:
        st.error(plain(f"{_beginning(str(error))}."), icon=":material/error:")
    keep(problem, None)
    return None


def _beginning(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:].rstrip(".")


def _ask(problem: type[Setting]) -> None:
    linked = _linked(problem)
    if linked is None:
        st.info("Choose a file: each row a point, one column its label; rows without a label help as unlabeled points.")
        return
    st.warning(
        f"This link is for the file {plain(linked['name'])} (its SHA-256 begins with {linked['sha256'][:12]}), which this "
        "session does not have: choose it above."
    )


def _forget_if_removed(problem: type[Setting], key: str) -> None:
    if st.session_state.get(key) is None:
        st.session_state.pop(_state_key(problem), None)
        st.session_state.pop(LAST, None)


def _state_key(problem: type[Setting]) -> str:
    return f"_choosing_{problem.name}"


def _linked(problem: type[Setting]) -> dict[str, Any] | None:
    """Return the file that the session's link asks for: its name, digest, and what its recipe has of its own."""
    text = str(st.query_params.get(controls.key_of(problem, "file"), ""))
    if not text or len(text) > _LONGEST_LINK:
        return None
    with suppress(ValueError, RecursionError):
        given = json.loads(text)
        if isinstance(given, dict) and all(isinstance(given.get(name), str) for name in ("name", "sha256")):
            return given
    return None


def _choosing(problem: type[Setting], uploaded: Any) -> Choosing | None:
    """Return where the page is: with a new file at its beginning, or where it was."""
    state: Choosing | None = st.session_state.get(_state_key(problem))
    files = store()
    if uploaded is not None:
        digest, name = files.add(uploaded.getvalue()), uploaded.name
    elif state is not None and state.sha256 in files:
        return state
    elif LAST in st.session_state and st.session_state[LAST][0] in files:
        digest, name = st.session_state[LAST]  # chosen on the page of another setting
    else:
        return None
    if state is None or state.sha256 != digest:
        state = _begun(problem, digest, name)
        st.session_state[_state_key(problem)] = state
        st.session_state[LAST] = digest, name
    return state


def _begun(problem: type[Setting], digest: str, name: str) -> Choosing:
    limits = Limits()
    recipe = sniff_format(unpacked(Source.of_bytes(store()[digest], name), limits))
    linked = _linked(problem)
    if linked is None or linked["sha256"] != digest:
        return Choosing(name, digest, recipe)
    plain_recipe = recipe.to_dict() | dict(linked.get("recipe") or {})
    return Choosing(name, digest, Recipe.from_dict(plain_recipe), is_from_link=True)


def _read(problem: type[Setting], choosing: Choosing, place: DeltaGenerator) -> dict[str, Any]:
    """Draw what can be set, and read the file so."""
    key = f"own-{problem.name}-{choosing.sha256[:8]}"
    title = f"{plain(choosing.name)}: columns, first rows, what was done"
    with place:
        box = st.expander(title, icon=":material/table:", key=f"part-own-{problem.name}")
    with box:
        columns_tab, rows_tab, done_tab, format_tab = st.tabs(["Columns", "First rows", "What was done", "Format"])
    with format_tab:
        recipe = _format(choosing.begun, key)
    table = store().table(choosing.sha256, choosing.name, recipe)
    _guess(problem, choosing, table, recipe)
    label = _label(choosing, table, key)
    with rows_tab:
        st.dataframe(table.head(SHOWN_ROWS), width="stretch", height=280)
    with columns_tab:
        recipe = replace(recipe, roles=_roles(choosing, table, label, key))
        recipe = _gaps(recipe, choosing.begun, key)
    recipe = _classes(problem, recipe, choosing.begun, table, key)
    with done_tab:
        own = _own(problem, choosing, table, recipe)
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in own.report))
    st.caption(f"{own.n:,} rows, {own.d:,} features, {len(own.class_names)} classes: {plain(_few(own.class_names))}")
    _link(problem, choosing, recipe, place)
    return {"name": FILE, "path": choosing.name, "sha256": choosing.sha256, "recipe": recipe.to_dict()}


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


def _format(begun: Recipe, key: str) -> Recipe:
    """Draw how the bytes are read, each setting as it was sniffed."""
    words = st.text_input(
        "Cells that mean a missing value",
        ", ".join(word for word in begun.missing_words if word),
        key=f"{key}-words",
        help="Separated by commas; an empty cell always is one.",
    )
    recipe = replace(begun, missing_words=("", *(word.strip() for word in words.split(",") if word.strip())))
    if begun.format != "delimited":
        st.caption("This format says itself how it is read.")
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
    return replace(recipe, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header)


def _guess(problem: type[Setting], choosing: Choosing, table: Table, recipe: Recipe) -> None:
    """Guess the columns' roles, once for each way to read the file; a link's recipe has them."""
    if choosing.format == recipe:
        return
    guessed = (
        recipe if choosing.is_from_link and choosing.format is None else guess_roles(table.frame, recipe, Limits())
    )
    known = [str(name) for name in table.frame.columns]
    label = guessed.column("label")
    choosing.format, choosing.label = recipe, label if label in known else known[-1]
    choosing.roles = {name: guessed.role(name) for name in known}
    choosing.edited = dict(choosing.roles)
    choosing.version += 1


def _label(choosing: Choosing, table: Table, key: str) -> str:
    """Draw the choice of the label's column; when it changes, the one before becomes a feature."""
    known = [str(name) for name in table.frame.columns]
    assert choosing.label is not None
    assert choosing.edited is not None
    label = st.selectbox(
        "Label",
        known,
        index=known.index(choosing.label),
        key=f"{key}-label-{choosing.version}",
        help="The column to be learned; rows where it is empty are unlabeled.",
    )
    if label != choosing.label:
        roles = dict(choosing.edited)
        roles[choosing.label] = guess_role(table.frame[choosing.label], choosing.begun, Limits())
        choosing.label, choosing.roles = label, roles | {label: "label"}
    return label


def _roles(choosing: Choosing, table: Table, label: str, key: str) -> tuple[tuple[str, str], ...]:
    """Draw the table of columns with a role for each but the label."""
    assert choosing.roles is not None
    head = table.head(3)
    others = [(j, str(name)) for j, name in enumerate(table.frame.columns) if name != label]
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


def _gaps(recipe: Recipe, begun: Recipe, key: str) -> Recipe:
    """Draw what is done about missing numbers, and how many directions stand for a text."""
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
        key=f"{key}-directions",
        help="Singular directions of TF-IDF that describe a column of text.",
    )
    return replace(recipe, text_dimensions=directions)


def _classes(problem: type[Setting], recipe: Recipe, begun: Recipe, table: Table, key: str) -> Recipe:
    """Draw what is made of the labels: which is positive, how many bins, in which order."""
    label = str(recipe.column("label"))
    key = f"{key}-{label}"
    if begun.column("label") == label:
        recipe = replace(recipe, positive=begun.positive, bins=begun.bins, order=begun.order)
    recipe = suit(recipe, table.frame, problem.labels)
    values = table.frame[label]
    unlabeled = st.session_state.get(f"{key}-unlabeled", begun.unlabeled or "").strip()
    recipe = replace(recipe, unlabeled=unlabeled or None)
    if recipe.bins is not None:
        bins = st.number_input("Equal-frequency bins of the label", 2, 100, recipe.bins, key=f"{key}-bins")
        recipe = replace(recipe, bins=bins)
    names = _class_names(recipe, table)
    if problem.labels in ("binary", "pairs") and recipe.bins is None and 2 <= len(names) <= 1000:
        usual = recipe.positive if recipe.positive in names else names[-1]
        positive = st.selectbox("Positive class", names, index=names.index(usual), key=f"{key}-positive")
        recipe = replace(recipe, positive=positive)
    elif problem.labels == "ordinal" and recipe.bins is None and 2 <= len(names) <= 50:
        recipe = replace(recipe, order=_order(names, recipe, key))
    with st.popover("More about the label", width="stretch"):
        st.text_input(
            "A label that means “not labeled”",
            begun.unlabeled or "",
            key=f"{key}-unlabeled",
            help=f"As an empty cell does. {len(values):,} rows in all.",
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
    given = tuple(name.strip() for name in text.split(","))
    return () if list(given) == names or ", ".join(names) == text else given


def _class_names(recipe: Recipe, table: Table) -> list[str]:
    """Return the label's values as they are written, in their order."""
    return label_names(table.frame[str(recipe.column("label"))], recipe)


def _own(problem: type[Setting], choosing: Choosing, table: Table, recipe: Recipe) -> OwnFile:
    """Read the file by its recipe, unless it was read so last; a new file gets the controls' values that suit it."""
    known = own_file(problem)
    if known is not None and (known.sha256, known.recipe) == (choosing.sha256, recipe):
        return known
    with st.spinner("Reading the file"):
        source = Source.of_bytes(store()[choosing.sha256], choosing.name)
        dataset = dataset_of(table, recipe, source, labels=problem.labels)
    own = OwnFile.of(dataset, choosing.name, recipe)
    keep(problem, own)
    is_new = known is None or (known.sha256, known.class_names) != (own.sha256, own.class_names)
    if is_new:
        offered = controls.controls_for(problem, FILE)
        given = _linked_keys(problem) if choosing.is_from_link else frozenset()
        for name in suited_to_own(problem):
            if name in offered and offered[name].key not in given:
                st.session_state[offered[name].key] = offered[name].parameter.default
    choosing.is_from_link = False
    return own


def _linked_keys(problem: type[Setting]) -> frozenset[str]:
    """Return what the session's link has set on this page: as the page is drawn first, values of their own only are in it."""
    keys: frozenset[str] = st.session_state.setdefault(f"_linked_{problem.name}", frozenset(st.query_params))
    return keys


def _link(problem: type[Setting], choosing: Choosing, recipe: Recipe, place: DeltaGenerator) -> None:
    """Keep in the link which file it is, and what its recipe has that the bytes do not tell."""
    own, usual = recipe.to_dict(), Recipe().to_dict()
    given = {name: value for name, value in own.items() if value != usual[name]}
    text = json.dumps({"name": choosing.name, "sha256": choosing.sha256, "recipe": given}, separators=(",", ":"))
    if len(text) > _LONGEST_LINK:
        return
    key = controls.key_of(problem, "file")
    st.session_state[key] = text
    with place, st.container(key="part-state-file"):
        st.text_input(key, key=key, bind="query-params", label_visibility="collapsed")
