"""What the session's controls say: to its script, and to a tick, which has no session and goes by what was noted for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

_noted: ContextVar[Mapping[str, Any] | None] = ContextVar("noted", default=None)


def asked(key: str, default: Any = None) -> Any:
    """Return what a control says, or has said when it was noted."""
    values = _noted.get()
    return st.session_state.get(key, default) if values is None else values.get(key, default)


def noted(keys: Iterable[str]) -> dict[str, Any]:
    """Return what the session says now under these keys."""
    return {key: st.session_state[key] for key in keys if key in st.session_state}


@contextmanager
def as_noted(values: Mapping[str, Any]) -> Iterator[None]:
    """Go by what was noted while the block lasts."""
    before = _noted.set(values)
    try:
        yield
    finally:
        _noted.reset(before)
