"""Loading of a page: no jumps, its name, and a keyboard that reaches the run."""

import re
import time
from pathlib import Path

import pytest
from cases import tiers

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect

from pages.charts.live_chart import LIBRARY

from .test_accessibility import LOOKED_AT, THEMES, found_on
from .test_workbench_layout import SETTINGS

PAGES = {
    "": "DSG Lab",
    "lessons": "Lessons - DSG Lab",
    "glossary": "Glossary - DSG Lab",
    "take_away": "To take away - DSG Lab",
    "how_it_works": "How it works - DSG Lab",
    "explore": "Explore - DSG Lab",
    "convergence": "Convergence - DSG Lab",
    "papers": "Papers - DSG Lab",
    "pinned": "Pinned runs - DSG Lab",
    "methods": "Methods - DSG Lab",
    "data": "Data - DSG Lab",
    "data?data.name=Two+moons": "Data - DSG Lab",
    "similar_unlabeled": "Pairs - DSG Lab",
    "auc": "Ranking - DSG Lab",
    "s3vm": "Gaps - DSG Lab",
    "ordinal": "Ordered classes - DSG Lab",
    "multiclass": "Many classes - DSG Lab",
    "supervised": "Labels - DSG Lab",
}
COLD = {"", "auc", "data"}  # opened with nothing in the browser's memory
MAIN = ("", "auc")
ALIKE = {"similar_unlabeled", "s3vm", "ordinal", "supervised"}  # loaded as auc is
SHIFTS = """() => new Promise(done => {
    let sum = 0;
    const add = list => list.getEntries().forEach(entry => { sum += entry.hadRecentInput ? 0 : entry.value; });
    const observer = new PerformanceObserver(add);
    observer.observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done(sum), 500);  // what is buffered comes with a task of its own
})"""
GOOD = 0.1  # what the browsers' makers call good
ICON = re.compile(r"\bicon$")


def test_every_page_has_a_name_here():
    files = {file.stem for file in (Path(__file__).parents[2] / "pages").glob("*.py")} - {"home"}
    assert files | set(SETTINGS) <= set(PAGES)


@pytest.fixture(scope="module")
def warm_app(browser, app_url):
    """Wait until the server's core is ready. Before, a page says so, and its layout changes afterwards."""
    page = browser.new_page()
    page.goto(f"{app_url}/auc")
    page.locator("#chart-score .js-plotly-plot").wait_for(timeout=60_000)
    page.close()


# Counts the moments at which neither the words for the start nor the page is seen.
WHITE = """window.white = 0;
setInterval(() => {
    const page = document.querySelector('.stAppViewContainer'), root = document.documentElement;
    const isSaid = document.querySelector('.starting') || getComputedStyle(root).getPropertyValue('--starting') !== '""';
    white += page && getComputedStyle(page).visibility === 'hidden' && !isSaid;
}, 20)"""


@pytest.mark.usefixtures("warm_app")
def test_words_are_seen_until_the_page_is(browser, app_url):
    page = browser.new_page()
    page.add_init_script(WHITE)
    page.route("**/static/js/TextInput.*", lambda route: (time.sleep(1.5), route.continue_()))  # the last piece is late
    page.goto(f"{app_url}/auc")
    page.locator("#chart-score .js-plotly-plot").wait_for(timeout=60_000)
    expect(page.get_by_test_id("stAppViewContainer")).to_have_css("visibility", "visible", timeout=30_000)
    assert page.evaluate("white") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--starting')") in ("", '""')
    page.close()


@pytest.mark.usefixtures("warm_app")
@pytest.mark.parametrize(
    "path", [*MAIN, *tiers([path for path in PAGES if path not in ALIKE and path not in MAIN], 0, 2)]
)
def test_a_page_has_its_name_does_not_jump_while_it_loads_and_is_accessible(open_page, path):
    page = open_page(path, is_first_visit=path in COLD)
    page.get_by_role("heading", level=1).wait_for()
    if path in SETTINGS:
        expect(page.locator("#chart-score .js-plotly-plot")).to_be_visible(timeout=30_000)
    assert page.evaluate(SHIFTS) < GOOD
    assert page.title() == PAGES[path]
    for role in ("button", "link", "img"):
        assert page.get_by_role(role, name=ICON).count() == 0, f"a {role} is called like its icon"
    if path not in SETTINGS:  # test_accessibility.py checks their tabs
        found = [line for theme in (THEMES if path in COLD else LOOKED_AT) for line in found_on(page, theme)]
        assert not found, "\n".join(found)


def test_play_is_a_few_keys_away_the_menu_switches_to_dark_and_a_link_that_moves_a_control_of_a_closed_box_is_kept(
    open_page,
):
    page = open_page("auc?at=3&data.n=500")
    expect(page.locator(".live-status")).to_contain_text("step 3 of", timeout=30_000)
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("stSkipToContent")).to_be_focused()
    page.keyboard.press("Enter")
    play = page.locator(".st-key-play button")
    for _ in range(3):
        page.keyboard.press("Tab")
        if play.evaluate("node => node === document.activeElement"):
            break
    expect(play).to_be_focused()
    assert play.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    expect(page.get_by_role("spinbutton", name="Seed")).to_be_visible()
    seed = page.locator(".st-key-part-transport").get_by_test_id("stNumberInput")
    assert seed.evaluate("node => getComputedStyle(node, '::before').content") == '"Seed"'  # for eyes
    page.get_by_role("button", name="Main menu").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    expect(page.locator(".live-status")).to_contain_text("step 3 of")  # the run goes on as it was
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_test_id("stSlider").filter(has_text="500").first).to_be_visible()
    assert "n=500" in page.url


READ = "() => performance.getEntriesByType('resource').map(entry => [entry.name, entry.startTime])"


FIRST_SHOWN = """() => {
    const all = window.firstShown = [];
    new MutationObserver(() => {
        for (const chart of document.querySelectorAll(".live-chart:has(.js-line[d], .hm)")) {
            const key = chart.closest("[id^=chart-]").id;
            if (!all.includes(key)) all.push(key);
        }
    }).observe(document, {childList: true, subtree: true, attributes: true});
}"""


@pytest.mark.ci
def test_the_objective_comes_first_and_a_run_waits_for_nothing_that_is_not_seen_yet(browser, app_url):
    page = browser.new_page()
    page.add_init_script(f"({FIRST_SHOWN})()")
    page.goto(f"{app_url}/auc?at=3")  # stands still: nothing but the first curve has the page drawn anew
    expect(page.locator("#chart-map .js-plotly-plot")).to_be_visible(timeout=30_000)
    assert page.evaluate("window.firstShown")[0] == "chart-objective"
    began = {name.rpartition("/")[2]: start for name, start in page.evaluate(READ)}
    # The page's head requests the charts' library: with the page, not after it.
    assert began[LIBRARY.name] < min(start for name, start in began.items() if name == "health")
    assert not any(kind in name for name in began for kind in ("DataFrame", "SyntaxHighlighter"))
    for tab, content in {"Race": "stDataFrame", "Code": "stCode"}.items():
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_test_id(content).first).to_be_visible(timeout=15_000)
    page.close()
