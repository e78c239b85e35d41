"""The controls' values in a link: read, checked, and refused with a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real
from dsgcore.data.datasets import SEED
from pages.controls.control import AUTOMATIC, Control, also_offer, can_be_automatic, number, shown

SHOWN_FROM_LINK = 40


def read_controls(offered: Mapping[str, Control], given: Mapping[str, str]) -> list[str]:
    """Check a link's values for these controls; return a sentence for each value that is not valid."""
    sentences = (_read_one(control, given[control.key]) for control in offered.values() if control.key in given)
    return [sentence for sentence in sentences if sentence]


def in_link(value: Any) -> str:
    """Return a control's value as it appears in a link."""
    return str(value).lower() if isinstance(value, bool) else shown(value)


def _read_one(control: Control, text: str) -> str | None:
    parameter = control.parameter
    if isinstance(parameter, Real | Integer):
        if text == AUTOMATIC and can_be_automatic(parameter):
            return None
        value = number(text, parameter)
        if value is None:
            return refusal(control.key, parameter, text)
        if text != shown(value):
            return f"In the link, {control.key} must be written {shown(value)}, got {text!r}; the default is used."
        also_offer(control.key, value)
    elif isinstance(parameter, Choice):
        if text in parameter.options and control.say(text) != text:
            st.session_state[control.key] = text  # as specs and people write it
            return None
        named = replace(parameter, options=tuple(map(control.say, control.options)))
        return None if text in named.options else refusal(control.key, named, text)
    elif isinstance(parameter, Flag) and text not in ("true", "false"):
        return refusal(control.key, parameter, text)
    return None


def without_bad_seed(given: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a link without an invalid seed, because the widget would fail for a number such as infinity."""
    return {name: text for name, text in given.items() if name != key or number(text, SEED) is not None}


def refusal(key: str, parameter: Parameter, given: str) -> str:
    """Return a sentence with the link's value and the allowed values."""
    allowed = parameter.allowed().removesuffix(" or null")
    return f"In the link, {key} must be {allowed}, got {refused(given)}; the default is used."


def refused(given: str) -> str:
    """Return a link's value for a sentence: in quotes, and shortened if it is long."""
    return repr(given if len(given) <= SHOWN_FROM_LINK else given[:SHOWN_FROM_LINK] + "…")
