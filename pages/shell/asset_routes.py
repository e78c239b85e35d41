"""The addresses of the app's modules for the browser, and of the chart library."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.charts.live_chart import FOLDER, LIBRARY, LIBRARY_ADDRESS, MODULES, digest
from pages.shell.addresses import own_route

# The content at these addresses never changes: each address holds a digest or a version.
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


def asset_routes() -> list[Route]:
    """Return the routes of the modules and of the chart library."""
    return [own_route(LIBRARY_ADDRESS, _library), own_route(f"{FOLDER}/{{digest}}/{{module:path}}", _module)]


def _library(request: Request) -> Response:
    return _answer(request, LIBRARY)


def _module(request: Request) -> Response:
    path = MODULES.get(request.path_params["module"])
    if path is None or request.path_params["digest"] != digest():
        return Response(status_code=404)
    return _answer(request, path)


def _answer(request: Request, path: Path) -> Response:
    kind = "text/javascript"
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(path.read_bytes(), headers=_HEADERS, media_type=kind)
    return Response(_packed(path), headers=_HEADERS | {"Content-Encoding": "gzip"}, media_type=kind)


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())  # once, because the library takes as long as drawing a page
