"""Hands on the data in a browser: by keys alone, by touch, by mouse, with a link that another window opens."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from playwright.sync_api import expect

from .conftest import Window
from .test_stage_browser import PHONE

OPEN = "auc?view.by_hand=true&data.n_labeled=6&view.speed=fast&solver.n_iter=20"


LONG = 60_000
# Where the first points of a kind are in the window, as far as they are apart.
PLACES = """name => {
    const plot = document.querySelector("#chart-map .js-plotly-plot"), {xaxis, yaxis} = plot._fullLayout;
    const {left, top} = plot.getBoundingClientRect(), found = [], {x, y} = plot._fullData.find(trace => trace.name === name);
    for (let i = 0; i < x.length; i++) {
        const at = [left + xaxis._offset + xaxis.l2p(x[i]), top + yaxis._offset + yaxis.l2p(y[i])];
        if (found.every(other => Math.hypot(at[0] - other[0], at[1] - other[1]) > 40)) found.push(at);
    }
    return found;
}"""
COUNT = "() => document.querySelector('#chart-map .js-plotly-plot')._fullData.find(({name}) => name === 'unlabeled')?.x.length ?? 0"


@pytest.fixture(scope="module")
def phone(browser):
    """Give the window of a phone with a touch screen, which tests share."""
    viewport = dict(zip(("width", "height"), PHONE, strict=True))
    shared = Window(browser, viewport=viewport, has_touch=True, is_mobile=True)
    yield shared
    shared.close()


@pytest.fixture
def touch(phone, app_url, page_health, wait_ready):
    """Give a function that opens a page on that phone."""
    page = phone.lend()
    page_health.watch(page)

    def open_one(path):
        page.goto(f"{app_url}/{path}")
        expect(page.locator(".hand-area")).to_be_visible(timeout=LONG)
        wait_ready(page)
        return page

    try:
        with page_health.kept():
            yield open_one
    finally:
        phone.take_back()


def tap_points(page, name, n=1):
    """Tap the first points of a kind that are apart."""
    page.locator(".hand-area").scroll_into_view_if_needed()
    for place in page.evaluate(PLACES, name)[:n]:
        page.touchscreen.tap(*place)


def choose(page, name):
    """Tap a tool or a brush."""
    button = page.locator(".hand-tools").get_by_role("button", name=name, exact=True)
    button.tap()
    expect(button).to_have_attribute("aria-pressed", "true")


def swipe(page, start, end):
    """Drag a finger over the map, from and to shares of its width and height."""
    page.locator(".hand-area").scroll_into_view_if_needed()
    box, session = page.locator(".hand-area").bounding_box(), page.context.new_cdp_session(page)
    for step in range(9):
        x, y = (a + (b - a) * step / 8 for a, b in zip(start, end, strict=True))
        at = {"x": box["x"] + box["width"] * x, "y": box["y"] + box["height"] * y}
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    page.wait_for_timeout(200)  # a finger that leaves at speed is a fling, and Chromium swallows the tap that ends it
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def count(page, text):
    expect(page.locator(".hand-count")).to_contain_text(text, timeout=30_000)


@pytest.mark.ci
def test_a_finger_labels_paints_and_erases_in_the_workbench(touch):
    page = touch(OPEN)
    tap_points(page, "unlabeled")
    page.locator(".hand-box").get_by_role("button", name="positive").tap()
    count(page, "7 labels")
    choose(page, "Paint")
    n = page.evaluate(COUNT)
    swipe(page, (0.1, 0.5), (0.9, 0.5))
    expect(page.locator(".hand-live")).to_contain_text("points painted")
    page.wait_for_function(f"({COUNT})() > {n}", timeout=LONG)
    n = page.evaluate(COUNT)
    choose(page, "Erase")
    swipe(page, (0.1, 0.5), (0.9, 0.5))
    expect(page.locator(".hand-live")).to_contain_text("points erased")
    page.wait_for_function(f"({COUNT})() < {n}", timeout=LONG)
