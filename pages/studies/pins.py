"""Pinned runs: kept in the session, and in the store if their data are not an uploaded file."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dsgcore.experiments import Spec
from dsgcore.experiments.spec import FILE
from dsgcore.studies import Store, StoreError, default_store
from pages.controls.control import BAD_INPUT

MOST = 8
SHORT = 12  # digits of a run's hash in a link


def pins() -> dict[str, Spec]:
    """Return the session's pins by their hash, in the order of pinning."""
    return st.session_state.setdefault("_pins", {})


def draw_pin(spec: Spec, key: str, on_pin: Callable[[], None] = lambda: None) -> None:
    """Draw the button that pins a run, and a link to the pins."""
    known = pins()

    def pin() -> None:
        known[spec.sha256] = spec
        on_pin()
        if spec.data.name != FILE:
            try:
                Store(default_store()).keep("pin", [(spec.sha256, spec.to_json(), None)])
            except StoreError:
                return  # it is pinned in this session in any case

    if spec.sha256 not in known:
        full = f"{MOST} runs are pinned, which is the most: unpin one." if len(known) >= MOST else None
        st.button("Pin", key=key, icon=":material/keep:", on_click=pin, disabled=full is not None, help=full)
    if known:
        draw_link_to_pins()


def draw_link_to_pins() -> None:
    """Draw the link to the pinned runs, with their number."""
    n = len(pins())
    said = f"Pinned runs ({n})" if n else "Pinned runs"
    st.page_link("pages/pinned.py", label=said, icon=":material/keep:", width="content")


def linked(given: str) -> tuple[dict[str, Spec], list[str], list[str]]:
    """Return the specs that a link names by the first digits of their hashes, the names that have no valid spec here, and
    those for which there is no place beside the session's pins."""
    if not given:
        return {}, [], []  # a visit without a link opens no store
    store, found, unknown, over = Store(default_store()), dict[str, Spec](), list[str](), list[str]()
    for beginning in dict.fromkeys(part for part in given.lower().split(",") if part):
        is_hash = len(beginning) >= SHORT and set(beginning) <= set("0123456789abcdef")
        spec = next((spec for sha256, spec in pins().items() if sha256.startswith(beginning)), None)
        if is_hash and spec is None and (text := store.pinned(beginning)) is not None:
            try:
                spec = Spec.from_json(text)
            except BAD_INPUT:  # it is no longer valid
                spec = None
        if spec is None:
            unknown.append(beginning[:SHORT])
        elif spec.sha256 in pins() or len(pins() | found) < MOST:
            found[spec.sha256] = spec
        else:
            over.append(beginning[:SHORT])
    return found, unknown, over
