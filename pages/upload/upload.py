"""An uploaded file on a setting's page: the uploader, its columns and first rows, and a report on its reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import counted
from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Look, Recipe, Step, listed
from dsgcore.data.reading.sources import READABLE
from dsgcore.data.reading.unlabeled import MEANING
from dsgcore.experiments import Setting
from dsgcore.experiments.spec import FILE
from pages.controls import controls
from pages.controls.control import key_of
from pages.controls.link import FILE_ENTRY
from pages.controls.own_file import TITLE, Choosing, OwnFile, linked_key, store, suited_to_own, with_numbers
from pages.shell.page_link import bring_back_file, given, link_now, say_in_link
from pages.shell.plain_text import as_sentence, plain, say_of_link
from pages.shell.warm_up import get_ready
from pages.upload import recipe as widgets
from pages.upload.choosing import choosing_in, forget_if_removed, linked_file, note_in_link, take_up, text_in_link

SHOWN_ROWS = 20
_OPTION = re.compile(r" \(--[a-z][^)]*\)")  # options of the command line, which the page replaces by controls


def _of_page(sentence: str) -> str:
    """Return a reader's sentence as the page shows it."""
    return plain(_OPTION.sub("", sentence))


def draw_upload(
    problem: type[Setting],
    place: DeltaGenerator,
    file_key: str = "",
    suit: Callable[[frozenset[str]], None] | None = None,
    upload_key: str = "",
) -> dict[str, Any] | None:
    """Draw the uploader in the sidebar and the file's columns at `place`; return the spec's data section, or None.

    Errors in the file are shown as a sentence. `suit` sets the page's controls, except those of the names that the link has
    set, to values that suit a file that was just read. Pages on which the setting can change have keys of their own for the
    link's text and for the uploader, so that they keep the file.
    """
    file_key, key = file_key or key_of(problem, "file"), upload_key or key_of(problem, "upload")
    text = text_in_link(file_key)
    linked = linked_file(text)
    if linked is not None:
        st.session_state[linked_key(problem)] = OwnFile.from_link(linked)  # the controls start with suitable values
    say_in_link(FILE_ENTRY, text)
    uploaded = st.file_uploader(
        "A table with a column of labels",
        key=key,
        help="Each row is a point. The file stays in this session and is deleted when the session ends. "
        "For a reload your browser keeps it for an hour at most, and the server keeps the results of its studies.",
        on_change=forget_if_removed,
        args=(problem, key),
    )
    st.caption(f"{READABLE}. {Limits().sentence()}")
    get_ready()
    choosing = None
    try:
        choosing = choosing_in(problem, uploaded, linked)
        if choosing is not None:
            return _learn_from(problem, choosing, place, file_key, suit or partial(_use_suited, problem), uploaded)
    except DataError as error:
        if choosing is not None:
            choosing.own = None
        said = as_sentence(_OPTION.sub("", str(error)))
        where = "" if choosing is None else " You can change how the file is read under *Columns* and *Format*."
        st.error(plain(said) + where, icon=":material/error:")
        return None
    if linked is None:
        st.info(
            "Choose a file with one row for each point and a column of labels. Rows without a label are unlabeled points."
        )
    else:
        st.warning(
            f"This link needs the file {plain(linked['name'])} (its SHA-256 begins with {linked['sha256'][:12]}). A file is in "
            "the tab alone in which it was chosen: choose it again above."
        )
        bring_back_file(linked["name"])
    return None


def _learn_from(
    problem: type[Setting],
    choosing: Choosing,
    place: DeltaGenerator,
    file_key: str,
    suit: Callable[[frozenset[str]], None],
    uploaded: Any,
) -> dict[str, Any]:
    """Turn the bytes into the file's entries in a spec: ask for the recipe, read the file, suit the controls, write the
    link."""
    title = f"{plain(choosing.name)}: columns, first rows, what was done"
    with place, st.expander(title, icon=":material/table:", key=f"part-own-{problem.name}"):
        columns_tab, rows_tab, done_tab, format_tab = st.tabs(["Columns", "First rows", "What was done", "Format"])

    def taken(step: str, recipe: Recipe) -> Any:
        """Return the result of a step of the file's reading."""
        return store().result(choosing.sha256, choosing.name, Step(step, problem.labels, recipe))

    key = f"own-{problem.name}-{choosing.sha256[:8]}"
    take_up(choosing, widgets.is_drawn(key))
    with format_tab:
        recipe = widgets.draw_format(choosing.begun, key)
        if recipe != choosing.begun:  # its columns may have other names
            recipe = replace(recipe, roles=())
    look = taken("look", recipe)
    widgets.guess(choosing, look, recipe)
    label = widgets.draw_label(choosing, look, key)
    with columns_tab:
        recipe = widgets.draw_columns(choosing, look, label, recipe, key)
    if recipe.marked():
        look = taken("look", recipe.of_format())  # columns with their own decimal mark are read as text
    recipe = widgets.draw_classes(problem, recipe, choosing.begun, partial(taken, "look"), key)
    rows_tab.dataframe(look.first.head(SHOWN_ROWS), width="stretch", height=280)
    # Read the file, unless the last reading was the same; new classes mark the controls as not suited. A click or a moved
    # slider can end this drawing of the page at any access to the session's state. Results are therefore kept in
    # `choosing`, so that the next drawing continues from there.
    own = choosing.own
    with done_tab:
        if own is None or own.recipe != recipe:
            own = with_numbers(problem, OwnFile.of(taken("points", recipe), choosing.name, recipe))
            if choosing.own is None or choosing.own.class_names != own.class_names:
                choosing.suited.clear()
            choosing.own = own
        st.markdown("\n".join(f"- {_of_page(sentence)}" for sentence in own.report))
    if file_key not in choosing.suited:
        # If the link holds the facts of the file, the controls already started from them, and the reader may have moved
        # them. A link of the app may say what to set for a file that is there.
        linked = linked_file(text_in_link(file_key))
        if not (choosing.is_from_link and linked is not None and linked.get("facts") == own.facts()):
            is_asked = choosing.is_from_link or (uploaded is None and given("data.name") in (FILE, TITLE))
            suit(frozenset(link_now().given if is_asked else ()))
        choosing.suited.add(file_key)
    choosing.is_from_link = False
    _say_what_it_is(choosing, own, look, place.container(key="part-notes"))
    note_in_link(file_key, own)
    return {"name": FILE, "path": choosing.name, "sha256": choosing.sha256, "recipe": recipe.to_dict()}


def _say_what_it_is(choosing: Choosing, own: OwnFile, look: Look, place: DeltaGenerator) -> None:
    """Show the file's name and size; and at `place`, outside of the expander, what the reader may have to change."""
    if choosing.instead_of is not None:
        say_of_link(
            f"This link was made for the file {choosing.instead_of}. {choosing.name} is a different file, so the numbers differ."
        )
    without = f"; {counted(own.n - own.n_known, 'row')} without a label" if own.n_known < own.n else ""
    few = ", ".join(own.class_names[:4]) + (" …" if len(own.class_names) > 4 else "")
    st.caption(f"{own.n:,} rows, {counted(own.d, 'feature')}, {len(own.class_names)} classes: {plain(few)}{without}")

    def say(icon: str, text: str) -> None:
        place.markdown(f":orange[:material/{icon}:] {text}")

    if look.asks:
        say("help", _of_page(look.asks))
    for sentence in own.report:
        if MEANING in sentence:
            say("label_off", f"{plain(sentence)} You can change this under *More about the label*.")
        if sentence.startswith("Read as missing"):
            what = "these words under *Format*" if "'" in sentence else "what replaces missing numbers under *Columns*"
            say("backspace", f"{_of_page(sentence)} You can change {what}.")
        if sentence.startswith(("Warning: ", "Cells of ")) or "rows that sum others" in sentence:
            say("warning", _of_page(sentence))
        if sentence.startswith("Does "):
            say("warning", f"{_of_page(sentence)} Add it to *Cells that mean a missing value* under *Format*.")
    if names := own.left_out:
        index = [name for name in names if own.recipe.role(name) == "index"]
        which = "" if len(index) == len(names) else f"{listed(index)}: "
        is_index = f" ({which}names or numbers the rows)" if index else ""
        say(
            "visibility_off",
            f"{len(names)} of {len(look.names)} columns {'is' if len(names) == 1 else 'are'} left out: "
            f"{plain(listed(names) + is_index)}. You can change the use of each column under *Columns*.",
        )


def _use_suited(problem: type[Setting], given: frozenset[str]) -> None:
    """Set the controls of a setting's page to values that suit the file, except those of the given names."""
    offered = controls.controls_for(problem, FILE, controls.kernel_asked(problem))
    for name in {*suited_to_own(problem), *controls.kernel_widths(offered)}:
        if name in offered and offered[name].name not in given:
            st.session_state[offered[name].key] = offered[name].parameter.default
