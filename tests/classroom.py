"""A classroom in network namespaces of its own: a server that `app --class` opens, and phones with other addresses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from dsgcore.rooms.rooms import Asked, Key, Rooms
from dsgcore.studies import Store

ROOT = Path(__file__).parents[1]
SERVER, NETWORK = "10.213.0.1", "10.213.0"
PORT = 8501
PICK, CURVE = Asked("auc", "unlabeled", 0), Asked("s3vm", "batches", 1)
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def why_not() -> str:
    """Return the reason why there can be no classroom here, or an empty text."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need root"
    ip = shutil.which("ip", path=PATH)
    if ip is None:
        return "the program ip is not installed"
    name = f"dsg-try-{token_hex(3)}"
    if subprocess.run([ip, "netns", "add", name], capture_output=True, check=False).returncode:
        return "network namespaces are not allowed here"
    subprocess.run([ip, "netns", "del", name], check=True)
    return ""


class Classroom:
    """The namespaces of a server and of phones, joined by one cable."""

    def __init__(self, store: Path, n_phones: int) -> None:
        self.store, self.tag = store, token_hex(3)
        self.here, self.there = f"dsg-s-{self.tag}", f"dsg-p-{self.tag}"
        self.phones = [f"{NETWORK}.{10 + k}" for k in range(n_phones)]
        self.server: subprocess.Popen[str] | None = None
        self.rest = ""  # of the output of a killed server

    def ip(self, *words: str) -> None:
        """Run `ip`."""
        subprocess.run(["ip", *words], check=True, env={**os.environ, "PATH": PATH}, capture_output=True)

    def build(self) -> None:
        """Make the namespaces, the cable and the addresses."""
        for name in (self.here, self.there):
            self.ip("netns", "add", name)
            self.ip("-n", name, "link", "set", "lo", "up")
        ends = (f"s{self.tag}", f"p{self.tag}")
        self.ip(
            "link", "add", ends[0], "netns", self.here, "type", "veth", "peer", "name", ends[1], "netns", self.there
        )
        self.ip("-n", self.here, "addr", "add", f"{SERVER}/24", "dev", ends[0])
        for own in self.phones:
            self.ip("-n", self.there, "addr", "add", f"{own}/24", "dev", ends[1])
        self.ip("-n", self.here, "link", "set", ends[0], "up")
        self.ip("-n", self.there, "link", "set", ends[1], "up")

    def start(self) -> tuple[str, str]:
        """Start the server; return all that it has printed until it says where phones find it, and that address."""
        command = ["ip", "netns", "exec", self.here, sys.executable, "-m", "dsgcore", "app", "--class", "--no-browser"]
        environment = {**os.environ, "PATH": PATH, "DSGLAB_STORE": str(self.store), "PYTHONUNBUFFERED": "1"}
        environment |= {"DSGLAB_ADDRESS": "", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        self.server = subprocess.Popen(
            [*command, "--port", str(PORT)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert self.server.stdout is not None
        printed = ""
        for line in self.server.stdout:
            printed += line
            if "Local URL" in line or "URL:" in line:
                break
        address = printed.split("Students open ")[1].split(" ")[0]
        return printed, address

    def kill(self) -> None:
        """Kill the server as a power failure would."""
        assert self.server is not None
        self.server.send_signal(signal.SIGKILL)
        self.rest, _errors = self.server.communicate()

    def output(self) -> str:
        """Kill the server; return what it has printed since its start."""
        self.kill()
        return self.rest

    def phones_at(self, address: str, own: list[str] | None = None) -> Class:
        """Return phones that will join at this address."""
        words = ["ip", "netns", "exec", self.there, sys.executable, str(ROOT / "tests" / "class_phone.py"), address]
        words.append(json.dumps(self.phones if own is None else own))
        return Class(words)

    def end(self) -> None:
        """End the server, and remove the namespaces."""
        if self.server is not None and self.server.poll() is None:
            self.kill()
        for name in (self.here, self.there):
            subprocess.run(["ip", "netns", "del", name], check=False, env={**os.environ, "PATH": PATH})


class Class:
    """Phones in another process, which follow orders."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": PATH}
        )

    def begin(self, name: str, *given: object) -> None:
        """Give an order."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *given]) + "\n")
        self.process.stdin.flush()

    def done(self) -> list[Any]:
        """Wait until all phones have carried it out; return what each has answered."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline() or "[]")

    def do(self, name: str, *given: object) -> list[Any]:
        """Do both."""
        self.begin(name, *given)
        return self.done()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def classroom(store: Path, n_phones: int) -> Iterator[Classroom]:
    """Build a classroom for the block."""
    made = Classroom(store, n_phones)
    try:
        made.build()
        yield made
    finally:
        made.end()


def asking(store: Path, asked: Asked = PICK) -> tuple[Rooms, Key]:
    """Return the rooms of a store, and the key of one that is asked a question."""
    rooms = Rooms(Store(store))
    key = rooms.open()
    rooms.ask(key, asked)
    return rooms, key


def run_of_curve() -> dict[str, float]:
    """Return the measures of a run for the question `CURVE`."""
    return dict(zip(CURVE.question.measures, (0.71, 0.93, 0.97, 0.98, 0.985, 0.99), strict=True))


def band(guesses: list[str]) -> dict[str, list[float]]:
    """Return the band and the median of drawn curves, in which eight of ten curves lie at each place."""
    places = list(zip(*(map(float, guess.split("~")) for guess in guesses), strict=True))
    shares = {"low": 0.1, "middle": 0.5, "high": 0.9}
    return {name: np.quantile(places, share, axis=1).tolist() for name, share in shares.items()}


def drawn_values(drawing: str, kind: str) -> list[float]:
    """Return the values of a line or a band in the lecturer's drawing of `CURVE`."""
    top, bottom = map(float, re.search(r'class="frame" d="M\S+ (\S+)V(\S+)H', drawing).groups())
    points = re.search(f'class="{kind}" points="([^"]+)"', drawing).group(1).split()
    low, high = CURVE.question.low, CURVE.question.high
    return [high - (float(point.split(",")[1]) - top) / (bottom - top) * (high - low) for point in points]
