"""An uploaded file on a setting's page: the uploader, its columns and first rows, and a report on its reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Look, Recipe, Step, listed
from dsgcore.data.reading.unlabeled import MEANING
from dsgcore.experiments import Setting
from dsgcore.experiments.settings import FILE
from pages.controls import controls
from pages.controls.control import key_of
from pages.controls.link import FILE_ENTRY
from pages.controls.own_file import Choosing, OwnFile, store, suited_to_own, with_numbers
from pages.shell.page_link import bring_back_file, link_now, say_in_link
from pages.shell.plain_text import plain, say_of_link
from pages.shell.warm_up import get_ready
from pages.upload import choosing as state
from pages.upload import columns
from pages.upload.classes import draw_classes

SHOWN_ROWS = 20
_OPTION = re.compile(r" \(--[a-z][^)]*\)")  # options of the command line, which the page replaces by controls


def draw_upload(
    problem: type[Setting],
    place: DeltaGenerator,
    file_key: str = "",
    suit: Callable[[frozenset[str]], None] | None = None,
    upload_key: str = "",
) -> dict[str, Any] | None:
    """Draw the uploader in the sidebar and the file's columns at `place`; return the spec's data section, or None.

    Errors in the file are shown as a sentence.

    Parameters
    ----------
    problem : type of Setting
    place : DeltaGenerator
    file_key : str
        The key of the link's text for the file, by default the setting's own.
    suit : callable, optional
        Sets the page's controls to values that suit a file that was just read. It gets the names that the link has set. By
        default it sets the controls of the setting's own page.
    upload_key : str
        The uploader's key. A page on which the setting can change has one of its own, so that it keeps the file.
    """
    file_key = file_key or key_of(problem, "file")
    key = upload_key or key_of(problem, "upload")
    state.note_linked(problem, file_key)
    say_in_link(FILE_ENTRY, state.text_in_link(file_key))
    limits = Limits()
    uploaded = st.file_uploader(
        "A table with a column of labels",
        key=key,
        help="Each row is a point. The file stays in this session and is deleted when the session ends. "
        "For a reload your browser keeps it, too, for an hour at most.",
        on_change=state.forget_if_removed,
        args=(problem, key),
    )
    st.caption(f"CSV, Excel, Parquet, LIBSVM or .npz. {limits.sentence()}")
    get_ready()
    choosing = None
    try:
        choosing = state.choosing_in(problem, uploaded, file_key)
        if choosing is not None:
            is_there = uploaded is None and state.asks_for_file()  # a link of the app may say what to set
            return _learn_from(
                problem, choosing, place, file_key, suit or partial(_use_suited, problem), is_there=is_there
            )
        _ask_for_file(file_key)
    except DataError as error:
        if choosing is not None:
            choosing.own = None
        st.error(plain(f"{_beginning(_OPTION.sub('', str(error)))}."), icon=":material/error:")
    return None


def _beginning(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:].rstrip(".")


def _ask_for_file(file_key: str) -> None:
    linked = state.linked_file(file_key)
    if linked is None:
        st.info(
            "Choose a file with one row for each point and a column of labels. Rows without a label are unlabeled points."
        )
        return
    st.warning(
        f"This link needs the file {plain(linked['name'])} (its SHA-256 begins with {linked['sha256'][:12]}), which this "
        "session does not have. Choose it above."
    )
    bring_back_file(linked["name"])


def _learn_from(
    problem: type[Setting],
    choosing: Choosing,
    place: DeltaGenerator,
    file_key: str,
    suit: Callable[[frozenset[str]], None],
    *,
    is_there: bool,
) -> dict[str, Any]:
    """Turn the bytes into the file's entries in a spec: ask for the recipe, read the file, suit the controls, write the
    link."""
    title = f"{plain(choosing.name)}: columns, first rows, what was done"
    with place, st.expander(title, icon=":material/table:", key=f"part-own-{problem.name}"):
        columns_tab, rows_tab, done_tab, format_tab = st.tabs(["Columns", "First rows", "What was done", "Format"])
    recipe, look = _ask_for_recipe(problem, choosing, columns_tab, format_tab)
    rows_tab.dataframe(look.first.head(SHOWN_ROWS), width="stretch", height=280)
    with done_tab:
        own = _read(problem, choosing, recipe)
        st.markdown("\n".join(f"- {plain(_OPTION.sub('', sentence))}" for sentence in own.report))
    if file_key not in choosing.suited:
        # If the link holds the facts of the file, the controls already started from them, and the reader may have moved
        # them.
        if not (choosing.is_from_link and state.says_facts(own, file_key)):
            suit(frozenset(link_now().given if choosing.is_from_link or is_there else ()))
        choosing.suited.add(file_key)
    choosing.is_from_link = False
    _say_what_it_is(choosing, own, look, place.container(key="part-notes"))
    state.note_in_link(file_key, own)
    return {"name": FILE, "path": choosing.name, "sha256": choosing.sha256, "recipe": recipe.to_dict()}


def _ask_for_recipe(
    problem: type[Setting], choosing: Choosing, columns_tab: DeltaGenerator, format_tab: DeltaGenerator
) -> tuple[Recipe, Look]:
    """Draw the settings of the format, the label, the columns and the classes; return the recipe, and the table read so
    far."""
    key = f"own-{problem.name}-{choosing.sha256[:8]}"
    state.take_up(choosing, columns.is_drawn(key))
    with format_tab:
        recipe = columns.draw_format(choosing.begun, key)
    look = _taken(problem, choosing, "look", recipe)
    columns.guess(choosing, look, recipe)
    label = columns.draw_label(choosing, look, key)
    with columns_tab:
        recipe = replace(recipe, roles=columns.draw_roles(choosing, look, label, key))
        recipe = columns.draw_gaps(recipe, choosing.begun, key)
    if recipe.marked():
        # Columns with their own decimal mark are read as text.
        look = _taken(problem, choosing, "look", recipe.of_format())
    return draw_classes(problem, recipe, choosing.begun, partial(_taken, problem, choosing, "look"), key), look


def _taken(problem: type[Setting], choosing: Choosing, step: str, recipe: Recipe) -> Any:
    """Return the result of a step of the file's reading."""
    return store().result(choosing.sha256, choosing.name, Step(step, problem.labels, recipe))


def _read(problem: type[Setting], choosing: Choosing, recipe: Recipe) -> OwnFile:
    """Read the file with its recipe, unless the last reading was the same; new classes mark the controls as not suited.

    A click or a moved slider can end this drawing of the page at any access to the session's state. Results are therefore
    kept in `choosing`, so that the next drawing continues from there.
    """
    known = choosing.own
    if known is not None and known.recipe == recipe:
        return known
    dataset = _taken(problem, choosing, "points", recipe)
    own = with_numbers(problem, OwnFile.of(dataset, choosing.name, recipe))
    if known is None or known.class_names != own.class_names:
        choosing.suited.clear()
    choosing.own = own
    return own


def _say_what_it_is(choosing: Choosing, own: OwnFile, look: Look, place: DeltaGenerator) -> None:
    """Show the file's name and size, and what was left out."""
    if choosing.instead_of is not None:
        say_of_link(
            f"This link was made for the file {choosing.instead_of}. {choosing.name} is a different file, so the numbers differ."
        )
    without = f", {own.n - own.n_known:,} rows without a label" if own.n_known < own.n else ""
    st.caption(
        f"{own.n:,} rows, {own.d:,} features, {len(own.class_names)} classes: {plain(_few(own.class_names))}{without}"
    )
    for sentence in own.report:
        if MEANING in sentence:
            place.markdown(
                f":orange[:material/label_off:] {plain(sentence)} You can change this under *More about the label*."
            )
    if look.missing:
        place.markdown(
            f":orange[:material/backspace:] {plain(_OPTION.sub('', look.missing))} You can change these words under *Format*."
        )
    if look.asks:
        place.markdown(f":orange[:material/help:] {plain(_OPTION.sub('', look.asks))}")
    for sentence in own.report:
        if sentence.startswith(("Warning: ", "Does ")):
            where = (
                " Add it to *Cells that mean a missing value* under *Format*." if sentence.startswith("Does ") else ""
            )
            place.markdown(f":orange[:material/warning:] {plain(_OPTION.sub('', sentence))}{where}")
    if own.left_out:
        _say_left_out(own, look, place)


def _say_left_out(own: OwnFile, look: Look, place: DeltaGenerator) -> None:
    """Show the columns that are left out, outside of the expander."""
    names = own.left_out
    index = [name for name in names if own.recipe.role(name) == "index"]
    is_index = f" ({listed(index)}: names or numbers the rows)" if index else ""
    place.markdown(
        f":orange[:material/visibility_off:] {len(names)} of {len(look.names)} columns {'is' if len(names) == 1 else 'are'} "
        f"left out: {plain(listed(names) + is_index)}. You can change the use of each column under *Columns*."
    )


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


def _use_suited(problem: type[Setting], given: frozenset[str]) -> None:
    """Set the controls of a setting's page to values that suit the file, except those of the given names."""
    offered = controls.controls_for(problem, FILE, controls.kernel_asked(problem))
    for name in {*suited_to_own(problem), *controls.kernel_widths(offered)}:
        if name in offered and offered[name].name not in given:
            st.session_state[offered[name].key] = offered[name].parameter.default
