"""Back, reload, keys and the first look in a real browser: nothing is lost, and nothing happens unseen."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import choose_speed, move_slider, step_number, wait_for_points


def speed_of(page):
    return page.locator(".st-key-speed").get_by_role("combobox").input_value()


@pytest.mark.ci
def test_back_and_the_menu_lead_to_the_page_as_it_was_and_back_then_home(open_page):
    page = open_page("", is_first_visit=True)
    page.get_by_role("link", name="Ranking").first.click()
    wait_for_points(page, 2)
    choose_speed(page, "slow")
    page.wait_for_url(re.compile("speed=slow"))
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=15_000)
    entries = page.evaluate("history.length")
    page.locator("header nav").get_by_role("link", name="Methods").click()
    page.wait_for_url(re.compile("/methods"))
    page.get_by_role("link", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)  # more than it begins with: the page is as it stays
    assert page.evaluate("history.length") == entries + 2
    page.go_back()
    page.wait_for_url(re.compile("/methods"))
    page.go_back()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    expect(page.locator(".st-key-lam")).to_contain_text("0.002")
    assert speed_of(page) == "slow"
    step = step_number(page)
    expect(page.locator(".live-status")).not_to_contain_text(f"step {step} of", timeout=15_000)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded")
    page.go_back()
    expect(page.get_by_role("heading", name="Labels are expensive")).to_be_visible(timeout=15_000)
    page.get_by_role("link", name="Ranking").first.click()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    expect(page.locator(".st-key-lam")).to_contain_text("0.002")
    assert speed_of(page) == "slow"


@pytest.mark.ci
def test_back_from_another_setting_leads_to_the_run_as_it_was(open_page):
    page = open_page("auc?view.speed=slow&seed=5", is_first_visit=True)
    wait_for_points(page, 2)
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=15_000)
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Setting").click()
    page.get_by_role("option", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)
    page.go_back()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    assert "seed=5" in page.url
    assert speed_of(page) == "slow"


@pytest.mark.ci
def test_keys_are_heard_after_a_slider_has_been_touched(open_page):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 2)
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.keyboard.press("p")
    expect(page.locator(".live-status")).to_contain_text("paused", timeout=15_000)
    stopped = step_number(page)
    page.keyboard.press("s")
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped + 1} of", timeout=15_000)
    page.keyboard.press("0")
    expect(page.locator(".live-status")).to_contain_text("step 0 of", timeout=15_000)
    assert page.evaluate("document.activeElement.type") == "range"
