"""Back, reload, keys and the first look in a real browser: nothing is lost, and nothing happens unseen."""

import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from cases import some
from playwright.sync_api import expect

from .test_auc_page import choose_speed, move_slider, step_number, wait_for_points


def speed_of(page):
    return page.locator(".st-key-speed").get_by_role("combobox").input_value()


@pytest.mark.ci
def test_back_and_the_menu_lead_to_the_page_as_it_was_and_back_then_home(open_page):
    page = open_page("", is_first_visit=True)
    page.get_by_role("link", name="Ranking").first.click()
    wait_for_points(page, 2)
    choose_speed(page, "slow")
    page.wait_for_url(re.compile("speed=slow"))
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=15_000)
    entries = page.evaluate("history.length")
    page.locator("header nav").get_by_role("link", name="Methods").click()
    page.wait_for_url(re.compile("/methods"))
    page.get_by_role("link", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)  # more than it begins with: the page is as it stays
    assert page.evaluate("history.length") == entries + 2
    page.go_back()
    page.wait_for_url(re.compile("/methods"))
    page.go_back()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    expect(page.locator(".st-key-lam")).to_contain_text("0.002")
    assert speed_of(page) == "slow"
    step = step_number(page)
    expect(page.locator(".live-status")).not_to_contain_text(f"step {step} of", timeout=15_000)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded")
    page.go_back()
    expect(page.get_by_role("heading", name="Labels are expensive")).to_be_visible(timeout=15_000)
    page.get_by_role("link", name="Ranking").first.click()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    expect(page.locator(".st-key-lam")).to_contain_text("0.002")
    assert speed_of(page) == "slow"


@pytest.mark.ci
def test_back_from_another_setting_leads_to_the_run_as_it_was(open_page):
    page = open_page("auc?view.speed=slow&seed=5", is_first_visit=True)
    wait_for_points(page, 2)
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.wait_for_url(re.compile(r"at=\d+-playing"), timeout=15_000)
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Setting").click()
    page.get_by_role("option", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)
    page.go_back()
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    assert "seed=5" in page.url
    assert speed_of(page) == "slow"


@pytest.mark.weekly
def test_a_reload_in_mid_run_comes_back_near_where_it_was_and_goes_on(open_page):
    page = open_page("auc?view.speed=slow")
    page.wait_for_url(re.compile(r"at=\d\d-playing"), timeout=30_000)
    entries, before = page.evaluate("history.length"), step_number(page)
    page.reload()
    wait_for_points(page, 10)
    assert step_number(page) > before - 20
    assert page.evaluate("history.length") == entries
    expect(page.locator(".live-status")).to_contain_text("running")


def test_keys_are_heard_after_a_slider_has_been_touched(open_page):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 2)
    move_slider(page, "lam", 1)
    expect(page.locator(".live-status")).to_contain_text("1 change recorded", timeout=15_000)
    page.keyboard.press("p")
    expect(page.locator(".live-status")).to_contain_text("paused", timeout=15_000)
    stopped = step_number(page)
    page.keyboard.press("s")
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped + 1} of", timeout=15_000)
    page.keyboard.press("0")
    expect(page.locator(".live-status")).to_contain_text("step 0 of", timeout=15_000)
    assert page.evaluate("document.activeElement.type") == "range"


# Hides the page for a second after its first curve is drawn, as a slow machine does, and notes the step that is seen then.
FIRST_STEP = """() => {
    const hide = document.createElement("style");
    hide.textContent = ".stAppViewContainer {visibility: hidden !important}";
    let isDrawn = false;
    const watch = () => {
        if (!hide.isConnected && !isDrawn) document.head?.append(hide);
        const chart = document.querySelector("#chart-objective .js-plotly-plot");
        const lines = chart ? chart.querySelectorAll(".scatterlayer .trace path.js-line[d]") : [];
        const step = /step (\\d+) of/.exec(document.querySelector(".live-status")?.innerText ?? "");  // none while it is hidden
        if (lines.length && !isDrawn) setTimeout(() => hide.remove(), 1000);
        isDrawn ||= lines.length > 0;
        if (isDrawn && step) window.firstStep = Number(step[1]);
        else requestAnimationFrame(watch);
    };
    watch();
}"""


@pytest.mark.weekly
def test_the_first_curve_is_that_of_a_run_that_has_just_begun(open_page, wait_ready, browser, app_url):
    warm, page, asked = open_page("auc"), browser.new_context().new_page(), []
    page.on("websocket", lambda connection: connection.on("framesent", lambda frame: asked.append(frame)))
    try:
        page.add_init_script(f"({FIRST_STEP})()")
        for setting in some(("auc", "multiclass"), 1):
            warm.goto(f"{app_url}/{setting}")  # so that the server has compiled what it needs
            wait_ready(warm)
            page.goto("about:blank")
            asked.clear()
            page.goto(f"{app_url}/{setting}")
            page.wait_for_function("window.firstStep !== undefined", timeout=90_000)
            assert page.evaluate("window.firstStep") <= 5
            # Each further drawing that is asked for meanwhile puts off the first: one every few seconds, if nothing comes.
            assert len(asked) <= 2 + page.evaluate("performance.now()") / 2000
    finally:
        page.context.close()


@pytest.mark.weekly
def test_tabs_say_of_which_step_they_are_and_are_drawn_anew_as_they_are_opened(open_page):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 8)
    said = step_number(page)
    for tab in ("Race", "Theory", "Code"):
        before = said
        page.get_by_role("tab", name=tab).click()
        note = page.locator(f".st-key-as-of-{tab.lower()}")
        expect(note).to_be_visible()
        page.wait_for_function(
            "([key, before]) => Number(/step (\\d+)/.exec(document.querySelector(key)?.innerText)?.[1]) >= before",
            arg=[f".st-key-as-of-{tab.lower()}", before],
        )
        said = int(re.search(r"step (\d+)", note.inner_text())[1])
    # The tab may be drawn anew between two looks at it: note and script are of one step whenever both are looked at at once.
    page.wait_for_function(
        """key => {
            const step = /step (\\d+)/.exec(document.querySelector(key)?.innerText)?.[1];
            return [...document.querySelectorAll('[role=tabpanel]')].some(
                panel => panel.clientWidth && panel.innerText.includes(`run.advance(${step})`));
        }""",
        arg=".st-key-as-of-code",
    )
    said = int(re.search(r"step (\d+)", note.inner_text())[1])
    note.get_by_role("button").click()
    expect(note).not_to_contain_text(re.compile(rf"step {said}\b"), timeout=15_000)
    later = int(re.search(r"step (\d+)", note.inner_text())[1])
    expect(page.get_by_role("tabpanel").filter(visible=True)).to_contain_text(f"run.advance({later})")
