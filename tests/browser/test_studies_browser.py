"""Questions to many runs in a browser: a sweep, Convergence and a race, each from asking to the answer that is taken away."""

import re

import pytest

from .watched_pages import (
    CURVE,
    IS_NO_WIDER,
    PHONE,
    PLOT,
    alerts,
    assert_accessible,
    choose,
    expect,
    status,
    tab_to,
    until_ready,
)

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
    assert_stands_alone(page, figure.value.path())
    expect(page.locator(".live-chart-help").first).to_be_focused()

    page.get_by_role("button", name="Pin", exact=True).click()
    # The button is in a fragment; the link above the question follows.
    expect(page.get_by_role("link", name="Pinned runs (1)")).to_have_count(2)
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
    names = page.evaluate(f"({PLOT})('chart-ways').data.map(trace => trace.name)")
    assert {"the run", "the theorem's bound", "the theorem's 1/t"} <= set(names)

    tab_to(page, "[role=radio]")
    while page.evaluate("document.activeElement.innerText") != "|f − h|²":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chart = page.locator(".st-key-chart-ways")
    expect(chart).to_contain_text("|f − h|²: 2 seeds")
    until_ready(page)  # a button that is being drawn again offers no file
    with page.expect_download() as table:
        tab_to(page, ".st-key-get-convergence-csv button")
        page.keyboard.press("Enter")
    assert table.value.path().read_text().startswith("case,seed,t,evaluations,seconds,error,")
    assert_accessible(page)
    page.reload()
    expect(chart).to_contain_text("|f − h|²: 2 seeds")


# --- a race: test_race.py has its numbers and its sentences


RACE = ".st-key-part-race"
TRACES = f"chart => ({PLOT})(chart)?.data.map(trace => [trace.name, trace.type, trace.line?.color ?? '']) ?? []"
QN = ["QN-S3VM", "scatter", "#E69F00"]
HAS_QN = f"chart => ({TRACES})(chart).some(trace => String(trace) === '{','.join(QN)}')"


def open_race(open_page, path, **options):
    page = open_page(path, **options)
    status(page, "done")
    page.get_by_role("tab", name="Race").click()
    return page


def race_against(page, title, parameter, value):
    """Choose a competitor, set one of its numbers, and start."""
    choose(page, page.locator(".st-key-race-s3vm input"), title)
    expect(page.locator(".st-key-race-start")).to_contain_text(f"Race against {title}")
    field = page.locator(f'[class*="st-key-race-s3vm-{title.replace("-", "")}-{parameter}-"] input')
    if not field.is_visible():
        page.get_by_text("Its parameters").click()
    field.fill(str(value))
    field.press("Enter")
    expect(field).to_have_value(str(value))
    start(page)


def start(page):
    page.locator(".st-key-race-start button").click()


def limit_memory(page, keys, said):
    """Move the limit by keys, each when the app has taken the value before; it says how much memory there is."""
    slider, part = page.locator(".st-key-race-limit-s3vm input[type=range]"), page.locator(RACE)
    for key in keys:
        expect(part).to_contain_text("Its memory limit is")
        before = re.search(r"Its memory limit is [\d.]+ GB", part.text_content())[0]
        slider.press(key)
        expect(part).not_to_contain_text(before)
    expect(part).to_contain_text(f"Its memory limit is {said} GB.")


@pytest.mark.weekly
def test_a_race_is_refused_for_memory_and_another_one_is_cancelled(open_page):
    page = open_race(open_page, "s3vm?view.speed=instant&data.n=10000&solver.n_iter=20")
    limit_memory(page, ["Home"], 0.1)  # for 7,000 points
    start(page)
    sentence = "S3VM-light needs more memory than the limit of 0.1 GB, and was stopped."
    expect(page.locator(RACE).get_by_text(sentence)).to_be_visible()
    assert len(alerts(page, RACE)) == 1
    limit_memory(page, ["End", "ArrowLeft", "ArrowLeft"], 4)
    race_against(page, "BGS3VM", "n_passes", 1000)
    progress = page.locator(".st-key-race-progress")
    expect(progress).to_contain_text(re.compile(r"BGS3VM: step [\d,]+ of 10,000"))
    page.locator(".st-key-race-cancel button").click()
    # The process is gone within two seconds (asserted where processes are tested); a busy machine draws later.
    expect(page.get_by_text(re.compile(r"BGS3VM was cancelled after \d+\.\d s\."))).to_be_visible(timeout=10_000)
    assert len(alerts(page, RACE)) == 1
    expect(page.locator(".st-key-race-start button")).to_be_enabled()


@pytest.mark.weekly
def test_a_competitor_that_does_not_converge_says_so_once_and_is_drawn_beside_the_run(open_page):
    page = open_race(open_page, "s3vm?view.speed=instant&data.n=300&solver.n_iter=50")
    race_against(page, "QN-S3VM", "max_iter", 1)
    expect(page.locator(".st-key-chart-race .js-plotly-plot")).to_be_visible()
    (said,) = alerts(page, RACE)
    assert re.search(r"QN-S3VM has not converged: [^.\n]*(\.\d[^.\n]*)*\.$", said)
    assert QN in page.evaluate(TRACES, "chart-race")
    line = page.evaluate(CURVE, ["chart-race", "QN-S3VM"])
    assert line[0] == line[-1]
    for number in (0, 1):
        kinds = [kind for _, kind, _ in page.evaluate(TRACES, f"chart-race-score-{number}")]
        assert kinds.count("heatmap") == 1
    page.locator(".st-key-race-axis").get_by_text("by time").click()
    page.wait_for_function(f"({PLOT})('chart-race').layout.xaxis.title.text === 'seconds of training'")
    page.locator(".st-key-race-map").get_by_text("classes").click()
    expect(page.locator(".st-key-chart-race-classes-1 .js-plotly-plot")).to_be_visible()
    assert page.evaluate(f"({PLOT})('chart-race-classes-1').data[0].zmax") == 1.5

    # Beside the run, while it is live: drawn when its tab is opened.
    page.get_by_role("tab", name="Live").click()
    page.wait_for_function(HAS_QN, arg="chart-score")
    # Another run meanwhile: the race stays with the one that it was started for.
    page.locator(".st-key-svm_seed input").fill("7")
    page.locator(".st-key-svm_seed input").press("Enter")
    page.wait_for_function(f"chart => !({HAS_QN})(chart)", arg="chart-score")
    page.get_by_role("tab", name="Race").click()
    expect(page.get_by_text("Started for an earlier run on other data")).to_be_visible()
    status(page, "done")
    page.wait_for_function(HAS_QN, arg="chart-race")  # the page is drawn again: its charts are gone for a moment


@pytest.mark.weekly
def test_a_race_started_while_the_run_goes_on_ends_after_it(open_page):
    link = "similar_unlabeled?data.n=400&data.n_labeled=40&solver.n_iter=60"
    page = open_page(link, viewport=PHONE, theme="dark")
    page.get_by_role("tab", name="Race").click()
    start(page)
    expect(page.locator(".st-key-chart-race .js-plotly-plot")).to_be_visible()
    status(page, "done")
    assert page.evaluate(IS_NO_WIDER)
    assert alerts(page, RACE) == []
