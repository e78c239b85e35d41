"""Layout of a setting's page: all in one window, no holes, on a phone the sliders below the charts, and heads of charts that
cover nothing and explain their words."""

import re

import pytest
from cases import some, tiers

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of

from .test_auc_page import choose_speed
from .watched_pages import (
    CONTROLS,
    DESK,
    IS_NO_WIDER,
    PHONE,
    PLOT,
    PROJECTOR,
    STILL,
    TimeoutError,
    at_size,
    expect,
    status,
    until_ready,
)

# For each chart that is shown: what of it sticks out at a side or covers the plot, and text of another size.
FAULTS = """() => [...document.querySelectorAll('.live-chart')].filter(c => c.clientWidth).flatMap(chart => {
    const box = element => element.getBoundingClientRect();
    const own = chart.closest('[id^=chart-]'), alone = chart.closest('[class*="st-key-chart"]');
    const name = own ? own.id : alone.className.match(/st-key-(\\S+)/)[1];
    if (!chart.querySelector('.js-plotly-plot')) return ['a chart is not drawn yet'];
    const plot = box(chart.querySelector('.js-plotly-plot')), whole = box(chart), faults = [];
    const isOut = ({left, right}) => left < whole.left - 1 || right > whole.right + 1;
    for (const part of chart.querySelectorAll('.live-chart-head > *')) {
        if (!part.getClientRects().length) continue; // the map's title, where its switch says the same
        if (isOut(box(part))) faults.push(`${name}: ${part.textContent} sticks out`);
        if (box(part).bottom > plot.top + 1) faults.push(`${name}: ${part.textContent} covers the plot`);
    }
    for (const text of chart.querySelectorAll('svg.main-svg text')) {
        const size = parseFloat(getComputedStyle(text).fontSize);
        if (!box(text).width) continue;
        if (size !== 12) faults.push(`${name}: ${text.textContent} has ${size} px`);
        if (isOut(box(text))) faults.push(`${name}: ${text.textContent} is clipped`);
    }
    if (chart.querySelector('.legend, .gtitle')) faults.push(`${name}: plotly's own legend or title`);
    return faults;
})"""
DRAWN = """() => {
    const charts = [...document.querySelectorAll('.live-chart')];
    return charts.length >= 3 && charts.every(chart => chart.querySelector('.main-svg'));
}"""


def open_drawn(open_page, path, **options):
    page = open_page(path, **options)
    page.wait_for_function(DRAWN)
    return page


def assert_no_faults(page):
    """Fail with the faults that are left when all charts have the size that they are shown at."""
    try:
        page.wait_for_function(f"({FAULTS})().length === 0", timeout=5_000)
    except TimeoutError:
        assert page.evaluate(FAULTS) == []


@pytest.mark.ci
def test_words_of_a_legend_are_explained_to_the_keyboard_and_hide_their_curves(open_page):
    page = open_drawn(open_page, "auc?at=30")
    chart = page.locator("#chart-error")
    tip, mark = chart.get_by_role("tooltip"), chart.get_by_role("button", name="Help for Error of the features")
    mark.focus()
    expect(tip).to_contain_text("h is the twin of f")
    expect(tip).to_contain_text("a third")  # the words of the legend, too
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    chart.locator(".live-chart-word").filter(has_text="calibrated band").click()
    entry = re.compile(r"/glossary\?find=calibrated\+band$")
    expect(tip.get_by_role("link", name="Glossary")).to_have_attribute("href", entry)
    page.locator(".live-status").click()
    expect(tip).to_be_hidden()
    mark.press("Enter")
    word = chart.get_by_role("button", name="measured")
    word.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "false")
    is_hidden = f"({PLOT})('chart-error').data.find(trace => trace.name === 'measured').visible === 'legendonly'"
    page.wait_for_function(is_hidden)
    page.locator(".st-key-step button").first.click()
    status(page, "step 31 of")
    page.wait_for_function(is_hidden)  # it stays hidden when the chart is updated


PLACE = """selector => {
    const place = document.querySelector(selector)?.getBoundingClientRect();  // none while a part is drawn again
    return place?.width && place.toJSON();
}"""


def box(page, selector):
    return page.wait_for_function(PLACE, arg=selector).json_value()


# Whether the map is drawn at the size that it is shown at, and as a square.
SQUARE = """() => {
    const box = selector => document.querySelector(selector).getBoundingClientRect();
    const drawn = box('#chart-map .nsewdrag'), room = box('#chart-map').width;
    const plot = document.querySelector('#chart-map .js-plotly-plot');
    const isDrawnAnew = Math.abs(plot.getBoundingClientRect().width - plot._fullLayout.width) < 1;
    return isDrawnAnew && Math.abs(drawn.width - drawn.height) <= 2 && drawn.width > 0.55 * Math.min(390, room);
}"""
MOST_CONTROLS = 36
BAR = 50  # pixels of the app's bar at the window's top
MORE = {
    "auc": "&solver.step_size=0.2&changes=0:step_size=0.5,40:step_size=0.2",
    "s3vm": "&data.name=circles",
    "multiclass": "&view.graph=true",
}


@pytest.mark.parametrize("name", tiers(sorted(SETTINGS)[::-1], 1, 1))
def test_a_run_is_seen_without_scrolling_and_its_charts_fit_every_window(open_page, name):
    # Every second page is opened on a phone, and turned into a desk's afterwards. The widest window is tried for two.
    windows = (DESK, PROJECTOR, PHONE) if name in ("auc", "multiclass") else (DESK, PHONE)
    windows = windows[:: 1 - 2 * (list(SETTINGS).index(name) % 2)]
    page = open_drawn(open_page, f"{name}?at=60{MORE.get(name, '')}", viewport=windows[0])
    for window in windows:
        at_size(page, *window)
        page.get_by_role("tab", name="Live").click()
        page.wait_for_function(SQUARE)
        assert_no_faults(page)
        assert page.evaluate(IS_NO_WIDER)
        expect(page.locator("#chart-error .xtitle")).to_have_text("iteration t")
        if window == DESK:
            assert_all_in_the_window(page)
        if window == PHONE:  # whose bar names no keys, and is no wider
            expect(page.locator(".st-key-part-transport kbd").filter(visible=True)).to_have_count(0)
            assert box(page, ".st-key-part-transport .stNumberInput")["right"] <= 390
            assert box(page, ".st-key-part-transport")["height"] < 64
        page.get_by_role("tab", name="Theory").click()
        expect(page.locator(".st-key-chart-terms .main-svg").first).to_be_visible()
        if window == windows[0]:
            page.get_by_text("Details: scores, single features and points").click()
        expect(page.locator(".st-key-chart-details .main-svg").first).to_be_visible()
        assert_no_faults(page)


def assert_all_in_the_window(page):
    """Fail where a part of the page stands above one that comes before it, or below the window's end."""
    parts = (".st-key-part-sentence", ".st-key-part-transport", ".live-judgement", '[role="tablist"]', "#chart-map")
    tops = [box(page, part)["y"] for part in (*parts, "#chart-error")]
    assert tops == sorted(tops)
    line, chart_map, curve, score, error = (
        box(page, part) for part in (".live-status", "#chart-map", "#chart-objective", "#chart-score", "#chart-error")
    )
    assert line["height"] < 24  # one line
    assert line["bottom"] <= box(page, ".live-judgement")["y"]
    assert page.locator('.st-key-part-front [data-testid="stSlider"]').count() >= 4  # what a reader moves
    for part in (".st-key-part-front", "#chart-error", "#chart-map"):
        assert box(page, part)["bottom"] <= DESK[1], part
    controls = page.evaluate(CONTROLS)
    assert len(controls) <= MOST_CONTROLS, controls
    assert chart_map["right"] <= curve["x"]
    assert curve["bottom"] <= score["y"]
    assert score["bottom"] <= error["y"]


@pytest.mark.ci
@pytest.mark.parametrize("link", ["auc?lesson=unlabeled", "multiclass?lesson=tail"])
def test_a_page_before_a_class_is_large_and_seen_without_scrolling(open_page, link):
    page = open_page(f"{link}&view.speed=instant&present=1", viewport=PROJECTOR)
    page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button")
    until_ready(page)
    page.keyboard.press("Escape")
    page.locator("#chart-error .main-svg").first.wait_for()
    page.wait_for_function("parseFloat(getComputedStyle(document.documentElement).fontSize) > 26")
    page.wait_for_function("(main => main.scrollHeight <= main.clientHeight)(document.querySelector('.stMain'))")
    assert box(page, "#chart-error")["bottom"] <= PROJECTOR[1]


@pytest.mark.ci
def test_a_page_within_another_has_no_menu(open_page):
    page = open_drawn(open_page, "auc?embed=true&at=60&hide=sidebar,tabs,transport")
    expect(page.get_by_role("link", name="Papers")).to_have_count(0)
    for hidden in ('[data-testid="stSidebar"]', '[role="tablist"]', ".st-key-part-transport"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert box(page, ".st-key-part-sentence")["y"] < 40


@pytest.mark.parametrize("name", tiers(SETTINGS, 0, 1))
def test_on_a_phone_map_score_and_the_slider_that_one_touches_are_on_one_screen(open_page, name):
    page, prefix = open_drawn(open_page, f"{name}?at=60", viewport=PHONE), profile_of(SETTINGS[name]).prefix
    expect(page.locator(f".st-key-{prefix}step_size")).not_to_be_in_viewport()
    chart_map = box(page, "#chart-map")
    assert chart_map["width"] > 340
    assert chart_map["y"] <= 80
    assert min(top for _, top in page.evaluate(CONTROLS) if top > BAR) >= chart_map["y"]
    page.get_by_test_id("stExpandSidebarButton").click()
    for key in ("step_size", "n_features"):
        expect(page.locator(f".st-key-{prefix}{key}")).to_be_in_viewport(ratio=0.9)
    at_rest(page, ('[data-testid="stSidebar"]',))  # the drawer has come
    judgement = box(page, ".live-judgement")
    assert abs(judgement["bottom"] - box(page, '[data-testid="stSidebar"]')["y"]) <= 2
    for chart in ("#chart-map", "#chart-score"):
        assert box(page, chart)["bottom"] <= judgement["y"], chart
    slider = page.locator(f".st-key-{prefix}step_size input[type=range]")
    slider.press("ArrowLeft")
    page.wait_for_url("**step_size=*")
    expect(page.locator(f".st-key-{prefix}step_size")).to_be_in_viewport()


@pytest.mark.weekly
def test_a_diverged_run_says_so_where_it_moves_and_covers_nothing(open_page):
    page = open_drawn(open_page, "auc?solver.step_size=1000&view.speed=slow&at=2", viewport=DESK)
    parts = ("#chart-map", "#chart-objective", '[role="tablist"]', ".live-judgement")
    before = at_rest(page, parts)
    choose_speed(page, "fast")
    page.locator(".st-key-play button").click()
    health = page.locator(".live-judgement")
    expect(health).to_have_attribute("data-tone", "red")
    expect(health.get_by_role("button", name="Smaller step")).to_be_in_viewport(ratio=1)
    assert box(page, ".live-judgement")["bottom"] <= box(page, '[role="tablist"]')["y"] + 1
    assert at_rest(page, parts) == before


def at_rest(page, parts):
    """Return at which heights parts of a page are when none of them moves any more."""
    for part in parts:
        page.locator(part).first.evaluate(STILL)
    return [box(page, part)["y"] for part in parts]


# What a finger meets on a phone's screen 18 pixels above and below the middle of each control.
MISSED = """() => [...document.querySelectorAll('.stApp :is(button, a[href], summary, label:has(input))')].flatMap(part => {
    const {left, right, top, bottom} = part.getBoundingClientRect(), x = (left + right) / 2, y = (top + bottom) / 2;
    const meets = far => part.contains(document.elementFromPoint(x, y + far));
    const isLaterTapped = x < 0 || x > innerWidth || y < 20 || y > innerHeight - 20 || part.disabled || !meets(0);
    const isInText = part.closest('p, li, table, .stDataFrame, .stMultiSelect, .stTooltipIcon');
    return isLaterTapped || isInText || meets(-16) && meets(18) ? [] : [part.ariaLabel || part.innerText];
})"""


@pytest.mark.ci
@pytest.mark.parametrize(
    "path",
    some(["auc?at=30", "data", "", "explore", "convergence", "auc?lesson=five-labels", "papers", "take_away"], 2),
)
def test_all_that_a_finger_taps_on_a_phone_is_40_pixels_high(open_page, path):
    page = open_page(path, viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_role("button", name=re.compile("Help for|Main menu")).first.wait_for()
    until_ready(page)
    assert page.evaluate(MISSED) == []
