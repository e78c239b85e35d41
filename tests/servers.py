"""The app in a process of its own, that of the clone or of a wheel in a folder of its own, and nginx before two of them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
START_SECONDS = 240.0  # a first start compiles the loops, on a busy machine
PAUSE, LOG_TAIL = 0.1, 4_000  # seconds, characters
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
NO_NGINX = "nginx is not installed (Debian: nginx-light)"


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wheel_in(folder: Path) -> Path:
    """Build a wheel of the project in a folder; return its file."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    program = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    folder.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-c", program, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


def unpacked(wheel: Path, folder: Path) -> Path:
    """Unpack a wheel; return the folder that holds its files."""
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def environment(site: Path, own: Path) -> dict[str, str]:
    """Return the environment of a process that finds the package in one folder, and writes its own files to another."""
    kept = {"PYTHONPATH": str(site), "DSGLAB_STORE": str(own / "runs.sqlite")}
    if site == ROOT:
        return os.environ | kept
    others = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    folders = {name: str(own / name.lower()) for name in ("DSGLAB_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    return others | folders | kept | {"PYTHONDONTWRITEBYTECODE": "1"}


def started(
    own: Path, *, site: Path = ROOT, port: int = 0, base_path: str = "", options: tuple[str, ...] = (), **variables: str
) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app of the package in a folder `site`, from an empty folder in `own`, which gets its log and its store.

    Return its process and its address, without a slash at the end.
    """
    (own / "empty").mkdir(exist_ok=True)
    port = port or free_port()
    command = [sys.executable, "-m", "dsgcore", "--port", str(port), "--no-browser", "--base-path", base_path, *options]
    with (own / "log").open("ab") as log:
        env = environment(site, own) | variables
        server = subprocess.Popen(command, cwd=own / "empty", env=env, stdout=log, stderr=log)
    return server, f"http://127.0.0.1:{port}" + f"/{base_path}" * bool(base_path)


def wait_for(server: subprocess.Popen[bytes], address: str, log: Path | None = None) -> None:
    """Wait until a server is well; fail with the end of its log if it ends, or if time is up."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
            return
        time.sleep(PAUSE)
    happened = "did not answer" if server.poll() is None else f"ended with {server.returncode}"
    tail = "" if log is None else log.read_text(errors="replace")[-LOG_TAIL:]
    pytest.fail(f"the app {happened}; the end of its log:\n{tail}", pytrace=False)


class Server:
    """The app at one port and with one store; it can be killed and started again."""

    def __init__(self, own: Path, **given: Any) -> None:
        self.own, self._given = own, {"port": free_port()} | given
        self.start()

    def start(self) -> None:
        """Start it, and wait until it is well."""
        self.process, self.address = started(self.own, **self._given)
        try:
            wait_for(self.process, self.address, self.own / "log")
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End it as a power failure would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def served(own: Path, base_path: str = "") -> Iterator[str]:
    """Serve the app of the clone while the block lasts; give its address."""
    server = Server(own, base_path=base_path)
    try:
        yield server.address
    finally:
        server.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(timeout=10)
        server.kill()


@contextmanager
def nginx(folder: Path, ports: tuple[int, int], stripped: str = "") -> Iterator[int]:
    """Run nginx before the servers at two ports while the block lasts; give its own port.

    If `stripped` names a prefix, nginx takes it off, as the file's own words say how.
    """
    text, port = (ROOT / ".github" / "nginx.conf").read_text(), free_port()
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
        deadline = time.monotonic() + 30
        while True:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            assert time.monotonic() < deadline, "nginx does not begin"
            time.sleep(PAUSE)
        yield port
    finally:
        before.terminate()
        before.wait(10)
