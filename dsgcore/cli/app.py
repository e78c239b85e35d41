"""Command ``dsg-lab app``: serve the app, open it in a browser, and let the phones of a class in; ``dsg-lab export-lesson``."""

from __future__ import annotations

import argparse
import logging
import os
import runpy
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TextIO
from urllib.parse import urlencode

import segno

from dsgcore.cli.ending import Made
from dsgcore.cli.network import (
    VARIABLE,
    addresses,
    firewall_hint,
    obstacles,
    place_for_phones,
    said_address,
    whole_address,
)
from dsgcore.cli.options import HOST, PORT
from dsgcore.cli.runs import asked_study, in_app
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import counted, quoted
from dsgcore.experiments.data_of import SHOWN
from dsgcore.experiments.spec import FILE
from dsgcore.lessons import FOLDER, library

EVERYWHERE = "0.0.0.0"
# The short address of the page on which phones enter the code of a room.
ENTRANCE = "r"
_WRITE, _LINK = "pages.handouts.static_lesson:write_lesson", "pages.studies.links:link_to_study"
_CHECK = "pages.session.lesson_check:check_file"
_PORTS_TO_TRY = 100
_PACKAGE = Path(__file__).parents[1]
_SECONDS_TO_START, _PAUSE = 60.0, 0.1


def serve(given: argparse.Namespace, page: str = "", words: str = "") -> Made:
    """Serve the app until it is stopped; `page` is a study's address below that of the app, and `words` follow it."""
    _take_lessons(given.lessons)
    host = EVERYWHERE if given.is_class else given.address or HOST
    port = _usable_port(host, given.port)
    if given.is_class:
        open_to_the_class(given.address if given.address != EVERYWHERE else None, port, given.base_path)
    here = HOST if host in (EVERYWHERE, "::") else f"[{host}]" if ":" in host else host
    address = f"http://{here}:{port}/{'/'.join(filter(None, (given.base_path.strip('/'), page)))}"
    if page:
        print(f"The study is at {address}{words}", flush=True)
    has_screen = sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    if not given.no_browser and has_screen:
        threading.Thread(target=_open_browser, args=(host, port, address), daemon=True).start()
    options = {"address": host, "port": port, "baseUrlPath": given.base_path}
    sys.argv = ["streamlit", "run", str(app_file()), *(f"--server.{name}={value}" for name, value in options.items())]
    if host == EVERYWHERE:  # otherwise Streamlit asks a server on the internet for this machine's address
        sys.argv.append("--browser.serverAddress=localhost")
    # Streamlit's command prints "Aborted!" if it is interrupted, and nothing if it exits.
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    # As `python -m streamlit` does it, by its name: dsgcore does not import streamlit, and works without it.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return Made()


def _take_lessons(folder: Path | None) -> None:
    """Let the app read the lessons and lectures in a folder."""
    if folder is None:
        return
    if not folder.is_dir():
        raise DSGError(f"--lessons must be a folder with lessons in TOML, got {folder}")
    os.environ[FOLDER] = str(folder.resolve())
    for fault in library().faults:
        print(f"Left out: {fault}", file=sys.stderr, flush=True)


def open_study(given: argparse.Namespace) -> Made:
    """Serve the app, and open it on a study."""
    study, folder = in_app(
        asked_study(given.study, [], None), needs_file=False
    )  # refused if its file has changed since
    data, words = study.spec.data, ""
    if folder is not None:
        words = f" The page asks for {quoted(str(Path(folder, str(data.path))))}, because a browser reads no file by itself."
    elif data.name == FILE:
        words = (
            f" The page asks for the file {quoted(data.path)}, whose SHA-256 begins with {str(data.sha256)[:SHOWN]}."
        )
    with _without_warnings():
        link = urlencode(_of_app(_LINK)(study), doseq=True)
    given.is_class, given.lessons = False, None
    return serve(given, f"explore?{link}", words)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep Streamlit from warning that no session is there."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _of_app(name: str) -> Any:
    """Return a function of the app, whose modules are on the path of its own processes only."""
    sys.path.insert(0, str(app_file().parent))
    return resolve_name(name)


def app_file() -> Path:
    """Return the app's script: the one in the installed package, or the one in the clone that holds the package."""
    places = (_PACKAGE / "_app" / "app.py", _PACKAGE.parent / "app.py")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DSGError(f"there is no app in {places[0].parent}: install DSG Lab again")
    return found


def _usable_port(host: str, asked: int | None) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in [asked] if asked is not None else range(PORT, PORT + _PORTS_TO_TRY):
        with suppress(OSError, OverflowError), socket.socket(family) as probe:
            if os.name == "posix":  # a port whose server has just ended is free; elsewhere this would take one in use
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return port
    raise DSGError(f"port {asked or PORT} of {host} cannot be used: name a free one with --port")


def _open_browser(host: str, port: int, address: str) -> None:
    """Open an address when the server answers."""
    host = HOST if host in (EVERYWHERE, "::") else host
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            webbrowser.open(address)
            return
        time.sleep(_PAUSE)


def open_to_the_class(chosen: str | None, port: int, base_path: str, out: TextIO | None = None) -> None:
    """Print the address for phones and what may keep them away, and let the app show the same address.

    By default it is that of DSGLAB_ADDRESS, or the first one of this machine.
    """
    out = sys.stdout if out is None else out
    found = addresses()
    said = place_for_phones(chosen) if chosen else said_address()
    if said is None and not found:
        print(f"Attention: {obstacles('', found)[0]}", file=out)
        return
    there = place_for_phones(found[0]) if said is None else said
    if chosen:  # otherwise the app finds the same address by itself, also if it is opened through a proxy
        os.environ[VARIABLE] = chosen
    folder = f"/{base_path.strip('/')}".rstrip("/")
    address = whole_address(there, ENTRANCE, scheme="http", port=port, folder=folder).geturl()
    code = StringIO()
    segno.make(address, error="m", micro=False).terminal(out=code, compact=True)
    try:
        code.getvalue().encode(getattr(out, "encoding", None) or "utf-8")
        print(code.getvalue(), end="", file=out)
    except UnicodeEncodeError:
        print("This terminal cannot show a QR code.", file=out)
    print(f"Students open {address} on their phones, and enter the code that 'Ask the class' shows.", file=out)
    for sentence in obstacles(there.hostname or "", found):
        print(f"Attention: {sentence}", file=out)
    print(firewall_hint(port), file=out, flush=True)


def export_lesson(given: argparse.Namespace) -> Made:
    """Write a step of a lesson as one HTML file."""
    _take_lessons(given.lessons)
    file = str(_of_app(_WRITE)(given.lesson, given.out, given.step))
    return Made({"file": file}, file, is_result=True)


def check_lesson(given: argparse.Namespace) -> Made:
    """Check a lesson's or a lecture's file; the exit code is 0 if all holds, else 1."""
    _take_lessons(given.lessons)
    found, named = [], os.environ.get(FOLDER, "")
    os.environ[FOLDER] = named or str(given.file.resolve().parent)  # which has a lecture's lessons
    try:
        with _without_warnings():
            for finding in _of_app(_CHECK)(given.file, given.seeds):
                found.append(finding)
                if not given.quiet and given.json != Path("-"):
                    print(finding, flush=True)
    finally:
        os.environ[FOLDER] = named
    n_wrong = sum(not finding.holds for finding in found)
    wrong = f"{n_wrong} of {counted(len(found), 'statement')} {'does' if n_wrong == 1 else 'do'} not hold"
    words = f"{given.file}: {wrong if n_wrong else 'all holds'}"
    plain = {"file": str(given.file), "findings": [vars(finding) for finding in found]}
    return Made(plain, words, code=int(n_wrong > 0), is_result=True)
