"""Links from a run of a study to the workbench, and the edits of its data that a link brings to a page of studies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import Setting, Spec, load_split
from dsgcore.experiments.settings import FILE
from dsgcore.studies import Store, StoreError, default_store
from pages.controls import controls
from pages.controls.control import BAD_INPUT, Control, number
from pages.controls.controls import ALSO, PICKER, data_picker, what_differs
from pages.controls.hand import EDITS, Hand, edits_in, edits_to_text
from pages.controls.link import CHANGES, FILE_ENTRY, changes_to_text
from pages.controls.own_file import entry_of, file_in_link, store
from pages.shell.page_link import PageLink, link_now, say_in_link
from pages.shell.plain_text import say_of_link


def link_to_run(spec: Spec) -> dict[str, str]:
    """Return the query of a link to a run in the workbench."""
    said = data_in_link(spec) | said_of(at_its_end(spec))
    if spec.seed != SEED.default:
        said[SEED.name] = str(spec.seed)
    if spec.changes:
        said[CHANGES] = changes_to_text(spec)
    if spec.data.edits:
        said[EDITS] = edits_to_text(spec.data.edits)
    return said


def data_in_link(spec: Spec) -> dict[str, str]:
    """Return the entries of a link that name a spec's data."""
    data = spec.data
    said = {data_picker(type(spec.problem)).name: data.name}
    is_file = data.name == FILE
    return said | ({FILE_ENTRY: file_in_link(str(data.path), str(data.sha256), data.recipe)} if is_file else {})


def at_its_end(spec: Spec) -> Spec:
    """Return a spec without changes, with the final values, as the sliders show them."""
    plain = spec.to_dict() | {"changes": []}
    for name, value in spec.values_at(spec.solver.n_iter + 1).items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    return Spec.from_dict(plain)


def said_of(spec: Spec) -> dict[str, str]:
    """Return the values of a spec that differ from the page's defaults, as entries of a link."""
    problem = type(spec.problem)
    offered = controls.controls_for(problem, spec.data.name, spec.kernel.name)
    values = {name: _value(spec, problem, name, control) for name, control in offered.items() if name != ALSO}
    data = spec.to_dict()["data"]
    own = {name: data[name] for name in ("name", "path", "sha256", "recipe")} if spec.data.name == FILE else None
    plain = replace(spec, data=replace(spec.data, edits=()))
    values[ALSO] = what_differs(plain, controls.to_spec(problem, values, spec.data.name, spec.seed, own))
    return {
        offered[name].name: offered[name].text(value) for name, value in values.items() if value != offered[name].usual
    }


def _value(spec: Spec, problem: type[Setting], name: str, control: Control) -> Any:
    """Return a control's value in a spec."""
    if name == PICKER:
        return spec.kernel.name
    part: Any = getattr(spec, control.section)
    value = getattr(part, name)
    if spec.data.name == FILE or control.section != "data":
        return value
    if name == "positive" and value is not None:
        return entry_of(problem, spec.data.name).class_names[value]
    # A spec has None for all points, and for the default positive class; a control has a value.
    return control.parameter.default if value is None and name in ("n", "positive") else value


@dataclass
class _Brought:
    """The edits of one visit's link, the seed of their data, and the sentence if they cannot be used."""

    link: PageLink
    hand: Hand
    seed: int = SEED.default
    notice: str = ""
    is_checked: bool = False


def edits_entry(spec: Spec) -> dict[str, str]:
    """Return the link's entries for a spec's edits and for the seed of their data; none without edits."""
    return {EDITS: edits_to_text(spec.data.edits), SEED.name: str(spec.seed)} if spec.data.edits else {}


def with_linked_edits(spec: Spec) -> Spec:
    """Return a question's spec with the edits that its link brings and with their seed, and say so on the page."""
    # Return the edits of this visit's link.
    noted = "_brought_edits"
    known: _Brought | None = st.session_state.get(noted)
    if known is None or known.link is not link_now():
        known = st.session_state[noted] = _read(link_now())
    brought = known
    own = brought.hand.edit(replace(spec, seed=brought.seed))
    if own.data.edits and not brought.is_checked:
        own = _checked(brought, own)
    if brought.notice:
        say_of_link(brought.notice)
    for name, text in edits_entry(own).items():
        say_in_link(name, text)
    if not own.data.edits:
        return spec
    kept = "" if fit_any_seed(own.data.edits) else f" They name points of the data of seed {own.seed}."
    st.caption(f"With your edits of the data by hand.{kept} Other data come without them.")
    return own


def _read(link: PageLink) -> _Brought:
    try:
        text = link.given.get(SEED.name) or str(SEED.default)
        seed = number(text, SEED)
        return _Brought(link, Hand(edits_in(link.given.get(EDITS, ""))), SEED.check(text if seed is None else seed))
    except BAD_INPUT as error:
        return _Brought(link, Hand(), notice=f"In the link, {error}; all edits are left out.")


def _checked(brought: _Brought, spec: Spec) -> Spec:
    """Return the spec, without edits if they do not suit its data."""
    brought.is_checked = True
    try:
        load_split(spec, files=store())
    except BAD_INPUT as error:
        brought.hand, brought.notice = Hand(), f"In the link, {error}; all edits are left out."
        return replace(spec, data=replace(spec.data, edits=()))
    return spec


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
