"""Hands on the data in a browser: by keys alone, by touch, by mouse, with a link that another window opens."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from playwright.sync_api import expect
from test_accessibility import found_on

OPEN = "auc?by_hand=true&n_labeled=6&speed=fast&n_iter=20"


def opened(open_page, path=OPEN, **more):
    page = open_page(path, **more)
    expect(page.locator(".hand-area")).to_be_visible(timeout=60_000)
    return page


def count(page, text):
    expect(page.locator(".hand-count")).to_contain_text(text, timeout=30_000)


def test_keys_alone_label_points_take_a_label_away_and_open_the_classes_of_a_point(open_page):
    page = opened(open_page)
    page.locator(".hand-area").focus()
    for key in ("ArrowRight", "ArrowUp", "2"):
        page.keyboard.press(key)
    expect(page.locator(".hand-live")).to_contain_text("labeled positive")
    count(page, "7 of 6 labels")
    page.keyboard.press("Backspace")
    count(page, "6 of 6 labels")
    page.keyboard.press("Control+z")
    count(page, "7 of 6 labels")
    page.locator(".hand-area").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(".hand-box").get_by_role("button", name="negative").click()
    count(page, "8 of 6 labels")


def test_a_painted_set_is_the_same_in_another_window_and_axe_has_no_objection(open_page):
    page = opened(open_page)
    page.get_by_role("button", name="Paint", exact=True).click()
    box = page.locator(".hand-area").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 90, steps=8)
    page.mouse.up()
    expect(page.locator(".hand-count")).not_to_contain_text("5000", timeout=30_000)
    expect(page.locator(".live-position")).to_contain_text("done", timeout=60_000)
    said, address = page.locator(".live-value").all_inner_texts(), page.url
    assert "edits=" in address
    for theme in ("light", "dark"):
        assert not found_on(page, theme)
    other = opened(open_page, "auc" + address.partition("/auc")[2], is_first_visit=True)
    expect(other.locator(".live-position")).to_contain_text("done", timeout=60_000)
    assert other.locator(".live-value").all_inner_texts() == said
