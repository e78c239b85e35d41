"""Links that the browser writes: opened again, a link asks for the same runs."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import move_slider, pause, wait_for_points

LONG = 90_000


def test_the_link_holds_what_was_moved_during_the_run(open_page):
    page = open_page("auc?view.speed=fast&solver.n_iter=20000")
    wait_for_points(page, 4)
    move_slider(page, "lam", 1)
    page.wait_for_url(re.compile(r"changes=0%3Alam%3D0\.001%2C\d+%3Alam%3D0\.002"), timeout=LONG)
    assert "lam=0.002" in page.url
    pause(page)
    move_slider(page, "step_size", -1)  # the stop above is "auto", which starts another run
    page.wait_for_url(re.compile(r"%2C\d+%3Astep_size%3D"), timeout=LONG)
    again = open_page("auc" + page.url.partition("/auc")[2], is_first_visit=True)
    expect(again.locator(".live-status")).to_contain_text("recorded", timeout=LONG)
    changes = re.compile(r"changes=([^&]*)")
    assert changes.search(again.url)[1] == changes.search(page.url)[1]


def runs_of(page):
    """Return the study's number of runs and its question, as the page shows them."""
    button = page.locator(".st-key-study-start button")
    expect(button).to_be_visible(timeout=LONG)
    return button.inner_text()


@pytest.mark.weekly
def test_a_study_of_the_papers_keeps_in_its_link_that_nothing_is_averaged(open_page):
    page = open_page("papers")
    page.get_by_role("link", name=re.compile(r"^Open Fig\. 2 \(60 runs\)")).first.click()
    page.wait_for_url(re.compile("/explore"), timeout=LONG)
    runs_of(page)
    page.wait_for_url(re.compile("solver.average=none"), timeout=LONG)
    page.reload()
    runs_of(page)
    expect(page.locator(".st-key-x_average")).to_have_count(1)
    assert "solver.average=none" in page.url


@pytest.mark.weekly
def test_another_page_finds_no_strange_names_in_its_link(open_page):
    page = open_page("auc?view.speed=slow&solver.lam=0.01", viewport=(1600, 900))  # all pages are in the bar
    wait_for_points(page, 2)
    move_slider(page, "step_size", -1)
    page.wait_for_url(re.compile("changes="), timeout=LONG)
    for name, heading in (
        ("Methods", "/methods"),
        ("Ordered classes", "/ordinal"),
        ("Explore", "/explore"),
        ("Data", "/data"),
        ("Methods", "/methods"),
        ("Ranking", "/auc"),
    ):
        page.get_by_role("link", name=name).first.click()
        page.wait_for_url(re.compile(heading), timeout=LONG)
        expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=LONG)
        assert page.get_by_text("this page does not know").count() == 0
