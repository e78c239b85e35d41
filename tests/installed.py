"""The package as people get it: a built wheel, unpacked in a folder of its own, and its app in a process of its own."""

import os
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from proxies import free_port

ROOT = Path(__file__).parents[1]
START_SECONDS = 240.0  # a first start compiles the loops, on a busy machine
PAUSE = 0.1


def built(kind: str, folder: Path, source: Path = ROOT) -> Path:
    """Build a wheel or an sdist of the project in a folder; return its file."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    program = f"import sys; from hatchling.build import build_{kind}; build_{kind}(sys.argv[1])"
    folder.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-c", program, str(folder)], cwd=source, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack a wheel, or an sdist; return the folder that holds its files."""
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(folder)
        return folder
    with tarfile.open(archive) as opened:
        opened.extractall(
            folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )  # not before 3.11.4
    (inside,) = folder.iterdir()
    return inside


def environment(site: Path, own: Path) -> dict[str, str]:
    """Return the environment of a process that finds the package in one folder, and writes its own files to another."""
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    folders = {name: str(own / name.lower()) for name in ("DSGLAB_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    return (
        kept | folders | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "DSGLAB_STORE": str(own / "store")}
    )


def started(site: Path, own: Path, **variables: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app of the package in a folder, from an empty folder; return its process and its address."""
    (own / "empty").mkdir()
    port = free_port()
    command = [sys.executable, "-m", "dsgcore", "--port", str(port), "--no-browser"]
    with (own / "log").open("wb") as log:
        env = environment(site, own) | variables
        server = subprocess.Popen(command, cwd=own / "empty", env=env, stdout=log, stderr=log)
    return server, f"http://127.0.0.1:{port}"


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server has ended"
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(PAUSE)
    raise TimeoutError(address)
