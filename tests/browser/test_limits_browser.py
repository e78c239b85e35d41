"""Limits of a run in a browser: looking back and inside, a remedy, and four runs, by keyboard and pointer."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_accessibility import LOOKED_AT, found_on
from .test_auc_page import MARKS

LAST = 64
NOISY = f"auc?data.name=Two+moons&data.n=200&data.n_labeled=40&kernel.sigma=10&solver.batch_size=2&solver.n_iter={LAST}&at={LAST}"
FEW = f"auc?data.name=Digits&data.n_labeled=200&kernel.sigma=0.5&solver.lam=0.01&solver.n_features=4&solver.n_iter={LAST}&at={LAST}"
LONG = 60_000


@pytest.mark.ci
def test_a_run_is_looked_back_at_and_into_and_four_runs_say_what_limits_it_and_what_a_change_brings(
    open_page, wait_ready
):
    page = open_page(NOISY)
    expect(page.locator(".live-status")).to_contain_text(f"step {LAST} of", timeout=LONG)
    number = page.locator("#chart-objective .live-chart-value").last
    wait_ready(page)
    at_the_end = number.inner_text()
    slider = page.locator(".live-scrubber input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(number).not_to_have_text(at_the_end)
    page.wait_for_url(re.compile(r"[?&]look=1(&|$)"))
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective")
    page.reload()  # it is in the link
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective", timeout=LONG)
    expect(slider).to_have_value("1")

    page.get_by_role("tab", name="Theory", exact=True).click()
    page.get_by_text("Details: scores").click(timeout=LONG)
    inside = page.locator(".st-key-part-inside")
    inside.get_by_role("radio", name="one point").click()
    expect(page.get_by_text("pulls h").or_(page.get_by_text("adds nothing yet"))).to_be_visible(timeout=LONG)
    inside.get_by_role("radio", name="all coefficients").click()
    expect(page.locator(".st-key-chart-inside-all .js-plotly-plot")).to_be_visible(timeout=LONG)

    slider.focus()
    slider.press("End")  # what was measured is of the run's end
    page.get_by_role("tab", name="Limits", exact=True).click()
    page.get_by_role("button", name="Measure it").press("Enter")
    judgement = page.locator(".live-judgement")
    expect(judgement).to_contain_text("of the optimum's size away", timeout=2 * LONG)
    expect(page.locator(".st-key-chart-shares .js-plotly-plot")).to_be_visible()
    wait_ready(page)
    found = [line for theme in LOOKED_AT for line in found_on(page, theme)]
    assert not found, "\n".join(found)
    judgement.get_by_role("button", name="Larger batches: 2 → 8").press("Enter")
    page.wait_for_url(re.compile(r"batch_size=8"), timeout=LONG)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=LONG)
    page.get_by_role("button", name="Measure again").press("Enter")
    expect(page.get_by_text("Effect of the change")).to_be_visible(timeout=2 * LONG)


@pytest.mark.weekly
def test_a_remedy_is_one_click_and_its_run_begins(open_page):
    page = open_page(FEW)
    remedy = page.get_by_role("button", name="More features: 4 → 16")
    expect(remedy).to_be_visible(timeout=LONG)
    remedy.press("Enter")
    page.wait_for_url(re.compile(r"n_features=16"))
    expect(page.locator(".st-key-n_features input[type=range]")).to_have_value("4")  # 2⁴ of them
    expect(page.locator(".live-judgement")).to_contain_text(re.compile(r"Features: \S+ → \S+ \(expected"), timeout=LONG)
