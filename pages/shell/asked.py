"""The values of the session's controls, for its script, and for a tick, which has no session and uses stored values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

_noted: ContextVar[Mapping[str, Any] | None] = ContextVar("noted", default=None)


def asked(key: str, default: Any = None) -> Any:
    """Return the value of a control, now or from the stored values."""
    values = _noted.get()
    return st.session_state.get(key, default) if values is None else values.get(key, default)


def noted(keys: Iterable[str]) -> dict[str, Any]:
    """Return the session's present values of these keys."""
    return {key: st.session_state[key] for key in keys if key in st.session_state}


@contextmanager
def as_noted(values: Mapping[str, Any]) -> Iterator[None]:
    """Use the stored values inside the block."""
    before = _noted.set(values)
    try:
        yield
    finally:
        _noted.reset(before)
