"""The app's own addresses: below the base path on the server, and relative to the page in the browser."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route

Endpoint = Callable[[Request], Any]
USUAL_PORT = 8501
EVERY_ADDRESS = ("0.0.0.0", "::")  # all addresses of the server's machine


def base_path() -> str:
    """Return the prefix of all addresses of the server: "" or, for example, "/lab"."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return base and f"/{base}"


def own_route(path: str, endpoint: Endpoint, methods: Sequence[str] = ("GET",)) -> Route:
    """Return the route to an address of the app, below the server's base path."""
    return Route(f"{base_path()}/{path}", endpoint, methods=list(methods))


async def redirect(path: str, request: Request) -> RedirectResponse:
    """Redirect to a path relative to the request's, with the same query."""
    query = request.url.query
    return RedirectResponse(f"{path}?{query}" if query else path)


def beside_this_page(path: str, given: Mapping[str, str] | None = None) -> SplitResult:
    """Return the full address of another page, as this page's browser reaches it through any proxy."""
    here = urlsplit(st.context.url or "")
    folder = here.path.rpartition("/")[0]
    return here._replace(path=f"{folder}/{path}", query=urlencode(given or {}), fragment="")


def is_of_this_machine(host: str | None) -> bool:
    """Return True if a host's name means the local machine everywhere, so that no other machine can use it."""
    name = (host or "").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:  # a name, not an address
        return False
    return address.is_loopback or address.is_unspecified


def listens_here_alone() -> bool:
    """Return True if other machines can reach the server only through a proxy."""
    address = st.get_option("server.address")
    return is_of_this_machine(address) and address not in EVERY_ADDRESS


def command_for_phones() -> str:
    """Return the command that starts the server so that other machines in the network can reach it."""
    port, base = st.get_option("server.port"), base_path()
    parts = ["python -m dsgcore app --class"]
    parts += [f"--port {port}"] * (port != USUAL_PORT)
    parts += [f"--base-path {base[1:]}"] * bool(base)
    return " ".join(parts)


# Uvicorn's variable for trusted proxies: addresses and networks, separated by commas, or *. Its oldest releases know no networks.
PROXIES = "FORWARDED_ALLOW_IPS"
LOOPBACK = "127.0.0.0/8,::1"
NAME_SHOWN = 64  # characters shown of text that is not an address
SHARED_BITS = 64  # IPv6 addresses with the same first bits belong to one caller


def caller_of(request: Request) -> str:
    """Return the caller, also through trusted proxies: an IPv4 address, or the network of an IPv6 address.

    A proxy appends the address of its caller to the header X-Forwarded-For. The caller may have invented everything before it.
    The header is therefore read from its end, and only as long as each address belongs to a trusted proxy.
    """
    caller = request.client.host if request.client is not None else ""
    networks = _trusted(os.environ.get(PROXIES, LOOPBACK))
    hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    for hop in reversed([hop for hop in hops if hop.strip()]):
        address = _address_in(caller)
        if address is None or not any(address in network for network in networks):
            break
        caller = hop
    address = _address_in(caller)
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), SHARED_BITS), strict=False))
    return caller.strip()[:NAME_SHOWN] if address is None else str(address)


def _address_in(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in a header's entry, with or without a port, or None if it is not an address."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@cache
def _trusted(proxies: str) -> list[IPv4Network | IPv6Network]:
    found = list[IPv4Network | IPv6Network]()
    for entry in filter(None, map(str.strip, proxies.replace("*", "0.0.0.0/0,::/0").split(","))):
        try:
            found.append(ip_network(entry, strict=False))
        except ValueError:
            words = "%s must name addresses or networks such as 10.0.0.0/8, got %r; it is left out"
            logging.getLogger(__name__).warning(words, PROXIES, entry)
    return found
