"""The app's server in a separate process, its use of the machine, and a browser that opens it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port(port: int = 0) -> int:
    """Return a free port of this machine: the given one, if there is one."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))
        return int(free.getsockname()[1])


class Server:
    """The app in a separate process, or another Streamlit script in another folder."""

    def __init__(self, port: int = 0, *, folder: Path = ROOT, is_quiet: bool = False) -> None:
        self.port = free_port(port)
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
        log = Path(tempfile.gettempdir()) / f"dsglab-load-{self.port}.log"
        self.log = open(os.devnull if is_quiet else log, "w")  # noqa: SIM115
        environment = {**os.environ, "DSGLAB_SESSIONS": "600"}
        self.process = subprocess.Popen(
            [*command, "--server.port", str(self.port)], cwd=folder, stdout=self.log, stderr=self.log, env=environment
        )

    def wait(self) -> None:
        """Wait until it answers."""
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5)
                return
            time.sleep(0.1)
        raise TimeoutError("the server does not answer")

    def cpu(self) -> float:
        """Return the seconds of CPU time that it has taken."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def held(self) -> tuple[float, int, int]:
        """Return its memory in MB, its threads and its descriptors."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines)
        n_files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), n_files

    def end(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@contextlib.contextmanager
def served(**options) -> Iterator[Server]:
    """Serve the app while the block lasts."""
    server = Server(**options)
    try:
        server.wait()
        yield server
    finally:
        server.end()


@contextlib.contextmanager
def browsing() -> Iterator:
    """Give a browser, as the browser tests begin it."""
    sys.path.append(str(ROOT / "tests" / "browser"))
    from conftest import BROWSER_ARGUMENTS
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER_ARGUMENTS))
