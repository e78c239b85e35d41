"""The way into a class's room: the address that phones can reach, its QR code, and a remedy if they cannot."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from urllib.parse import SplitResult

import segno
import streamlit as st

from dsgcore.cli.network import VARIABLE, address_in_network, said_address, whole_address
from dsgcore.core.errors import DSGError
from dsgcore.rooms.rooms import spaced
from pages.room.entrance import ADDRESS
from pages.shell.addresses import (
    base_path,
    beside_this_page,
    command_for_phones,
    is_of_this_machine,
    listens_here_alone,
)

_ICON = ":material/phonelink_off:"


def address_for_phones(path: str) -> SplitResult:
    """Return the address of a page of the app, as phones reach it.

    `DSGLAB_ADDRESS` has the last word. A name such as localhost gives way to the machine's address in its network.
    """
    here, said = beside_this_page(path), said_address()
    is_local = is_of_this_machine(here.hostname)
    if said is not None:
        scheme = "http" if is_local else here.scheme
        return whole_address(said, path, scheme=scheme, port=here.port, folder=base_path())
    is_reached = is_local and ("X-Forwarded-For" in st.context.headers or not listens_here_alone())
    host = address_in_network() if is_reached else None
    return here if host is None else here._replace(netloc=host if here.port is None else f"{host}:{here.port}")


def address_for_students(path: str) -> SplitResult:
    """Return the same, or this page's own address where the variable cannot be used, of which the page warns."""
    try:
        return address_for_phones(path)
    except DSGError:
        return beside_this_page(path)


def draw_door(code: str) -> None:
    """Draw the QR code, the address and the code of a room, and a remedy if phones cannot reach the address."""
    warn_of_no_address("Phones cannot reach this page")
    there, short = address_for_students(f"{ADDRESS}/{code}"), address_for_students(ADDRESS)
    if is_of_this_machine(there.hostname):
        st.html(f'<p class="room-key">Room <b>{escape(spaced(code))}</b>, on this machine: {_link(there, there)}</p>')
        return
    picture, alt = qr_image(there.geturl()), f"QR code of {escape(there.geturl())}"
    st.html(f'<div class="room-qr"><img src="{picture}" alt="{alt}"></div>')
    st.html(
        f'<div class="room-door"><p>Scan the code, or open</p><p class="room-address">{_link(there, short)}</p>'
        f'<p>and enter <span class="room-code">{escape(spaced(code))}</span></p></div>'
    )


def _link(there: SplitResult, shown: SplitResult) -> str:
    return f'<a href="{escape(there.geturl())}" target="_blank">{escape(f"{shown.netloc}{shown.path}")}</a>'


def warn_of_no_address(what: str = "The addresses below work on this machine only") -> None:
    """Say why an address for students works on this machine only, if it does, and what to do."""
    try:
        there = address_for_phones("")
    except DSGError as error:
        st.warning(f"{VARIABLE}: {error}", icon=_ICON)
        return
    if is_of_this_machine(there.hostname) and not listens_here_alone():
        st.warning(f"{what}, because this machine has no network.", icon=_ICON)
    elif is_of_this_machine(there.hostname):
        why = "the server listens on this machine only. Stop the app, and start it with this command."
        st.warning(f"{what}, because {why} Then everyone in your network can open the app.", icon=_ICON)
        st.code(command_for_phones(), language=None, wrap_lines=True)


@lru_cache(maxsize=32)
def qr_image(text: str) -> str:
    """Return the QR code of a text as the address of an SVG image."""
    # Black on white in both themes, because some scanners read no inverted code.
    return str(segno.make(text, error="m", micro=False).svg_data_uri(scale=8, dark="#000", light="#fff"))
