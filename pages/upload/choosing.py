"""Which file a setting's page is with: chosen here, on another setting's page, or asked for by the link."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.data.reading import AskFormat, Limits, Recipe
from dsgcore.experiments import Setting
from pages.controls.own_file import Choosing, choosing_key, file_in_link, store

LAST = "_last_file"
_LONGEST_LINK = 20_000


def choosing_in(problem: type[Setting], uploaded: Any, key: str) -> Choosing | None:
    """Return where the page is: with a new file at its beginning, or where it was; `key` is the file's name in the link."""
    state: Choosing | None = st.session_state.get(choosing_key(problem))
    files = store()
    if uploaded is not None:
        digest, name = _digest(uploaded, problem), uploaded.name
    elif state is not None and state.sha256 in files:
        return state
    elif LAST in st.session_state and st.session_state[LAST][0] in files:
        digest, name = st.session_state[LAST]  # chosen on the page of another setting
    else:
        return None
    if state is None or state.sha256 != digest:
        state = _begun(problem, digest, name, linked_file(key))
        # In this order: if the page's drawing is ended in between, the next one does both.
        st.session_state[LAST] = digest, name
        st.session_state[choosing_key(problem)] = state
    return state


def _digest(uploaded: Any, problem: type[Setting]) -> str:
    """Keep what was uploaded, once for each time that it is chosen; return its digest."""
    Limits().check_size(uploaded.size)
    key = f"_uploaded_{problem.name}"
    known: tuple[str, str] = st.session_state.get(key, ("", ""))
    if known[0] != uploaded.file_id or known[1] not in store():
        known = uploaded.file_id, store().add(uploaded.getvalue())
        st.session_state[key] = known
    return known[1]


def _begun(problem: type[Setting], digest: str, name: str, linked: dict[str, Any] | None) -> Choosing:
    recipe = store().answer(digest, name, AskFormat(problem.labels))
    if linked is None or linked["sha256"] != digest:
        is_missed = linked is not None and linked["sha256"] not in store()
        return Choosing(name, digest, recipe, instead_of=linked["name"] if linked and is_missed else None)
    plain_recipe = recipe.to_dict() | dict(linked.get("recipe") or {})
    return Choosing(name, digest, Recipe.from_dict(plain_recipe), is_from_link=True)


def forget_if_removed(problem: type[Setting], key: str) -> None:
    """Forget the file, on this page and for the others, where it has been taken away."""
    if st.session_state.get(key) is None:
        st.session_state.pop(choosing_key(problem), None)
        st.session_state.pop(LAST, None)


def linked_file(key: str) -> dict[str, Any] | None:
    """Return the file that the session's link asks for: its name, digest, and what its recipe has of its own."""
    text = str(st.query_params.get(key, ""))
    if not text or len(text) > _LONGEST_LINK:
        return None
    with suppress(ValueError, RecursionError):
        given = json.loads(text)
        if isinstance(given, dict) and all(isinstance(given.get(name), str) for name in ("name", "sha256")):
            return given
    return None


def linked_keys(problem: type[Setting]) -> frozenset[str]:
    """Return what the session's link has set on this page: as the page is drawn first, values of their own only are in it."""
    keys: frozenset[str] = st.session_state.setdefault(f"_linked_{problem.name}", frozenset(st.query_params))
    return keys


def write_link(key: str, choosing: Choosing, recipe: Recipe, place: DeltaGenerator) -> None:
    """Keep in the link which file it is, and what its recipe has that the bytes do not tell."""
    text = file_in_link(choosing.name, choosing.sha256, recipe)
    if len(text) > _LONGEST_LINK:
        return
    st.session_state[key] = text
    with place, st.container(key="part-state-file"):
        st.text_input(key, key=key, bind="query-params", label_visibility="collapsed")
