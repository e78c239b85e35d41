"""Texts of links and files as they are written: no links, pictures, colours or formulas."""

from __future__ import annotations

import re

import streamlit as st


def say_of_link(sentence: str) -> None:
    """Draw a sentence about the page's link, which may quote it."""
    st.warning(plain(sentence), icon=":material/link_off:")


def in_sentence(label: str) -> str:
    """Return a control's label as it stands within a sentence."""
    return label if label[1:2].isupper() else f"{label[:1].lower()}{label[1:]}"


def as_sentence(reason: str) -> str:
    """Return a reason, such as an error's text, as a sentence."""
    reason = reason.rstrip(".")
    return f"{reason[:1].upper()}{reason[1:]}."


def label_about(label: str, subject: str) -> str:
    """Return the label of one of many buttons or links that look alike, with its subject for screen readers alone.

    The style sheet hides emphasis in labels from sight.
    """
    return f"{label} *{plain(subject)}*"


def with_minus(text: str) -> str:
    """Return a text for people with minus signs in numbers, where formatting writes hyphens, and with short exponents."""
    text = re.sub(r"(?<=\de)(?:\+0*|(-)0*)(?=\d)", r"\1", text)
    return re.sub(r"((?<![^\s(\[])|(?<=\de))-(?=\d)", "\N{MINUS SIGN}", text)


def short_number(value: float, form: str = ".3g") -> str:
    """Return a number for people as text."""
    return with_minus(format(value, form))


# Addresses become links also if all their characters are escaped, unless something stands within.
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_JOINER = "\N{WORD JOINER}"  # has no width


def plain(text: str) -> str:
    """Return a text for Streamlit's Markdown that shows it as it is written."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", _ADDRESS.sub(_JOINER, text))
