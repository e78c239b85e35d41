"""A sweep from the keyboard to its answer: asked, filling in, looked at, taken away, and given up."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

SMALL = (
    "explore?solver.n_iter=16&solver.batch_size=16&solver.n_features=16&seeds=2&solver.step_size.n=2&kernel.sigma.n=2"
)
AT_5_AND_5 = re.compile("Step size 5, Inverse bandwidth 5: ")
TRACES = "() => document.querySelector('.st-key-chart-study .js-plotly-plot').data"
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


def wait_for_cells(page, n):
    """Wait for the picture with so many cells, which the browser draws after the words beside it."""
    page.wait_for_function(f"() => ({TRACES})()[0].z.flat().filter(z => z !== null).length === {n}", timeout=20_000)


@pytest.mark.ci
def test_a_sweep_from_the_keyboard_to_its_answer(open_page, wait_ready):
    page = open_page(SMALL)
    seeds = page.get_by_role("spinbutton", name="Seeds")
    seeds.focus()
    seeds.press("ArrowUp")
    seeds.press("Enter")
    expect(page.locator(".st-key-study-status")).to_contain_text("4 points × 3 seeds = 12 runs", timeout=20_000)
    start = page.get_by_role("button", name="Start")
    start.focus()
    start.press("Enter")
    expect(page.locator(".st-key-study-status")).to_contain_text("All runs are done", timeout=120_000)
    wait_for_cells(page, 4)
    wait_ready(page)

    page.mouse.click(*page.evaluate(CELL))  # the upper right cell: the largest of both
    expect(page.get_by_role("combobox", name="Point")).to_have_value(AT_5_AND_5, timeout=20_000)
    wait_ready(page)  # a button that is being drawn again offers no file
    with page.expect_download() as table:
        page.get_by_role("button", name="Table (CSV)").click()
    text = table.value.path().read_text()
    assert len(text.splitlines()) == 13
    assert text.startswith("solver.step_size,kernel.sigma,seed,score,")
    for kind, beginning in FILES.items():
        page.locator(".live-chart-help").first.press("Enter")
        with page.expect_download() as figure:
            page.get_by_role("button", name=f"Save as {kind}").press("Enter")
        assert figure.value.suggested_filename == f"study.{kind.lower()}"
        assert figure.value.path().read_bytes().startswith(beginning)
        if kind == "HTML":
            assert_stands_alone(page, figure.value.path())
    expect(page.locator(".live-chart-help").first).to_be_focused()

    page.get_by_role("button", name="Pin", exact=True).click()
    # The button is in a fragment; the link above the question follows.
    expect(page.get_by_role("link", name="Pinned runs (1)")).to_have_count(2, timeout=20_000)
    page.get_by_role("link", name="Open this run").click()
    expect(page.locator(".live-status")).to_contain_text("of 16", timeout=60_000)
    assert "step_size=5" in page.url
