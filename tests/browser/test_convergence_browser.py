"""Convergence from the keyboard to its answer: asked, made, looked at, taken away, and in the link."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from test_accessibility import THEMES, found_on

SMALL = "convergence?v_n=150&v_n_iter=32&v_n_features=16&v_batch_size=16&v_seeds=2"
NAMES = "() => document.querySelector('.st-key-chart-ways .js-plotly-plot').data.map(trace => trace.name)"


def test_ways_from_the_keyboard_to_their_answer(open_page, wait_ready):
    page = open_page(SMALL, viewport=(1280, 900))
    expect(page.locator(".st-key-study-status")).to_contain_text("1 curve × 2 seeds = 2 runs", timeout=30_000)
    start = page.get_by_role("button", name="Start")
    start.focus()
    start.press("Enter")
    expect(page.locator(".st-key-study-status")).to_contain_text("All runs are done", timeout=120_000)
    wait_ready(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    assert {"the run", "the paper's bound", "the theorem's 1/t"} <= set(page.evaluate(NAMES))

    page.get_by_role("radio", name="|f − h|²").click()
    expect(page.locator(".st-key-chart-ways")).to_contain_text("|f − h|²: 2 seeds")
    wait_ready(page)  # a button that is being drawn again offers no file
    with page.expect_download() as table:
        page.get_by_role("button", name="All curves (CSV)").click()
    assert table.value.path().read_text().startswith("case,seed,t,evaluations,seconds,error,")
    found = [line for theme in THEMES for line in found_on(page, theme)]
    assert not found, "\n".join(found)

    page.reload()
    expect(page.locator(".st-key-chart-ways")).to_contain_text("|f − h|²: 2 seeds", timeout=60_000)
