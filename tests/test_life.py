"""The start of the server's app: it sends answers at once, and prepares what every visit needs."""

import asyncio
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from pages.server.streamlit_gaps import send_at_once
from pages.shell import life


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_holds_nothing_back(family: int) -> None:
    with socket.socket(family) as listening:  # no protocol named
        try:
            listening.bind(("localhost", 0))
        except OSError:
            pytest.skip("this machine has no such addresses")
        listening.listen()
        assert not _sends_at_once(listening)
        send_at_once()
        assert _sends_at_once(listening)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no list of open files here")
def test_it_leaves_no_file_open(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w"), socket.socket() as listening:  # a plain file has no socket to close it again
        listening.bind(("localhost", 0))
        listening.listen()
        send_at_once()
        before = len(os.listdir("/dev/fd"))
        send_at_once()
        assert len(os.listdir("/dev/fd")) == before


def test_the_app_begins_with_it_and_gets_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    # Read, not imported: where the server's module is, pages count on ticks.
    assert "lifespan=life)" in (Path(__file__).parents[1] / "app.py").read_text(encoding="utf-8")
    is_ready = threading.Event()
    monkeypatch.setattr(life, "warm_up", is_ready.set)

    async def begin() -> None:
        async with life.life(None):
            pass

    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        asyncio.run(begin())
        assert _sends_at_once(listening)
    assert is_ready.wait(60)
    assert "pages.workbench.page" in sys.modules


def _sends_at_once(listening: socket.socket) -> bool:
    with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as connection:
        return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
