"""What several tests do with a page: they read its charts, choose from its lists, go by keys, and have axe-core look at it."""

import itertools
import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe
from cases import some
from playwright.sync_api import TimeoutError as TimeoutError
from playwright.sync_api import expect

from .conftest import LONG

expect.set_options(timeout=LONG)

DESK, PROJECTOR, PHONE = (1366, 768), (1920, 1080), (390, 844)
IS_NO_WIDER = "document.documentElement.scrollWidth <= innerWidth"  # a page than its window
PLOT = "chart => document.querySelector(`:is(#${chart}, .st-key-${chart}) .js-plotly-plot`)"
CURVE = f"([chart, name]) => ({PLOT})(chart)?.data.find(trace => trace.name === name)?.y ?? []"

# The controls of a page that are seen and can be used, each with its height in the window; marks of help are none, nor is what
# opens the menu or the sidebar.
CONTROLS = """() => {
    const kinds = 'a[href], button, input, select, textarea, summary, [role=tab], [role=slider], [role=switch], [role=combobox],' +
        '[role=application]';
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


def until_ready(page):
    """Wait until the page is connected, its script has ended and nothing is being filled in.

    A live fragment runs again at once: there, wait for a text of the page afterwards.
    """
    for name, value in (("connection", "CONNECTED"), ("script", "notRunning")):
        page.wait_for_selector(f'[data-testid="stApp"][data-test-{name}-state="{value}"]', state="attached")
    page.wait_for_selector('[data-testid="stSkeleton"]', state="detached")


def status(page, text, timeout=LONG):
    """Wait until the run's status has a text, or fits a pattern."""
    expect(page.locator(".live-status")).to_contain_text(text, timeout=timeout)


def wait_for_points(page, count, chart="chart-objective", name="training data"):
    """Wait until a curve has so many points."""
    page.wait_for_function(f"args => ({CURVE})(args).length >= {count}", arg=[chart, name])


def at_size(page, width, height):
    """Give the window another size."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(f"innerWidth === {width}")


def give(page, name, content):
    """Give the page a file."""
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)


STILL = """box => new Promise(done => {
    let top = NaN, frames = 0;
    const look = () => {
        const now = box.getBoundingClientRect().top;
        frames = now === top ? frames + 1 : 0;
        top = now;
        frames < 20 ? requestAnimationFrame(look) : done();
    };
    look();
})"""


def choose(page, box, option):
    """Choose an option by click. An open list closes when the page scrolls, so the box is brought into view before."""
    box.hover()
    box.evaluate(STILL)
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def tab_to(page, selector, most=100):
    """Go on by Tab until an element of that kind has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no way by Tab to {selector}")


def move_slider(page, key, presses):
    """Move a slider by keys, to the right or, by a negative number, to the left."""
    slider = page.locator(f".st-key-{key} input[type=range]")
    slider.focus()
    for _ in range(abs(presses)):
        slider.press("ArrowRight" if presses > 0 else "ArrowLeft")


# --- names that a screen reader says

KINDS = "button|link|textbox|combobox|slider|spinbutton|checkbox|switch|radio|tab|searchbox"
CONTROL = re.compile(rf"- '?({KINDS}) (\"(?:[^\"\\]|\\.)*\"|/.*/)")
# Of Streamlit's own controls: each stands within the list, the number or the table that it belongs to.
OF_STREAMLIT = ("Open", "Increment", "Decrement", "Show/hide columns", "Download as CSV", "Search", "Fullscreen")


def names_of_several(page):
    """Return the names that several controls of a page share, with their kind; links to one address count once."""
    lines, seen = [*page.locator("body").aria_snapshot().splitlines(), ""], set()
    shared = set()
    for number, (line, below) in enumerate(itertools.pairwise(lines)):
        if found := CONTROL.match(line.strip()):
            kind, name = found.groups()
            place = below.strip() if kind == "link" else number
            shared |= {(kind, name) for other in seen if other[:2] == (kind, name) and other[2] != place}
            seen.add((kind, name, place))
    return sorted(one for one in shared if one[1].strip('"') not in OF_STREAMLIT)


# --- axe-core

THEMES = ("light", "dark")
LOOKED_AT = some(THEMES, 1)  # in the dark every week
BARRED = ("serious", "critical")
# Besides what the guidelines ask, that a page can be walked through by its headings.
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
THEMED = ["color-contrast"]  # what a theme can change
# Tabs that are not open are hidden, but axe-core reads all of a document, which takes it longer than the open one. So do the
# points of a chart, thousands of shapes without a word: the figure that they are in has one name for all.
OTHERS_OUT = """() => {
    const silent = '[data-testid="stTabPanel"]:not([role]), [role="figure"] .scatterlayer g.points';
    window.others = [...document.querySelectorAll(silent)].map(part => [part, [...part.childNodes]]);
    for (const [part] of window.others) part.replaceChildren();
}"""
OTHERS_IN = "() => { for (const [part, held] of window.others) part.replaceChildren(...held); }"
AT_ONCE = "* {transition: none !important}"  # parts that are drawn again, or in another theme, fade in


def found_on(page, theme, part="html"):
    """Return what axe-core objects to with the page, or a part of it, in a theme: all rules in light, those on colours in dark."""
    if not page.evaluate("typeof axe === 'object'"):  # a document needs the library once, not for each look at it
        page.evaluate(Axe().axe_script)
        page.add_style_tag(content=AT_ONCE)
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("theme => dsgLab.theme === theme", arg=theme)  # the page is drawn again
    page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached")
    page.wait_for_selector('[data-stale="true"]', state="detached")  # stale parts are pale
    rules = {"type": "tag", "values": list(RULES)} if theme == "light" else {"type": "rule", "values": THEMED}
    page.evaluate(OTHERS_OUT)
    options = {"resultTypes": ["violations"], "runOnly": rules}
    response = page.evaluate("([part, options]) => axe.run(part, options)", [part, options])
    page.evaluate(OTHERS_IN)
    return [
        f"{theme}: {rule['impact']} {rule['id']}: {node['target'][0]} {node['html'][:160]}"
        for rule in response["violations"]
        if rule["impact"] in BARRED or re.match("heading-|page-has-heading", rule["id"])
        for node in rule["nodes"]
    ]


def assert_accessible(page, themes=LOOKED_AT):
    """Fail with what axe-core objects to."""
    found = [line for theme in themes for line in found_on(page, theme)]
    assert not found, "\n".join(found)
