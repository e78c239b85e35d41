"""A first visit with a clock: from Home to the end of the first lesson, at default speed, with every word read.

    python tests/benchmarks/first_visit.py http://127.0.0.1:8501

The clock adds the machine's time between a click and the next thing to read, and the reading of each word that is new on
the screen, at 200 words a minute. The reader does not read while the machine works.
"""

from __future__ import annotations

import os
import re
import sys
import time

from playwright.sync_api import Page, sync_playwright

WORDS_A_MINUTE = 200
LONG = 120_000
ON_SCREEN = """() => {
    const found = [], walker = document.createTreeWalker(document.querySelector(".stApp"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const {parentElement: element, data} = walker.currentNode, box = element.getBoundingClientRect();
        const isThere = box.width > 1 && box.height > 1 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0;
        const isText = element.checkVisibility({visibilityProperty: true}) && !element.closest("style, script, kbd");
        if (isThere && isText) found.push(data);
    }
    return found;
}"""


class Clock:
    """Seconds of reading and of waiting."""

    def __init__(self, page: Page) -> None:
        self.page, self.seen, self.words, self.waited = page, set[str](), 0, 0.0

    def read(self, name: str) -> None:
        """Count the words that are new on the screen."""
        texts = [text.strip() for text in self.page.evaluate(ON_SCREEN)]
        new = dict.fromkeys(text for text in texts if text not in self.seen)
        n = sum(bool(re.search(r"[^\W\d_]", word)) for text in new for word in text.split())
        self.seen |= set(new)
        self.words += n
        print(
            f"{name:30} {n:4d} words {60 * n / WORDS_A_MINUTE:6.1f} s to read, waited {self.waited:6.1f} s so far",
            flush=True,
        )

    def wait(self, selector: str, click: str) -> None:
        """Click, and wait for something else."""
        began = time.perf_counter()
        self.page.locator(click).first.click(timeout=LONG)
        self.page.locator(selector).first.wait_for(timeout=LONG)
        self.waited += time.perf_counter() - began


def visit(page: Page, address: str) -> Clock:
    """Go through the first lesson as a reader does."""
    clock, began = Clock(page), time.perf_counter()
    page.goto(address)
    page.get_by_text("Start here").wait_for(timeout=LONG)
    clock.waited = time.perf_counter() - began
    clock.read("Home")
    clock.wait(".st-key-lesson-run button", ".st-key-start-here a")
    for step, option in enumerate((1, 2, 3), start=1):
        clock.read(f"step {step}, question")
        clock.wait(
            ".st-key-lesson-run button:enabled", f".st-key-stage-answer [role=radiogroup] label >> nth={option - 1}"
        )
        clock.wait(".st-key-lesson-next button:enabled", ".st-key-lesson-run button")
        clock.read(f"step {step}, answer")
        clock.wait(".st-key-lesson-run button, .st-key-lesson-show button", ".st-key-lesson-next button")
    clock.read("step 4, goal")
    clock.wait(".st-key-lesson-following button", ".st-key-lesson-show button")
    clock.read("step 4, end")
    return clock


def main() -> None:
    """Print each screen's words and the sum."""
    with sync_playwright() as playwright:
        path = os.environ.get("DSGLAB_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        clock = visit(browser.new_page(viewport={"width": 1366, "height": 768}), sys.argv[1])
        browser.close()
    reading = 60 * clock.words / WORDS_A_MINUTE
    print(
        f"{clock.words} words, {reading:.0f} s; the machine {clock.waited:.0f} s; together {reading + clock.waited:.0f} s"
    )


if __name__ == "__main__":
    main()
