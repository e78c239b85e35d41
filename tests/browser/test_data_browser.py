"""Data in a browser: a person's file and the gallery's sets, to a first curve and into other pages; and the hand on points."""

import re
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from .watched_pages import (
    CONTROLS,
    DESK,
    IS_NO_WIDER,
    PHONE,
    PLOT,
    at_size,
    expect,
    give,
    status,
    until_ready,
    wait_for_points,
)

KEPT = """async () => {
    const result = asked => new Promise(done => { asked.onsuccess = () => done(asked.result); });
    const opened = await result(indexedDB.open("dsg-lab", 1));
    return (await result(opened.transaction("files").objectStore("files").getAll())).map(kept => kept.file.name).join();
}"""


def test_a_file_leads_to_a_first_curve_also_after_a_reload_and_is_forgotten_when_it_is_removed(open_page):
    wine = load_wine(as_frame=True)
    grower = [f"grower {k}" for k in wine.target]
    page = open_page("auc?view.speed=slow")  # a fast run keeps the browser busy
    page.locator(".st-key-data input").first.click()
    page.get_by_role("option", name="Your own file").click()
    expect(page.get_by_text("A table with a column of labels")).to_be_visible()
    give(page, "wine.csv", wine.data.assign(grower=grower).to_csv(index=False).encode())
    said = page.get_by_test_id("stMain").get_by_test_id("stMarkdown")
    expect(said.filter(has_text="wine.csv").first).to_be_visible()
    wait_for_points(page, 3)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("178 rows, 13 features")
    at_size(page, *PHONE)
    page.wait_for_function(IS_NO_WIDER, timeout=5_000)
    late = []
    page.route("**/static/js/FileUploader.*", lambda route: late.append(route))
    page.reload()  # the session is gone, and the browser has kept the file, for a chooser that comes after the page has asked
    page.wait_for_function("window.dsgLab?.hasBroughtBack")
    for route in late:
        route.continue_()
    wait_for_points(page, 3)
    expect(page.get_by_test_id("stMain").get_by_text("wine.csv").first).to_be_attached()
    at_size(page, 1280, 900)
    assert "wine.csv" in page.evaluate(KEPT)
    page.get_by_test_id("stFileUploader").get_by_role("button", name=re.compile("Remove|Delete")).click()
    expect(page.get_by_text("This link needs the file wine.csv")).to_be_visible()
    page.wait_for_function(f"async () => !(await ({KEPT})()).includes('wine.csv')")


@pytest.mark.ci
def test_a_file_goes_on_to_explore_and_convergence(open_page):
    page = open_page("data")
    page.locator(".st-key-look-file button").click()
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(140, 3)), columns=list("abc"))
    table["label"] = ["yes", "no"] * 20 + [""] * 100
    give(page, "mine.csv", table.to_csv(index=False).encode())  # in the system's window this takes two clicks
    expect(page.get_by_text("100 rows without a label")).to_be_visible()
    page.locator(".st-key-open-in").get_by_role("link", name="Explore with these data").click()
    page.wait_for_url(re.compile("/explore"))
    assert_on_file(page, "Explore")
    # Through the navigation a page begins with its own set. The file is one click away.
    page.locator("header nav").get_by_role("link", name="Convergence").click()
    page.get_by_role("button", name="Use mine.csv").click()
    assert_on_file(page, "Convergence")


def assert_on_file(page, name):
    """Fail unless a page asks its question about the file, and the study can start."""
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(page.get_by_text("100 rows without a label")).to_be_visible()
    expect(page.locator(".st-key-part-study-transport button").first).to_be_enabled()
    assert page.get_by_test_id("stAlertContentError").count() == 0


# --- the gallery


@pytest.mark.ci
def test_a_close_look_in_the_gallery_fits_a_desk_and_a_phone_and_a_card_leads_into_another_run(open_page):
    page = open_page("data")
    card = page.locator(".st-key-card-wine")
    picture = card.locator("img").element_handle()
    page.wait_for_function("picture => picture.complete && picture.naturalWidth > 0", arg=picture)
    page.locator(".st-key-look-diabetes button").click()
    for chart in ("chart-plane", "chart-data-balance", "chart-data-coverage", "chart-feature"):
        page.wait_for_function(f"chart => ({PLOT})(chart)?.data.length > 0", arg=chart)
    for size in (PHONE, (1280, 900)):
        at_size(page, *size)
        page.wait_for_function(IS_NO_WIDER, timeout=5_000)
    page.go_back()
    card.get_by_role("link", name="Ranking Wine", exact=True).click()
    page.wait_for_url(re.compile(r"/auc\?.*data.name=wine"))
    status(page, "step")
    wait_for_points(page, 2)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


# --- the hand: by keys, by touch and by mouse


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
