"""Home in a browser: a map that learns by itself, and labels by click, by keys and by touch."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .conftest import Window
from .test_hand_browser import PLACES

MOST_CONTROLS = 14
LONG = 60_000
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
    page.locator(".hand-area").focus()
    page.keyboard.press("ArrowLeft")
    while "unlabeled" not in page.locator(".hand-live").inner_text():
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("1")
    expect(count).to_have_text("12 labels")


@pytest.mark.weekly
def test_on_a_phone_a_label_by_touch_changes_the_map_and_the_menu_comes_before_any_slider(
    browser, app_url, page_health
):
    phone = Window(browser, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.lend()
    page_health.watch(page)
    page.goto(f"{app_url}/")
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
    phone.close()
