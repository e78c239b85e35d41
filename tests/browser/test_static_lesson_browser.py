"""A lesson as one file: it is opened from a disk without a network, and moves by keys, on a desk and on a phone."""

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe
from cases import some
from playwright.sync_api import expect

DEMO = Path(__file__).parents[2] / ".github" / "demo" / "step-size.html"


@pytest.mark.weekly
@pytest.mark.parametrize(("width", "height"), some([(390, 844), (1280, 900)], 1))
def test_a_lesson_from_a_disk_moves_by_keys_without_a_network(browser, width, height):
    context = browser.new_context(offline=True, viewport={"width": width, "height": height})
    page, errors = context.new_page(), []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(DEMO.as_uri())
        status = page.locator("#status")
        expect(status).to_have_text("Objective: no iteration yet.")
        page.locator("#value").focus()
        page.keyboard.press("ArrowRight")
        expect(status).to_have_text(re.compile(r"Objective [\d.]+ after iteration 300 of 300\."))
        expect(page.locator("#curve .js-line")).to_be_attached()
        expect(page.locator("#map")).to_contain_text("step 300")
        expect(page.locator("#curve [role=figure]")).to_have_attribute("aria-label", status.inner_text())
        page.locator("#play").press("Enter")
        expect(page.locator("#play")).to_have_text("Pause")
        expect(page.locator("#play")).to_have_text("Play", timeout=30_000)  # at the end
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert Axe().run(page).response["violations"] == []
        assert errors == []
    finally:
        context.close()
