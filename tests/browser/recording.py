"""The README's pictures, recorded from the app in Chromium: ``python -m tests.browser.recording``."""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.append(str(Path(__file__).parents[1]))
from servers import ROOT, served

from .conftest import BROWSER_ARGUMENTS, find_browser
from .watched_pages import until_ready

FOLDER = ROOT / ".github"
SIZE = {"width": 1280, "height": 800}
PICTURES = {
    "run": "auc?view.speed=fast&solver.n_iter=1500",  # the one that moves
    "lesson": "auc?lesson=unlabeled:1",
    "limits": "auc?data.name=digits&data.n_labeled=200&kernel.sigma=0.5&solver.lam=0.01&solver.n_features=4&solver.n_iter=100"
    "&at=100&view.speed=instant",
    "data": "data?data.name=Breast+cancer",
}
N_FRAMES, FRAME_MS, LAST_MS, WIDTH = 28, 250, 2500, 800
# An arrow that is seen in the recording, at a slider's handle.
HAND = """handle => {
    const box = handle.parentElement.getBoundingClientRect();  // the round handle, in which the input is hidden
    const hand = document.getElementById("hand") ?? document.createElement("div");
    hand.id = "hand";
    const arrow = "M2 2 v26 l7 -6 l5 12 l5 -2 l-5 -12 h9 z";
    hand.innerHTML = `<svg width="30" height="40"><path d="${arrow}" stroke="white" stroke-width="2"/></svg>`;
    hand.style.cssText = `position: fixed; z-index: 999999; left: ${box.x}px; top: ${box.y}px`;
    document.body.append(hand);
}"""
# The frame at which a slider is moved, and by how many stops. A second move would write its words over those of the first.
MOVED_AT, SLIDER, STOPS = 10, "Random features", 5
# Colours that mean something: a palette made by area alone leaves out thin lines.
MEANINGS = "0072B2 D55E00 009E73 E69F00 CC79A7 FFFFFF F0F2F6 33658A 14191F 8CBAD9"


def screenshot(page):
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def in_few_colours(pictures):
    """Return pictures of one size in 256 colours: those of the curves and classes, and the most frequent of some of them."""
    (width, height), chosen = pictures[0].size, pictures[:: max(1, len(pictures) // 4)]
    sheet = Image.new("RGB", (width * len(chosen), height))
    for place, picture in enumerate(chosen):
        sheet.paste(picture, (width * place, 0))
    own = list(bytes.fromhex(MEANINGS))
    palette = Image.new("P", (1, 1))
    palette.putpalette(own + (sheet.quantize(256 - len(own) // 3, dither=Image.Dither.NONE).getpalette() or []))
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def save_still(page, name):
    """Save a page as it is when nothing moves any more."""
    until_ready(page)
    page.wait_for_timeout(9000)
    in_few_colours([screenshot(page)])[0].save(FOLDER / f"{name}.png", optimize=True)


def save_moving(page, name):
    """Record a run from its first chart on as an animated GIF, while a hand moves a slider."""
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=60_000)
    handle, frames = page.get_by_role("slider", name=SLIDER), []
    handle.evaluate(HAND)
    for number in range(N_FRAMES):
        if number == MOVED_AT:
            for _ in range(STOPS):
                handle.press("ArrowLeft")
            handle.evaluate(HAND)
        frames.append(screenshot(page))
        page.wait_for_timeout(FRAME_MS)
    size = WIDTH, WIDTH * SIZE["height"] // SIZE["width"]
    first, *others = in_few_colours([frame.resize(size, Image.Resampling.LANCZOS) for frame in frames])
    durations = [FRAME_MS] * (N_FRAMES - 1) + [LAST_MS]
    first.save(FOLDER / f"{name}.gif", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)


if __name__ == "__main__":
    with served(Path(tempfile.mkdtemp())) as url, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_browser(), args=list(BROWSER_ARGUMENTS))
        page = chromium.new_page(viewport=SIZE)
        page.goto(url)
        until_ready(page)  # so that the first visit's compilation is not recorded
        page.wait_for_timeout(15_000)
        for name, path in PICTURES.items():
            page.goto(f"{url}/{path}")
            (save_moving if name == "run" else save_still)(page, name)
        chromium.close()
