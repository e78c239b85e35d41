"""A class's room in a browser: a phone answers, the lecturer's page counts it at once, a reload loses nothing."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from test_accessibility import BARRED, THEMES, found_on

WITHIN = 1.0  # second, as the server's own clock would have it on a machine that nobody else uses
BUSY = 10  # times as long on one with other tests


def serious(page, theme):
    page.emulate_media(color_scheme=theme)
    rules = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{theme}: {rule['id']}: {rule['nodes'][0]['html']}" for rule in rules if rule["impact"] in BARRED]


def test_a_phone_answers_and_the_histogram_moves(open_page, wait_ready, browser, app_url):
    lecturer = open_page("auc?present=1&lesson=unlabeled&speed=instant")
    wait_ready(lecturer)
    lecturer.keyboard.press("ArrowRight")
    lecturer.get_by_role("button", name="Ask the class").click()
    bars = lecturer.locator(".room-bars")
    expect(bars).to_have_attribute("aria-label", "Guesses: A: 0, B: 0, C: 0", timeout=30_000)
    address = lecturer.locator(".st-key-presented a", has_text="open").get_attribute("href")
    context = browser.new_context(viewport={"width": 390, "height": 844})
    try:
        phone = context.new_page()
        phone.goto(address)
        phone.get_by_role("button", name="about the same").click()
        expect(phone.get_by_role("status")).to_contain_text("Your answer is saved")
        expect(bars).to_have_attribute("aria-label", "Guesses: A: 0, B: 1, C: 0", timeout=BUSY * WITHIN * 1000)
        phone.reload()
        expect(phone.get_by_role("button", name="about the same")).to_have_attribute("aria-pressed", "true")
        context.set_offline(True)
        phone.get_by_role("button", name="above the dotted curve: unlabeled points help").click()
        expect(phone.get_by_role("status")).to_contain_text("Trying again")
        context.set_offline(False)
        expect(bars).to_have_attribute("aria-label", "Guesses: A: 1, B: 0, C: 0", timeout=30_000)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = [line for theme in THEMES for line in (*serious(phone, theme), *found_on(lecturer, theme))]
        assert not found, "\n".join(found)
    finally:
        context.close()


def ask_the_class(lecturer):
    """Open a room; return the cookie that holds its key."""
    lecturer.keyboard.press("ArrowRight")
    with lecturer.expect_response("**/room-key") as kept:
        lecturer.get_by_role("button", name="Ask the class").click()
    assert kept.value.status == 204
    (cookie,) = [one for one in lecturer.context.cookies() if one["name"].startswith("dsglab_room_")]
    return cookie


def all_that_is_there(page):
    """Return the data that a page's scripts can reach and its reader can copy."""
    stored = "() => JSON.stringify([localStorage, sessionStorage, document.cookie, document.title, history.state])"
    return [page.url, page.content(), page.evaluate(stored), *(frame.url for frame in page.frames)]


def test_a_reload_keeps_the_room_and_nothing_but_a_cookie_holds_its_key(open_page, wait_ready, browser):
    lecturer, asked = open_page("auc?present=1&lesson=unlabeled&speed=instant"), []
    lecturer.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
    cookie = ask_the_class(lecturer)
    code = cookie["name"].removeprefix("dsglab_room_")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    found = all_that_is_there(lecturer)
    lecturer.wait_for_url(re.compile(rf"room={code}(&|$)"))
    lecturer.reload()
    wait_ready(lecturer)
    lecturer.keyboard.press("ArrowRight")
    expect(lecturer.locator(".st-key-presented")).to_contain_text(code)
    expect(lecturer.locator(".room-bars")).to_be_visible()
    found += all_that_is_there(lecturer)
    # The lecturer's address does not give the room to another person.
    context = browser.new_context()
    try:
        other = context.new_page()
        other.goto(lecturer.url)
        expect(other.get_by_text("one that this browser has opened")).to_be_visible(timeout=30_000)
    finally:
        context.close()
    lecturer.goto(lecturer.url.replace("present=1&", ""))
    wait_ready(lecturer)
    lecturer.get_by_role("tab", name="Code").click()
    snippet = lecturer.get_by_test_id("stCode").filter(has_text="<iframe")
    expect(snippet).to_contain_text("embed=true", timeout=30_000)
    assert code not in snippet.inner_text()
    found += [*all_that_is_there(lecturer), *asked]
    assert [text for text in found if cookie["value"] in text] == []
