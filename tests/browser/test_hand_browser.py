"""Hands on the data in a browser, in the workbench and on Home: by keys, by touch and by mouse."""

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


# --- Home: a map that learns by itself


MOST_CONTROLS = 14
CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, select, [role=application]")].filter(one => {
    const {left, top, right, bottom} = one.getBoundingClientRect();
    const isInside = right > Math.max(left, 0) && bottom > 0 && left < innerWidth && top < innerHeight;
    return isInside && one.checkVisibility({visibilityProperty: true});
}).map(one => one.innerText || one.ariaLabel || one.className)"""
MAP = "JSON.stringify([...document.querySelector('#chart-map .js-plotly-plot')?._fullData?.[0]?.z ?? []].map(row => [...row]))"
# The time from a press to the next map that is drawn.
WATCH = f"""() => {{
    const old = {MAP};
    window.seconds = null;
    for (const kind of ["pointerup", "keydown"]) addEventListener(kind, () => {{
        const start = performance.now(), look = () => {{
            if ({MAP} !== old) window.seconds ??= (performance.now() - start) / 1000; else setTimeout(look, 20);
        }};
        look();
    }}, {{capture: true, once: true}});
}}"""

TOPS = """() => ['[data-testid="stSidebarNav"] a', '.stSidebar .stSlider'].map((name, i) => {
    const found = [...document.querySelectorAll(name)];
    return (i ? found[0] : found.at(-1)).getBoundingClientRect().top;
})"""


def learned(page):
    """Wait until the run has ended, and the map stands still."""
    expect(page.locator(".hand-area")).to_be_visible(timeout=LONG)
    page.wait_for_function(
        "() => /step (\\d+)$/.exec(document.querySelector('#chart-map .js-plotly-plot')._fullLayout.meta.note)?.[1] === '300'",
        timeout=LONG,
    )


def seconds(page):
    page.wait_for_function("window.seconds !== null", timeout=LONG)
    return page.evaluate("window.seconds")


def free_point(page):
    """Return the place of a grey point that no other control covers."""
    box = page.locator(".hand-area").bounding_box()
    inside = [
        (x, y) for x, y in page.evaluate(PLACES, "unlabeled") if box["y"] + 40 < y < box["y"] + box["height"] - 40
    ]
    return inside[0]


@pytest.mark.ci
def test_home_learns_without_a_click_and_a_label_by_click_or_by_keys_changes_its_map_at_once(
    open_page, record_property
):
    page = open_page("", viewport=(1366, 768))
    expect(page.locator(".hand-area")).to_be_visible(timeout=LONG)
    before = page.evaluate(MAP)
    page.wait_for_function(f"before => {MAP} !== before", arg=before, timeout=LONG)
    found = page.evaluate(CONTROLS)
    assert len(found) <= MOST_CONTROLS, found
    count = page.locator(".hand-count")
    learned(page)
    page.mouse.click(*free_point(page))
    page.evaluate(WATCH)
    page.locator(".hand-box button").first.click()
    record_property("seconds", seconds(page))
    expect(count).to_have_text("11 labels")
    learned(page)
    page.locator(".hand-area").focus()
    page.keyboard.press("ArrowLeft")
    while "unlabeled" not in page.locator(".hand-live").inner_text():
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
    page.evaluate(WATCH)
    page.keyboard.press("1")
    assert seconds(page) < LONG
    expect(count).to_have_text("12 labels")


@pytest.mark.weekly
def test_on_a_phone_a_label_by_touch_changes_the_map_and_the_menu_comes_before_any_slider(touch, app_url):
    page = touch("")
    learned(page)
    page.locator(".hand-area").scroll_into_view_if_needed()
    page.touchscreen.tap(*free_point(page))
    page.evaluate(WATCH)
    page.locator(".hand-box button").first.tap()
    assert seconds(page) < LONG
    expect(page.locator(".hand-count")).to_have_text("11 labels")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{app_url}/auc?at=3")
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(page.locator(".stSidebar .stSlider").first).to_be_attached(timeout=LONG)
    door, slider = page.evaluate(TOPS)  # at one moment, since the drawer may still move
    assert door < slider
