"""axe-core on the tabs of a setting of each kind; test_loading.py has it look at the other pages."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe
from cases import some
from playwright.sync_api import expect

# Two classes, ordered classes (their colours, thresholds and confusion matrix), and classes without an order.
SETTINGS = {"auc": "", "ordinal": "ord_", "multiclass": "mc_"}
TABS = ("Live", "Limits", "Race", "Theory", "Data", "Code")
OWN_TABS = TABS[:2]  # which a setting draws itself
WHOLE = "auc"  # the other tabs, and all that is around them, are the same on every page
THEMES = ("light", "dark")
LOOKED_AT = some(THEMES, 1)  # where other tests ask axe-core, too: in the dark every week
STEPS = 5  # enough for every tab to have something to show
BARRED = ("serious", "critical")
# Besides what the guidelines ask, that a page can be walked through by its headings.
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


PANEL = '[role="tabpanel"]'
# Tabs that are not open are hidden, but axe-core reads all of a document, which takes it longer than the open one. So do the
# points of a chart, thousands of shapes without a word: the figure that they are in has one name for all.
OTHERS_OUT = """() => {
    const silent = '[data-testid="stTabPanel"]:not([role]), [role="figure"] .scatterlayer g.points';
    window.others = [...document.querySelectorAll(silent)].map(part => [part, [...part.childNodes]]);
    for (const [part] of window.others) part.replaceChildren();
}"""
OTHERS_IN = "() => { for (const [part, held] of window.others) part.replaceChildren(...held); }"
LOOK = "([part, options]) => axe.run(part, options)"
THEMED = ["color-contrast"]  # what a theme can change
AT_ONCE = "* {transition: none !important}"  # parts that are drawn again, or in another theme, fade in


def found_on(page, theme, part=None):
    """Return what axe-core objects to with the page, or a part of it, in a theme: all rules in light, those on colours in dark."""
    if not page.evaluate("typeof axe === 'object'"):  # a document needs the library once, not for each look at it
        page.evaluate(Axe().axe_script)
        page.add_style_tag(content=AT_ONCE)
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("theme => dsgLab.theme === theme", arg=theme)  # the page is drawn again
    page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached")
    rules = {"type": "tag", "values": list(RULES)} if theme == "light" else {"type": "rule", "values": THEMED}
    page.wait_for_selector('[data-stale="true"]', state="detached")  # stale parts are pale
    page.evaluate(OTHERS_OUT)
    response = page.evaluate(LOOK, [part or "html", {"resultTypes": ["violations"], "runOnly": rules}])
    page.evaluate(OTHERS_IN)
    return [
        f"{theme}: {rule['impact']} {rule['id']}: {node['target'][0]} {node['html'][:160]}"
        for rule in response["violations"]
        if rule["impact"] in BARRED or rule["id"].startswith(("heading-", "page-has-heading"))
        for node in rule["nodes"]
    ]


@pytest.mark.ci
@pytest.mark.parametrize("setting", some(SETTINGS, 1))
def test_every_tab_has_something_and_axe_finds_nothing_serious_on_it(open_page, wait_ready, setting):
    page = open_page(f"{setting}?{SETTINGS[setting]}at={STEPS}")
    page.add_style_tag(content=AT_ONCE)
    expect(page.locator(".live-status")).to_contain_text(f"step {STEPS} of", timeout=30_000)
    found = []
    for number, tab in enumerate(some(TABS, 3) if setting == WHOLE else OWN_TABS):
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.get_by_role("tabpanel").filter(visible=True)).not_to_be_empty(
            timeout=15_000
        )  # its script has begun
        wait_ready(page)
        part = None if tab == TABS[0] and setting == WHOLE else PANEL  # what is around it stays
        # Another theme draws the whole page anew: a tab begins with the one in which the last was left. Only the tabs that
        # settings draw themselves are looked at in the dark for each of them.
        themes = THEMES[:: 1 - 2 * (number % 2)] if number == 0 or [*THEMES] == LOOKED_AT else THEMES[:1]
        found += [f"{tab}, {line}" for theme in themes for line in found_on(page, theme, part)]
    assert not found, "\n".join(dict.fromkeys(found))


@pytest.mark.ci
def test_charts_are_drawn_again_when_the_theme_changes(open_page):
    page = open_page("auc?at=3")
    number = page.locator("#chart-score .ytick text").first
    expect(number).to_have_css("fill", "rgb(31, 41, 51)")
    page.emulate_media(color_scheme="dark")
    expect(number).to_have_css("fill", "rgb(228, 233, 238)")
