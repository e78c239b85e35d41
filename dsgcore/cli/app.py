"""Command ``dsg-lab app``: serve the app, and open it in a browser."""

from __future__ import annotations

import argparse
import os
import runpy
import signal
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from pathlib import Path

from dsgcore.cli.class_room import EVERYWHERE, open_to_the_class
from dsgcore.cli.replicas import serve_replicas
from dsgcore.core.errors import DSGError

HOST, PORT = "127.0.0.1", 8501
_PORTS_TO_TRY = 100
_PACKAGE = Path(__file__).parents[1]
_SECONDS_TO_START, _PAUSE = 60.0, 0.1


def add_arguments(app: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    app.add_argument("--port", type=int, metavar="N", help=f"port (default: the first free one from {PORT} on)")
    app.add_argument(
        "--class", action="store_true", dest="is_class", help="let phones in; print their address and a QR code"
    )
    app.add_argument(
        "--address",
        metavar="HOST",
        help=f"address; 0.0.0.0 lets other machines in (default: {HOST}). With --class, the address for phones",
    )
    app.add_argument("--base-path", default="", metavar="PREFIX", help="prefix of all addresses, such as lab")
    app.add_argument("--replicas", type=int, default=1, metavar="N", help="number of servers behind nginx (default: 1)")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")


def serve(given: argparse.Namespace) -> int:
    """Serve the app until it is stopped."""
    host = EVERYWHERE if given.is_class else given.address or HOST
    port = _usable_port(host, given.port)
    if given.is_class:
        open_to_the_class(given.address if given.address != EVERYWHERE else None, port, given.base_path)
    if not given.no_browser and _has_screen():
        threading.Thread(target=_open_browser, args=(host, port, given.base_path), daemon=True).start()
    if given.replicas != 1:
        return serve_replicas(given.replicas, host, port, ["--base-path", given.base_path])
    options = {"address": host, "port": port, "baseUrlPath": given.base_path}
    sys.argv = ["streamlit", "run", str(app_file()), *(f"--server.{name}={value}" for name, value in options.items())]
    if host == EVERYWHERE:  # otherwise Streamlit asks a server on the internet for this machine's address
        sys.argv.append("--browser.serverAddress=localhost")
    # Streamlit's command prints "Aborted!" if it is interrupted, and nothing if it exits.
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    # As `python -m streamlit` does it, by its name: dsgcore does not import streamlit, and works without it.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def app_file() -> Path:
    """Return the app's script: the one in the installed package, or the one in the clone that holds the package."""
    places = (_PACKAGE / "_app" / "app.py", _PACKAGE.parent / "app.py")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DSGError(f"there is no app in {places[0].parent}: install DSG Lab again")
    return found


def _usable_port(host: str, asked: int | None) -> int:
    for port in [asked] if asked is not None else range(PORT, PORT + _PORTS_TO_TRY):
        if _is_free(host, port):
            return port
    raise DSGError(f"port {asked or PORT} of {host} cannot be used: name a free one with --port")


def _is_free(host: str, port: int) -> bool:
    with suppress(OSError, OverflowError), socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        if (
            os.name == "posix"
        ):  # a port whose server has just ended is free; elsewhere this option would take one that is in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return True
    return False


def _has_screen() -> bool:
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open_browser(host: str, port: int, base_path: str) -> None:
    """Open a browser when the server answers."""
    host = HOST if host in (EVERYWHERE, "::") else host
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            webbrowser.open(f"http://{host}:{port}/{base_path.strip('/')}")
            return
        time.sleep(_PAUSE)
