"""A race in the Compare tab: refused, not converged, cancelled and done, and the run that it belongs to."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from .test_auc_page import CURVE
from .watched_pages import choose

COMPETITOR = "#E69F00"
PATIENCE_MS = 60_000
TRACES = """chart => {
    const plot = document.querySelector(`:is(#${chart}, .st-key-${chart}) .js-plotly-plot`);
    return plot ? plot.data.map(trace => [trace.name, trace.type, (trace.line || {}).color || ""]) : [];
}"""


def open_compare(open_page, path, **options):
    page = open_page(path, **options)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=PATIENCE_MS)
    page.get_by_role("tab", name="Race").click()
    return page


def choose_rival(page, setting, title):
    choose(page, page.locator(f".st-key-race-{setting} input"), title)
    expect(page.locator(".st-key-race-start")).to_contain_text(f"Race against {title}", timeout=PATIENCE_MS)


def give(page, setting, competitor, parameter, value):
    """Set one of the competitor's numbers."""
    field = page.locator(f'[class*="st-key-race-{setting}-{competitor}-{parameter}-"] input')
    if not field.is_visible():
        page.get_by_text("Its parameters").click()
    field.fill(str(value))
    field.press("Enter")
    expect(field).to_have_value(str(value))


def start(page):
    page.locator(".st-key-race-start button").click()


def move(page, key, *pressed):
    """Press keys, each when the app has taken the value before: it says how much memory there is."""
    slider, part = page.locator(f".st-key-{key} input[type=range]"), page.locator(".st-key-part-race")
    for one in pressed:
        expect(part).to_contain_text("Its memory limit is", timeout=PATIENCE_MS)
        said = re.search(r"Its memory limit is [\d.]+ GB", part.text_content())[0]
        slider.focus()
        slider.press(one)
        expect(part).not_to_contain_text(said, timeout=PATIENCE_MS)


def alerts(page):
    return [box.inner_text().strip() for box in page.locator(".st-key-part-race").get_by_test_id("stAlert").all()]


@pytest.mark.weekly
def test_a_race_is_refused_for_memory_and_another_one_is_cancelled(open_page, page_health):
    page = open_compare(open_page, "s3vm?view.speed=instant&data.n=10000&solver.n_iter=20")

    move(page, "race-limit-s3vm", "Home")  # from 4 to 0.1 GB, for 7,000 points
    expect(page.locator(".st-key-part-race")).to_contain_text(
        "Its memory limit is 0.1 GB.", timeout=PATIENCE_MS
    )  # the app's word
    start(page)
    sentence = "S3VM-light needs more memory than the limit of 0.1 GB, and was stopped."
    expect(page.locator(".st-key-part-race").get_by_text(sentence)).to_be_visible(timeout=PATIENCE_MS)
    assert len(alerts(page)) == 1
    page_health.assert_clean()

    move(page, "race-limit-s3vm", "End", "ArrowLeft", "ArrowLeft")
    expect(page.locator(".st-key-part-race")).to_contain_text("Its memory limit is 4 GB.", timeout=PATIENCE_MS)
    choose_rival(page, "s3vm", "BGS3VM")
    give(page, "s3vm", "BGS3VM", "n_passes", 1000)
    start(page)
    progress = page.locator(".st-key-race-progress")
    expect(progress).to_contain_text(re.compile(r"BGS3VM: step [\d,]+ of 10,000"), timeout=PATIENCE_MS)
    page.locator(".st-key-race-cancel button").click()
    # The process is gone within two seconds (asserted where processes are tested); a busy machine draws later.
    expect(page.get_by_text(re.compile(r"BGS3VM was cancelled after \d+\.\d s\."))).to_be_visible(timeout=10_000)
    assert len(alerts(page)) == 1
    expect(page.locator(".st-key-race-start button")).to_be_enabled(timeout=PATIENCE_MS)
    page_health.assert_clean()


@pytest.mark.weekly
def test_a_competitor_that_does_not_converge_says_so_once_and_is_drawn_beside_the_run(open_page, page_health):
    page = open_compare(open_page, "s3vm?view.speed=instant&data.n=300&solver.n_iter=50")
    choose_rival(page, "s3vm", "QN-S3VM")
    give(page, "s3vm", "QNS3VM", "max_iter", 1)
    start(page)
    expect(page.locator(".st-key-chart-race .js-plotly-plot")).to_be_visible(timeout=PATIENCE_MS)
    (said,) = alerts(page)
    assert re.fullmatch(r"(?s).*QN-S3VM has not converged: [^.]*(\.\d[^.]*)*\.", said)
    assert "\n" not in said.split("QN-S3VM has", 1)[1]

    assert ["QN-S3VM", "scatter", COMPETITOR] in page.evaluate(TRACES, "chart-race")
    line = page.evaluate(CURVE, ["chart-race", "QN-S3VM"])
    assert line[0] == line[-1]
    for number in (0, 1):
        kinds = [kind for _, kind, _ in page.evaluate(TRACES, f"chart-race-score-{number}")]
        assert kinds.count("heatmap") == 1
    page.locator(".st-key-race-axis").get_by_text("by time").click()
    page.wait_for_function(
        "document.querySelector('.st-key-chart-race .js-plotly-plot').layout.xaxis.title.text === 'seconds of training'"
    )
    page.locator(".st-key-race-map").get_by_text("classes").click()
    expect(page.locator(".st-key-chart-race-classes-1 .js-plotly-plot")).to_be_visible(timeout=PATIENCE_MS)
    assert page.evaluate("document.querySelector('.st-key-chart-race-classes-1 .js-plotly-plot').data[0].zmax") == 1.5
    page_health.assert_clean()

    # Beside the run, while it is live: drawn when its tab is opened.
    page.get_by_role("tab", name="Live").click()
    page.wait_for_function(f"({TRACES})('chart-score').some(trace => String(trace) === 'QN-S3VM,scatter,{COMPETITOR}')")

    # Another run meanwhile: the race stays with the one that it was started for.
    page.locator(".st-key-svm_seed input").fill("7")
    page.locator(".st-key-svm_seed input").press("Enter")
    page.wait_for_function(f"!({TRACES})('chart-score').some(trace => trace[0] === 'QN-S3VM')", timeout=PATIENCE_MS)
    page.get_by_role("tab", name="Race").click()
    expect(page.get_by_text("Started for an earlier run on other data")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=PATIENCE_MS)
    # The page is drawn again: its charts are gone for a moment.
    page.wait_for_function(f"({TRACES})('chart-race').some(trace => String(trace) === 'QN-S3VM,scatter,{COMPETITOR}')")
    page_health.assert_clean()


@pytest.mark.weekly
@pytest.mark.parametrize(("viewport", "theme"), [((390, 844), "dark")])
def test_a_race_started_while_the_run_goes_on_ends_after_it(open_page, page_health, viewport, theme):
    page = open_page("similar_unlabeled?data.n=400&data.n_labeled=40&solver.n_iter=60", viewport=viewport, theme=theme)
    page.get_by_role("tab", name="Race").click()
    start(page)
    expect(page.locator(".st-key-chart-race .js-plotly-plot")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=PATIENCE_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert alerts(page) == []
