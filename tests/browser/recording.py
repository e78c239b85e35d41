"""The README's pictures, recorded from the app in Chromium: ``python -m tests.browser.recording``.

Beside them are the words of the menu and of the controls that each picture shows, so that a test can tell when one is old.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.append(str(Path(__file__).parents[1]))
from servers import ROOT, served

from .conftest import BROWSER_ARGUMENTS, _find_browser, _wait_ready

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = ROOT / ".github"
SIZE = {"width": 1280, "height": 800}
RUN = "auc?view.speed=fast&solver.n_iter=1500"
N_FRAMES, FRAME_MS, LAST_MS = 28, 250, 2500
WIDTH = 800
STILLS = {
    "lesson": "auc?lesson=unlabeled:1",
    "limits": "auc?data.name=digits&data.n_labeled=200&kernel.sigma=0.5&solver.lam=0.01&solver.n_features=4&solver.n_iter=100"
    "&at=100&view.speed=instant",
    "data": "data?data.name=Breast+cancer",
}
RECORDED = FOLDER / "pictures.json"
WORDS = """() => [...document.querySelectorAll(
    '[data-testid="stSidebarNavLink"], [data-testid="stTopNavLink"], [data-testid="stWidgetLabel"], [role="tab"], .stMain button'
)].filter(part => part.checkVisibility() && part.getBoundingClientRect().top < innerHeight)
    .map(part => part.innerText.trim().replace(/\\s+/g, " ")).filter(Boolean)"""
# An arrow that is seen in the recording, at a slider's handle.
HAND = """handle => {
    const box = handle.parentElement.getBoundingClientRect();  // the round handle, in which the input is hidden
    const hand = document.getElementById("hand") ?? document.createElement("div");
    hand.id = "hand";
    const arrow = "M2 2 v26 l7 -6 l5 12 l5 -2 l-5 -12 h9 z";
    hand.innerHTML = `<svg width="30" height="40"><path d="${arrow}" stroke="white" stroke-width="2"/></svg>`;
    hand.style.cssText = "position: fixed; z-index: 999999";
    Object.assign(hand.style, {left: `${box.x}px`, top: `${box.y}px`});
    document.body.append(hand);
}"""
# The frame at which a slider is moved, and by how many stops. A second move would write its words over those of the first.
MOVED = {10: ("Random features", -5)}


# Colours that mean something: a palette made by area alone leaves out thin lines.
MEANINGS = "0072B2 D55E00 009E73 E69F00 CC79A7 FFFFFF F0F2F6 33658A 14191F 8CBAD9"


def palette_of(picture: Image.Image) -> Image.Image:
    """Return 256 colours: those of the curves and classes, and the most frequent of a picture."""
    own = list(bytes.fromhex(MEANINGS))
    frequent = picture.quantize(256 - len(own) // 3, dither=Image.Dither.NONE).getpalette()
    found = Image.new("P", (1, 1))
    found.putpalette(own + (frequent or []))
    return found


def words_of(page: Page) -> list[str]:
    """Return the words of the menu and of the controls in the window."""
    return list(page.evaluate(WORDS))


@contextmanager
def app() -> Iterator[tuple[str, Page]]:
    """Start the app and a browser; give the app's address and a page."""
    with served(Path(tempfile.mkdtemp())) as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_find_browser(), args=list(BROWSER_ARGUMENTS))
        yield url, browser.new_page(viewport=SIZE)
        browser.close()


def still(page: Page, address: str, name: str) -> list[str]:
    """Save a page as it is when nothing moves any more; return its words."""
    page.goto(address)
    _wait_ready(page)
    page.wait_for_timeout(9000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(palette=palette_of(picture), dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
    return words_of(page)


def side_by_side(frames: list[Image.Image]) -> Image.Image:
    """Return one picture of several, whose colours suit them all."""
    width, height = frames[0].size
    sheet = Image.new("RGB", (width * len(frames), height))
    for place, frame in enumerate(frames):
        sheet.paste(frame, (width * place, 0))
    return sheet


def move(page: Page, label: str, stops: int) -> None:
    """Move a slider by some stops, under a hand."""
    handle = page.get_by_role("slider", name=label)
    for _ in range(abs(stops)):
        handle.press("ArrowRight" if stops > 0 else "ArrowLeft")
    handle.evaluate(HAND)


def moving(page: Page, address: str, name: str) -> list[str]:
    """Record a run from its first chart on as an animated GIF, while a hand moves a slider; return the page's words."""
    page.goto(address)
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=60_000)
    frames = []
    page.get_by_role("slider", name="Random features").evaluate(HAND)
    for number in range(N_FRAMES):
        if number in MOVED:
            move(page, *MOVED[number])
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
        page.wait_for_timeout(FRAME_MS)
    height = WIDTH * SIZE["height"] // SIZE["width"]
    frames = [frame.resize((WIDTH, height), Image.Resampling.LANCZOS) for frame in frames]
    palette = palette_of(side_by_side(frames[:: N_FRAMES // 4]))
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [FRAME_MS] * (N_FRAMES - 1) + [LAST_MS]
    frames[0].save(
        FOLDER / f"{name}.gif", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True
    )
    return words_of(page)


if __name__ == "__main__":
    with app() as (url, page):
        page.goto(url)
        _wait_ready(page)  # so that the first visit's compilation is not recorded
        page.wait_for_timeout(15_000)
        words = {"run": moving(page, f"{url}/{RUN}", "run")}
        words |= {name: still(page, f"{url}/{path}", name) for name, path in STILLS.items()}
    RECORDED.write_text(json.dumps(words, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
