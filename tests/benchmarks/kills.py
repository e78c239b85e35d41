"""Kills of the app's server at random moments: while a run plays or pauses, or a study, a race or a file is in progress.

    python tests/benchmarks/kills.py --kills 20 --markdown tests/benchmarks/kills.md

A browser has a page open. The server is ended with SIGKILL and started again at the same port, with the same store.
The measurement is the time in seconds from the new server's first answer until the page is back by itself: a playing
run has continued, a paused one is at its step, the run of a race is done, a study can continue, and the page asks for
the file again.
Then these checks follow: the next step is made; an earlier race still has its result; the study ends; the file is
read. The last checks are the exceptions on the page, and SQLite's verdict on the store.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from app_server import Server, browsing
from playwright.sync_api import Page, expect
from reporting import command_line, show, table

LONG, SOON = 120_000, 3_000
CURVE = "#chart-objective .scatterlayer .trace path.js-line[d]"
RUN = "auc?speed=slow&lam=0.01&n_iter=3000"
STUDY = "explore"
RACE = "s3vm?speed=instant&svm_n=300&svm_n_iter=50"


@dataclass
class Back:
    """One kill, and how the page came back."""

    of: str
    seconds: float
    exceptions: int
    store: str


# A function that waits until the page is back, and one that checks that all continues.
Waits = tuple[Callable[[], None], Callable[[], None]]


def _playing(page: Page, address: str) -> Waits:
    """Let a run play; return what waits until it has gone on."""
    page.goto(f"{address}/{RUN}")
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=LONG)
    page.wait_for_timeout(random.uniform(0, 4000))

    def is_back() -> None:
        page.wait_for_function(f"Number(/at=(\\d+)-playing/.exec(location.search)?.[1]) > {kept}", timeout=LONG)
        expect(page.locator(".live-status")).to_contain_text("running", timeout=LONG)

    kept = re.search(r"at=(\d+)-playing", page.url)[1]
    return is_back, lambda: None


def _paused(page: Page, address: str) -> Waits:
    """Pause a run; return a function that waits for its step, and one that asks for the next step."""
    at = random.randint(5, 60)
    status = page.locator(".live-status")

    def is_there() -> None:
        expect(status).to_contain_text(f"step {at} of 3000 · paused", timeout=LONG)
        page.locator(CURVE).first.wait_for(timeout=LONG)

    def goes_on() -> None:
        step, until = page.get_by_role("button", name=re.compile("^Step")).first, time.monotonic() + LONG / 1000
        while time.monotonic() < until:  # a click before the page has reconnected is lost
            step.click(timeout=LONG)
            with contextlib.suppress(AssertionError):
                expect(status).to_contain_text(f"step {at + 1} of 3000", timeout=SOON)
                return
        raise TimeoutError(f"the run stays at step {at}")

    page.goto(f"{address}/{RUN}&at={at}")
    is_there()
    page.wait_for_url(re.compile(f"at={at}"), timeout=LONG)
    return _read_again(page, is_there), goes_on


def _read_again(page: Page, is_there: Callable[[], None]) -> Callable[[], None]:
    """Return a function that waits until a page is loaded again and shows the expected part."""
    page.evaluate("window.isOld = true")

    def is_back() -> None:
        page.wait_for_function("!window.isOld", timeout=LONG)
        is_there()

    return is_back


def _studied(page: Page, address: str) -> Waits:
    """Let a study be written; return what begins it again, of which nothing is made twice."""
    start = page.get_by_role("button", name=re.compile("Start|Go on"))

    def goes_on() -> None:
        start.click(timeout=LONG)
        expect(page.get_by_text(re.compile(r"of 3 seeds|mean of 3 seeds")).first).to_be_visible(timeout=LONG)

    page.goto(f"{address}/{STUDY}")
    start.click(timeout=LONG)
    page.wait_for_timeout(random.uniform(500, 4000))
    return _read_again(page, lambda: start.wait_for(timeout=LONG)), goes_on


def _raced(page: Page, address: str) -> Waits:
    """Let a race end and another one go on; return what waits for the run, and for the first one's result."""
    result = page.locator(".st-key-chart-race .js-plotly-plot")

    def is_there() -> None:
        expect(page.locator(".live-status")).to_contain_text("done", timeout=LONG)
        page.locator(CURVE).first.wait_for(timeout=LONG)

    def start(title: str) -> None:
        page.locator(".st-key-race-s3vm input").click(timeout=LONG)
        page.get_by_role("option", name=title, exact=True).click(timeout=LONG)
        page.locator(".st-key-race-start button").get_by_text(f"Race against {title}").click(timeout=LONG)

    def has_result() -> None:
        page.get_by_role("tab", name="Compare").click(timeout=LONG)
        expect(result).to_be_visible(timeout=LONG)

    page.goto(f"{address}/{RACE}")
    is_there()
    page.get_by_role("tab", name="Compare").click(timeout=LONG)
    start("QN-S3VM")
    expect(result).to_be_visible(timeout=LONG)
    page.wait_for_url(re.compile("race="), timeout=LONG)
    start("BGS3VM")
    page.wait_for_timeout(random.uniform(0, 1500))
    return _read_again(page, is_there), has_result


def _uploaded(page: Page, address: str) -> Waits:
    """Upload a file; return a function that waits until the page asks for it, and one that uploads it again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    rows = "\n".join(",".join(f"{x:.5f}" for x in row) + f",{int(row[0] > 0)}" for row in X)
    content = ",".join([*(f"x{j}" for j in range(20)), "label"]) + "\n" + rows
    file = {"name": "own.csv", "mimeType": "text/csv", "buffer": content.encode()}
    chooser = page.locator("input[type=file]")

    def give() -> None:
        chooser.set_input_files(file, timeout=LONG)

    def is_read() -> None:
        give()
        expect(page.locator(".live-status")).to_contain_text("step", timeout=LONG)

    page.goto(f"{address}/auc?data=Your+own+file")
    give()
    page.wait_for_timeout(random.uniform(0, 3000))
    return _read_again(page, lambda: chooser.wait_for(state="attached", timeout=LONG)), is_read


WAYS = {
    "a run that plays": _playing,
    "a paused run": _paused,
    "a study": _studied,
    "a race": _raced,
    "a file being read": _uploaded,
}


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
        with browsing() as browser:
            for i in range(n):
                name = list(WAYS)[i % len(WAYS)]
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                is_back, goes_on = WAYS[name](page, f"http://127.0.0.1:{server.port}")
                server = _kill(server)
                begun = time.perf_counter()
                is_back()
                seconds = time.perf_counter() - begun
                goes_on()
                seen.append(Back(name, seconds, page.get_by_test_id("stException").count(), _checked(store)))
                print(seen[-1], flush=True)
                page.context.close()
    finally:
        server.end()
    return seen


def said(seen: list[Back]) -> str:
    """Return what became of them, by kind."""
    rows = []
    for name in WAYS:
        if own := [one for one in seen if one.of == name]:
            seconds, stores = [one.seconds for one in own], ", ".join(sorted({one.store for one in own}))
            lasted = f"{np.median(seconds):.1f} / {max(seconds):.1f}"
            rows.append((name, len(own), lasted, sum(one.exceptions for one in own), stores))
    head = ("killed during", "times", "seconds until the page is back, median / most", "exceptions", "store")
    return table(head, rows)


def main() -> None:
    """Kill, and print what came of it, or write it into a file."""
    asked = command_line(__doc__, kills=21, markdown=Path)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DSGLAB_STORE"] = str(Path(folder) / "store.sqlite")
        show(said(kills(asked.kills, os.environ["DSGLAB_STORE"])), asked.markdown)


if __name__ == "__main__":
    main()
