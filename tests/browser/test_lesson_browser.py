"""A guided lesson by keyboard alone, from the question to the outcome, on a desk and on a phone, in light and dark."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from playwright.sync_api import expect
from test_accessibility import THEMES, found_on


@pytest.mark.parametrize("viewport", [(1280, 900), (390, 844)], ids=["desk", "phone"])
def test_a_curve_is_drawn_by_keys_and_laid_over_the_outcome(open_page, wait_ready, viewport):
    page = open_page("s3vm?svm_lesson=batches:2&speed=instant", viewport=viewport)
    knots = page.locator(".drawn-curve circle[role=slider]")
    expect(knots).to_have_count(6, timeout=30_000)
    run = page.locator(".st-key-lesson-run button")
    expect(run).to_be_disabled()
    wait_ready(page)
    knots.first.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    # What follows goes along: drawn from left to right.
    expect(knots.last).to_have_attribute("aria-valuenow", "0.950")
    expect(knots.first).to_have_attribute("aria-valuenow", "0.850")
    expect(run).to_be_enabled()
    wait_ready(page)
    found = [line for theme in THEMES for line in found_on(page, theme)]
    run.focus()
    page.keyboard.press("Enter")
    outcome = page.locator(".drawn-curve svg[role=img]")
    expect(outcome).to_be_visible(timeout=60_000)
    assert "guess 0.85" in outcome.get_attribute("aria-label")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    wait_ready(page)
    found += [line for theme in THEMES for line in found_on(page, theme)]
    assert not found, "\n".join(found)


def test_a_lesson_before_a_class_goes_on_by_keys_and_is_large(open_page, wait_ready):
    page = open_page("auc?present=1&notes=1&lesson=unlabeled&speed=instant")
    seen = page.locator(".st-key-presented")
    expect(seen).to_contain_text("A score should rank the inner", timeout=30_000)
    expect(seen).to_contain_text("Notes. Point at the few filled points")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.st-key-presented p')).fontSize)") >= 24
    wait_ready(page)
    page.keyboard.press("PageDown")  # of a remote control
    expect(seen).to_contain_text("Where will the solid curve end?")
    wait_ready(page)
    found = [line for theme in THEMES for line in found_on(page, theme)]
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-chart-score .js-plotly-plot")).to_be_visible(timeout=30_000)
    following = page.locator(".st-key-present-next button")
    expect(following).to_be_enabled(timeout=60_000)
    wait_ready(page)
    found += [line for theme in THEMES for line in found_on(page, theme)]
    page.keyboard.press("ArrowRight")
    expect(seen).to_contain_text("Ten labels alone tilt the score")
    assert not found, "\n".join(found)
