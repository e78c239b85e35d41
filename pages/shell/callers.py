"""The address that a request comes from, also through proxies that the server trusts.

A proxy appends the address of its caller to the header X-Forwarded-For. The caller may have invented everything before it.
The header is therefore read from its end, and only as long as each address belongs to a trusted proxy.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.requests import Request

__all__ = ["VARIABLE", "caller_of"]

# Uvicorn's variable for the same purpose: addresses and networks, separated by commas, or *.
VARIABLE = "FORWARDED_ALLOW_IPS"
LOOPBACK = "127.0.0.0/8,::1"
NAME_SHOWN = 64  # characters shown of text that is not an address
SHARED_BITS = 64  # IPv6 addresses with the same first bits belong to one caller

_log = logging.getLogger(__name__)


def caller_of(request: Request) -> str:
    """Return the caller: an IPv4 address, or the network of an IPv6 address."""
    caller = request.client.host if request.client is not None else ""
    hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    for hop in reversed([hop for hop in hops if hop.strip()]):
        if not _is_trusted(caller):
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


def _is_trusted(text: str) -> bool:
    address, (networks, are_all) = _address_in(text), _proxies(os.environ.get(VARIABLE, LOOPBACK))
    return are_all or (address is not None and any(address in network for network in networks))


@cache
def _proxies(said: str) -> tuple[list[IPv4Network | IPv6Network], bool]:
    """Return the networks of the trusted proxies, and True if every address is trusted."""
    entries, found = [entry.strip() for entry in said.split(",")], list[IPv4Network | IPv6Network]()
    for entry in entries:
        try:
            found += [ip_network(entry, strict=False)] if entry not in ("", "*") else []
        except ValueError:
            words = "%s must name addresses or networks such as 10.0.0.0/8, got %r; it is left out"
            _log.warning(words, VARIABLE, entry)
    return found, "*" in entries
