"""The file on a setting's page: chosen here, chosen on another setting's page, or named by the link."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.data.reading import Limits, Recipe, Step
from dsgcore.data.reading.recipe import OF_FORMAT
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.experiments.settings import FILE
from pages.controls.link import FILE_ENTRY
from pages.controls.own_file import LAST, TITLE, Choosing, OwnFile, choosing_key, file_in_link, linked_key, store
from pages.shell.page_link import given, say_in_link
from pages.shell.sessions import visit

# Parts of a recipe that do not depend on the setting.
_OF_ANY_SETTING = (*OF_FORMAT, "missing", "text_dimensions", "unlabeled")
_LONGEST_LINK = 20_000


def choosing_in(problem: type[Setting], uploaded: Any, key: str) -> Choosing | None:
    """Return the state of the page's file, new or as the reader left it; `key` is that of the link's text."""
    state: Choosing | None = st.session_state.get(choosing_key(problem))
    files = store()
    last: Choosing | None = st.session_state.get(LAST)
    if uploaded is not None:
        digest, name = _digest(uploaded, problem), uploaded.name
    elif state is not None and state.sha256 in files:
        st.session_state[LAST] = state
        return state
    elif last is not None and last.sha256 in files:
        digest, name = last.sha256, last.name  # chosen on the page of another setting
    else:
        return None
    if state is None or state.sha256 != digest:
        state = _begun(problem, digest, name, linked_file(key))
        if last is not None and last.sha256 == digest and not state.is_from_link:
            _carry(last, state)
    # Keep this order: if the drawing ends between the two lines, the next one does both.
    st.session_state[LAST] = state
    st.session_state[choosing_key(problem)] = state
    return state


def _carry(last: Choosing, state: Choosing) -> None:
    """Start a setting with the choices for the same file in another one: its format, columns and positive class."""
    if last.own is None:
        return
    recipe = last.own.recipe
    chosen = {name: getattr(recipe, name) for name in _OF_ANY_SETTING}
    label = tuple(pair for pair in recipe.roles if pair[1] == "label")
    state.begun = replace(state.begun, **chosen, roles=label, positive=recipe.positive)
    state.carried = last.chosen


def take_up(choosing: Choosing, is_drawn: bool) -> None:
    """Restore a file's widgets when a page or a setting draws them again."""
    if choosing.own is not None and (choosing.visit != visit() or not is_drawn):
        choosing.begun = choosing.format = choosing.own.recipe
        choosing.roles = choosing.edited
        choosing.version += 1
    choosing.visit = visit()


def _digest(uploaded: Any, problem: type[Setting]) -> str:
    """Store the uploaded file once for each time that it is chosen; return its digest."""
    Limits().check_size(uploaded.size)
    key = f"_uploaded_{problem.name}"
    known: tuple[str, str] = st.session_state.get(key, ("", ""))
    if known[0] != uploaded.file_id or known[1] not in store():
        known = uploaded.file_id, store().add(uploaded.getvalue())
        st.session_state[key] = known
    return known[1]


def _begun(problem: type[Setting], digest: str, name: str, linked: dict[str, Any] | None) -> Choosing:
    recipe = store().result(digest, name, Step("look", problem.labels)).begun
    if linked is None or linked["sha256"] != digest:
        is_missed = linked is not None and linked["sha256"] not in store()
        return Choosing(name, digest, recipe, instead_of=linked["name"] if linked and is_missed else None)
    plain_recipe = recipe.to_dict() | dict(linked.get("recipe") or {})
    return Choosing(name, digest, Recipe.from_dict(plain_recipe), is_from_link=True)


def forget_if_removed(problem: type[Setting], key: str) -> None:
    """Forget the file, on this page and on the others, if the reader has removed it."""
    if st.session_state.get(key) is None:
        gone: Choosing | None = st.session_state.pop(choosing_key(problem), None)
        for other in SETTINGS.values():
            state: Choosing | None = st.session_state.get(choosing_key(other))
            if gone is not None and state is not None and state.sha256 == gone.sha256:
                del st.session_state[choosing_key(other)]
        st.session_state.pop(LAST, None)


def linked_file(key: str) -> dict[str, Any] | None:
    """Return the file that the page's link names: its name, its digest, and its recipe."""
    text = text_in_link(key)
    if not text or len(text) > _LONGEST_LINK:
        return None
    with suppress(ValueError, RecursionError):
        given = json.loads(text)
        if isinstance(given, dict) and all(isinstance(given.get(name), str) for name in ("name", "sha256")):
            return given
    return None


def text_in_link(key: str) -> str:
    """Return the text that names the page's file in its link: the one that the page has written, or that it was opened with."""
    noted: tuple[int, str] = st.session_state.get(key, (-1, ""))
    return noted[1] if noted[0] == visit() else given(FILE_ENTRY)


def asks_for_file() -> bool:
    """Return True if the page was opened with a file as its data."""
    return given("data.name") in (FILE, TITLE)


def note_linked(problem: type[Setting], key: str) -> None:
    """Keep the link's facts about a file that is not read yet, so that the controls start with suitable values."""
    linked = linked_file(key)
    if linked is not None:
        st.session_state[linked_key(problem)] = OwnFile.from_link(linked)


def says_facts(own: OwnFile, key: str) -> bool:
    """Return True if the link holds the same facts about the file as reading it gave."""
    linked = linked_file(key)
    return linked is not None and linked.get("facts") == own.facts()


def note_in_link(key: str, own: OwnFile) -> None:
    """Note the file's name, its recipe, and the facts from which the controls start for the link."""
    text = file_in_link(own.name, own.sha256, own.recipe, own.facts())
    if len(text) <= _LONGEST_LINK:
        st.session_state[key] = visit(), text
        say_in_link(FILE_ENTRY, text)
