"""The stage: every step of every lesson fits a desk, a projector and a phone; by keys alone, by touch, in light and dark."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from cases import some, tiers
from playwright.sync_api import expect

from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of
from dsgcore.settings import Curve, Estimate, Pick

from .test_accessibility import LOOKED_AT, found_on

SIZES = DESK, PROJECTOR, PHONE = (1366, 768), (1920, 1080), (390, 844)
MOST_CONTROLS = 8
TAUGHT = {name: setting for name, setting in SETTINGS.items() if lessons_of(setting)}
LONG = 120_000
# What the reader can use: each button, answer, list, slider, drawing, and tool of the hand counts; a chart's mark of help does not.
LOOK = """() => {
    const stage = document.querySelector(".st-key-stage"), found = [];
    const {scrollHeight, scrollWidth} = document.documentElement;
    const spare = innerWidth < 961 ? 4 : 0;  // a phone's font may be a little wider
    if (scrollHeight > innerHeight || scrollWidth > innerWidth) found.push("the document scrolls");
    const box = element => element.getBoundingClientRect();
    const area = name => box(stage.querySelector(".st-key-stage-" + name));
    const isMark = element => element.closest(".live-chart-helper");
    const isSeen = element => !isMark(element) && element.checkVisibility({visibilityProperty: true}) && box(element).width > 0;
    const whole = ".stSlider, .stRadio label, .stSelectbox, .drawn-curve, .hand-area";
    const uses = "button, a[href], input, select, [role=slider], [tabindex='0']:not(.stage-term)";  // a word is no control
    const usable = [...stage.querySelectorAll(uses)].filter(isSeen);
    const controls = [...new Set(usable.map(element => element.closest(whole) ?? element))];
    for (const control of controls) {
        const {left, top, right, bottom} = box(control);
        if (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1)
            found.push("outside the window: " + (control.textContent || control.className));
    }
    const words = stage.querySelectorAll(".st-key-stage-answer :is(p, label, h2, .lesson-ends, svg)");
    const inArea = [...words].filter(word => innerWidth < 961 || !word.closest(".st-key-stage-pad"));
    const over = Math.max(...inArea.map(word => box(word).bottom)) - area("moves").top;
    if (over > 1 - spare) found.push(`the words are ${Math.round(over)} px too long`);
    const question = stage.querySelector(".st-key-stage-answer h2"), text = stage.querySelector(".st-key-stage-text");
    const group = stage.querySelector(".st-key-stage-answer [role=radiogroup]");
    const holes = group && question ? [box(group).top - box(question).bottom, area("moves").top - box(group).bottom] : [];
    if (innerWidth < 641 && Math.max(...holes) > 200) found.push("a hole of 200 px");
    const fixed = [text, question, ...["moves", "pictures"].map(name => stage.querySelector(".st-key-stage-" + name))];
    const places = fixed.filter(Boolean).map(element => [box(element).left, box(element).top].map(Math.round).join());
    const said = controls.map(element => (element.textContent || element.className || element.type).trim().slice(0, 30));
    return {found, places: places.join(" "), controls: said};
}"""
LED_ON = ".st-key-lesson-next button:enabled, .st-key-lesson-following button, .st-key-lesson-on a[href$=lessons]"


def resize(page, size):
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.wait_for_function(f"innerWidth === {size[0]}")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def look(page):
    """Look at a page that has just got another size: the map is drawn in it a moment later, and what lies over the map follows."""
    for _ in range(100):
        seen = page.evaluate(LOOK)
        if not seen["found"]:
            break
        page.wait_for_timeout(100)
    return seen


def looked_at(page, name, sizes):
    """Return what is wrong at these sizes, and the places of the parts that stay; leave the window at the last size."""
    found, places = [], {}
    for size in sizes:
        resize(page, size)
        seen = look(page)
        places[size] = seen["places"]
        found += [f"{name}, {size}: {what}" for what in seen["found"]]
        if len(seen["controls"]) > MOST_CONTROLS:
            found.append(f"{name}, {size}: {len(seen['controls'])} controls: {', '.join(seen['controls'])}")
    return found, places


def answer(page, asks, wait_ready):
    """Guess, or let the page reach the goal."""
    if isinstance(asks, Pick):
        page.locator(".st-key-stage-answer [role=radiogroup] label").first.click()
    elif isinstance(asks, Curve):
        page.locator(".drawn-curve circle").first.press("ArrowUp")
    elif isinstance(asks, Estimate):
        page.locator(".st-key-stage-answer input[type=range]").press("ArrowUp")
    wait_ready(page)
    button = page.locator(".st-key-lesson-show button" if asks is None else ".st-key-lesson-run button:enabled")
    button.click(timeout=LONG)


@pytest.mark.weekly
@pytest.mark.parametrize("setting", TAUGHT.values(), ids=TAUGHT)
def test_every_step_of_every_lesson_fits_without_scrolling_and_nothing_moves(open_page, wait_ready, setting):
    lessons, found = lessons_of(setting), []
    first = f"lesson={lessons[0].name}&view.speed=instant"
    page = open_page(f"{setting.name}?{first}", viewport=PHONE)
    for lesson in lessons:  # each leads to the next one
        found += wrong_with(page, lesson, wait_ready)
    assert not found, "\n".join(found)


def longest_and_of_each_kind():
    """Twelve steps by their address: the longest text of each area, and questions of each kind."""
    steps = [
        (setting.name, lesson, number)
        for setting in SETTINGS.values()
        for lesson in lessons_of(setting)
        for number in range(len(lesson.steps))
    ]

    def step_of(one):
        return one[1].steps[one[2]]

    def question(one):
        asks = step_of(one).asks
        if isinstance(asks, Pick):
            return asks.text + " ".join(option.words for option in asks.options)
        return asks.text if asks else step_of(one).goal.text

    def area(measure):
        return max(steps, key=lambda one: len(measure(one)))

    chosen = {
        "text": area(lambda one: step_of(one).text),
        "question": area(question),
        "explanation": area(lambda one: step_of(one).explanation),
        "title": area(lambda one: one[1].title),
        "end": max((one for one in steps if one[2] == len(one[1].steps) - 1), key=lambda one: len(one[1].learned)),
        "controls": area(lambda one: step_of(one).controls),
        "pictures": area(lambda one: step_of(one).show),
    }
    kinds = {"goal": type(None), "choice": Pick, "estimate": Estimate, "curve": Curve}
    for name, kind in kinds.items():
        fit = [one for one in steps if isinstance(step_of(one).asks, kind) and one not in chosen.values()]
        chosen[name] = max(fit, key=lambda one: len(step_of(one).text + step_of(one).explanation))
    rest = [one for one in steps if one not in chosen.values()]
    chosen["longest of the rest"] = max(rest, key=lambda one: len(step_of(one).text + step_of(one).explanation))
    return chosen


TWELVE = longest_and_of_each_kind()


@pytest.mark.parametrize("kind", tiers(TWELVE, 1, 2))
def test_a_step_fits_without_scrolling_and_nothing_moves(open_page, wait_ready, kind):
    setting, lesson, number = TWELVE[kind]
    address = f"{setting}?lesson={lesson.name}:{number + 1}&view.speed=instant"
    found = wrong_at(open_page(address, viewport=PHONE), lesson, number, wait_ready)
    assert not found, "\n".join(found)


def wrong_with(page, lesson, wait_ready):
    """Take every step of a lesson; return what does not fit or moves."""
    found = []
    for number in range(len(lesson.steps)):
        found += wrong_at(page, lesson, number, wait_ready)
        page.locator(LED_ON).first.click()
    return found


def wrong_at(page, lesson, number, wait_ready):
    """Take a step, which begins on a phone and is answered on a desk; return what does not fit or moves."""
    name = f"{lesson.name}, step {number + 1}"
    steps = page.locator(".stage-steps", has_text=f"Step {number + 1} of {len(lesson.steps)}")
    expect(steps).to_be_visible(timeout=LONG)
    page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button", timeout=LONG)
    wait_ready(page)
    asked, before = looked_at(page, f"{name}, asked", SIZES[::-1])
    answer(page, lesson.steps[number].asks, wait_ready)
    page.wait_for_selector(LED_ON, timeout=LONG)
    wait_ready(page)
    told, after = looked_at(page, f"{name}, told", SIZES)
    return [*asked, *told, *([] if before == after else [f"{name} moves: {before} {after}"])]


# What is too small for the last row of a room at 1920 x 1080, and what lies over the map.
SMALL = """() => {
    const found = [], size = element => parseFloat(getComputedStyle(element).fontSize);
    const isSeen = element => element.checkVisibility({visibilityProperty: true}) && element.getBoundingClientRect().width > 0;
    const each = (selector, wrong) => [...document.querySelectorAll(".st-key-stage " + selector)].filter(isSeen).forEach(wrong);
    each(":is(.st-key-stage-text, .st-key-stage-answer) :is(p, h2):not(.st-key-stage-hint p)", element => {
        if (size(element) < 35.9) found.push(`a text of ${size(element)} px`); });
    each(":is(.room-bars:not([data-ticks]) p, .room-count, .room-door p)", element => {
        if (size(element) < 35.9) found.push(`a word of the room of ${size(element)} px`); });
    // What the lecturer presses, and keys of drawings; the alert that says how to start the app is for the lecturer alone.
    const hasWords = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    each(":is(.st-key-stage-room, .st-key-stage-top, .st-key-stage-tools, .st-key-stage-moves) *", element => {
        const drawn = size(element) * (element.closest("svg")?.getScreenCTM().a ?? 1);
        if (drawn < 26 && hasWords(element) && !element.closest(".stAlert, .stCode, style, [data-testid=stIconMaterial]"))
            found.push(`"${element.textContent.trim().slice(0, 20)}" of ${drawn.toFixed(1)} px`); });
    each(":is(.xtick, .ytick) text", element => { if (size(element) < 26) found.push(`a tick of ${size(element)} px`); });
    each(".live-chart-word", element => { if (size(element) < 26) found.push(`a legend of ${size(element)} px`); });
    each(".scatterlayer path.js-line", element => {
        const width = parseFloat(getComputedStyle(element).strokeWidth);
        if (width > 0 && width < 3) found.push(`a line of ${width} px`); });
    const ends = [...document.querySelectorAll("[data-place=curves] .annotation text")].filter(isSeen);
    const tops = ends.map(element => element.getBoundingClientRect().top).sort((a, b) => a - b);
    if (tops.some((top, k) => k && top - tops[k - 1] < 0.85 * size(ends[0]))) found.push("final values cover one another");
    const map = document.querySelector("#chart-map").getBoundingClientRect();
    each(":is(.st-key-stage-room > *, .st-key-stage-pad, button, p)", element => {
        const {left, right, top, bottom} = element.getBoundingClientRect();
        const isOver = left < map.right - 1 && map.left + 1 < right && top < map.bottom - 1 && map.top + 1 < bottom;
        if (isOver && !element.closest(".live-charts")) found.push("over the map: " + element.textContent.slice(0, 40)); });
    return [...new Set(found)];
}"""


def too_small(page, name):
    """Return what is wrong with a page before a class; wait a moment for a drawing that follows."""
    for _ in range(50):
        found = [*page.evaluate(SMALL), *page.evaluate(LOOK)["found"]]
        if not found:
            break
        page.wait_for_timeout(100)
    return [f"{name}: {what}" for what in found]


def shown_to_a_class(page, lesson, number, wait_ready, reveal=False):
    """Take a step before a class by the right arrow key alone, from whatever has the focus; return what is wrong."""
    name = f"{lesson.name}, step {number + 1}"
    steps = page.locator(".stage-steps", has_text=f"Step {number + 1} of {len(lesson.steps)}")
    expect(steps).to_be_visible(timeout=LONG)
    page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button", timeout=LONG)
    wait_ready(page)
    found = too_small(page, f"{name}, asked")
    page.evaluate("document.querySelector('.st-key-stage :is(input, .drawn-curve circle, .hand-area)')?.focus()")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # once: a second one would lead on if the run had ended meanwhile
    if reveal and lesson.steps[number].asks is not None:
        expect(page.get_by_text("Nobody has answered yet")).to_be_visible(timeout=LONG)
        wait_ready(page)
        found += too_small(page, f"{name}, warned")
        page.keyboard.press("ArrowRight")
    page.wait_for_selector(LED_ON, timeout=LONG)
    wait_ready(page)
    if reveal and lesson.steps[number].asks is not None:
        page.keyboard.press("v")
        expect(page.locator(".room-drawing > *").first).to_be_attached(timeout=LONG)
    return found + too_small(page, f"{name}, told")


@pytest.mark.parametrize("kind", tiers(["choice", "estimate", "goal", "curve", "question", "end"], 0, 2))
def test_a_class_can_read_a_step_from_the_last_row_and_the_arrow_key_leads_on(open_page, wait_ready, kind):
    setting, lesson, number = TWELVE[kind]
    address = f"{setting}?present=1&lesson={lesson.name}:{number + 1}&view.speed=instant"
    page = open_page(address, viewport=PROJECTOR)
    found = shown_to_a_class(page, lesson, number, wait_ready)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".stage-steps", has_text=f"Step {number + 1} of {len(lesson.steps)}")).to_be_hidden(
        timeout=LONG
    )
    assert not found, "\n".join(found)


EVERY_LESSON = {f"{name}/{lesson.name}": (name, lesson) for name in TAUGHT for lesson in lessons_of(name)}


@pytest.mark.weekly
@pytest.mark.parametrize("of", EVERY_LESSON)
def test_a_class_can_read_every_step_of_every_lesson_with_its_room(open_page, wait_ready, of):
    (name, lesson), found = EVERY_LESSON[of], []
    first = f"lesson={lesson.name}&view.speed=instant"
    page = open_page(f"{name}?present=1&{first}", viewport=PROJECTOR)
    page.get_by_role("button", name="Ask the class").click(timeout=LONG)
    for number in range(len(lesson.steps)):
        found += shown_to_a_class(page, lesson, number, wait_ready, reveal=True)
        page.keyboard.press("ArrowRight")
    expect(page.locator("h1", has_text=lesson.title)).to_have_count(0, timeout=LONG)  # the next lesson, or the list
    assert not found, "\n".join(found)


@pytest.mark.weekly
def test_a_picture_saved_before_a_class_in_the_dark_is_whole(open_page, wait_ready):
    page = open_page("multiclass?present=1&lesson=tail&view.speed=instant", viewport=PROJECTOR, theme="dark")
    wait_ready(page)
    page.locator("#chart-map .live-chart-help").click(timeout=LONG)
    with page.expect_download(timeout=LONG) as saved:
        page.locator("#chart-map").get_by_role("button", name="Save as SVG").click()
    picture = Path(saved.value.path()).read_text(encoding="utf-8")
    assert 'viewBox="0 0 960 720"' in picture
    for words in ("Class", "unlabeled", "class 6"):
        assert f">{words}<" in picture
    assert "rgb(255, 255, 255)" not in re.sub(r"stroke: [^;]*;", "", picture)  # neither the paper nor the plot


LONG_ANSWERS = [f"{letter} is an answer with quite a few words" for letter in "ABCDEF"]
OWN = {
    "two answers": ["yes", "no"],
    "six answers": LONG_ANSWERS,
    "a number": ["10 to 100"],
    "a place on the map": ["map"],
}
OF_A_LESSON = {"labels": "unlabeled", "an estimate": "random-features", "a curve": "own-errors"}


@pytest.mark.weekly
@pytest.mark.parametrize("kind", [*OWN, *OF_A_LESSON])
def test_a_class_can_read_every_kind_of_question_and_its_answers_before_a_run(open_page, wait_ready, kind):
    lesson = OF_A_LESSON.get(kind, "unlabeled")
    page = open_page(f"auc?present=1&lesson={lesson}&view.speed=instant", viewport=PROJECTOR)
    wait_ready(page)
    if kind in OWN:
        ask_own(page, OWN[kind])
    else:
        page.get_by_role("button", name="Ask the class").click(timeout=LONG)
        expect(page.locator(".room-count")).to_be_visible(timeout=LONG)
    if kind == "labels":
        page.get_by_role("button", name="More").click(timeout=LONG)
        page.get_by_role("button", name="Ask: which points to label?").click()
        expect(page.locator(".room-count")).to_contain_text("points would you label", timeout=LONG)
    found = too_small(page, f"{kind}, asked")
    for turn in ("first", "second"):
        page.keyboard.press("v")
        expect(page.locator(".room-drawing > *").first).to_be_attached(timeout=LONG)
        found += too_small(page, f"{kind}, {turn} reveal")
        if turn == "first":
            page.get_by_role("button", name="Vote again").click()
            expect(page.locator(".room-drawing")).to_have_count(0, timeout=LONG)
            found += too_small(page, f"{kind}, second vote")
    if kind == "a place on the map":
        assert page.locator(".room-map").first.bounding_box()["height"] > PROJECTOR[1] / 3
    assert not found, "\n".join(found)


def ask_own(page, lines):
    """Ask a question of one's own; `lines` below it say what the class gives."""
    page.get_by_role("button", name="Ask anything").click(timeout=LONG)
    asked = "Which of these would you say is most like what you have seen in your own work?"
    page.get_by_label("Question").fill("\n".join([asked, *lines]))
    page.get_by_role("button", name="Ask now").click()
    expect(page.locator(".st-key-stage-answer h2")).to_contain_text("Which of these", timeout=LONG)
    expect(page.locator(".room-count")).to_be_visible(timeout=LONG)


# A step of each kind, of which the README's command takes three:
# a choice, an estimate, a goal, labels by hand, a painted set, ordered classes, and classes without an order.
# test_a_curve_is_drawn_by_keys_alone_and_stays_over_the_outcome has the drawn curve.
# On a phone, ends of lessons.
SOME = {
    ("desk", "auc"): ["unlabeled:1", "random-features:1", "step-size:3", "five-labels:2"],
    ("desk", "s3vm"): ["draw:3"],
    ("desk", "ordinal"): ["thresholds:1"],
    ("desk", "multiclass"): ["tail:2"],
    ("phone", "similar_unlabeled"): ["pairs:3"],
    ("phone", "ordinal"): ["order:3"],
}
ALL = {
    (size, name): [f"{one.name}:{n}" for one in lessons_of(setting) for n in range(1, len(one.steps) + 1)]
    for size in ("desk", "phone")
    for name, setting in SETTINGS.items()
}
# Every step takes half an hour: DSGLAB_AXE=all python -m pytest tests/browser/test_stage_browser.py -k axe
CHOSEN = ALL if os.environ.get("DSGLAB_AXE") == "all" else {key: some(steps, 1) for key, steps in SOME.items()}


@pytest.mark.ci
@pytest.mark.parametrize(("size", "name"), some(CHOSEN, 1))
def test_axe_finds_nothing_serious_on_a_step_before_and_after_the_answer(open_page, app_url, wait_ready, size, name):
    setting, found = SETTINGS[name], []
    page = open_page("lessons", viewport=PHONE if size == "phone" else DESK)
    for at in CHOSEN[size, name]:
        page.goto(f"{app_url}/{name}?lesson={at}&view.speed=instant")
        page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button", timeout=LONG)
        wait_ready(page)
        found += [f"{at}, asked, {line}" for theme in LOOKED_AT for line in found_on(page, theme)]
        lesson, _colon, number = at.partition(":")
        step = next(one for one in lessons_of(setting) if one.name == lesson).steps[int(number) - 1]
        answer(page, step.asks, wait_ready)
        page.wait_for_selector(LED_ON, timeout=LONG)
        wait_ready(page)
        if size == "phone":  # a finger that has touched a button leaves it as if under the mouse
            page.locator(LED_ON).first.hover()
        else:
            page.mouse.move(0, 0)
        found += [f"{at}, told, {line}" for theme in LOOKED_AT[::-1] for line in found_on(page, theme)]
    assert not found, "\n".join(found)


# What a zoomed browser says of itself.
ZOOM = """zoom => {
    Object.defineProperty(window, "outerWidth", {value: innerWidth * zoom, configurable: true});
    Object.defineProperty(window, "devicePixelRatio", {value: zoom, configurable: true});
    dispatchEvent(new Event("resize"));
}"""


@pytest.mark.ci
def test_a_lesson_before_a_class_goes_on_by_a_remote_control_and_its_end_is_marked(open_page, wait_ready):
    page = open_page("ordinal?present=1&lesson=average:3&view.speed=instant", viewport=PROJECTOR)
    expect(page.get_by_role("link", name="Notes")).to_be_visible(timeout=LONG)
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.st-key-stage p')).fontSize)") >= 20
    wait_ready(page)
    size = "parseFloat(getComputedStyle(document.querySelector('.st-key-stage p')).fontSize)"
    before = page.evaluate(size)
    page.evaluate(ZOOM, 1.5)
    assert page.evaluate(size) == pytest.approx(1.5 * before, rel=0.02)
    page.evaluate(ZOOM, 1)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-stage-answer")).to_contain_text("What you learned", timeout=LONG)
    wait_ready(page)
    found = [line for theme in LOOKED_AT for line in found_on(page, theme)]
    page.goto(page.url.partition("/ordinal")[0] + "/lessons")
    expect(page.get_by_text("✓ Done")).to_have_count(1, timeout=LONG)
    assert not found, "\n".join(found)


def test_back_leads_to_the_step_before_and_escape_closes_what_is_open(open_page, wait_ready):
    page = open_page("auc?lesson=five-labels:1:2&view.speed=instant", viewport=DESK)
    page.locator(".st-key-lesson-next button:enabled").wait_for(timeout=LONG)
    wait_ready(page)
    points = "() => document.querySelector('#chart-score .live-chart-plot').data.map(line => line.x.length)"
    page.wait_for_function(f"({points})().every(n => n)", timeout=LONG)  # the median, the band and the best, too
    page.locator(".st-key-dice button").click()
    page.wait_for_url("**seed=*", timeout=LONG)
    page.wait_for_function(
        f"({points})().length === 7 && ({points})().every(n => n)", timeout=LONG
    )  # and the run before
    page.locator(".st-key-lesson-next button:enabled").click(timeout=LONG)
    expect(page.locator(".stage-steps")).to_contain_text("Step 2 of 3", timeout=LONG)
    page.wait_for_url("**five-labels%3A2*", timeout=LONG)
    page.go_back()
    expect(page.locator(".stage-steps")).to_contain_text("Step 1 of 3", timeout=LONG)
    wait_ready(page)
    page.go_forward()
    expect(page.locator(".stage-steps")).to_contain_text("Step 2 of 3", timeout=LONG)
    wait_ready(page)
    area, box = page.locator(".hand-area"), page.locator(".hand-box")
    area.focus(timeout=LONG)
    for key in ("ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(box).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(page.locator(".st-key-stage")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Live")).to_be_visible(timeout=LONG)
    # The explanation of a chart is below its mark.
    for chart in ("#chart-objective", "#chart-error"):
        mark, tip = page.locator(f"{chart} .live-chart-help"), page.locator(f"{chart} .live-chart-tip")
        mark.hover()
        assert abs(tip.bounding_box()["y"] - mark.bounding_box()["y"]) < 30
        there = tip.bounding_box()
        assert there["x"] - 1 <= mark.bounding_box()["x"] <= there["x"] + there["width"]


ON_ITS_SIDE = (844, 390)
REACHED = """() => {
    const stage = document.querySelector(".st-key-stage"), found = [];
    if (stage.scrollWidth > innerWidth) found.push("it scrolls sideways");
    const picture = document.querySelector(".st-key-stage-pictures").getBoundingClientRect();
    if (picture.height < innerHeight / 2 || picture.bottom > innerHeight + 1) found.push("the picture is not whole");
    const box = element => element.getBoundingClientRect(), moves = box(stage.querySelector(".st-key-lesson-on"));
    const words = stage.querySelectorAll(".st-key-stage-answer :is(label, p, h2)");
    if (moves.top < Math.max(...[...words].map(word => box(word).bottom)) - 1) found.push("a button covers the words");
    const parts = ".st-key-stage-answer :is(label, p, h2), .st-key-stage-moves button, .st-key-stage-tools button";
    for (const part of stage.querySelectorAll(parts)) {
        part.scrollIntoView({block: "nearest"});
        const {left, right, top, bottom, width} = part.getBoundingClientRect();
        const isOut = left < picture.right - 1 || right > innerWidth + 1 || top < -1 || bottom > innerHeight + 1;
        if (width && isOut) found.push(part.textContent);
    }
    return found;
}"""


@pytest.mark.weekly
@pytest.mark.parametrize("kind", some(["text", "question", "estimate", "curve", "goal", "end"], 2))
def test_on_a_phone_on_its_side_the_picture_stays_and_all_words_can_be_reached(open_page, wait_ready, kind):
    setting, lesson, number = TWELVE[kind]
    page = open_page(f"{setting}?lesson={lesson.name}:{number + 1}&view.speed=instant", viewport=ON_ITS_SIDE)
    page.wait_for_selector(".st-key-lesson-run button, .st-key-lesson-show button", timeout=LONG)
    wait_ready(page)
    found = page.evaluate(REACHED)
    answer(page, lesson.steps[number].asks, wait_ready)
    page.wait_for_selector(LED_ON, timeout=LONG)
    wait_ready(page)
    assert [*found, *page.evaluate(REACHED)] == []
