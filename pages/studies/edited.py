"""Edits of the data by hand that a link brings to a page of studies. They stay as long as the page has the data they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st

from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import Spec, load_split
from pages.controls.control import BAD_INPUT, number
from pages.controls.hand import EDITS, Hand, edits_in, edits_to_text
from pages.controls.own_file import store
from pages.shell.browser import keep_in_link
from pages.shell.plain_text import say_of_link
from pages.shell.visits import visit


@dataclass
class _Brought:
    """The edits of one visit's link, the seed of their data, and the sentence if they cannot be used."""

    visit: int
    text: str
    seed: int = SEED.default
    hand: Hand = field(default_factory=Hand)
    notice: str = ""
    is_checked: bool = False


def edits_entry(spec: Spec, prefix: str) -> dict[str, str]:
    """Return the link's entry for a spec's edits, with the seed of their data; none without edits."""
    return {prefix + EDITS: f"{spec.seed}:{edits_to_text(spec.data.edits)}"} if spec.data.edits else {}


def with_linked_edits(spec: Spec, page: str, prefix: str) -> Spec:
    """Return a question's spec with the edits that its link brings and with their seed, and say so on the page."""
    brought = _brought(prefix + EDITS)
    own = brought.hand.edit(replace(spec, seed=brought.seed))
    if own.data.edits and not brought.is_checked:
        own = _checked(brought, own)
    if brought.notice:
        say_of_link(brought.notice)
    keep_in_link(page, edits_entry(own, prefix) or {prefix + EDITS: ""})
    if not own.data.edits:
        return spec
    kept = "" if fit_any_seed(own.data.edits) else f" They name points of the data of seed {own.seed}."
    st.caption(f"With your edits of the data by hand.{kept} Other data come without them.")
    return own


def _brought(key: str) -> _Brought:
    """Return the edits of this visit's link."""
    noted, text = f"_{key}", str(st.query_params.get(key, ""))
    known: _Brought | None = st.session_state.get(noted)
    if known is None or known.visit != visit() or (text and text != known.text):
        known = st.session_state[noted] = _Brought(visit(), text)
        _read(known)
    return known


def _read(brought: _Brought) -> None:
    seed, _, text = brought.text.partition(":")
    try:
        brought.hand.made = edits_in(text)
        known = number(seed, SEED) if brought.text else SEED.default
        brought.seed = SEED.check(seed if known is None else known)
    except BAD_INPUT as error:
        _leave_out(brought, str(error))


def _checked(brought: _Brought, spec: Spec) -> Spec:
    """Return the spec, without edits if they do not suit its data."""
    brought.is_checked = True
    try:
        load_split(spec, files=store())
    except BAD_INPUT as error:
        _leave_out(brought, str(error))
        return replace(spec, data=replace(spec.data, edits=()))
    return spec


def _leave_out(brought: _Brought, why: str) -> None:
    brought.hand, brought.notice = Hand(), f"In the link, {why}; all edits are left out."
