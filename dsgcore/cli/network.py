"""Addresses under which other machines, such as students' phones, reach this one. Nothing is sent to find them."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from dsgcore.core.errors import DSGError

# The address under which phones reach the app, if the app cannot know it: a name, name:port, or a whole address.
VARIABLE = "DSGLAB_ADDRESS"
# An address that no machine has, so the way to it is the way to the internet.
_ELSEWHERE = "192.0.2.1"
# One address in each private network that routers, hotspots and shared connections usually make.
_USUAL = (
    *(f"192.168.{k}.1" for k in range(256)),
    *(f"10.{k}.0.1" for k in range(256)),
    *(f"172.{k}.0.1" for k in range(16, 32)),
    "172.20.10.1",
)
_ROUTES = Path("/proc/net/route")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def addresses() -> list[str]:
    """Return this machine's addresses in its networks; the first one leads to the internet, if any does."""
    return list(dict.fromkeys(_found()))


def address_in_network() -> str | None:
    """Return the first of these addresses, or None if this machine has no network."""
    return next(_found(), None)


def _found() -> Iterator[str]:
    starts = list[bytes]()
    with suppress(OSError, UnicodeDecodeError):  # the networks of the routing table, if the system shows it as a file
        lines = [line.split() for line in _ROUTES.read_text(encoding="ascii").splitlines()[1:]]
        starts = [int(words[1], 16).to_bytes(4, "little") for words in lines if len(words) > 1]
    networks = [str(IPv4Address(start) + 1) for start in starts if any(start)]
    for there in (_ELSEWHERE, *networks, *_USUAL):
        # The address that this machine would send from. The routing table answers, and no packet is sent.
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((there, 9))
            own = str(probe.getsockname()[0])
            if not ip_address(own).is_loopback and not ip_address(own).is_unspecified:
                yield own


def place_for_phones(said: str) -> SplitResult:
    """Return a name, name:port or whole address as an address; scheme, port and path are empty if they are not said.

    Raises `DSGError` if the text is no address.
    """
    text = said.strip()
    try:
        there = urlsplit(text if "://" in text else f"//{text}")
        host, _port = there.hostname or "", there.port  # the port is checked as it is read
    except ValueError:
        host = ""
    is_known = bool(_NAME.fullmatch(host))
    with suppress(ValueError):
        is_known = is_known or bool(ip_address(host))
    if not is_known or there.scheme not in ("", "http", "https") or there.username or there.query or there.fragment:
        raise DSGError(
            f"the address for phones must be a name such as 192.168.1.20, lab.example.org:8501 or "
            f"https://example.org/lab, got {said[:80]!r}"
        )
    return there


def whole_address(said: SplitResult, path: str, *, scheme: str, port: int | None, folder: str) -> SplitResult:
    """Return the address of a page below a said one; what that leaves open is the server's: scheme, port and folder."""
    is_whole = bool(said.scheme)
    host = f"[{said.hostname}]" if ":" in (said.hostname or "") else said.hostname
    own = said.port if is_whole or said.port is not None else port
    below = said.path.rstrip("/") if is_whole else folder
    netloc = host if own is None else f"{host}:{own}"
    return SplitResult(said.scheme or scheme, netloc or "", f"{below}/{path}", "", "")


def obstacles(chosen: str, found: list[str]) -> list[str]:
    """Return sentences on what may keep phones away: no network, several addresses, a virtual machine, a firewall."""
    said = []
    if not found and chosen == "":
        said.append("This machine has no network. Connect it to the Wi-Fi of the room, and start the command again.")
    if "microsoft" in platform.release().lower():
        said.append("Phones cannot reach Linux inside Windows (WSL). Start the command in Windows itself.")
    if len(found) > 1:
        others = ", ".join(one for one in found if one != chosen)
        said.append(
            f"This machine has other addresses: {others}. If phones do not find {chosen}, choose with --address."
        )
    return said


def firewall_hint(port: int) -> str:
    """Return what to do if phones find nothing at the address."""
    has_ufw = False
    with suppress(OSError):
        has_ufw = "ENABLED=yes" in Path("/etc/ufw/ufw.conf").read_text(encoding="utf-8")
    if sys.platform == "win32":
        own = "let Python through Windows Defender Firewall, for private networks"
    elif sys.platform == "darwin":
        own = "let Python accept connections under System Settings, Network, Firewall"
    elif has_ufw:
        own = f"run: sudo ufw allow {port}/tcp"
    else:
        own = f"let port {port} through the firewall"
    return (
        f"If phones find nothing there: {own}. Many guest networks keep devices apart. Then make a hotspot of your "
        "own, and start the command again."
    )


def said_address() -> SplitResult | None:
    """Return the address that the variable DSGLAB_ADDRESS names, or None."""
    said = os.environ.get(VARIABLE, "").strip()
    return place_for_phones(said) if said else None
