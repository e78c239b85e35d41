"""A first visit with a clock: from opening home to the end of the first lesson.

    python tests/benchmarks/first_visit.py --markdown tests/benchmarks/first_visit.md [--instant]

A browser takes this path at the page's first speed. The measurements are its waiting times for pages and runs, the
new words on each screen, and the choices. The words of home are those above the pictures, and the words of a step are
those of its card. Words of buttons do not count, because a click has its own time. The assumptions are: a reader
reads 200 words a minute, needs 5 seconds for a guess, and 2 seconds to find and press a button. If others use the
machine, runs take longer: `--instant` chooses that speed on the lesson's page.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from app_server import browsing, served
from playwright.sync_api import Page
from reporting import command_line, show, table

WORDS_A_MINUTE, GUESS_SECONDS, CLICK_SECONDS = 200, 5.0, 2.0
LONG = 120_000
TEXTS = "[data-testid=stMain] h1, [data-testid=stMain] [data-testid=stMarkdownContainer] p"
HOME = f"Array.from(document.querySelectorAll('{TEXTS}')).slice(0, 5).map(node => node.innerText).join('\\n')"
CARD = """Array.from(document.querySelectorAll('.st-key-part-lesson :is(p, h2, label)'))
    .filter(node => !node.closest('button, a') && !node.querySelector('p')).map(node => node.innerText).join('\\n')"""


@dataclass
class Screen:
    """Costs for a reader: new words, guesses, clicks, and seconds of waiting."""

    name: str
    words: int
    guesses: int
    clicks: int
    waited: float

    @property
    def seconds(self) -> float:
        """The total time in seconds."""
        reading = self.words / WORDS_A_MINUTE * 60
        return reading + self.guesses * GUESS_SECONDS + self.clicks * CLICK_SECONDS + self.waited


class Visit:
    """A path through the pages, and its costs."""

    def __init__(self, page: Page) -> None:
        self.page, self.screens, self._read, self._since = page, [], "", time.perf_counter()

    def note(self, name: str, text: str, *, guesses: int = 0, clicks: int = 0) -> None:
        """Keep a screen: its words that the last one did not have, line by line."""
        new = [line for line in text.splitlines() if line.strip() and line not in self._read.splitlines()]
        words, self._read = len(" ".join(new).split()), text
        self.screens.append(Screen(name, words, guesses, clicks, time.perf_counter() - self._since))

    def click(self, selector: str) -> None:
        """Press what is there; from now on it is waited for."""
        target = self.page.locator(selector).first
        target.wait_for(timeout=LONG)
        self._since = time.perf_counter()
        target.click(timeout=LONG)


def visit(page: Page, root: str, *, is_instant: bool) -> list[Screen]:
    """Go from home to the end of the first lesson."""
    from conftest import _wait_ready  # of the browser tests

    way = Visit(page)
    page.goto(root)
    page.get_by_role("heading", level=1).wait_for(timeout=LONG)
    _wait_ready(page)
    way.note("home", page.evaluate(HOME), clicks=1)
    way.click(".st-key-start-here a")
    if is_instant:
        way.click(".st-key-part-transport [data-testid=stButtonGroup] button:last-child")
    number, is_last = 1, False
    while not is_last:
        page.get_by_text(f"Step {number} of").wait_for(timeout=LONG)
        page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button", timeout=LONG)
        asks = page.locator(".st-key-lesson-run").count()
        way.note(f"step {number}, before the run", page.evaluate(CARD), guesses=1, clicks=1 + asks)
        _commit(way, bool(asks))
        page.wait_for_selector(".st-key-lesson-on :is(.st-key-lesson-next, a)", timeout=LONG)
        is_last = not page.locator(".st-key-lesson-next").count()
        way.note(f"step {number}, after it", page.evaluate(CARD), clicks=int(not is_last))
        if not is_last:
            way.click(".st-key-lesson-next button")
        number += 1
    return way.screens


def _commit(way: Visit, asks: bool) -> None:
    if asks:
        way.page.locator(
            ".st-key-part-lesson label[data-baseweb=radio], .st-key-part-lesson [role=radiogroup] label"
        ).first.click()
        way.page.wait_for_selector(".st-key-lesson-run button:enabled", timeout=LONG)
        way.click(".st-key-lesson-run button")
    else:
        way.click(".st-key-lesson-show button")


def said(screens: list[Screen]) -> str:
    """Return what was met as a table."""
    sums = (sum(getattr(s, name) for s in screens) for name in ("words", "guesses", "clicks", "waited"))
    total = Screen("together", *sums)
    every = (*screens, total, replace(total, name="without waiting", waited=0.0))
    rows = [(s.name, s.words, s.guesses, s.clicks, f"{s.waited:.1f}", f"{s.seconds:.0f}") for s in every]
    return table(("screen", "new words", "guesses", "clicks", "waited, s", "seconds"), rows)


def main() -> None:
    """Make a visit, and print the table."""
    asked = command_line(__doc__, instant=False, markdown=Path)
    with served() as server, browsing() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{server.url}/auc")  # warms the server up
        page.wait_for_selector("#chart-score .js-plotly-plot", timeout=LONG)
        show(said(visit(page, server.url, is_instant=asked.instant)), asked.markdown)


if __name__ == "__main__":
    main()
