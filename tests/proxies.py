"""nginx before servers of the app, as .github/nginx.conf has it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONFIGURED = Path(__file__).parents[1] / ".github" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
NO_NGINX = "nginx is not installed (Debian: nginx-light)"
needs_nginx = pytest.mark.skipif(NGINX is None, reason=NO_NGINX)
BEGIN_SECONDS = 30.0


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def nginx(folder: Path, ports: tuple[int, int], stripped: str = "") -> Iterator[int]:
    """Run nginx before the servers at two ports while the block lasts; give its own port.

    If `stripped` names a prefix, nginx takes it off, as the file's own words say how.
    """
    text, port = CONFIGURED.read_text(), free_port()
    changes = [("127.0.0.1:8501", f"127.0.0.1:{ports[0]}"), ("127.0.0.1:8502", f"127.0.0.1:{ports[1]}")]
    changes += [("listen 8080", f"listen 127.0.0.1:{port}")]
    if stripped:
        rewrite = f"rewrite ^/{stripped}/(.*)$ /$1 break;"
        changes += [("        location / {", f"        location /{stripped}/ {{ {rewrite}")]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    before = subprocess.Popen([str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        _wait_for(port)
        yield port
    finally:
        before.terminate()
        before.wait(10)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + BEGIN_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "nginx does not begin"
            time.sleep(0.05)
