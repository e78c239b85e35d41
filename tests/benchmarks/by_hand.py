"""How fast pictures follow: updates of a run on 5,000 painted points to edit, and a dragged slider of "How it works".

python tests/benchmarks/by_hand.py [--seconds 20] [--markdown tests/benchmarks/by_hand.md]
"""

from __future__ import annotations

import statistics
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from app_server import Server, browsing, served
from playwright.sync_api import Browser, CDPSession, Page
from reporting import command_line, show, table

sys.path.append(str(Path(__file__).parents[1] / "browser"))
from test_how_it_works_browser import DRAG, SCREENS

from dsgcore.data import read_edits
from dsgcore.data.edits import MOST_PAINTED
from pages.controls.edits_text import edits_to_text

LONG = 120_000
N_LABELED = 10  # of each class
PAINTED = f"{MOST_PAINTED:,} painted points, editing on"
# Each update of the live view says another step of the run.
COUNT = """() => {
    const said = document.querySelector(".live-status"), step = () => /step (\\d+) of/.exec(said.textContent)?.[1];
    window.updates = [];
    let last = step();
    const look = () => { if (step() !== last) { last = step(); window.updates.push(performance.now()); } };
    new MutationObserver(look).observe(said, {subtree: true, childList: true, characterData: true});
}"""


def painted() -> str:
    """Return the link's text of edits that clear the sheet and paint the most points that are allowed, in two classes."""
    at = np.random.default_rng(0).random((MOST_PAINTED, 2)).round(3)
    left, right = at[at[:, 0] < at[:, 1]], at[at[:, 0] >= at[:, 1]]
    plain: list[dict] = [{"do": "erase", "rows": "all"}]
    for to, own in enumerate((left, right)):
        plain.append({"do": "paint", "at": own[:N_LABELED].ravel().tolist(), "to": to, "is_labeled": True})
        plain.append({"do": "paint", "at": own[N_LABELED:].ravel().tolist(), "to": to})
    return edits_to_text(read_edits(plain))


def updates(page: Page, server: Server, given: str, seconds: float) -> tuple[list[float], float, float]:
    """Return the seconds between updates of a run, and CPU seconds an update: the server's, the page's."""
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{server.url}/auc?n_iter=4096&{given}")
    page.wait_for_function(
        "/step [1-9]\\d* of/.test(document.querySelector('.live-status')?.textContent)", timeout=LONG
    )
    page.wait_for_timeout(3_000)
    page.evaluate(COUNT)
    spent = server.cpu(), _main_thread(tools)
    page.wait_for_timeout(1_000 * seconds)
    times = page.evaluate("window.updates")
    on_server, on_page = server.cpu() - spent[0], _main_thread(tools) - spent[1]
    return [(b - a) / 1_000 for a, b in pairwise(times)], on_server / len(times), on_page / len(times)


def _main_thread(tools: CDPSession) -> float:
    """Return the CPU seconds that the page's main thread has had."""
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def drags(page: Page, url: str) -> list[float]:
    """Return the median milliseconds of each screen, from a moved slider to the frame after it."""
    found = []
    for number in SCREENS:
        page.goto(f"{url}/how_it_works?screen={number}")
        page.locator(".how-way", has_text=f"{number} of 5").wait_for(timeout=LONG)
        page.wait_for_timeout(1_000)
        found.append(page.evaluate(DRAG)["median"])
    return found


def measured(browser: Browser, server: Server, seconds: float) -> list[tuple[str, str]]:
    """Measure both in one window, and return the table's rows."""
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    rows = []
    for name, given in (("generated points", ""), (PAINTED, f"by_hand=true&edits={painted()}")):
        gaps, on_server, on_page = updates(page, server, given, seconds)
        spread = f"{1 / statistics.mean(gaps):.2f} (longest gap {max(gaps):.2f} s)"
        rows += [
            (f"{name}: updates a second", spread),
            (f"{name}: CPU an update, server and page", f"{1000 * on_server:.0f} ms, {1000 * on_page:.0f} ms"),
        ]
    rows += [
        (f"How it works, screen {number}: slider to picture, median", f"{median:.0f} ms")
        for number, median in zip(SCREENS, drags(page, server.url), strict=True)
    ]
    return rows


def main() -> None:
    """Print the table, or write it."""
    asked = command_line(__doc__, seconds=20.0, markdown=Path)
    with served() as server, browsing() as browser:
        show(table(("what", "measured"), measured(browser, server, asked.seconds)), asked.markdown)


if __name__ == "__main__":
    main()
