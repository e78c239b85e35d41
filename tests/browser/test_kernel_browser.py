"""The choice of the kernel: another one begins a new run, and the link holds it."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .watched_pages import choose

PATIENCE_MS = 60_000


def expect_step(page, step):
    expect(page.locator(".live-status")).to_contain_text(f"step {step} of", timeout=PATIENCE_MS)


@pytest.mark.weekly
def test_another_kernel_begins_a_new_run_and_a_reload_keeps_it(open_page, page_health):
    page = open_page("auc?solver.n_iter=20&data.name=Two+moons&kernel.sigma=5&view.speed=instant")
    expect_step(page, 20)
    expect(page.locator(".st-key-play")).to_contain_text("Play", timeout=PATIENCE_MS)
    page.get_by_text("More", exact=True).click()
    choose(page, page.locator(".st-key-kernel input"), "Matérn")
    expect(page.locator(".st-key-length")).to_contain_text("Bandwidth", timeout=PATIENCE_MS)
    expect(page.locator(".st-key-sigma")).to_have_count(0)
    page.wait_for_url(re.compile(r"kernel.name=matern"), timeout=PATIENCE_MS)
    expect_step(page, 20)
    page.get_by_role("tab", name="Race").click()
    expect(page.get_by_text("Parameters that differ from the previous run:")).to_be_visible(timeout=PATIENCE_MS)

    page.reload()
    expect(page.locator(".st-key-length")).to_contain_text("Bandwidth", timeout=PATIENCE_MS)
    expect_step(page, 20)
    assert "kernel.name=matern" in page.url
    page.get_by_role("tab", name="Theory").click()
    expect(page.get_by_text("Matérn kernel.")).to_be_visible(timeout=PATIENCE_MS)
    page_health.assert_clean()
