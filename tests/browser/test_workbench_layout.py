"""Layout of a setting's page: all in one window, no holes, on a phone the sliders below the charts, and heads of charts that
cover nothing and explain their words."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from cases import some, tiers
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from .test_auc_page import choose_speed

SETTINGS = {
    "similar_unlabeled": "su_",
    "auc": "",
    "s3vm": "svm_",
    "ordinal": "ord_",
    "multiclass": "mc_",
    "supervised": "sup_",
}
# For each chart that is shown: what of it sticks out at a side or covers the plot, and text of another size.
FAULTS = """() => [...document.querySelectorAll('.live-chart')].filter(c => c.clientWidth).flatMap(chart => {
    const box = element => element.getBoundingClientRect();
    const own = chart.closest('[id^=chart-]'), alone = chart.closest('[class*="st-key-chart"]');
    const name = own ? own.id : alone.className.match(/st-key-(\\S+)/)[1];
    if (!chart.querySelector('.js-plotly-plot')) return ['a chart is not drawn yet'];
    const plot = box(chart.querySelector('.js-plotly-plot')), whole = box(chart), faults = [];
    for (const part of chart.querySelectorAll('.live-chart-head > *')) {
        if (!part.getClientRects().length) continue; // the map's title, where its switch says the same
        const {left, right, bottom} = box(part);
        if (left < whole.left - 1 || right > whole.right + 1) faults.push(`${name}: ${part.textContent} sticks out`);
        if (bottom > plot.top + 1) faults.push(`${name}: ${part.textContent} covers the plot`);
    }
    for (const text of chart.querySelectorAll('svg.main-svg text')) {
        const {left, right, width} = box(text), size = parseFloat(getComputedStyle(text).fontSize);
        if (!width) continue;
        if (size !== 12) faults.push(`${name}: ${text.textContent} has ${size} px`);
        if (left < whole.left - 1 || right > whole.right + 1) faults.push(`${name}: ${text.textContent} is clipped`);
    }
    if (chart.querySelector('.legend, .gtitle')) faults.push(`${name}: plotly's own legend or title`);
    return faults;
})"""


def assert_no_faults(page):
    """Fail with the faults that are left when all charts have the size that they are shown at."""
    try:
        page.wait_for_function(f"({FAULTS})().length === 0", timeout=5_000)
    except PlaywrightError:
        assert page.evaluate(FAULTS) == []


FILLED = '[data-testid="stExpander"] [data-testid="stSlider"]'  # boxes that are closed, which come last
DRAWN = """() => {
    const charts = [...document.querySelectorAll('.live-chart')];
    return charts.length >= 3 && charts.every(chart => chart.querySelector('.main-svg'));
}"""


def open_drawn(open_page, path, **options):
    page = open_page(path, **options)
    page.wait_for_function(DRAWN, timeout=30_000)
    return page


@pytest.mark.ci
def test_words_of_a_legend_are_explained_to_the_keyboard_and_hide_their_curves(open_page, wait_ready):
    page = open_drawn(open_page, "auc?at=30")
    chart = page.locator("#chart-error")
    tip = chart.get_by_role("tooltip")
    chart.get_by_role("button", name="Help for Error of the features").focus()
    expect(tip).to_contain_text("h is the twin of f")
    expect(tip).to_contain_text("a third")  # the words of the legend, too
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    chart.locator(".live-chart-word").filter(has_text="measured").hover()
    expect(tip).to_have_text("The mean of |f − h|² over 256 test points.")
    chart.locator(".live-chart-word").filter(has_text="calibrated band").click()
    expect(tip).to_contain_text("computed during the run")
    expect(tip.get_by_role("link", name="Glossary")).to_have_attribute(
        "href", re.compile(r"/glossary\?find=calibrated\+band$")
    )
    page.locator(".live-status").click()
    expect(tip).to_be_hidden()
    chart.get_by_role("button", name="Help for Error of the features").press("Enter")
    word = chart.get_by_role("button", name="measured")
    word.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "false")
    shown = "document.querySelector('#chart-error .js-plotly-plot').data.filter(t => t.name === 'measured')[0].visible"
    page.wait_for_function(f"{shown} === 'legendonly'")
    page.locator(".st-key-step button").first.click()
    expect(page.locator(".live-status")).to_contain_text("step 31 of")
    page.wait_for_function(f"{shown} === 'legendonly'")  # it stays hidden when the chart is updated
    assert_what_the_numbers_mean_is_reached_by_keyboard(page, wait_ready)


def assert_what_the_numbers_mean_is_reached_by_keyboard(page, wait_ready):
    page.locator(FILLED).first.wait_for(state="attached", timeout=30_000)  # a part that is drawn again loses the focus
    wait_ready(page)
    page.get_by_role("button", name="Help for Objective", exact=True).focus()
    said = page.get_by_role("tooltip", name="").filter(has_text="The number that the run minimises")
    expect(said.first).to_be_visible()


PARTS = {
    "sidebar": '[data-testid="stSidebar"]',
    "transport": ".st-key-part-transport",
    "view": ".st-key-part-view",
    "limits": ".live-judgement",
    "map": "#chart-map",
    "curves": "#chart-objective",
    "error": "#chart-error",
    "tabs": '[role="tablist"]',
}


def box(page, selector):
    part = page.locator(selector).first
    for _ in range(100):
        part.wait_for()  # a part that is being drawn again has no place for a moment
        if (found := part.bounding_box()) is not None:
            return found
        page.wait_for_timeout(50)
    raise AssertionError(f"{selector} keeps no place for five seconds")


def ends(page, selector):
    found = box(page, selector)
    return found["x"], found["x"] + found["width"], found["y"], found["y"] + found["height"]


def heights(page, parts):
    return [box(page, part)["y"] for part in parts]


def at_rest(page, parts):
    """Return at which heights parts of a page are that has just been opened: when they are there half a second later, too."""
    found = heights(page, parts)
    for _ in range(20):
        page.wait_for_timeout(500)
        if (before := found) == (found := heights(page, parts)):
            return found
    raise AssertionError(f"the page does not come to rest: {before}, then {found}")


# Whether the map is drawn at the size that it is shown at, and as a square.
SQUARE = """() => {
    const box = selector => document.querySelector(selector).getBoundingClientRect();
    const drawn = box('#chart-map .nsewdrag'), room = box('#chart-map').width;
    const plot = document.querySelector('#chart-map .js-plotly-plot');
    const isDrawnAnew = Math.abs(plot.getBoundingClientRect().width - plot._fullLayout.width) < 1;
    return isDrawnAnew && Math.abs(drawn.width - drawn.height) <= 2 && drawn.width > 0.55 * Math.min(390, room);
}"""
# The controls of a page that are seen and can be used, each with its height in the window; marks of help are none, nor is what
# opens the menu or the sidebar.
CONTROLS = """() => {
    const kinds = 'a[href], button, input, select, textarea, summary, [role=tab], [role=slider], [role=switch], [role=combobox]';
    const isHelp = one => one.matches('.live-chart-help, [aria-label^="Help for"]');
    const all = [...document.querySelectorAll(kinds)].filter(one => {
        const {width, height, top, bottom} = one.getBoundingClientRect();
        const isPart = one.parentElement.closest('[role=combobox], .stSelectbox') && one.matches('button');
        const isSeen = bottom > 0 && top < innerHeight && (width || height);
        return !one.disabled && !isPart && one.ariaHidden !== 'true' && !isHelp(one) && isSeen &&
            one.checkVisibility({visibilityProperty: true});
    });
    const own = all.filter(one => !all.some(other => other !== one && one.contains(other)));
    return own.map(one => [one.textContent || one.ariaLabel || one.className, one.getBoundingClientRect().top]);
}"""
MOST_CONTROLS = 36
BAR = 50  # pixels of the app's bar at the window's top
WINDOWS = ((1366, 768), (1920, 1080), (390, 844))
MORE = {
    "auc": "&solver.step_size=0.2&changes=0:step_size=0.5,40:step_size=0.2",
    "s3vm": "&data.name=circles",
    "multiclass": "&view.graph=true",
}


@pytest.mark.parametrize("name", tiers([*SETTINGS][::-1], 1, 1))
def test_a_run_is_seen_without_scrolling_and_its_charts_fit_every_window(open_page, name):
    # Every second page is opened on a phone, and turned into a desk's afterwards. The widest window is tried for two.
    windows = WINDOWS if name in ("auc", "multiclass") else WINDOWS[::2]
    windows = windows[:: 1 - 2 * (list(SETTINGS).index(name) % 2)]
    page = open_drawn(open_page, f"{name}?at=60{MORE.get(name, '')}", viewport=windows[0])
    for width, height in windows:
        page.set_viewport_size({"width": width, "height": height})
        page.get_by_role("tab", name="Live").click()
        page.wait_for_function(f"{width} === window.innerWidth && ({SQUARE})()")
        assert_no_faults(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(page.locator("#chart-error .xtitle")).to_have_text("iteration t")
        if width == 1366:
            assert_all_in_the_window(page)
        if width == 390:
            assert_the_bar_is_a_phones(page)
        page.get_by_role("tab", name="Theory").click()
        expect(page.locator(".st-key-chart-terms .main-svg").first).to_be_visible()
        assert_no_faults(page)


@pytest.mark.ci
@pytest.mark.parametrize("link", ["auc?lesson=unlabeled", "multiclass?lesson=tail"])
def test_a_page_before_a_class_is_large_and_seen_without_scrolling(open_page, wait_ready, link):
    page = open_page(f"{link}&view.speed=instant&present=1", viewport=(1920, 1080))
    page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button")
    wait_ready(page)
    page.keyboard.press("Escape")
    page.locator("#chart-error .main-svg").first.wait_for()
    page.wait_for_function("parseFloat(getComputedStyle(document.documentElement).fontSize) > 26")
    page.wait_for_function(
        "() => {const {scrollHeight, clientHeight} = document.querySelector('.stMain'); return scrollHeight <= clientHeight}"
    )
    assert ends(page, "#chart-error")[3] <= 1080


def assert_the_bar_is_a_phones(page):
    """Fail where the bar names keys that a phone does not have, or is wider than it."""
    expect(page.locator(".st-key-part-transport kbd").filter(visible=True)).to_have_count(0)
    assert ends(page, ".st-key-part-transport .stNumberInput")[1] <= 390
    assert box(page, ".st-key-part-transport")["height"] < 64


def assert_all_in_the_window(page):
    """Fail where a part of the page stands above one that comes before it, or below the window's end."""
    parts = [
        ".st-key-part-sentence",
        ".st-key-part-transport",
        ".live-judgement",
        '[role="tablist"]',
        "#chart-map",
    ]
    tops = [box(page, part)["y"] for part in [*parts, "#chart-error"]]
    assert tops == sorted(tops)
    assert box(page, ".live-status")["height"] < 24  # one line
    assert ends(page, ".live-status")[3] <= box(page, ".live-judgement")["y"]
    assert page.locator('.st-key-part-front [data-testid="stSlider"]').count() >= 4  # what a reader moves
    assert ends(page, ".st-key-part-front")[3] <= 768
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= MOST_CONTROLS, controls
    assert ends(page, "#chart-error")[3] <= 768
    assert ends(page, "#chart-map")[3] <= 768
    assert ends(page, "#chart-map")[1] <= box(page, "#chart-objective")["x"]
    assert ends(page, "#chart-objective")[3] <= box(page, "#chart-score")["y"]
    assert ends(page, "#chart-score")[3] <= box(page, "#chart-error")["y"]


@pytest.mark.ci
def test_a_page_within_another_has_no_menu(open_page):
    page = open_drawn(open_page, "auc?embed=true&at=60&hide=sidebar,tabs,transport")
    expect(page.get_by_role("link", name="Papers")).to_have_count(0)
    for hidden in ("sidebar", "tabs", "transport"):
        expect(page.locator(PARTS[hidden]).first).to_be_hidden()
    assert box(page, ".st-key-part-sentence")["y"] < 40


@pytest.mark.parametrize("name", tiers(SETTINGS, 0, 1))
def test_on_a_phone_map_score_and_the_slider_that_one_touches_are_on_one_screen(open_page, name):
    page, prefix = open_drawn(open_page, f"{name}?at=60", viewport=(390, 844)), SETTINGS[name]
    expect(page.locator(f".st-key-{prefix}step_size")).not_to_be_in_viewport()
    assert box(page, "#chart-map")["width"] > 340
    assert box(page, "#chart-map")["y"] <= 80
    below = [top for _, top in page.evaluate(CONTROLS) if top > BAR]
    assert min(below) >= box(page, "#chart-map")["y"]
    page.get_by_test_id("stExpandSidebarButton").click()
    for key in ("step_size", "n_features"):
        expect(page.locator(f".st-key-{prefix}{key}")).to_be_in_viewport(ratio=0.9)
    page.wait_for_timeout(500)  # the drawer has come
    drawer = box(page, PARTS["sidebar"])["y"]
    _, _, top, bottom = ends(page, PARTS["limits"])
    assert drawer - 2 <= bottom <= drawer + 2
    assert ends(page, "#chart-map")[3] <= top
    assert ends(page, "#chart-score")[3] <= top
    if name != "auc":
        return
    slider = page.locator(".st-key-step_size input[type=range]")
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_url("**step_size=0.2*", timeout=15_000)
    expect(page.locator(".st-key-step_size")).to_be_in_viewport()


@pytest.mark.weekly
def test_a_diverged_run_says_so_where_it_moves_and_covers_nothing(open_page):
    page = open_drawn(open_page, "auc?solver.step_size=1000&view.speed=slow&at=2")
    assert_diverges_and_covers_nothing(page, 1280)
    for width, height in some(((390, 844), (1920, 1080)), 1):
        begin_again(page)
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(f"innerWidth === {width}")
        assert_diverges_and_covers_nothing(page, width)


def begin_again(page):
    """Bring a run that has ended to its beginning, where it waits."""
    choose_speed(page, "slow")
    page.locator(".st-key-reset button").first.click()
    expect(page.locator(".live-status")).to_contain_text("step 0 of", timeout=15_000)
    expect(page.locator(".live-judgement")).not_to_have_attribute("data-tone", "red")


def assert_diverges_and_covers_nothing(page, width):
    """Fail if the sentence of a diverging run moves or covers a part of its page."""
    parts = ("#chart-map", "#chart-objective", '[role="tablist"]', ".live-judgement")
    before = at_rest(page, parts)
    choose_speed(page, "fast")
    page.locator(".st-key-play button").click()
    health = page.locator(".live-judgement")
    expect(health).to_have_attribute("data-tone", "red", timeout=15_000)
    remedy = health.get_by_role("button", name="Smaller step")
    if width < 640:  # below the pictures
        remedy.scroll_into_view_if_needed()
    expect(remedy).to_be_in_viewport(ratio=1)
    left, right, _, bottom = ends(page, ".live-judgement")
    assert width < 640 or bottom <= ends(page, '[role="tablist"]')[2] + 1
    assert left >= 0
    assert right <= width
    if width >= 1200:
        assert heights(page, parts) == before
