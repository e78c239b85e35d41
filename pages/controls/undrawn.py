"""Controls that are not drawn, because their part of the page is hidden. The session and the link keep their values."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Flag, Integer, Real
from dsgcore.experiments import Setting
from pages.controls.control import AUTOMATIC, Control, can_be_automatic, key_of, number, shown, value_in
from pages.controls.from_link import in_link
from pages.controls.view_choices import name_of


def keep(control: Control, texts: dict[str, str]) -> Any:
    """Return the value of a control without drawing it: the session's, the link's or the default.

    Add the control's text for the link to `texts`; it is empty for the default.
    """
    if control.key not in st.session_state:
        st.session_state[control.key] = _linked(control, st.query_params.get(control.key))
    value = value_in(control, st.session_state[control.key])
    is_default = value == control.parameter.default
    texts[control.key] = "" if is_default else _said(control, value)
    return value


def keep_choice(problem: type[Setting], choice: Choice | Flag | Integer, texts: dict[str, str]) -> Any:
    """Do the same for a choice of the view, or for the seed."""
    return keep(Control(key_of(problem, choice.name), "view", choice, say=name_of), texts)


def forget(texts: dict[str, str]) -> None:
    """Remove these values from the session, so that the link decides again."""
    for key in texts:
        st.session_state.pop(key, None)
    texts.clear()


def _said(control: Control, value: Any) -> str:
    return control.say(value) if isinstance(control.parameter, Choice) else in_link(value)


def _linked(control: Control, text: str | None) -> Any:
    """Return the value that the link's text stands for; the default if there is none, or if it is not valid."""
    p = control.parameter
    if text is None:
        return p.default
    if isinstance(p, Real | Integer):
        if text == AUTOMATIC and can_be_automatic(p):
            return None
        value = number(text, p)
        return p.default if value is None or text != shown(value) else value
    if isinstance(p, Choice):
        return next((option for option in control.options if control.say(option) == text), p.default)
    return {"true": True, "false": False}.get(text, p.default) if isinstance(p, Flag) else text
