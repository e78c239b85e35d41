"""The app's own addresses: below the base path on the server, and relative to the page in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from ipaddress import ip_address
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


def home_routes(endpoint: Endpoint) -> list[Route]:
    """Return the routes to the home page. The base path without its slash redirects to the one with it.

    The redirect is relative, because a proxy may have removed a prefix from the path.
    """
    base = base_path()
    without_slash = [Route(base, partial(redirect, f"{base.rpartition('/')[2]}/"))] if base else []
    return [own_route("", endpoint), *without_slash]


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


def has_a_proxy() -> bool:
    """Return True if the page came through a proxy."""
    return "X-Forwarded-For" in st.context.headers


def command_for_phones() -> str:
    """Return the command that starts the server so that other machines in the network can reach it."""
    port, base = st.get_option("server.port"), base_path()
    parts = ["python -m dsgcore app --class"]
    parts += [f"--port {port}"] * (port != USUAL_PORT)
    parts += [f"--base-path {base[1:]}"] * bool(base)
    return " ".join(parts)
