import contextlib
import json
import re

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import TimeoutError, expect

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


def assert_a_step_that_is_too_big_is_told_and_mended(page):
    choose_speed(page, "fast")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="too big a step", exact=True).click()
    judgement = page.locator(".live-judgement")
    judgement.get_by_role("button", name="Smaller step: 20 → ").click(timeout=30_000)
    expect(page.locator(".live-status")).to_contain_text("done", timeout=30_000)
    expect(judgement).not_to_have_attribute("data-tone", "red")  # the smaller step does not diverge
