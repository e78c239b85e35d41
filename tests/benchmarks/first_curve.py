"""Seconds from opening a setting's link to its first curve, on a warm server, in a browser that has nothing in its cache.

    python tests/benchmarks/first_curve.py --markdown tests/benchmarks/first_curve.md [--tries 7]

In turns with it a page that has nothing but streamlit's own: two sliders and one `st.plotly_chart` of three points. So much the
framework takes on the same machine in the same minutes; what a setting's page takes more is its own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from load import free_port, served
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]
from conftest import BROWSER_ARGUMENTS  # noqa: E402

from dsgcore.experiments import SETTINGS  # noqa: E402

BARE = "streamlit alone"
BARE_APP = """import plotly.graph_objects as go
import streamlit as st
st.sidebar.slider("a", 0, 1)
st.sidebar.slider("b", 0, 1)
with st.container(key="chart-objective"):
    st.plotly_chart(go.Figure(go.Scatter(y=[3, 1, 2])))
"""
# The curve is there, and seen: a page is not while it is put together.
WATCH = """() => {
    const watch = () => {
        const chart = document.querySelector(".st-key-chart-objective");
        const path = chart && chart.querySelector(".scatterlayer .trace path.js-line[d]");
        const said = document.querySelector(".st-key-status")?.textContent ?? "step 0 of";
        const step = path && /step (\\d+) of/.exec(said);
        if (step && getComputedStyle(chart).visibility === "visible") window.first = [performance.now(), Number(step[1])];
        else requestAnimationFrame(watch);
    };
    watch();
}"""


@contextlib.contextmanager
def bare() -> Iterator[str]:
    """Serve streamlit's own page while the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "app.py").write_text(BARE_APP, encoding="utf-8")
        port = free_port()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
        server = subprocess.Popen([*command, "--server.port", str(port)], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(600):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{url}/_stcore/health", timeout=5)
                    break
                time.sleep(0.1)
            yield url
        finally:
            server.terminate()
            server.wait()


def first_curve(browser: Browser, url: str) -> tuple[float, float, int]:
    """Return the seconds to the first curve, the CPU seconds of the browser's main thread until then, and the run's step."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(f"({WATCH})()")
    page.goto(url, wait_until="commit")
    page.wait_for_function("window.first !== undefined", timeout=120_000)
    milliseconds, step = page.evaluate("window.first")
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    context.close()
    return milliseconds / 1000, metrics["TaskDuration"], step


def pace() -> float:
    """Return the CPU seconds of ten million additions in a Python loop: how fast the machine is today."""
    began, total = time.thread_time(), 0
    for i in range(10**7):
        total += i
    return time.thread_time() - began


def table(tries: int) -> list[str]:
    """Measure, each page in turn, and return the table's lines."""
    with served() as server, bare() as alone, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER_ARGUMENTS)
        urls = {BARE: alone} | {name: f"http://127.0.0.1:{server.port}/{name}" for name in SETTINGS}
        for url in urls.values():
            first_curve(browser, url)  # warm
        seen: dict[str, list[tuple[float, float, int]]] = {name: [] for name in urls}
        for _ in range(tries):
            for name, url in urls.items():
                seen[name].append(first_curve(browser, url))
        browser.close()
    lines = [
        "| page | first curve in s, median (least to most) | main thread, CPU s | step then |",
        "|---|---|---|---|",
    ]
    for name, rows in seen.items():
        seconds, cpu, steps = zip(*rows, strict=True)
        spread = f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
        step = "" if name == BARE else f"{min(steps)} to {max(steps)}"
        lines.append(f"| {name} | {spread} | {statistics.median(cpu):.2f} | {step} |")
    return lines


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--tries", type=int, default=7)
    asked = parser.parse_args()
    lines = table(asked.tries)
    head = [
        "# How soon does a link show its first curve?",
        "",
        "The server was warm. Each try used a new browser context with an empty cache and a window of 1280 x 900. There were "
        f"{asked.tries} tries of each page, in turns.",
        f"Server and browser shared {os.cpu_count()} cores.",
        f"Ten million additions in a Python loop take {pace():.2f} CPU seconds here.",
        "",
        "The command is `python tests/benchmarks/first_curve.py`.",
        "",
    ]
    text = "\n".join([*head, *lines]) + "\n"
    if asked.markdown:
        asked.markdown.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
