"""Several servers of the app behind nginx, for ``dsg-lab app --replicas``: the app draws on one core each."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dsgcore.cli.nginx import MOST, configuration
from dsgcore.core.errors import DSGError

_PLACES = "/usr/sbin:/usr/local/sbin:/opt/homebrew/bin"
_SECONDS_TO_END = 10.0
Process = subprocess.Popen[bytes]


def serve_replicas(n_servers: int, address: str, port: int, options: list[str]) -> int:
    """Serve the app with several servers until nginx ends or this process is stopped; return nginx's exit code.

    Parameters
    ----------
    n_servers : int
    address, port : str, int
        Where nginx listens.
    options : list of str
        Further options of each server's ``dsg-lab app``.
    """
    if not 1 <= n_servers <= MOST:
        raise DSGError(f"--replicas must be from 1 to {MOST}, got {n_servers}")
    nginx = shutil.which("nginx") or shutil.which("nginx", path=_PLACES)
    if nginx is None:
        raise DSGError("--replicas needs nginx, which is not installed: install it (Debian: nginx-light)")
    ports = _free_ports(n_servers)
    with TemporaryDirectory(prefix="dsg-lab-") as folder, ExitStack() as started, suppress(KeyboardInterrupt):
        Path(folder).chmod(0o755)  # nginx's workers are another user's
        written = Path(folder, "nginx.conf")
        written.write_text(configuration([f"127.0.0.1:{own}" for own in ports], f"{address}:{port}"), encoding="utf-8")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that all processes are ended
        for own in ports:
            command = [sys.executable, "-m", "dsgcore", "app", "--no-browser", "--port", str(own), *options]
            started.enter_context(_running(command))
        front = started.enter_context(_running([nginx, "-p", folder, "-c", str(written)]))
        print(f"{n_servers} servers, nginx's configuration: {written}", flush=True)
        return front.wait()
    return 0


@contextmanager
def _running(command: list[str]) -> Iterator[Process]:
    """Run a process while the block lasts."""
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports(number: int) -> list[int]:
    with ExitStack() as opened:
        probes = [opened.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
