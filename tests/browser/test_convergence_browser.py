"""Convergence from the keyboard to its answer: asked, made, looked at, taken away, and in the link."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_accessibility import LOOKED_AT, found_on
from .watched_pages import tab_to

SMALL = "convergence?data.n=150&solver.n_iter=32&solver.n_features=16&solver.batch_size=16&seeds=2"
NAMES = "() => document.querySelector('.st-key-chart-ways .js-plotly-plot').data.map(trace => trace.name)"


@pytest.mark.ci
def test_ways_by_keys_alone_to_their_answer(open_page, wait_ready):
    page = open_page(SMALL, viewport=(1280, 900))
    expect(page.locator(".st-key-study-status")).to_contain_text("1 curve × 2 seeds = 2 runs", timeout=30_000)
    tab_to(page, ".st-key-ways-start button")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-study-status")).to_contain_text("All runs are done", timeout=120_000)
    wait_ready(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    assert {"the run", "the theorem's bound", "the theorem's 1/t"} <= set(page.evaluate(NAMES))

    tab_to(page, "[role=radio]", most=100)
    while page.evaluate("document.activeElement.innerText") != "|f − h|²":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-chart-ways")).to_contain_text("|f − h|²: 2 seeds")
    wait_ready(page)  # a button that is being drawn again offers no file
    with page.expect_download() as table:
        tab_to(page, ".st-key-get-convergence-csv button", most=100)
        page.keyboard.press("Enter")
    assert table.value.path().read_text().startswith("case,seed,t,evaluations,seconds,error,")
    found = [line for theme in LOOKED_AT for line in found_on(page, theme)]
    assert not found, "\n".join(found)

    page.reload()
    expect(page.locator(".st-key-chart-ways")).to_contain_text("|f − h|²: 2 seeds", timeout=60_000)
