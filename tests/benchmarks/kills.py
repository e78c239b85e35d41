"""The app's server killed at random moments while a run plays, stands still or a study is written: what the open page does then.

    python tests/benchmarks/kills.py --kills 20 --markdown tests/benchmarks/kills.md

A browser has a page open; the server is ended with SIGKILL and started again at the same port, with the same store. Measured
are the seconds from the new server's first answer until the page is where it was (a run that played has gone on; one that stood
still makes its next step when that is asked for; a study ends), the exceptions that were shown, and what SQLite says of the
store.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from load import Server
from playwright.sync_api import Page, expect, sync_playwright

LONG, SOON = 120_000, 3_000
RUN = "auc?speed=slow&lam=0.01&n_iter=3000"
STUDY = "explore"


@dataclass
class Back:
    """One kill, and how the page came back."""

    of: str
    seconds: float
    exceptions: int
    store: str


def _playing(page: Page, address: str) -> Callable[[], None]:
    """Let a run play; return what waits until it has gone on."""
    page.goto(f"{address}/{RUN}")
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=LONG)
    page.wait_for_timeout(random.uniform(0, 4000))
    kept = re.search(r"at=(\d+)-playing", page.url)[1]

    def is_back() -> None:
        page.wait_for_function(f"Number(/at=(\\d+)-playing/.exec(location.search)?.[1]) > {kept}", timeout=LONG)
        expect(page.locator(".st-key-status")).to_contain_text("running", timeout=LONG)

    return is_back


def _paused(page: Page, address: str) -> Callable[[], None]:
    """Let a run stand still; return what asks for its next step."""
    at = random.randint(5, 60)
    page.goto(f"{address}/{RUN}&at={at}")
    expect(page.locator(".st-key-status")).to_contain_text(f"step {at} of 3000 · paused", timeout=LONG)
    page.wait_for_url(re.compile(f"at={at}"), timeout=LONG)

    def is_back() -> None:
        step, until = page.get_by_role("button", name=re.compile("^Step")).first, time.monotonic() + LONG / 1000
        while time.monotonic() < until:  # a click before the page has found its server again is nobody's
            step.click(timeout=LONG)
            with contextlib.suppress(AssertionError):
                expect(page.locator(".st-key-status")).to_contain_text(f"step {at + 1} of 3000", timeout=SOON)
                return
        raise TimeoutError(f"the run stays at step {at}")

    return is_back


def _studied(page: Page, address: str) -> Callable[[], None]:
    """Let a study be written; return what begins it again, of which nothing is made twice."""
    page.goto(f"{address}/{STUDY}")
    start = page.get_by_role("button", name=re.compile("Start|Go on"))
    start.click(timeout=LONG)
    page.wait_for_timeout(random.uniform(500, 4000))

    def is_back() -> None:
        page.reload()
        start.click(timeout=LONG)
        expect(page.get_by_text(re.compile(r"of 3 seeds|mean of 3 seeds")).first).to_be_visible(timeout=LONG)

    return is_back


WAYS = {"a run that plays": _playing, "a run that stands still": _paused, "a study": _studied}


def _kill(server: Server) -> Server:
    server.process.kill()
    server.end()
    other = Server(server.port)
    other.wait()
    return other


def _checked(store: str) -> str:
    if not Path(store).exists():
        return "no file"
    with sqlite3.connect(store) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


def kills(n: int, store: str) -> list[Back]:
    """Kill the server so many times, of each kind in turn."""
    server, seen = Server(), []
    server.wait()
    try:
        with sync_playwright() as playwright:
            options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
            browser = playwright.chromium.launch(**options)
            for i in range(n):
                name = list(WAYS)[i % len(WAYS)]
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                is_back = WAYS[name](page, f"http://127.0.0.1:{server.port}")
                server = _kill(server)
                begun = time.perf_counter()
                is_back()
                seconds = time.perf_counter() - begun
                seen.append(Back(name, seconds, page.get_by_test_id("stException").count(), _checked(store)))
                print(seen[-1], flush=True)
                page.context.close()
    finally:
        server.end()
    return seen


def table(seen: list[Back]) -> str:
    """Return what became of them, by kind."""
    lines = [
        "| killed during | times | seconds until the page is back, median / most | exceptions | store |",
        "|---|---|---|---|---|",
    ]
    for name in WAYS:
        own = [one for one in seen if one.of == name]
        if own:
            seconds, stores = [one.seconds for one in own], ", ".join(sorted({one.store for one in own}))
            lines.append(
                f"| {name} | {len(own)} | {np.median(seconds):.1f} / {max(seconds):.1f} "
                f"| {sum(one.exceptions for one in own)} | {stores} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Kill, and print what came of it, or write it into a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=21)
    parser.add_argument("--markdown", type=Path, help="write the table there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DSGLAB_STORE"] = str(Path(folder) / "store.sqlite")
        said = table(kills(arguments.kills, os.environ["DSGLAB_STORE"]))
    print(said)
    if arguments.markdown:
        arguments.markdown.write_text(said, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
