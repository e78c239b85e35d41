"""A guided lesson by keyboard alone, from the question to the outcome, on a desk and on a phone, in light and dark."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from playwright.sync_api import expect
from test_accessibility import THEMES, found_on

SIZES = DESK, PHONE = (1280, 900), (390, 844)


def resize(page, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.wait_for_function(f"innerWidth === {size[0]}")


def found_at(page, *sizes):
    """Return what is objected to at these sizes, the last of which stays, each in both themes: the one that there is first."""
    found = []
    for number, size in enumerate(sizes):
        resize(page, size)
        found += [f"{size}, {line}" for theme in THEMES[:: 1 - 2 * (number % 2)] for line in found_on(page, theme)]
    return found


def assert_drawn(page, run):
    """Fail where the curve is not as the keys have drawn it: what follows goes along, for it is drawn from left to right."""
    knots = page.locator(".drawn-curve circle[role=slider]")
    expect(knots.last).to_have_attribute("aria-valuenow", "0.950")
    expect(knots.first).to_have_attribute("aria-valuenow", "0.850")
    expect(run).to_be_enabled()


def test_a_curve_is_drawn_by_keys_and_laid_over_the_outcome(open_page, wait_ready):
    page = open_page("s3vm?svm_lesson=batches:2&speed=instant", viewport=PHONE)
    knots = page.locator(".drawn-curve circle[role=slider]")
    expect(knots).to_have_count(6, timeout=30_000)
    run = page.locator(".st-key-lesson-run button")
    expect(run).to_be_disabled()
    wait_ready(page)
    knots.first.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    resize(page, DESK)
    page.keyboard.press("PageUp")
    assert_drawn(page, run)
    wait_ready(page)
    found = found_at(page, DESK, PHONE)
    assert_drawn(page, run)
    run.focus()
    page.keyboard.press("Enter")
    outcome = page.locator(".drawn-curve svg[role=img]")
    expect(outcome).to_be_visible(timeout=60_000)
    wait_ready(page)
    for size in (PHONE, DESK):
        resize(page, size)
        expect(outcome).to_be_visible()
        assert "guess 0.85" in outcome.get_attribute("aria-label")
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth", timeout=5_000)
    found += found_at(page, DESK, PHONE)
    assert not found, "\n".join(found)


def test_a_lesson_before_a_class_goes_on_by_keys_and_is_large(open_page, wait_ready):
    page = open_page("auc?present=1&notes=1&lesson=unlabeled&speed=instant")
    seen = page.locator(".st-key-presented")
    expect(seen).to_contain_text("A good score ranks the inner", timeout=30_000)
    expect(seen).to_contain_text("Notes. Point at the filled points")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.st-key-presented p')).fontSize)") >= 24
    wait_ready(page)
    page.keyboard.press("PageDown")  # of a remote control
    expect(seen).to_contain_text("Where will the solid curve end?")
    wait_ready(page)
    found = [line for theme in THEMES for line in found_on(page, theme)]
    page.keyboard.press("ArrowRight")
    expect(page.locator("#chart-score .js-plotly-plot")).to_be_visible(timeout=30_000)
    following = page.locator(".st-key-present-next button")
    expect(following).to_be_enabled(timeout=60_000)
    wait_ready(page)
    found += [line for theme in THEMES for line in found_on(page, theme)]
    page.keyboard.press("ArrowRight")
    expect(seen).to_contain_text("With ten labels, the score leans")
    assert not found, "\n".join(found)
