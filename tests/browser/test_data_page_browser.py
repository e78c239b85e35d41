import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import wait_for_points

TRACES = """chart => {
    const plot = document.querySelector(`:is(#${chart}, .st-key-${chart}) .js-plotly-plot`);
    return plot ? plot.data.length : 0;
}"""


def wait_for_chart(page, chart):
    page.wait_for_function(f"chart => ({TRACES})(chart) > 0", arg=chart, timeout=30_000)


def assert_within(page):
    """Fail where the page is wider than its window, on a desk or on a phone."""
    for width, height in ((1280, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            f"innerWidth === {width} && document.documentElement.scrollWidth <= innerWidth", timeout=5_000
        )


@pytest.mark.ci
def test_from_the_workbench_to_the_gallery_and_by_a_card_into_another_run(open_page, page_health):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 2)
    page.get_by_role("link", name="Data", exact=True).click()
    card = page.locator(".st-key-card-wine")
    expect(card).to_contain_text("178 points · 13 features · 3 classes", timeout=30_000)
    picture = card.locator("img")
    page.wait_for_function("picture => picture.complete && picture.naturalWidth > 0", arg=picture.element_handle())
    card.get_by_role("link", name="Ranking", exact=True).click()
    page.wait_for_url(re.compile(r"/auc\?.*data.name=wine"))
    expect(page.get_by_text("class_0 against the rest")).to_be_visible(timeout=30_000)
    # Its own options, not those of the set before.
    expect(page.locator(".live-status")).to_contain_text("step", timeout=30_000)
    expect(page.get_by_test_id("stMain")).to_contain_text("Here: 20 labels, 105 unlabeled points of Wine.")
    wait_for_points(page, 2)
    assert page.get_by_test_id("stAlert").count() == 0
    page_health.assert_clean()


@pytest.mark.weekly
def test_a_close_look_carries_its_options_into_the_workbench_and_survives_a_reload(open_page, wait_ready):
    page = open_page("data?data.name=Iris&setting=Gaps&data.positive=virginica")
    wait_for_chart(page, "chart-plane")
    page.reload()
    wait_ready(page)
    wait_for_chart(page, "chart-plane")
    expect(page.get_by_text("One class is positive, all others together are negative.")).to_be_visible()
    page.get_by_test_id("stMain").get_by_role("link", name="Gaps", exact=True).click()
    page.wait_for_url(re.compile(r"/s3vm\?.*data.positive=virginica"))
    expect(page.get_by_text("virginica against the rest")).to_be_visible(timeout=30_000)
    wait_for_points(page, 2)


@pytest.mark.ci
def test_nothing_sticks_out(open_page):
    page = open_page("data")
    expect(page.locator(".st-key-card-iris")).to_be_attached(timeout=30_000)
    assert_within(page)
    page.locator(".st-key-look-diabetes button").click()
    for chart in ("chart-plane", "chart-data-balance", "chart-data-coverage", "chart-feature"):
        wait_for_chart(page, chart)
    assert_within(page)
