"""Hands on the data in a browser: by keys alone, by touch, by mouse, with a link that another window opens."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from playwright.sync_api import expect

from .conftest import Window
from .test_accessibility import found_on
from .test_stage_browser import PHONE, tab_to

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
# Name of the trace that has a point there.
NAMED = """([left, top]) => {
    const plot = document.querySelector("#chart-map .js-plotly-plot"), {xaxis, yaxis} = plot._fullLayout;
    const box = plot.getBoundingClientRect(), at = [left - box.left - xaxis._offset, top - box.top - yaxis._offset];
    const near = ({x, y}) => [...x].some((_, i) => Math.hypot(xaxis.l2p(x[i]) - at[0], yaxis.l2p(y[i]) - at[1]) < 1);
    return plot._fullData.find(trace => ["positive", "negative", "unlabeled"].includes(trace.name) && near(trace))?.name;
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


def walk_to_free_point(page, way):
    """Walk by an arrow key until a point without a label is named."""
    for _ in range(30):
        page.keyboard.press(way)
        if "in no pair" in page.locator(".hand-live").inner_text():
            return
    pytest.fail(f"no point without a label by {way}")


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


def opened(open_page, path=OPEN, **more):
    page = open_page(path, **more)
    expect(page.locator(".hand-area")).to_be_visible(timeout=LONG)
    return page


def count(page, text):
    expect(page.locator(".hand-count")).to_contain_text(text, timeout=30_000)


@pytest.mark.ci
def test_keys_alone_label_points_take_a_label_away_and_open_the_classes_of_a_point(open_page):
    page = opened(open_page)
    page.locator(".hand-area").focus()
    for key in ("ArrowRight", "ArrowUp", "2"):
        page.keyboard.press(key)
    expect(page.locator(".hand-live")).to_contain_text("labeled positive")
    count(page, "7 labels")
    page.keyboard.press("Backspace")
    count(page, "6 of 6 labels")
    page.keyboard.press("Control+z")
    count(page, "7 labels")
    page.locator(".hand-area").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(".hand-box").get_by_role("button", name="negative").click()
    count(page, "8 labels")


@pytest.mark.weekly
def test_a_painted_set_is_the_same_in_another_window_and_axe_has_no_objection(open_page):
    page = opened(open_page)
    page.get_by_role("button", name="Paint", exact=True).click()
    box = page.locator(".hand-area").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 90, steps=8)
    page.mouse.up()
    expect(page.locator(".hand-count")).not_to_contain_text("5000", timeout=30_000)
    expect(page.locator(".live-position")).to_contain_text("done", timeout=LONG)
    said, address = page.locator(".live-value").all_inner_texts(), page.url
    assert "edits=" in address
    assert not found_on(page, "light")
    other = opened(open_page, "auc" + address.partition("/auc")[2], is_first_visit=True)
    expect(other.locator(".live-position")).to_contain_text("done", timeout=LONG)
    assert other.locator(".live-value").all_inner_texts() == said


@pytest.mark.weekly
def test_a_right_click_gives_one_class_after_the_other(open_page):
    page = opened(open_page)
    (place, *_) = page.evaluate(PLACES, "unlabeled")
    seen = []
    for said in ("7 labels", "7 labels", "6 of 6 labels"):
        before = page.evaluate(NAMED, place)
        page.mouse.click(*place, button="right")
        page.wait_for_function(f"([place, before]) => ({NAMED})(place) !== before", arg=[place, before], timeout=LONG)
        seen.append(page.evaluate(NAMED, place))
        count(page, said)
    assert sorted(seen) == ["negative", "positive", "unlabeled"]


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


@pytest.mark.weekly
def test_two_taps_make_a_pair_and_two_keys_another(touch):
    page = touch("similar_unlabeled?view.by_hand=true&data.n_labeled=5&view.speed=fast&solver.n_iter=20")
    tap_points(page, "unlabeled", 2)
    count(page, "6 pairs")
    page.locator(".hand-area").focus()
    for way in ("ArrowLeft", "ArrowDown"):
        walk_to_free_point(page, way)
        page.keyboard.press("Enter")
    count(page, "7 pairs")


@pytest.mark.weekly
def test_a_finger_places_labels_on_the_stage_and_the_run_begins(touch):
    page = touch("auc?lesson=five-labels:2&view.speed=instant")
    expect(page.locator(".st-key-stage-answer")).to_contain_text("Still missing: negative, positive")
    for n, name in enumerate(("positive", "negative"), start=1):
        page.touchscreen.tap(*page.evaluate(PLACES, "unlabeled")[5 * n])
        page.locator(".hand-box").get_by_role("button", name=name).tap()
        count(page, f"{n} of 5 labels")
    expect(page.locator(".st-key-stage-answer")).not_to_contain_text("Still missing", timeout=LONG)


@pytest.mark.weekly
def test_a_finger_draws_a_data_set_on_the_stage_and_the_run_begins(touch):
    page = touch("s3vm?lesson=draw:3&view.speed=instant")
    brush = page.locator(".hand-list")
    expect(brush).to_have_value("negative")
    for more, end in (("", 0.8), (" with label", 0.5)):
        for name, x in (("negative", 0.25), ("positive", 0.75)):
            brush.select_option(name + more)
            swipe(page, (x, 0.2), (x, end))
    expect(page.locator(".st-key-stage-answer")).to_contain_text("Not yet", timeout=LONG)
    expect(page.locator(".hand-count")).not_to_contain_text(" of ")
    brush.select_option("eraser")
    labels = page.locator(".hand-count").inner_text()
    swipe(page, (0.25, 0.2), (0.25, 0.5))
    expect(page.locator(".hand-count")).not_to_have_text(labels, timeout=LONG)
    page.locator(".hand-tools").get_by_role("button", name="Undo").tap()
    expect(page.locator(".hand-count")).to_have_text(labels, timeout=LONG)
    brush.select_option("negative")
    page.locator(".hand-area").press("2")
    expect(brush).to_have_value("positive")


@pytest.mark.weekly
def test_keys_alone_paint_move_and_erase(open_page):
    page = opened(open_page)
    n = page.evaluate(COUNT)
    for tool, keys, said in (
        ("Paint", ("2", "ArrowUp", "Space"), "3 points painted"),
        ("Move", ("ArrowRight", "Shift+ArrowUp"), ""),
        ("Erase", ("ArrowUp", "Space"), "erased"),
    ):
        page.get_by_role("button", name=tool, exact=True).focus()
        page.keyboard.press("Enter")
        tab_to(page, ".hand-area")
        for key in keys:
            page.keyboard.press(key)
        expect(page.locator(".hand-live")).to_contain_text(said)
    page.wait_for_function(f"({COUNT})() !== {n}", timeout=LONG)


@pytest.mark.weekly
def test_keys_alone_find_the_wrong_label_of_a_lesson(open_page, wait_ready):
    page = opened(open_page, "auc?lesson=one-wrong-label:4&view.speed=instant")
    wait_ready(page)
    tab_to(page, ".hand-area")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("1")
    expect(page.locator(".hand-tools").get_by_role("button", name="Undo")).to_be_enabled(timeout=LONG)
    page.keyboard.press("Control+z")
    expect(page.locator(".hand-tools").get_by_role("button", name="Undo")).to_be_disabled(timeout=LONG)
    count(page, "5 of 5 labels")
