import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import (
    assert_details_are_drawn_at_the_end,
    curve,
    move_slider,
    pause,
    step_number,
    wait_for_points,
)


@pytest.mark.weekly
def test_a_multiclass_run_grows_by_itself_is_steered_and_reloaded(open_page, page_health):
    page = open_page("multiclass?view.speed=slow")
    wait_for_points(page, 4)
    wait_for_points(page, 4, "chart-spectrum", "tail, penalised")
    move_slider(page, "mc_tau_I", 1)
    page.wait_for_url("**changes=0%3Atau_I%3Dauto*")
    assert step_number(page) >= 4  # steered, not begun again
    pause(page)
    stopped, before = step_number(page), curve(page)
    page.reload()
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped} of 300 · paused", timeout=30_000)
    wait_for_points(page, stopped)
    assert curve(page)[: len(before)] == before
    page_health.assert_clean()


@pytest.mark.weekly
def test_details_are_drawn_when_a_run_ends(open_page):
    page = open_page("multiclass?view.speed=instant&solver.n_iter=50")
    assert_details_are_drawn_at_the_end(page)
