"""Ticks whose answers do not come, or are not the app's: the page says so, asks again, and goes on."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from cases import some
from playwright.sync_api import expect

from .test_auc_page import step_number, wait_for_points

LONG = 90_000
PROXYS_PAGE = "<!DOCTYPE html><html><body>Please sign in</body></html>"
# tests/javascript/feed.test.mjs has every other kind of answer.
ANSWERS = {
    "a proxy's page": (lambda route: route.fulfill(body=PROXYS_PAGE), "something else answered instead of the app"),
    "an error": (lambda route: route.fulfill(status=502, body=PROXYS_PAGE), "the server answered with error 502"),
    "no network": (lambda route: route.abort(), "the server cannot be reached"),
}


@pytest.mark.ci
def test_a_tick_without_a_good_answer_is_asked_for_again_and_the_page_says_so(open_page, page_health):
    page = open_page("auc?view.speed=slow&solver.n_iter=2000")
    status = page.locator(".live-status")
    wait_for_points(page, 4)
    for answer, words in some(ANSWERS.values(), 2):
        page.route("**/tick", answer, times=2)
        expect(status).to_contain_text(re.compile(rf"step \d+ of 2000 · {words}.*; next try in 1 s"), timeout=LONG)
        before = step_number(page)
        expect(status).to_contain_text(re.compile(r"step \d+ of 2000 · running"), timeout=LONG)
        page.wait_for_function(
            f"Number(/step (\\d+) of/.exec(document.querySelector('.live-status')?.textContent)?.[1]) > {before + 3}",
            timeout=LONG,
        )
    assert [error for error in page_health.errors if error.startswith("page error")] == []
    page_health.errors.clear()  # the browser itself logs errors of the network
