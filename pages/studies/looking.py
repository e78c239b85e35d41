"""The step from a question's widgets to the study on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.studies import SpecList, StoreError, Study
from pages.controls.control import BAD_INPUT
from pages.shell.plain_text import plain
from pages.studies.going import Exploring, look_at, refresh


class Asks(Protocol):
    """A question in widgets."""

    def study(self) -> Study | SpecList:
        """Return the study that answers the question."""


Asked = TypeVar("Asked", bound=Asks)


def draw_and_look(state: Exploring, draw: Callable[[DeltaGenerator, DeltaGenerator], Asked | None]) -> Asked | None:
    """Draw a question and switch to its study; return the question, or None after a message if there is nothing to show."""
    upload, question = st.container(), st.container(border=True, key="part-question")
    try:
        with st.sidebar:
            asked = draw(question, upload)
        if asked is None:
            return None  # the upload has its own message
        look_at(state, asked.study())
        refresh(state)
    except (*BAD_INPUT, StoreError) as error:
        st.error(plain(str(error)))
        return None
    if state.refused:
        st.error(plain(f"{state.refused[:1].upper()}{state.refused[1:]}."))
    return asked
