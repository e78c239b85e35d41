"""Links that the browser writes: opened again, a link asks for the same runs."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import move_slider, pause, wait_for_points

LONG = 90_000


@pytest.mark.ci
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
