"""Questions to many runs in a browser: a sweep and Convergence, each from asking to the answer that is taken away."""

import re

import pytest

from .watched_pages import PLOT, assert_accessible, expect, status, tab_to, until_ready

STATUS = ".st-key-study-status"
SWEEP = (
    "explore?solver.n_iter=16&solver.batch_size=16&solver.n_features=16&seeds=2&solver.step_size.n=2&kernel.sigma.n=2"
)
CELL = """() => { const box = document.querySelector('.st-key-chart-study .plotly .nsewdrag').getBoundingClientRect();
    return [box.x + box.width * 0.75, box.y + box.height * 0.25]; }"""
# The format of a saved chart, and its first bytes.
FILES = {"PNG": b"\x89PNG", "SVG": b"<svg", "CSV": b"curve,", "HTML": b"<!doctype html>"}


def assert_stands_alone(page, file):
    """Fail where a saved page does not draw the same cells without a server."""
    alone, asked = page.context.new_page(), []
    alone.on("request", lambda request: asked.append(request.url))
    alone.set_content(file.read_text(encoding="utf-8"))
    alone.wait_for_selector(".main-svg")
    assert alone.evaluate("() => document.getElementById('figure').data[0].z.flat().length") == 4
    assert asked == []
    alone.close()


@pytest.mark.ci
def test_a_sweep_from_the_keyboard_to_its_answer(open_page):
    page = open_page(SWEEP)
    seeds = page.get_by_role("spinbutton", name="Seeds")
    seeds.press("ArrowUp")
    seeds.press("Enter")
    expect(page.locator(STATUS)).to_contain_text("4 points × 3 seeds = 12 runs")
    page.get_by_role("button", name="Start").press("Enter")
    expect(page.locator(STATUS)).to_contain_text("All runs are done")
    # The browser draws the picture after the words beside it.
    cells = f"({PLOT})('chart-study').data[0].z.flat().filter(z => z !== null).length === 4"
    page.wait_for_function(cells)
    until_ready(page)

    page.mouse.click(*page.evaluate(CELL))  # the upper right cell: the largest of both
    largest = re.compile("Step size 5, Inverse bandwidth 5: ")
    expect(page.get_by_role("combobox", name="Point")).to_have_value(largest)
    until_ready(page)  # a button that is being drawn again offers no file
    for kind, beginning in FILES.items():
        page.locator(".live-chart-help").first.press("Enter")
        with page.expect_download() as figure:
            page.get_by_role("button", name=f"Save as {kind}").press("Enter")
        assert figure.value.suggested_filename == f"study.{kind.lower()}"
        assert figure.value.path().read_bytes().startswith(beginning)
    assert_stands_alone(page, figure.value.path())
    expect(page.locator(".live-chart-help").first).to_be_focused()

    page.get_by_role("link", name="Open this run").click()
    status(page, "of 16")
    assert "step_size=5" in page.url


WAYS = "convergence?data.n=150&solver.n_iter=32&solver.n_features=16&solver.batch_size=16&seeds=2"


@pytest.mark.ci
def test_ways_by_keys_alone_to_their_answer_which_is_in_the_link(open_page):
    page = open_page(WAYS)
    expect(page.locator(STATUS)).to_contain_text("1 curve × 2 seeds = 2 runs")
    tab_to(page, ".st-key-ways-start button")
    page.keyboard.press("Enter")
    expect(page.locator(STATUS)).to_contain_text("All runs are done")
    until_ready(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    tab_to(page, "[role=radio]")
    while page.evaluate("document.activeElement.innerText") != "|f − h|²":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chart = page.locator(".st-key-chart-ways")
    expect(chart).to_contain_text("|f − h|²: 2 seeds")
    until_ready(page)  # a button that is being drawn again offers no file
    page.wait_for_selector('[data-stale="true"]', state="detached")
    with page.expect_download() as table:
        tab_to(page, ".st-key-get-convergence-csv button")
        page.keyboard.press("Enter")
    assert table.value.path().read_text().startswith("case,seed,t,evaluations,seconds,error,")
    assert_accessible(page)
    page.reload()
    expect(chart).to_contain_text("|f − h|²: 2 seeds")
