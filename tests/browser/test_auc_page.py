"""A method's page in a browser: its run is played, steered and left, comes back, and survives bad ticks."""

import re

import pytest

from .watched_pages import CURVE, PLOT, TimeoutError, choose, expect, move_slider, status, until_ready, wait_for_points

ANSWERED_MS = 15_000  # for what a key or a click does
OPENED = """() => {
    const box = document.querySelector('.st-key-more details');
    return box.open && box.getAnimations({subtree: true}).every(one => one.playState !== 'running');
}"""
MARKS = f"chart => ({PLOT})(chart)?.layout.shapes.map(shape => shape.x0) ?? []"


def curve(page):
    return page.evaluate(CURVE, ["chart-objective", "training data"])


def step_number(page):
    """Return the step in the page's status; while the whole page is drawn again, it shows none for a moment."""
    shown = page.locator(".live-status").filter(has_text=re.compile(r"step \d+ of"))
    return int(re.search(r"step (\d+) of", shown.text_content())[1])


def play(page):
    return page.locator(".st-key-play button").first


def choose_speed(page, speed):
    choose(page, page.locator(".st-key-speed").get_by_role("combobox"), speed)


def test_a_run_moves_is_steered_paused_and_stepped_by_keys_and_is_the_same_after_a_reload_and_a_reset(open_page):
    page = open_page("auc?view.speed=slow&solver.n_iter=100")
    wait_for_points(page, 4)  # it grows without a click
    move_slider(page, "step_size", -1)
    page.wait_for_function(f"chart => ({MARKS})(chart).length === 1", arg="chart-objective")
    assert "step_size=0.2" in page.url
    page.wait_for_url(re.compile(r"changes=0%3Astep_size%3D0\.5"))
    assert step_number(page) >= 4  # steered, not begun again
    (mark,) = page.evaluate(MARKS, "chart-objective")
    page.keyboard.press("p")  # keys are heard after a slider has been touched
    status(page, "paused", timeout=ANSWERED_MS)
    expect(page.locator(".st-key-play")).to_contain_text("Play")
    page.wait_for_url(re.compile(r"at=\d+"))
    stopped = step_number(page)
    page.keyboard.press("s")  # one step, from where it stands still
    status(page, f"step {stopped + 1} of")
    assert page.evaluate("document.activeElement.type") == "range"
    wait_for_points(page, stopped + 1)
    before = curve(page)
    assert len(before) == stopped + 1

    page.reload()
    status(page, f"step {stopped + 1} of 100 · paused")
    wait_for_points(page, stopped + 1)
    assert curve(page) == before
    assert page.evaluate(MARKS, "chart-objective") == [mark]
    page.locator(".st-key-step_size input[type=range]").press("0")
    status(page, "step 0 of", timeout=ANSWERED_MS)
    play(page).click()
    wait_for_points(page, stopped + 1)
    assert curve(page)[: stopped + 1] == before
    page.get_by_text("More", exact=True).click()  # a step that is too big is told, and mended
    page.wait_for_function(OPENED)  # while it opens, its buttons move away from under a click
    choose_speed(page, "fast")
    page.get_by_role("button", name="too big a step", exact=True).click()
    judgement = page.locator(".live-judgement")
    judgement.get_by_role("button", name="Smaller step: 20 → ").click()
    status(page, "done")
    for said in (judgement, page.locator(".live-status")):
        expect(said).to_have_attribute("aria-live", "polite")  # a screen reader says it
    expect(judgement).not_to_have_attribute("data-tone", "red")  # the smaller step does not diverge


# --- a page while its run plays


KEEP_NODE = """() => {
    const node = window.node = document.querySelector('#chart-objective .js-plotly-plot');
    new MutationObserver(changes => {
        if (changes.some(change => [...change.removedNodes].some(one => one.contains(node)))) window.node = null;
    }).observe(document.querySelector('[data-place="curves"]'), {childList: true, subtree: true});
}"""


# tests/javascript/feed.test.mjs has every other kind of answer.
ANSWERS = {
    "the server answered with error 502": lambda route: route.fulfill(status=502, body="Please sign in"),
    "the server cannot be reached": lambda route: route.abort(),
}
HIDE = """isHidden => {
    Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.mark.ci
def test_a_page_keeps_its_plots_while_its_run_plays_asks_again_for_a_lost_tick_and_its_button_says_what_it_does(
    open_page, page_health
):
    page = open_page("auc?view.speed=slow&solver.n_iter=2000")
    wait_for_points(page, 4)
    for words, answer in ANSWERS.items():  # a tick without a good answer is asked for again
        page.route("**/tick", answer, times=2)
        status(page, re.compile(rf"step \d+ of 2000 · {words}.*; next try in 1 s"))
        before = step_number(page)
        status(page, re.compile(r"step \d+ of 2000 · running"))
    assert [error for error in page_health.errors if error.startswith("page error")] == []
    page_health.errors.clear()  # the browser itself logs errors of the network
    page.evaluate(KEEP_NODE)  # updates keep the plot, and so its zoom
    wait_for_points(page, before + 10)
    assert page.evaluate(f"window.node === ({PLOT})('chart-objective')")
    page.evaluate(HIDE, True)  # a page that nobody sees asks for nothing
    page.wait_for_timeout(1500)  # until the last answer is there
    with pytest.raises(TimeoutError):
        page.wait_for_event("request", timeout=1500)
    stopped = step_number(page)
    page.evaluate(HIDE, False)
    wait_for_points(page, stopped + 4)
    for said in ("paused", "running") * 2:  # a click can reach the server a second time, with a tick
        play(page).click()
        status(page, said)
        expect(play(page)).to_contain_text("Play" if said == "paused" else "Pause")


@pytest.mark.ci
def test_a_run_that_ends_while_the_list_of_settings_is_looked_at_has_its_end_in_the_buttons_and_in_the_link(open_page):
    page = open_page("auc?view.speed=slow&solver.n_iter=16")
    box = page.get_by_test_id("stSidebar").get_by_role("combobox", name="Setting")
    box.focus()
    while "16 of 16" not in page.locator(".live-status").first.text_content():  # the page may be about to be left
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.wait_for_timeout(300)
    expect(play(page)).to_contain_text("Play", timeout=ANSWERED_MS)
    page.wait_for_url(re.compile(r"at=16(&|$)"))


# --- Back and the menu: nothing is lost


def assert_as_it_was(page):
    """Fail unless the run is there with its change, speed and seed."""
    page.wait_for_url(re.compile(r"/auc\?.*lam=0\.002"))
    status(page, "1 change recorded")
    expect(page.locator(".st-key-lam")).to_contain_text("0.002")
    expect(page.locator(".st-key-speed").get_by_role("combobox")).to_have_value("slow")
    assert "seed=5" in page.url


@pytest.mark.ci
def test_back_and_the_menu_lead_to_the_page_as_it_was_and_back_then_home(open_page):
    page = open_page("", is_first_visit=True)
    page.get_by_role("link", name="Ranking").first.click()
    wait_for_points(page, 2)
    choose_speed(page, "slow")
    page.wait_for_url(re.compile("speed=slow"))
    page.locator(".st-key-seed input").fill("5")
    page.locator(".st-key-seed input").press("Enter")
    page.wait_for_url(re.compile("seed=5"))
    wait_for_points(page, 2)
    move_slider(page, "lam", 1)
    page.wait_for_url(re.compile(r"at=\d+-playing.*"))
    assert_as_it_was(page)
    entries = page.evaluate("history.length")
    page.locator("header nav").get_by_role("link", name="Methods").click()
    expect(page).to_have_title("Methods - DSG Lab")
    page.get_by_role("link", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)  # more than it begins with: the page is as it stays
    assert page.evaluate("history.length") == entries + 2
    page.go_back()
    page.wait_for_url(re.compile("/methods"))
    page.go_back()  # straight from a page that keeps nothing in its link
    assert_as_it_was(page)
    expect(page.locator(".live-status")).not_to_contain_text(f"step {step_number(page)} of", timeout=ANSWERED_MS)
    page.get_by_test_id("stSidebar").get_by_role("combobox", name="Setting").click()  # the other way to another page
    page.get_by_role("option", name="Ordered classes").click()
    page.wait_for_url(re.compile("/ordinal"))
    wait_for_points(page, 8)
    page.go_back()
    assert_as_it_was(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Labels are expensive")).to_be_visible()
    page.get_by_role("link", name="Ranking").first.click()
    assert_as_it_was(page)


@pytest.mark.ci
def test_a_run_is_looked_back_at_and_the_link_leads_there_again(open_page):
    page = open_page("auc?solver.n_iter=64&at=64")
    status(page, "step 64 of")
    number = page.locator("#chart-objective .live-chart-value").last
    until_ready(page)
    at_the_end = number.inner_text()
    slider = page.locator(".live-scrubber input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(number).not_to_have_text(at_the_end)
    page.wait_for_url(re.compile(r"[?&]look=1(&|$)"))
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective")
    page.reload()  # it is in the link
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective")
    expect(slider).to_have_value("1")
