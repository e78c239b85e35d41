"""The file on a setting's page: chosen here, chosen on another setting's page, or named by the link."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.data import DataError
from dsgcore.data.reading import Limits, Recipe, Step
from dsgcore.data.reading.recipe import OF_FORMAT
from dsgcore.experiments import SETTINGS, Setting
from pages.controls.link import FILE_ENTRY
from pages.controls.own_file import LAST, Choosing, OwnFile, choosing_key, file_in_link, store
from pages.shell.page_link import given, link_now, say_in_link

# Parts of a recipe that do not depend on the setting.
_OF_ANY_SETTING = (*OF_FORMAT, "roles", "missing", "text_dimensions", "unlabeled", "positive")
_LONGEST_LINK = 20_000


def choosing_in(problem: type[Setting], uploaded: Any, linked: dict[str, Any] | None) -> Choosing | None:
    """Return the state of the page's file, new or as the reader left it; `linked` is the file that the link names."""
    state: Choosing | None = st.session_state.get(choosing_key(problem))
    files = store()
    last: Choosing | None = st.session_state.get(LAST)
    if uploaded is not None:
        # Store the file once for each time that it is chosen.
        Limits().check_size(uploaded.size)
        key, name = f"_uploaded_{problem.name}", uploaded.name
        known = st.session_state.get(key, ("", ""))
        if known[0] != uploaded.file_id or known[1] not in files:
            known = st.session_state[key] = uploaded.file_id, files.add(uploaded.getvalue())
        digest = known[1]
    elif state is not None and state.sha256 in files:
        st.session_state[LAST] = state
        return state
    elif last is not None and last.sha256 in files:
        digest, name = last.sha256, last.name  # chosen on the page of another setting
    else:
        return None
    if state is None or state.sha256 != digest:
        state = _begun(problem, digest, name, linked)
        if last is not None and last.own is not None and last.sha256 == digest and not state.is_from_link:
            # Start with the choices in another setting: its format, columns and positive class.
            state.begun = replace(state.begun, **{part: getattr(last.own.recipe, part) for part in _OF_ANY_SETTING})
    # Keep this order: if the drawing ends between the two lines, the next one does both.
    st.session_state[LAST] = state
    st.session_state[choosing_key(problem)] = state
    return state


def _begun(problem: type[Setting], digest: str, name: str, linked: dict[str, Any] | None) -> Choosing:
    """Return the state of a file that was just chosen, with the link's recipe if that is for it."""
    try:
        recipe = store().result(digest, name, Step("look", problem.labels)).begun
    except DataError:  # another format may help
        recipe = store().result(digest, name, Step("format", problem.labels))
    if linked is None or linked["sha256"] != digest:
        is_missed = linked is not None and linked["sha256"] not in store()
        return Choosing(name, digest, recipe, instead_of=linked["name"] if linked and is_missed else None)
    plain_recipe = recipe.to_dict() | dict(linked.get("recipe") or {})
    return Choosing(name, digest, Recipe.from_dict(plain_recipe), is_from_link=True)


def take_up(choosing: Choosing, is_drawn: bool) -> None:
    """Restore a file's widgets when a page or a setting draws them again."""
    if choosing.own is not None and (choosing.visit != link_now().visit or not is_drawn):
        choosing.begun = choosing.format = choosing.own.recipe
        choosing.roles = choosing.edited
        choosing.version += 1
    choosing.visit = link_now().visit


def forget_if_removed(problem: type[Setting], key: str) -> None:
    """Forget the file, on this page and on the others, if the reader has removed it."""
    if st.session_state.get(key) is None:
        gone: Choosing | None = st.session_state.pop(choosing_key(problem), None)
        for other in SETTINGS.values():
            state: Choosing | None = st.session_state.get(choosing_key(other))
            if gone is not None and state is not None and state.sha256 == gone.sha256:
                del st.session_state[choosing_key(other)]
        st.session_state.pop(LAST, None)


def text_in_link(key: str) -> str:
    """Return the text that names the page's file in its link: the one that the page has written, or that it was opened with."""
    noted: tuple[int, str] = st.session_state.get(key, (-1, ""))
    return noted[1] if noted[0] == link_now().visit else given(FILE_ENTRY)


def linked_file(text: str) -> dict[str, Any] | None:
    """Return the file that a link's text names: its name, its digest, its recipe and facts."""
    with suppress(ValueError, RecursionError):
        said = json.loads(text if len(text) <= _LONGEST_LINK else "")
        if isinstance(said, dict) and all(isinstance(said.get(name), str) for name in ("name", "sha256")):
            return said | {"sha256": said["sha256"].lower()}
    return None


def note_in_link(key: str, own: OwnFile) -> None:
    """Note the file's name, its recipe, and the facts from which the controls start for the link."""
    text = file_in_link(own.name, own.sha256, own.recipe, own.facts())
    if len(text) <= _LONGEST_LINK:
        st.session_state[key] = link_now().visit, text
        say_in_link(FILE_ENTRY, text)
