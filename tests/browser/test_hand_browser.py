"""Hands on the data in a browser, in the workbench and on Home: by keys, by touch and by mouse."""

import time

import pytest

from .watched_pages import DESK, PHONE, expect, until_ready

OPEN = "auc?view.by_hand=true&data.n_labeled=6&view.speed=fast&solver.n_iter=20"
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
UNLABELED = """(document.querySelector('#chart-map .js-plotly-plot')._fullData
    .find(({name}) => name === 'unlabeled')?.x.length ?? 0)"""
MAP = "JSON.stringify([...document.querySelector('#chart-map .js-plotly-plot')?._fullData?.[0]?.z ?? []].map(row => [...row]))"


def free_point(page):
    """Return the place of a grey point that no other control covers."""
    box = page.locator(".hand-area").bounding_box()
    top, bottom = box["y"] + 40, box["y"] + box["height"] - 40
    return next(place for place in page.evaluate(PLACES, "unlabeled") if top < place[1] < bottom)


def stroke(page, tool, said):
    """Choose a tool, and drag a finger with it through the middle of the map."""
    button = page.locator(".hand-tools").get_by_role("button", name=tool, exact=True)
    button.tap()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.locator(".hand-area").scroll_into_view_if_needed()
    box, session = page.locator(".hand-area").bounding_box(), page.context.new_cdp_session(page)
    begun = time.time() - 3
    for step in range(9):
        at = {"x": box["x"] + box["width"] * (0.1 + 0.1 * step), "y": box["y"] + box["height"] / 2}
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at], "timestamp": begun + step / 10})
    # A finger that leaves at speed is a fling, and Chromium swallows the tap that ends it: this one rests for a second.
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": [], "timestamp": begun + 2})
    expect(page.locator(".hand-live")).to_contain_text(said)


@pytest.mark.ci
def test_a_finger_labels_paints_and_erases_in_the_workbench(open_page):
    page = open_page(OPEN, viewport=PHONE, has_touch=True, is_mobile=True)
    expect(page.locator(".hand-area")).to_be_visible()
    until_ready(page)
    page.locator(".hand-area").scroll_into_view_if_needed()
    page.touchscreen.tap(*free_point(page))
    page.locator(".hand-box").get_by_role("button", name="positive").tap()
    expect(page.locator(".hand-count")).to_contain_text("7 labels")
    n = page.evaluate(UNLABELED)
    stroke(page, "Paint", "points painted")
    page.wait_for_function(f"{UNLABELED} > {n}")
    n = page.evaluate(UNLABELED)
    stroke(page, "Erase", "points erased")
    page.wait_for_function(f"{UNLABELED} < {n}")


# --- Home: a map that learns by itself


MOST_CONTROLS = 14
CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, select, [role=application]")].filter(one => {
    const {left, top, right, bottom} = one.getBoundingClientRect();
    const isInside = right > Math.max(left, 0) && bottom > 0 && left < innerWidth && top < innerHeight;
    return isInside && one.checkVisibility({visibilityProperty: true});
}).map(one => one.innerText || one.ariaLabel || one.className)"""
LEARNED = "document.querySelector('#chart-map .js-plotly-plot')?._fullLayout.meta.note.endsWith('step 300')"


def assert_map_changes(page, change=None):
    """Wait until the map is another one, by itself or after what a function does."""
    before = page.evaluate(MAP)
    if change:
        change()
    page.wait_for_function(f"before => {MAP} !== before", arg=before)


@pytest.mark.ci
def test_home_learns_without_a_click_and_a_label_by_click_or_by_keys_changes_its_map_at_once(open_page):
    page = open_page("", viewport=DESK)
    area, count = page.locator(".hand-area"), page.locator(".hand-count")
    expect(area).to_be_visible()
    assert_map_changes(page)
    found = page.evaluate(CONTROLS)
    assert len(found) <= MOST_CONTROLS, found
    page.wait_for_function(LEARNED)
    page.mouse.click(*free_point(page))
    assert_map_changes(page, page.locator(".hand-box button").first.click)
    expect(count).to_have_text("11 labels")
    page.wait_for_function(LEARNED)
    area.press("ArrowLeft")
    while "unlabeled" not in page.locator(".hand-live").inner_text():
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
    assert_map_changes(page, lambda: page.keyboard.press("1"))
    expect(count).to_have_text("12 labels")
