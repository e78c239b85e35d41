import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from test_auc_page import (
    DESK,
    PHONE,
    assert_nothing_sticks_out,
    curve,
    move_slider,
    pause,
    step_number,
    wait_for_points,
)


def test_a_multiclass_run_grows_by_itself_is_steered_and_reloaded(open_page, page_health):
    page = open_page("multiclass?speed=slow")
    wait_for_points(page, 4)
    wait_for_points(page, 4, "chart-spectrum", "tail, penalised")
    move_slider(page, "mc_tau_I", 1)
    page.wait_for_url("**mc_changes=0%3Atau_I%3Dauto*")
    assert step_number(page) >= 4  # steered, not begun again
    pause(page)
    stopped, before = step_number(page), curve(page)
    page.reload()
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped} of 300 · paused", timeout=30_000)
    wait_for_points(page, stopped)
    assert curve(page)[: len(before)] == before
    page_health.assert_clean()


def test_nothing_sticks_out(open_page):
    page = open_page("multiclass?mc_graph=true&mc_n_iter=50&mc_at=5", viewport=PHONE)
    wait_for_points(page, 5)
    assert_nothing_sticks_out(page, (PHONE, DESK))


@pytest.mark.parametrize("name", ["multiclass", "auc"])  # one of each kind of loop; test_app.py has the details of all
def test_details_are_drawn_when_a_run_ends(open_page, name):
    page = open_page(f"{name}?speed=instant")
    expect(page.locator(".live-status")).to_contain_text("done", timeout=60_000)
    page.get_by_role("tab", name="Details").click()
    expect(page.locator(".st-key-chart-details .js-plotly-plot")).to_be_visible(timeout=10_000)
