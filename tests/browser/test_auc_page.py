"""A method's page in a browser: its run is played, steered and left, comes back, says what limits it, and survives bad ticks."""

import contextlib
import json
import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from cases import some
from playwright.sync_api import TimeoutError, expect

from .test_accessibility import LOOKED_AT, found_on

LONG = 90_000
CURVE = """([chart, name]) => {
    const plot = document.querySelector(`:is(#${chart}, .st-key-${chart}) .js-plotly-plot`);
    const trace = plot && plot.data.find(trace => trace.name === name);
    return trace ? trace.y : [];
}"""
MARKS = """chart => {
    const plot = document.querySelector(`:is(#${chart}, .st-key-${chart}) .js-plotly-plot`);
    return plot ? plot.layout.shapes.map(shape => shape.x0) : [];
}"""


def curve(page, chart="chart-objective", name="training data"):
    return page.evaluate(CURVE, [chart, name])


def wait_for_points(page, count, chart="chart-objective", name="training data"):
    page.wait_for_function(f"args => ({CURVE})(args).length >= {count}", arg=[chart, name], timeout=60_000)


def step_number(page):
    """Return the step in the page's status; while the whole page is drawn again, it shows none for a moment."""
    status = page.locator(".live-status").filter(has_text=re.compile(r"step \d+ of"))
    return int(re.search(r"step (\d+) of", status.text_content())[1])


def pause(page):
    page.locator(".st-key-play button").first.click()
    expect(page.locator(".live-status")).to_contain_text("paused", timeout=15_000)
    expect(page.locator(".st-key-play")).to_contain_text("Play")


def choose_speed(page, speed):
    page.locator(".st-key-speed").get_by_role("combobox").click()
    page.get_by_role("option", name=speed, exact=True).click()


def move_slider(page, key, presses):
    slider = page.locator(f".st-key-{key} input[type=range]")
    slider.focus()
    for _ in range(abs(presses)):
        slider.press("ArrowRight" if presses > 0 else "ArrowLeft")


def test_a_run_moves_is_steered_paused_stepped_reset_and_reloaded(open_page, page_health):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 4)  # it grows without a click
    move_slider(page, "step_size", -1)
    page.wait_for_function(f"chart => ({MARKS})(chart).length === 1", arg="chart-objective")
    assert "step_size=0.2" in page.url
    page.wait_for_url(re.compile(r"changes=0%3Astep_size%3D0\.5"))
    assert step_number(page) >= 4  # steered, not begun again
    mark = page.evaluate(MARKS, "chart-objective")[0]
    pause(page)
    page.wait_for_url(re.compile(r"at=\d+"))
    stopped = step_number(page)
    page.wait_for_timeout(700)
    assert step_number(page) == stopped
    page.locator(".st-key-step button").first.click()
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped + 1} of")
    wait_for_points(page, stopped + 1)
    before = curve(page)
    assert len(before) == stopped + 1

    page.reload()
    expect(page.locator(".live-status")).to_contain_text(f"step {stopped + 1} of 300 · paused", timeout=30_000)
    wait_for_points(page, stopped + 1)
    assert curve(page) == before
    assert page.evaluate(MARKS, "chart-objective") == [mark]

    page.locator(".st-key-reset button").first.click()
    expect(page.locator(".live-status")).to_contain_text("step 0 of")
    page.locator(".st-key-play button").click()
    wait_for_points(page, stopped + 1)
    assert curve(page)[: stopped + 1] == before
    assert_a_step_that_is_too_big_is_told_and_mended(page)
    page_health.assert_clean()


def assert_every_click_counts_once(page):
    for _ in range(2):  # a click can reach the server a second time, with a tick
        pause(page)
        page.locator(".st-key-play button").first.click()
        expect(page.locator(".live-status")).to_contain_text("running", timeout=15_000)


def _first(page, held):
    for _ in range(600):
        if held:
            return held.pop()
        page.wait_for_timeout(50)
    raise AssertionError("no tick was asked for within 30 seconds")


# Hold back the answers of ticks, from a signal until the page shows that the run is paused.
LATE_TICKS = """() => {
    const ask = window.fetch;
    window.fetch = async (address, ...rest) => {
        const answer = await ask(address, ...rest);
        if (!String(address).endsWith("/tick") || !window.keepsBack) return answer;
        const text = await answer.text();
        window.keptBack = true;
        await new Promise(go => new MutationObserver(() =>
            document.querySelector(".live-status")?.textContent.includes("paused") && go()
        ).observe(document.body, {subtree: true, childList: true, characterData: true}));
        window.isLate = true;
        return {ok: true, text: async () => text};
    };
}"""


def assert_a_tick_that_comes_late_does_not_say_for_ever_that_the_run_goes_on(page):
    page.evaluate(LATE_TICKS)
    page.evaluate("window.keepsBack = true")
    page.wait_for_function("window.keptBack")
    page.locator(".st-key-play button").first.click()
    page.wait_for_function("window.isLate")
    expect(page.locator(".st-key-play")).to_contain_text("Play")
    expect(page.locator(".live-status")).to_contain_text("paused")
    page.wait_for_timeout(1000)
    expect(page.locator(".live-status")).to_contain_text("paused")
    assert "playing" not in page.url


def assert_a_number_is_of_the_curve_beside_it(page):
    number = page.locator("#chart-objective .live-chart-value").last
    held = []
    page.route("**/tick", lambda route: held.append(route))  # the page asks for the next one when it has shown this one
    for _ in range(6):
        route = _first(page, held)
        answer = route.fetch()
        first, *figures = answer.text().split("\n")
        route.fulfill(response=answer)
        news = json.loads(first)
        if not news.get("isBusy"):
            keys = [one["key"] for one in news["figures"]]
            drawn = json.loads(figures[keys.index("chart-objective")])
            expect(number).to_have_text(drawn["layout"]["meta"]["values"]["training data"])
    page.unroute("**/tick")  # and lets go what is held


def assert_a_page_that_nobody_sees_asks_for_nothing(page):
    page.evaluate("isHidden => Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true})", True)
    with contextlib.suppress(TimeoutError):
        while True:  # until the last answer is there
            page.wait_for_event("requestfinished", timeout=1500)
    stopped = step_number(page)
    with pytest.raises(TimeoutError):
        page.wait_for_event("request", timeout=2000)
    assert step_number(page) == stopped
    page.evaluate("isHidden => Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true})", False)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    wait_for_points(page, stopped + 4)


def assert_the_plot_keeps_its_node_while_it_is_updated(page):
    page.evaluate(
        """() => {
            window.node = document.querySelector('#chart-objective .js-plotly-plot');
            window.removed = 0;
            const watched = document.querySelector('[data-place="curves"]');
            new MutationObserver(changes => changes.forEach(change => change.removedNodes.forEach(node => {
                if (node.contains(window.node)) window.removed += 1;
            }))).observe(watched, {childList: true, subtree: true});
        }"""
    )
    seen = len(curve(page))
    wait_for_points(page, seen + 6)
    assert page.evaluate("document.querySelector('#chart-objective .js-plotly-plot') === window.node")
    assert page.evaluate("window.removed") == 0


@pytest.mark.ci
def test_a_page_while_its_run_plays(open_page):
    page = open_page("auc?view.speed=slow")
    wait_for_points(page, 2)
    assert_a_number_is_of_the_curve_beside_it(page)
    assert_the_plot_keeps_its_node_while_it_is_updated(page)
    assert_a_page_that_nobody_sees_asks_for_nothing(page)
    assert_every_click_counts_once(page)
    assert_a_tick_that_comes_late_does_not_say_for_ever_that_the_run_goes_on(page)  # the last: answers stay kept back


OPENED = """() => {
    const box = document.querySelector('.st-key-more details');
    return box.open && box.getAnimations({subtree: true}).every(one => one.playState !== 'running');
}"""


def assert_a_step_that_is_too_big_is_told_and_mended(page):
    page.get_by_text("More", exact=True).click()
    page.wait_for_function(OPENED, timeout=LONG)  # while it opens, its buttons move away from under a click
    choose_speed(page, "fast")
    page.get_by_role("button", name="too big a step", exact=True).click()
    judgement = page.locator(".live-judgement")
    judgement.get_by_role("button", name="Smaller step: 20 → ").click(timeout=30_000)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=30_000)
    expect(judgement).not_to_have_attribute("data-tone", "red")  # the smaller step does not diverge


# --- ticks whose answers do not come, or are not the app's


PROXYS_PAGE = "<!DOCTYPE html><html><body>Please sign in</body></html>"
# tests/javascript/feed.test.mjs has every other kind of answer.
ANSWERS = {
    "a proxy's page": (lambda route: route.fulfill(body=PROXYS_PAGE), "something else answered instead of the app"),
    "an error": (lambda route: route.fulfill(status=502, body=PROXYS_PAGE), "the server answered with error 502"),
    "no network": (lambda route: route.abort(), "the server cannot be reached"),
}


@pytest.mark.ci
def test_a_tick_without_a_good_answer_is_asked_for_again_and_the_page_says_so(open_page, page_health):
    page = open_page("auc?view.speed=slow&solver.n_iter=2000")
    status = page.locator(".live-status")
    wait_for_points(page, 4)
    for answer, words in some(ANSWERS.values(), 2):
        page.route("**/tick", answer, times=2)
        expect(status).to_contain_text(re.compile(rf"step \d+ of 2000 · {words}.*; next try in 1 s"), timeout=LONG)
        before = step_number(page)
        expect(status).to_contain_text(re.compile(r"step \d+ of 2000 · running"), timeout=LONG)
        page.wait_for_function(
            f"Number(/step (\\d+) of/.exec(document.querySelector('.live-status')?.textContent)?.[1]) > {before + 3}",
            timeout=LONG,
        )
    assert [error for error in page_health.errors if error.startswith("page error")] == []
    page_health.errors.clear()  # the browser itself logs errors of the network


# --- Back, the menu and keys: nothing is lost, and nothing happens unseen


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


@pytest.mark.ci
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


# --- what limits a run: looking back and inside, a remedy, and four runs


LAST = 64
NOISY = f"auc?data.name=Two+moons&data.n=200&data.n_labeled=40&kernel.sigma=10&solver.batch_size=2&solver.n_iter={LAST}&at={LAST}"


@pytest.mark.ci
def test_a_run_is_looked_back_at_and_into_and_four_runs_say_what_limits_it_and_what_a_change_brings(
    open_page, wait_ready
):
    page = open_page(NOISY)
    expect(page.locator(".live-status")).to_contain_text(f"step {LAST} of", timeout=LONG)
    number = page.locator("#chart-objective .live-chart-value").last
    wait_ready(page)
    at_the_end = number.inner_text()
    slider = page.locator(".live-scrubber input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(number).not_to_have_text(at_the_end)
    page.wait_for_url(re.compile(r"[?&]look=1(&|$)"))
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective")
    page.reload()  # it is in the link
    page.wait_for_function(f"chart => ({MARKS})(chart).includes(1)", arg="chart-objective", timeout=LONG)
    expect(slider).to_have_value("1")

    page.get_by_role("tab", name="Theory", exact=True).click()
    page.get_by_text("Details: scores").click(timeout=LONG)
    inside = page.locator(".st-key-part-inside")
    inside.get_by_role("radio", name="one point").click()
    expect(page.get_by_text("pulls h").or_(page.get_by_text("adds nothing yet"))).to_be_visible(timeout=LONG)
    inside.get_by_role("radio", name="all coefficients").click()
    expect(page.locator(".st-key-chart-inside-all .js-plotly-plot")).to_be_visible(timeout=LONG)

    slider.focus()
    slider.press("End")  # what was measured is of the run's end
    page.get_by_role("tab", name="Limits", exact=True).click()
    page.get_by_role("button", name="Measure it").press("Enter")
    judgement = page.locator(".live-judgement")
    expect(judgement).to_contain_text("of the optimum's size away", timeout=2 * LONG)
    expect(page.locator(".st-key-chart-shares .js-plotly-plot")).to_be_visible()
    wait_ready(page)
    found = [line for theme in LOOKED_AT for line in found_on(page, theme)]
    assert not found, "\n".join(found)
    judgement.get_by_role("button", name="Larger batches: 2 → 8").press("Enter")
    page.wait_for_url(re.compile(r"batch_size=8"), timeout=LONG)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=LONG)
    page.get_by_role("button", name="Measure again").press("Enter")
    expect(page.get_by_text("Effect of the change")).to_be_visible(timeout=2 * LONG)
