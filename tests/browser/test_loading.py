"""Pages as they load and lead on: words until they are there, no jumps, names, doors, keys, and what axe-core objects to."""

import re
import time
from urllib.request import urlopen

import pytest
from cases import some
from clocks import until

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from pages.charts.live_chart import LIBRARY
from pages.shell.router import BEHIND, DOORS

from .watched_pages import (
    IS_NO_WIDER,
    LOOKED_AT,
    PHONE,
    THEMES,
    assert_accessible,
    at_size,
    expect,
    found_on,
    names_of_several,
    status,
    until_ready,
)

PAGES = {
    **{file: f"{title} - DSG Lab" for file, (title, _) in (DOORS | BEHIND).items()},
    **{name: f"{profile_of(setting).short} - DSG Lab" for name, setting in SETTINGS.items()},
    "home": "DSG Lab",
    "data?data.name=Two+moons": "Data - DSG Lab",
}
COLD = ("home", "auc", "data")  # opened with nothing in the browser's memory
MAIN = ("home", "auc")
ALIKE = ("similar_unlabeled", "s3vm", "ordinal", "supervised")  # loaded as auc is
OFTEN = ("lessons", "papers")
OTHERS = [
    pytest.param(path, marks=pytest.mark.ci if path in OFTEN else pytest.mark.weekly)
    for path in PAGES
    if path not in ALIKE + MAIN
]
SHIFTS = """() => new Promise(done => {
    let sum = 0;
    const add = list => list.getEntries().forEach(entry => { sum += entry.hadRecentInput ? 0 : entry.value; });
    const observer = new PerformanceObserver(add);
    observer.observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done(sum), 500);  // what is buffered comes with a task of its own
})"""
TABLE_IS_NO_WIDER = "(table => table.scrollWidth <= table.clientWidth)(document.querySelector('.stMarkdown table'))"
GOOD = 0.1  # what the browsers' makers call good


@pytest.fixture(scope="module")
def warm_app(app_url):
    """Wait until the server's core is ready. Before, a page says so, and its layout changes afterwards."""
    until(lambda: b"Compiling" not in urlopen(f"{app_url}/starting", timeout=30).read(), seconds=240)


# Counts the moments at which neither the words for the start nor the page is seen.
WHITE = """window.white = 0;
setInterval(() => {
    const page = document.querySelector('.stAppViewContainer'), root = document.documentElement;
    const isSaid = document.querySelector('.starting') || getComputedStyle(root).getPropertyValue('--starting') !== '""';
    white += page && getComputedStyle(page).visibility === 'hidden' && !isSaid;
}, 20)"""


@pytest.mark.usefixtures("warm_app")
def test_words_are_seen_until_the_page_is(new_page, app_url):
    page = new_page()
    page.add_init_script(WHITE)
    page.route("**/static/js/TextInput.*", lambda route: (time.sleep(1.5), route.continue_()))  # the last piece is late
    page.goto(f"{app_url}/auc")
    page.locator("#chart-score .js-plotly-plot").wait_for()
    expect(page.get_by_test_id("stAppViewContainer")).to_have_css("visibility", "visible")
    assert page.evaluate("white") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--starting')") in ("", '""')


@pytest.mark.usefixtures("warm_app")
@pytest.mark.parametrize("path", [*MAIN, *OTHERS])
def test_a_page_has_its_name_does_not_jump_while_it_loads_is_accessible_and_fits_a_phone(open_page, path):
    page = open_page("" if path == "home" else path, is_first_visit=path in COLD)
    page.get_by_role("heading", level=1).wait_for()
    if path in SETTINGS:
        expect(page.locator("#chart-score .js-plotly-plot")).to_be_visible()
    assert page.evaluate(SHIFTS) < GOOD
    assert page.title() == PAGES[path]
    for role in ("button", "link", "img"):
        assert page.get_by_role(role, name=re.compile(r"\bicon$")).count() == 0, f"a {role} is called like its icon"
    assert names_of_several(page) == []
    if path == "methods":
        assert page.evaluate(f"new Set({HEIGHTS_OF_CARDS}).size") == 1
    if path not in SETTINGS:  # another test looks at their tabs
        assert_accessible(page, THEMES if path in COLD else LOOKED_AT)
    at_size(page, *PHONE)
    page.wait_for_function(IS_NO_WIDER, timeout=5_000)
    if path == "methods":
        page.wait_for_function(TABLE_IS_NO_WIDER, timeout=5_000)
    if path == "lessons":  # nor would it be with a picture as wide as that of learning curves
        assert page.evaluate(WIDTHS_OF_PICTURES) == ["100%"]


WIDTHS_OF_PICTURES = """[...new Set([...document.querySelectorAll("[data-testid=stImageContainer]")].map(
    picture => getComputedStyle(picture).maxWidth))]"""
HEIGHTS_OF_CARDS = "[...document.querySelector('.st-key-methods').children].map(card => card.clientHeight)"
FIRST_SHOWN = """(() => {
    const all = window.firstShown = [];
    new MutationObserver(() => {
        for (const chart of document.querySelectorAll(".live-chart:has(.js-line[d], .hm)"))
            all.push(chart.closest("[id^=chart-]").id);
    }).observe(document, {childList: true, subtree: true, attributes: true});
})()"""
READ = "() => performance.getEntriesByType('resource').map(entry => [entry.name, entry.startTime])"


@pytest.mark.ci
def test_the_objective_comes_first_and_a_run_waits_for_nothing_that_is_not_seen_yet(new_page, app_url):
    page = new_page()
    page.add_init_script(FIRST_SHOWN)
    page.goto(f"{app_url}/auc?at=3")  # stands still: nothing but the first curve has the page drawn anew
    expect(page.locator("#chart-map .js-plotly-plot")).to_be_visible()
    assert page.evaluate("window.firstShown")[0] == "chart-objective"
    began = {name.rpartition("/")[2]: start for name, start in page.evaluate(READ)}
    # The page's head requests the charts' library: with the page, not after it.
    assert began[LIBRARY.name] < min(start for name, start in began.items() if name == "health")
    assert not any(kind in name for name in began for kind in ("DataFrame", "SyntaxHighlighter"))


TABS = ("Live", "Limits", "Race", "Theory", "Data", "Code")


# Two classes, ordered classes (their colours, thresholds and confusion matrix), and classes without an order.
@pytest.mark.ci
@pytest.mark.parametrize("setting", some(["auc", "ordinal", "multiclass"], 1))
def test_every_tab_has_something_and_axe_finds_nothing_serious_on_it(open_page, setting):
    page, found = open_page(f"{setting}?at=5"), []
    status(page, "step 5 of")
    for tab in some(TABS, 3):
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tabpanel").filter(visible=True)).not_to_be_empty()  # its script has begun
        until_ready(page)
        part = "html" if tab == TABS[0] else '[role="tabpanel"]'  # what is around it stays
        found += [f"{tab}, {line}" for theme in LOOKED_AT for line in found_on(page, theme, part)]
    assert not found, "\n".join(dict.fromkeys(found))


LIGHT, DARK = "rgb(31, 41, 51)", "rgb(228, 233, 238)"


def test_play_is_a_few_keys_away_the_menu_switches_to_dark_and_a_link_that_moves_a_control_of_a_closed_box_is_kept(
    open_page,
):
    page = open_page("auc?at=3&data.n=500")
    status(page, "step 3 of")
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
    number = page.locator("#chart-score .ytick text").first
    expect(number).to_have_css("fill", LIGHT)
    page.get_by_role("button", name="Main menu").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    expect(page.locator(".stApp")).to_have_css("color-scheme", "dark")
    expect(number).to_have_css("fill", DARK)  # charts are drawn again
    page.get_by_role("menuitemradio", name="System").click()  # the menu is still open
    expect(number).to_have_css("fill", LIGHT)
    page.emulate_media(color_scheme="dark")
    expect(number).to_have_css("fill", DARK)
    status(page, "step 3 of")  # the run goes on as it was
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_test_id("stSlider").filter(has_text="500").first).to_be_visible()
    assert "n=500" in page.url


# --- the doors


TITLES = [title for title, _ in DOORS.values()]
IS_ONE_LINE = f"document.querySelector('header').getBoundingClientRect().height < 80 && {IS_NO_WIDER}"


@pytest.mark.ci
@pytest.mark.parametrize("path", ["data", "auc?at=3"])
def test_on_a_phone_the_drawer_has_all_doors_and_closes_behind_the_reader(open_page, path):
    page = open_page(path, viewport=PHONE)
    opens, drawer = page.get_by_test_id("stExpandSidebarButton"), page.get_by_test_id("stSidebarNav")
    opens.click()
    for name in TITLES:
        expect(drawer.get_by_text(name, exact=True)).to_be_in_viewport(ratio=1)
    assert page.evaluate(IS_NO_WIDER)
    drawer.get_by_text("Explore", exact=True).click()
    expect(page).to_have_title("Explore - DSG Lab")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()


def test_an_unknown_address_keeps_style_and_links_and_offers_the_doors_and_a_word_of_the_menu_is_an_address(
    open_page, page_health, app_url
):
    page = open_page("nothing")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    (error,) = page_health.errors  # the address's own answer, 404
    assert "/_stcore/" not in error
    page_health.errors.clear()
    page.locator(".st-key-doors").get_by_role("link", name="Methods").click()
    expect(page).to_have_title("Methods - DSG Lab")
    page.locator(".st-key-method-auc").click()  # anywhere on the card
    expect(page).to_have_title("Ranking - DSG Lab")
    expect(page.locator(".st-key-part-head")).to_be_visible()
    assert page.evaluate(IS_ONE_LINE)
    # On the way to a page without a sidebar, Streamlit sometimes does this, and keeps the sidebar until a later drawing.
    page.evaluate("document.querySelector('.stSidebar .stVerticalBlock').replaceChildren()")
    expect(page.locator("header nav").get_by_role("link", name=TITLES[-1])).to_be_in_viewport()
    page.goto(f"{app_url}/gaps?at=3")
    expect(page).to_have_title("Gaps - DSG Lab")
