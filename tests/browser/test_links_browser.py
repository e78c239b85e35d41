"""What the browser keeps in the link: opened again, it asks for the same runs."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

LONG = 90_000


def runs_of(page):
    """How many runs the study has, and the question's sentence, as the page shows them."""
    button = page.locator(".st-key-study-start button")
    expect(button).to_be_visible(timeout=LONG)
    return button.inner_text()


def test_a_study_of_the_papers_keeps_in_its_link_that_nothing_is_averaged(open_page):
    page = open_page("papers")
    page.get_by_role("link", name=re.compile(r"^Open Fig\. 2 \(60 runs\)")).first.click()
    page.wait_for_url(re.compile("/explore"), timeout=LONG)
    runs_of(page)
    page.wait_for_url(re.compile("x_average=none"), timeout=LONG)
    page.reload()
    runs_of(page)
    expect(page.locator(".st-key-x_average")).to_have_count(1)
    assert "x_average=none" in page.url
