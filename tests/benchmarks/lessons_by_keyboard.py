"""Every lesson in a real browser by keyboard alone, with a check by axe-core at every step.

    python tests/benchmarks/lessons_by_keyboard.py --markdown tests/benchmarks/lessons_by_keyboard.md
    python tests/benchmarks/lessons_by_keyboard.py --only auc:step-size --ways "desk, light" --shots FOLDER

The script starts the server. Each lesson is played on a desktop (1280 x 900) and on a phone (390 x 844), in light and
in dark. Tab, arrows, Space and Enter answer the questions, and the button "Show me" reaches a goal. These results are
kept for each way:
- the number of keys;
- serious and critical findings of axe-core before and after each run: in dark only those about colours, and beyond
  the first step of a setting's first lesson only those on the lesson's card;
- steps that are wider than the window;
- errors in the browser's console.
A step that does not continue within two minutes ends its lesson.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from app_server import browsing, served
from playwright.sync_api import BrowserContext, Error, Page
from reporting import command_line, show, table

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import Curve, Estimate, GuidedLesson, Pick, profile_of
from pages.controls.control import key_of

sys.path.append(str(Path(__file__).parents[1] / "browser"))
from conftest import _wait_ready
from test_accessibility import found_on
from watched_pages import SERVER_SOUGHT

DESK, PHONE = (1280, 900), (390, 844)
WAYS = {
    f"{name}, {theme}": (size, theme)
    for name, size in (("desk", DESK), ("phone", PHONE))
    for theme in ("light", "dark")
}
MOST_TABS = 120
LONG = 120_000
PANEL = ".st-key-stage"
FOCUSED = "selector => document.activeElement?.matches(selector) ?? false"
KNOT, RADIO, SLIDER = ".drawn-curve circle", f"{PANEL} input[type=radio]", f"{PANEL}-answer input[type=range]"
BUTTON = ".st-key-{} button"


class StuckError(Exception):
    """A lesson that cannot continue."""


@dataclass
class Way:
    """One lesson, played in one window and theme."""

    page: Page
    theme: str
    part: str | None = None  # of the page, that axe-core looks at next
    keys: int = 0
    steps: int = 0
    found: list[str] = field(default_factory=list)

    def press(self, key: str) -> None:
        """Press a key."""
        self.page.keyboard.press(key)
        self.keys += 1

    def tab_to(self, selector: str) -> None:
        """Go on by Tab until an element of that kind has the focus."""
        for _ in range(MOST_TABS):
            if self.page.evaluate(FOCUSED, selector):
                return
            self.press("Tab")
        raise StuckError(f"no way by Tab to {selector}")

    def look(self) -> None:
        """Note the faults of the current view."""
        _wait_ready(self.page)
        self.found += [f"step {self.steps + 1}: {line}" for line in found_on(self.page, self.theme, self.part)]
        self.part = PANEL
        if not self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            self.found.append(f"step {self.steps + 1}: wider than the window")

    def shot(self, path: Path | None) -> None:
        """Save a picture of it, if the command line asks for pictures."""
        if path is not None:
            self.page.evaluate(f"document.querySelector('{PANEL}').scrollIntoView({{block: 'nearest'}})")
            self.page.screenshot(path=path)


def _answer(way: Way, asks: Pick | Estimate | Curve) -> None:
    """Answer a question by keys, and run."""
    if isinstance(asks, Pick):
        way.tab_to(RADIO)
        way.press("Space")
        way.press("ArrowDown")
    elif isinstance(asks, Curve):
        way.tab_to(KNOT)
        for key in ("PageUp", "ArrowRight", "PageDown"):
            way.press(key)
    else:
        way.tab_to(SLIDER)
        way.press("ArrowRight")
    way.page.wait_for_selector(BUTTON.format("lesson-run") + ":enabled", timeout=LONG)
    _wait_ready(way.page)
    _push(way, "lesson-run")


def _push(way: Way, key: str) -> None:
    way.tab_to(BUTTON.format(key))
    way.press("Enter")


def _play_step(way: Way, lesson: GuidedLesson, number: int, shots: Path | None, name: str) -> None:
    """Go through a step, from its question to its explanation."""
    step, is_last, page = lesson.steps[number], number == len(lesson.steps) - 1, way.page
    page.get_by_text(f"Step {number + 1} of {len(lesson.steps)}").wait_for(timeout=LONG)
    page.wait_for_selector("#chart-map .js-plotly-plot", timeout=LONG)
    way.look()
    way.shot(shots and shots / f"{name}-{number + 1}-asked.png")
    if step.asks is not None:
        _answer(way, step.asks)
    else:
        _push(way, "lesson-show")
    page.wait_for_selector(
        f"{BUTTON.format('lesson-next')}:enabled" if not is_last else f"{PANEL} >> text=What you learned", timeout=LONG
    )
    way.look()
    way.shot(shots and shots / f"{name}-{number + 1}-told.png")
    way.steps += 1
    if not is_last:
        _push(way, "lesson-next")


def play(
    context: BrowserContext, root: str, setting: type[Setting], lesson: GuidedLesson, way_name: str, shots: Path | None
) -> Way:
    """Play a lesson once."""
    page = context.new_page()
    way = Way(page, WAYS[way_name][1], None if lesson is profile_of(setting).guided[0] else PANEL)
    page.on("console", lambda said: _note(way, said.type, said.text, said.location.get("url", "")))
    try:
        page.goto(f"{root}/{setting.name}?{key_of(setting, 'lesson')}={lesson.name}&{key_of(setting, 'speed')}=instant")
        for number in range(len(lesson.steps)):
            _play_step(way, lesson, number, shots, f"{setting.name}-{lesson.name}-{way_name.replace(', ', '-')}")
    except (StuckError, Error) as error:
        way.found.append(f"step {way.steps + 1}: {str(error).splitlines()[0]}")
        way.shot(shots and shots / f"stuck-{setting.name}-{lesson.name}-{way_name.replace(', ', '-')}.png")
    finally:
        page.close()
    return way


def _note(way: Way, kind: str, text: str, url: str) -> None:
    if kind == "error" and not SERVER_SOUGHT.search(url):
        way.found.append(f"step {way.steps + 1}: console: {text[:200]}")


def said(way: Way, lesson: GuidedLesson) -> str:
    """Say in a table's cell how it went."""
    is_done = way.steps == len(lesson.steps)
    ended = f"{way.keys} keys" if is_done else f"**stuck at step {way.steps + 1}**"
    return f"{ended}, {len(way.found)} found" if way.found else ended


def played(lessons: list, ways: list[str], shots: Path | None) -> tuple[dict[tuple[str, str, str], str], list[str]]:
    """Play all lessons each way; return the table's cells and the findings, also after Ctrl+C or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    cells: dict[tuple[str, str, str], str] = {}
    found: list[str] = []
    with contextlib.suppress(KeyboardInterrupt), served() as server, browsing() as browser:
        for name in ways:
            (width, height), theme = WAYS[name]
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            for setting, lesson in lessons:
                way = play(context, server.url, setting, lesson, name, shots)
                cells[setting.name, lesson.name, name] = said(way, lesson)
                found += [f"{setting.name}:{lesson.name}, {name}, {line}" for line in way.found]
                print(setting.name, lesson.name, name, said(way, lesson), *way.found, flush=True)
            context.close()
    return cells, found


def main() -> None:
    """Play the lessons, and print the table."""
    asked = command_line(__doc__, only=[], ways=list(WAYS), shots=Path, markdown=Path)
    if asked.shots is not None:
        asked.shots.mkdir(parents=True, exist_ok=True)
    every = [(setting, lesson) for setting in SETTINGS.values() for lesson in profile_of(setting).guided]
    lessons = [(s, g) for s, g in every if not asked.only or f"{s.name}:{g.name}" in asked.only]
    cells, found = played(lessons, asked.ways, asked.shots)
    rows = []
    for setting, lesson in lessons:
        own = [cells.get((setting.name, lesson.name, name), "not played") for name in asked.ways]
        rows.append((f"{profile_of(setting).short}: {lesson.title}", len(lesson.steps), *own))
    well = "axe-core found nothing critical or serious. No step was wider than its window, and no error was shown."
    tail = "\n".join(f"- {line}" for line in found) or well
    show(f"{table(('lesson', 'steps', *asked.ways), rows)}\n\n{tail}", asked.markdown)


if __name__ == "__main__":
    main()
