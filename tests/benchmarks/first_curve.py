"""Seconds from opening a setting's link to its first curve, on a warm server, in a browser that has nothing in its cache.

    python tests/benchmarks/first_curve.py --markdown tests/benchmarks/first_curve.md [--tries 7]

In turns with it a page that has nothing but streamlit's own: two sliders and one `st.plotly_chart` of three points. So much the
framework takes on the same machine in the same minutes; what a setting's page takes more is its own.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from app_server import browsing, served
from playwright.sync_api import Browser
from reporting import command_line, show, table

from dsgcore.experiments import SETTINGS

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
        const chart = document.querySelector("#chart-objective, .st-key-chart-objective");
        const path = chart && chart.querySelector(".scatterlayer .trace path.js-line[d]");
        const said = document.querySelector(".live-status")?.textContent ?? "step 0 of";
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
        with served(folder=Path(folder)) as server:
            yield server.url


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


def measured(tries: int) -> list[tuple[str, ...]]:
    """Measure, each page in turn, and return the table's rows."""
    with served() as server, bare() as alone, browsing() as browser:
        urls = {BARE: alone} | {name: f"{server.url}/{name}" for name in SETTINGS}
        for url in urls.values():
            first_curve(browser, url)  # warm
        seen: dict[str, list[tuple[float, float, int]]] = {name: [] for name in urls}
        for _ in range(tries):
            for name, url in urls.items():
                seen[name].append(first_curve(browser, url))
    rows = []
    for name, own in seen.items():
        seconds, cpu, steps = zip(*own, strict=True)
        spread = f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
        rows.append((name, spread, f"{statistics.median(cpu):.2f}", f"{min(steps)} to {max(steps)}" * (name != BARE)))
    return rows


def main() -> None:
    """Print the table, or write it."""
    asked = command_line(__doc__, tries=7, markdown=Path)
    print(f"Ten million additions in a Python loop take {pace():.2f} CPU seconds here.")
    head = ("page", "first curve in s, median (least to most)", "main thread, CPU s", "step then")
    show(table(head, measured(asked.tries)), asked.markdown)


if __name__ == "__main__":
    main()
