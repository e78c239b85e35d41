"""Heads of charts: title, legend and notes that cover nothing, and the meanings of their words."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

SETTINGS = {
    "similar_unlabeled": "su_",
    "auc": "",
    "s3vm": "svm_",
    "ordinal": "ord_",
    "multiclass": "mc_",
    "supervised": "sup_",
}
# For each chart that is shown: what of it sticks out at a side or covers the plot, and text of another size.
FAULTS = """() => [...document.querySelectorAll('.live-chart')].filter(c => c.clientWidth).flatMap(chart => {
    const box = element => element.getBoundingClientRect();
    const own = chart.closest('[id^=chart-]'), alone = chart.closest('[class*="st-key-chart"]');
    const name = own ? own.id : alone.className.match(/st-key-(\\S+)/)[1];
    if (!chart.querySelector('.js-plotly-plot')) return ['a chart is not drawn yet'];
    const plot = box(chart.querySelector('.js-plotly-plot')), whole = box(chart), faults = [];
    for (const part of chart.querySelectorAll('.live-chart-head > *')) {
        if (!part.getClientRects().length) continue; // the map's title, where its switch says the same
        const {left, right, bottom} = box(part);
        if (left < whole.left - 1 || right > whole.right + 1) faults.push(`${name}: ${part.textContent} sticks out`);
        if (bottom > plot.top + 1) faults.push(`${name}: ${part.textContent} covers the plot`);
    }
    for (const text of chart.querySelectorAll('svg.main-svg text')) {
        const {left, right, width} = box(text), size = parseFloat(getComputedStyle(text).fontSize);
        if (!width) continue;
        if (size !== 12) faults.push(`${name}: ${text.textContent} has ${size} px`);
        if (left < whole.left - 1 || right > whole.right + 1) faults.push(`${name}: ${text.textContent} is clipped`);
    }
    if (chart.querySelector('.legend, .gtitle')) faults.push(`${name}: plotly's own legend or title`);
    return faults;
})"""


def assert_no_faults(page):
    """Fail with the faults that are left when all charts have the size that they are shown at."""
    try:
        page.wait_for_function(f"({FAULTS})().length === 0", timeout=5_000)
    except PlaywrightError:
        assert page.evaluate(FAULTS) == []


FILLED = '[data-testid="stExpander"] [data-testid="stSlider"]'  # boxes that are closed, which come last
DRAWN = """() => {
    const charts = [...document.querySelectorAll('.live-chart')];
    return charts.length >= 3 && charts.every(chart => chart.querySelector('.main-svg'));
}"""


def open_drawn(open_page, path, **options):
    page = open_page(path, **options)
    page.wait_for_function(DRAWN, timeout=30_000)
    return page


@pytest.mark.ci
def test_words_of_a_legend_are_explained_to_the_keyboard_and_hide_their_curves(open_page, wait_ready):
    page = open_drawn(open_page, "auc?at=30")
    chart = page.locator("#chart-error")
    tip = chart.get_by_role("tooltip")
    chart.get_by_role("button", name="Help for Error of the features").focus()
    expect(tip).to_contain_text("h is the twin of f")
    expect(tip).to_contain_text("a third")  # the words of the legend, too
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    chart.locator(".live-chart-word").filter(has_text="measured").hover()
    expect(tip).to_have_text("The mean of |f − h|² over 256 test points.")
    chart.locator(".live-chart-word").filter(has_text="calibrated band").click()
    expect(tip).to_contain_text("computed during the run")
    expect(tip.get_by_role("link", name="Glossary")).to_have_attribute(
        "href", re.compile(r"/glossary\?find=calibrated\+band$")
    )
    page.locator(".live-status").click()
    expect(tip).to_be_hidden()
    chart.get_by_role("button", name="Help for Error of the features").press("Enter")
    word = chart.get_by_role("button", name="measured")
    word.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "false")
    shown = "document.querySelector('#chart-error .js-plotly-plot').data.filter(t => t.name === 'measured')[0].visible"
    page.wait_for_function(f"{shown} === 'legendonly'")
    page.locator(".st-key-step button").first.click()
    expect(page.locator(".live-status")).to_contain_text("step 31 of")
    page.wait_for_function(f"{shown} === 'legendonly'")  # it stays hidden when the chart is updated
    assert_what_the_numbers_mean_is_reached_by_keyboard(page, wait_ready)


def assert_what_the_numbers_mean_is_reached_by_keyboard(page, wait_ready):
    page.locator(FILLED).first.wait_for(state="attached", timeout=30_000)  # a part that is drawn again loses the focus
    wait_ready(page)
    page.get_by_role("button", name="Help for Objective", exact=True).focus()
    said = page.get_by_role("tooltip", name="").filter(has_text="The number that the run minimises")
    expect(said.first).to_be_visible()
