"""The session's pins: specs of runs to see side by side, finished or not."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import Spec
from dsgcore.experiments.settings import FILE
from dsgcore.studies import Store, StoreError, default_store
from pages.controls.control import BAD_INPUT

MOST = 8
SHORT = 12
_PINS = "_pins"


def pins() -> dict[str, Spec]:
    """Return the session's pins by their hash, in the order of pinning."""
    return st.session_state.setdefault(_PINS, {})


def draw_pin(spec: Spec, key: str) -> None:
    """Draw the button that pins a run, and a link to the pins. Runs on an uploaded file are pinned in the session only."""
    known = pins()
    if spec.sha256 not in known:
        st.button(
            "Pin", key=key, icon=":material/keep:", on_click=_pin, args=(known, spec), disabled=len(known) >= MOST
        )
    if known:
        draw_link_to_pins()


def draw_link_to_pins() -> None:
    """Draw the link to the pinned runs, with their number."""
    n = len(pins())
    said = f"Pinned runs ({n})" if n else "Pinned runs"
    st.page_link("pages/pinned.py", label=said, icon=":material/keep:", width="content")


def _pin(known: dict[str, Spec], spec: Spec) -> None:
    known[spec.sha256] = spec
    if spec.data.name != FILE:
        try:
            Store(default_store()).keep("pin", [(spec.sha256, spec.to_json(), None)])
        except StoreError:
            return  # it is pinned in this session in any case


def linked(given: str) -> tuple[dict[str, Spec], list[str]]:
    """Return the specs that a link names by the first digits of their hashes, and the names that have no valid spec here."""
    store, found, unknown = Store(default_store()), dict[str, Spec](), list[str]()
    for beginning in dict.fromkeys(part for part in given.split(",") if part):
        is_hash = len(beginning) >= SHORT and set(beginning) <= set("0123456789abcdef")
        own = next((spec for sha256, spec in pins().items() if sha256.startswith(beginning)), None)
        text = store.pinned(beginning) if is_hash and own is None else None
        spec = own if text is None else _valid(text)
        if spec is None or len(found) >= MOST:
            unknown.append(beginning[:SHORT])
        else:
            found[spec.sha256] = spec
    return found, unknown


def _valid(text: str) -> Spec | None:
    """Return the spec of a pin, or None if it is no longer valid."""
    try:
        return Spec.from_json(text)
    except BAD_INPUT:
        return None


def in_link(known: dict[str, Spec]) -> str:
    """Return the pins as text for a link."""
    return ",".join(sha256[:SHORT] for sha256 in known)
