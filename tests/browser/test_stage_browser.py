"""The stage: every step of every lesson fits a desk, a projector and a phone; by keys alone, by touch, in light and dark."""

import re
from pathlib import Path

import pytest
from cases import some, tiers

from dsgcore.experiments import SETTINGS
from dsgcore.lessons import lessons_of
from dsgcore.settings import Curve, Estimate, Pick
from pages.handouts import static_lesson

from .watched_pages import DESK, IS_NO_WIDER, PHONE, PROJECTOR, Axe, assert_accessible, at_size, expect, until_ready

SIZES = DESK, PROJECTOR, PHONE
MOST_CONTROLS = 8
STEPS = [
    (setting.name, lesson, number, step)
    for setting in SETTINGS.values()
    for lesson in lessons_of(setting)
    for number, step in enumerate(lesson.steps, start=1)
]
LESSONS = {f"{setting}/{lesson.name}": lesson for setting, lesson, *_ in STEPS}


def longest(words, kind=object):
    """Return the step, of those with a kind of question, that has most words."""
    return max((one for one in STEPS if isinstance(one[3].asks, kind)), key=lambda one: len(words(one[3])))


def named(lesson, number):
    return next(one for one in STEPS if (one[1].name, one[2]) == (lesson, number))


CHOSEN = {
    "text": longest(lambda step: step.text),
    "goal": longest(lambda step: step.text + step.explanation, type(None)),
    "choice": longest(lambda step: step.asks.text + " ".join(option.words for option in step.asks.options), Pick),
    "estimate": longest(lambda step: step.text + step.explanation, Estimate),
    "curve": longest(lambda step: step.text + step.explanation, Curve),
    "pictures": longest(lambda step: step.show),
    "explanation": longest(lambda step: step.explanation),
    "title": max(STEPS, key=lambda one: len(one[1].title)),
    "end": max((one for one in STEPS if one[3] is one[1].steps[-1]), key=lambda one: len(one[1].learned)),
    "hand": named("five-labels", 2),
    "painted": named("draw", 3),
}


def open_step(open_page, kind, size, more=""):
    setting, lesson, number, _ = CHOSEN[kind]
    return open_page(f"{setting}?{more}lesson={lesson.name}:{number}&view.speed=instant", viewport=size)


# What is wrong with the layout, where the parts are that stay, and what the reader can use: each button, answer, list, slider,
# drawing, and tool of the hand counts; a chart's mark of help does not.
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
# The line boxes of a title and of numbers have room above and below the letters.
WORDS_ARE_FREE = """() => {
    const words = [...document.querySelectorAll("[data-place=curves] :is(.xtitle, .xtick text, .ytick text)")];
    const boxes = words.map(word => word.getBoundingClientRect()).filter(box => box.width), spare = boxes[0].height / 6;
    return boxes.every((a, k) => boxes.slice(k + 1).every(b => a.right <= b.left + spare || b.right <= a.left + spare
        || a.bottom <= b.top + spare || b.bottom <= a.top + spare));
}"""
# What is too small for the last row of a room at 1920 x 1080, and what lies over the map.
SMALL = """() => {
    const found = [], size = element => parseFloat(getComputedStyle(element).fontSize);
    const isSeen = element => element.checkVisibility({visibilityProperty: true}) && element.getBoundingClientRect().width > 0;
    const each = (selector, wrong) => [...document.querySelectorAll(".st-key-stage " + selector)].filter(isSeen).forEach(wrong);
    const least = (selector, pixels, what) => each(selector, element => {
        if (size(element) < pixels) found.push(`${what} of ${size(element)} px`); });
    least(":is(.st-key-stage-text, .st-key-stage-answer) :is(p, h2):not(.st-key-stage-hint p)", 35.9, "a text");
    least(":is(.room-bars:not([data-ticks]) p, .room-count, .room-door p)", 35.9, "a word of the room");
    least(":is(.xtick, .ytick) text", 26, "a tick");
    least(".live-chart-word", 26, "a legend");
    each(":is(.st-key-stage-room, .st-key-stage-class-question)", ({scrollHeight, clientHeight}) => {
        if (scrollHeight > clientHeight + 1) found.push(`the room has ${scrollHeight} px in ${clientHeight}`); });
    // What the lecturer presses, and keys of drawings; the alert that says how to start the app is for the lecturer alone.
    const hasWords = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    each(":is(.st-key-stage-room, .st-key-stage-top, .st-key-stage-tools, .st-key-stage-moves) *", element => {
        const drawn = size(element) * (element.closest("svg")?.getScreenCTM().a ?? 1);
        if (drawn < 26 && hasWords(element) && !element.closest(".stAlert, .stCode, style, [data-testid=stIconMaterial]"))
            found.push(`"${element.textContent.trim().slice(0, 20)}" of ${drawn.toFixed(1)} px`); });
    each(":is(.room-code, .room-address, .room-count, .room-figure .room-key)", element => {
        const {left, right, bottom} = element.getBoundingClientRect();
        const bar = document.querySelector(".st-key-room-bar")?.getBoundingClientRect();
        const isUnder = bar && bottom > bar.top + 1 && left < bar.right - 1 && bar.left + 1 < right;
        const isOver = element.matches(".room-key, .room-count") ? isUnder : right > innerWidth - 1;
        if (isOver) found.push(`cut: "${element.textContent.slice(0, 30)}"`); });
    each(".scatterlayer path.js-line", element => {
        const width = parseFloat(getComputedStyle(element).strokeWidth);
        if (width > 0 && width < 3) found.push(`a line of ${width} px`); });
    const ends = [...document.querySelectorAll("[data-place=curves] .annotation text")].filter(isSeen);
    const tops = ends.map(element => element.getBoundingClientRect().top).sort((a, b) => a - b);
    if (tops.some((top, k) => k && top - tops[k - 1] < 0.85 * size(ends[0]))) found.push("final values cover one another");
    each("h1", element => {
        const {top} = document.querySelector("[data-place=map] .live-chart-head").getBoundingClientRect();
        if (element.getBoundingClientRect().bottom > top + 1) found.push("the title lies over the map's legend"); });
    const map = document.querySelector("#chart-map").getBoundingClientRect();
    each(":is(.st-key-stage-room > *, .st-key-stage-pad, button, p)", element => {
        const {left, right, top, bottom} = element.getBoundingClientRect();
        const isOver = left < map.right - 1 && map.left + 1 < right && top < map.bottom - 1 && map.top + 1 < bottom;
        if (isOver && !element.closest(".live-charts")) found.push("over the map: " + element.textContent.slice(0, 40)); });
    return {found: [...new Set(found)]};
}"""
# What a look finds in six frames in a row, or after sixty of a page that never rests: at a single one a drawing may be under way.
SETTLED = """async () => {
    const look = LOOK;
    for (let last = "", same = 0, frames = 1; ; frames++) {
        await new Promise(requestAnimationFrame);
        const now = JSON.stringify(look());
        same = now === last ? same + 1 : 0;
        if (same === 6 || frames === 60) return JSON.parse(now);
        last = now;
    }
}"""
LED_ON = ".st-key-lesson-next button:enabled, .st-key-lesson-following button, .st-key-lesson-on a[href$=lessons]"
RUN = ".st-key-lesson-run button, .st-key-lesson-show button"


def faults(page, name, *looks, only=("",)):
    """Return what is wrong with a page, and what it showed; wait a moment for a drawing that follows another size."""
    for _ in range(60):
        seen = [page.evaluate(SETTLED.replace("LOOK", look)) for look in looks]
        found = [f"{name}: {what}" for one in seen for what in one["found"] if what.startswith(only)]
        if not found:
            break
    return found, seen


def wrong_at(page, name, sizes):
    """Return what is wrong at these sizes, and the places of the parts that stay; leave the window at the last size."""
    found, places = [], {}
    for size in sizes:
        at_size(page, *size)
        wrong, (seen,) = faults(page, f"{name}, {size}", LOOK)
        found, places[size] = found + wrong, seen["places"]
        if len(seen["controls"]) > MOST_CONTROLS:
            found.append(f"{name}, {size}: {len(seen['controls'])} controls: {', '.join(seen['controls'])}")
    return found, places


def too_small(page, name):
    """Return what is wrong with a page before a class."""
    return faults(page, name, SMALL, LOOK)[0]


def over_the_map(page, name):
    """Return what lies over the map or is cut off before a class in a window as small as a desk's; leave it as it was."""
    at_size(page, *DESK)
    found, _ = faults(page, f"{name}, {DESK}", SMALL, LOOK, only=("over the map", "outside the window"))
    at_size(page, *PROJECTOR)
    return found


def place(page, lesson, number):
    return page.locator(".stage-steps", has_text=f"Step {number} of {len(lesson.steps)}")


def until_asked(page, lesson, number):
    """Wait until the page asks what a step asks."""
    expect(place(page, lesson, number)).to_be_visible()
    page.wait_for_selector(RUN)
    until_ready(page)


def until_told(page):
    """Wait until the page shows the outcome, and leads on."""
    page.wait_for_selector(LED_ON)
    until_ready(page)


def answer(page, asks):
    """Guess, or let the page reach the goal; wait for the outcome."""
    if isinstance(asks, Pick):
        page.locator(".st-key-stage-answer [role=radiogroup] label").first.click()
    elif isinstance(asks, Curve):
        page.locator(".drawn-curve circle").first.press("ArrowUp")
    elif isinstance(asks, Estimate):
        page.locator(".st-key-stage-answer input[type=range]").press("ArrowUp")
    until_ready(page)
    button = page.locator(".st-key-lesson-show button" if asks is None else ".st-key-lesson-run button:enabled")
    button.click()
    until_told(page)


def wrong_with(page, lesson, number, step):
    """Take a step, which begins on a phone and is answered on a desk; return what does not fit or moves."""
    name = f"{lesson.name}, step {number}"
    until_asked(page, lesson, number)
    found, before = wrong_at(page, f"{name}, asked", SIZES[::-1])
    answer(page, step.asks)
    told, after = wrong_at(page, f"{name}, told", SIZES)
    return found + told + ([] if before == after else [f"{name} moves: {before} {after}"])


@pytest.mark.parametrize("kind", tiers(CHOSEN, 1, 2))
def test_a_step_fits_without_scrolling_nothing_moves_and_axe_finds_nothing_serious(open_page, kind):
    page, (_, *step) = open_step(open_page, kind, PHONE), CHOSEN[kind]
    if kind != "text":
        until_asked(page, *step[:2])
        assert_accessible(page)
    found = wrong_with(page, *step)
    assert not found, "\n".join(found)
    if kind != "text":
        assert_accessible(page)


@pytest.mark.weekly
@pytest.mark.parametrize("setting", sorted({setting for setting, *_ in STEPS}))
def test_every_step_of_every_lesson_fits_without_scrolling_and_nothing_moves(open_page, setting):
    steps, found = [one for one in STEPS if one[0] == setting], []
    page = open_page(f"{setting}?lesson={steps[0][1].name}&view.speed=instant", viewport=PHONE)
    for _, *step in steps:  # each leads to the next one
        found += wrong_with(page, *step)
        page.locator(LED_ON).first.click()
    assert not found, "\n".join(found)


@pytest.mark.ci
def test_the_focus_of_a_button_that_goes_is_taken_by_the_text_of_a_lesson_and_after_it_by_the_way_back(open_page):
    page = open_page("auc?lesson=five-labels&view.speed=instant", viewport=DESK)
    page.get_by_role("radio").first.press("Space")
    for name in ("run", "next"):
        button = page.locator(f".st-key-lesson-{name} button:enabled")
        button.wait_for()
        until_ready(page)
        button.press("Enter")
        expect(page.locator(".st-key-stage-text")).to_be_focused()
        expect(page.locator(".st-key-stage-answer")).to_have_attribute("aria-live", "polite")  # its verdict is said
    expect(page.locator(".stage-steps")).to_contain_text("Step 2 of 3")
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-stage-text :focus, .st-key-stage-answer :focus")).to_have_count(1)
    back = page.get_by_role("button", name="Back to the lesson")
    for _ in range(2):  # the first one closes the meaning of the word that Tab has reached
        page.keyboard.press("Escape")
    expect(back).to_be_focused()
    until_ready(page)
    back.press("Enter")
    expect(page.locator(".st-key-stage-text")).to_be_focused()


# --- before a class


def shown_to_a_class(page, lesson, number, step, reveal=False):
    """Take a step before a class by the right arrow key alone, from whatever has the focus; return what is wrong."""
    name, is_revealed = f"{lesson.name}, step {number}", reveal and step.asks is not None
    until_asked(page, lesson, number)
    found = too_small(page, f"{name}, asked")
    if is_revealed:
        found += over_the_map(page, f"{name}, asked")
    page.evaluate("document.querySelector('.st-key-stage :is(input, .drawn-curve circle, .hand-area)')?.focus()")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")  # once: a second one would lead on if the run had ended meanwhile
    if is_revealed:
        expect(page.get_by_text("Nobody has answered yet")).to_be_visible()
        until_ready(page)
        found += too_small(page, f"{name}, warned")
        found += over_the_map(page, f"{name}, warned")
        page.keyboard.press("ArrowRight")
    until_told(page)
    if is_revealed:
        reveal_by_key(page)
        found += over_the_map(page, f"{name}, revealed")
        has_room = isinstance(step.asks, Pick) and len(step.asks.options) <= 3 and {*step.show} - {"map"}
        if has_room and not page.locator("[data-place=curves]").is_visible():
            found.append(f"{name}: the curve gives way to the bars")
    found += too_small(page, f"{name}, told")
    page.keyboard.press("ArrowRight")
    return found


def reveal_by_key(page):
    page.keyboard.press("v")
    expect(page.locator(".room-drawing > *").first).to_be_attached()


@pytest.mark.parametrize("kind", tiers(["title", "choice", "estimate", "curve", "goal", "end"], 0, 3))
def test_a_class_can_read_a_step_from_the_last_row_and_the_arrow_key_leads_on(open_page, kind):
    page = open_step(open_page, kind, PROJECTOR, "present=1&")
    found = shown_to_a_class(page, *CHOSEN[kind][1:])
    expect(place(page, *CHOSEN[kind][1:3])).to_be_hidden()
    assert not found, "\n".join(found)


@pytest.mark.weekly
@pytest.mark.parametrize("of", LESSONS)
def test_a_class_can_read_every_step_of_every_lesson_with_its_room(open_page, of):
    lesson, found = LESSONS[of], []
    setting = of.partition("/")[0]
    page = open_page(f"{setting}?present=1&lesson={lesson.name}&view.speed=instant", viewport=PROJECTOR)
    page.get_by_role("button", name="Ask the class").click()
    for number, step in enumerate(lesson.steps, start=1):
        found += shown_to_a_class(page, lesson, number, step, reveal=True)
    expect(page.locator("h1", has_text=lesson.title)).to_have_count(0)  # the next lesson, or the list
    assert not found, "\n".join(found)


@pytest.mark.weekly
def test_a_picture_saved_before_a_class_in_the_dark_is_whole(open_page):
    page = open_page("multiclass?present=1&lesson=tail&view.speed=instant", viewport=PROJECTOR, theme="dark")
    page.locator("#chart-map .live-chart-help").click()
    with page.expect_download() as saved:
        page.locator("#chart-map").get_by_role("button", name="Save as SVG").click()
    picture = Path(saved.value.path()).read_text(encoding="utf-8")
    assert 'viewBox="0 0 960 720"' in picture
    assert [words for words in ("Class", "unlabeled", "class 6") if f">{words}<" not in picture] == []
    assert "rgb(255, 255, 255)" not in re.sub(r"stroke: [^;]*;", "", picture)  # neither the paper nor the plot


OWN = {
    "two answers": ["yes", "no"],
    "six answers": [f"{letter} is an answer with quite a few words" for letter in "ABCDEF"],
    "a number": ["10 to 100"],
    "a place on the map": ["map"],
}
ASKED = "Which of these would you say is most like what you have seen in your own work?"
OF_A_LESSON = {
    "three answers": "unlabeled",
    "labels": "unlabeled",
    "an estimate": "random-features",
    "a curve": "own-errors",
}


@pytest.mark.weekly
@pytest.mark.parametrize("kind", [*OWN, *OF_A_LESSON])
def test_a_class_can_read_every_kind_of_question_and_its_answers_before_a_run(open_page, kind):
    lesson = OF_A_LESSON.get(kind, "unlabeled")
    through = {"X-Forwarded-For": "203.0.113.9"}  # of a proxy, so that the way in has a QR code
    page = open_page(
        f"auc?present=1&lesson={lesson}&view.speed=instant", viewport=PROJECTOR, extra_http_headers=through
    )
    page.get_by_role("button", name="Ask anything" if kind in OWN else "Ask the class").click()
    if kind in OWN:
        page.get_by_label("Question").fill("\n".join([ASKED, *OWN[kind]]))
        page.get_by_role("button", name="Ask now").click()
        expect(page.locator(".st-key-stage-answer h2")).to_contain_text("Which of these")
    expect(page.locator(".room-count")).to_be_visible()
    if kind == "labels":
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name="Ask: which points to label?").click()
        expect(page.locator(".room-count")).to_contain_text("points would you label")
    expect(page.locator(".room-qr")).to_be_visible()
    found = too_small(page, f"{kind}, asked")
    reveal_by_key(page)
    found += too_small(page, f"{kind}, first reveal")
    page.get_by_role("button", name="Vote again").click()
    expect(page.locator(".room-drawing")).to_have_count(0)
    found += too_small(page, f"{kind}, second vote")
    reveal_by_key(page)
    found += too_small(page, f"{kind}, second reveal")
    if kind == "three answers":
        found += after_the_run(page)
    if kind == "a place on the map":
        assert page.locator(".room-map").first.bounding_box()["height"] > PROJECTOR[1] / 3
    assert not found, "\n".join(found)


# What of a lecturer's phone lies outside the window or under something else.
COVERED = """() => [...document.querySelectorAll(`.st-key-stage :is(.room-code, .room-count, .room-bars p,
    .st-key-room-bar button, .st-key-stage-top :is(button, a, .stage-steps > span))`)].filter(element => {
    const {left, right, top, bottom, width} = element.getBoundingClientRect();
    const at = width && document.elementFromPoint((left + right) / 2, bottom - 4);
    return width && (right > innerWidth + 1 || bottom > innerHeight || !(element.contains(at) || at?.contains(element)));
}).map(element => element.textContent)"""


@pytest.mark.ci
def test_a_lecturer_leads_a_lesson_from_a_phone_and_nothing_is_covered(open_page):
    through = {"X-Forwarded-For": "203.0.113.9"}
    link = "auc?present=1&lesson=unlabeled&view.speed=instant"
    page = open_page(link, viewport=PHONE, extra_http_headers=through)
    page.get_by_role("button", name="Ask the class").click()
    expect(page.locator(".room-qr")).to_be_visible()
    page.wait_for_function(f"!({COVERED})().length")
    run = page.locator(".st-key-lesson-run button")
    run.click()
    expect(page.get_by_text("Nobody has answered yet")).to_be_visible()
    page.wait_for_function(f"!({COVERED})().length")
    page.get_by_role("button", name="Reveal").click()
    expect(page.locator(".room-bars p")).to_have_count(3)
    page.wait_for_function(f"!({COVERED})().length")
    run.click()
    until_told(page)
    expect(page.locator(".room-bars p")).to_have_count(3)
    page.wait_for_function(f"!({COVERED})().length")


def after_the_run(page):
    """Run after a second vote: the answers give their place to the curve by a key, and take it again. Return what is wrong."""
    page.keyboard.press("ArrowRight")
    until_told(page)
    found = too_small(page, "after the run")
    page.keyboard.press("v")
    expect(page.locator(".room-drawing")).to_have_count(0)
    for size in (DESK, PROJECTOR):  # words of a low chart lie over no others
        at_size(page, *size)
        expect(page.locator("[data-place=curves] .xtitle").first).to_be_visible()
        page.wait_for_function(WORDS_ARE_FREE)
    return found


# What a zoomed browser says of itself.
ZOOM = """zoom => {
    Object.defineProperty(window, "outerWidth", {value: innerWidth * zoom, configurable: true});
    Object.defineProperty(window, "devicePixelRatio", {value: zoom, configurable: true});
    dispatchEvent(new Event("resize"));
}"""
SIZE = "parseFloat(getComputedStyle(document.querySelector('.st-key-stage p')).fontSize)"


@pytest.mark.ci
def test_a_lesson_before_a_class_goes_on_by_a_remote_control_follows_the_zoom_and_its_end_is_marked(open_page):
    page = open_page("ordinal?present=1&lesson=average:3&view.speed=instant", viewport=PROJECTOR)
    expect(page.get_by_role("link", name="Notes")).to_be_visible()
    until_ready(page)
    assert (before := page.evaluate(SIZE)) >= 20
    page.evaluate(ZOOM, 1.5)
    assert page.evaluate(SIZE) == pytest.approx(1.5 * before, rel=0.02)
    page.evaluate(ZOOM, 1)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-stage-answer")).to_contain_text("What you learned")
    until_ready(page)
    assert_accessible(page)
    page.goto(page.url.partition("/ordinal")[0] + "/lessons")
    expect(page.get_by_text("✓ Done")).to_have_count(1)


# --- Back, Escape, and a phone on its side


def test_back_leads_to_the_step_before_and_escape_closes_what_is_open(open_page):
    page = open_page("auc?lesson=five-labels:1:2&view.speed=instant", viewport=DESK)
    steps = page.locator(".stage-steps")
    page.locator(".st-key-lesson-next button:enabled").wait_for()
    until_ready(page)
    points = "document.querySelector('#chart-score .live-chart-plot').data.map(line => line.x.length)"
    page.wait_for_function(f"{points}.every(n => n)")  # the median, the band and the best, too
    page.locator(".st-key-dice button").click()
    page.wait_for_url("**seed=*")
    page.wait_for_function(f"{points}.length === 7 && {points}.every(n => n)")  # and the run before
    page.locator(".st-key-lesson-next button:enabled").click()
    expect(steps).to_contain_text("Step 2 of 3")
    page.wait_for_url("**five-labels%3A2*")
    page.go_back()
    expect(steps).to_contain_text("Step 1 of 3")
    until_ready(page)
    page.go_forward()
    expect(steps).to_contain_text("Step 2 of 3")
    until_ready(page)
    word, box = page.locator(".stage-term").first, page.locator(".hand-box")
    word.focus()
    expect(word.locator(".stage-meaning")).to_be_visible()
    # What it lies over, such as an answer, can be clicked.
    assert word.locator(".stage-meaning").evaluate("""meaning => {
        const {left, bottom} = meaning.getBoundingClientRect();
        return !meaning.contains(document.elementFromPoint(left + 9, bottom - 9)); }""")
    page.keyboard.press("Escape")
    expect(word.locator(".stage-meaning")).to_be_hidden()
    page.locator(".hand-area").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(box).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(page.locator(".st-key-stage")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Live")).to_be_visible()
    for chart in ("#chart-objective", "#chart-error"):  # the explanation of a chart is below its mark
        page.locator(f"{chart} .live-chart-help").hover()
        mark, tip = (page.locator(f"{chart} .live-chart-{part}").bounding_box() for part in ("help", "tip"))
        assert abs(tip["y"] - mark["y"]) < 30
        assert tip["x"] - 1 <= mark["x"] <= tip["x"] + tip["width"]


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
@pytest.mark.parametrize("kind", some(["text", "choice", "estimate", "curve", "goal", "end"], 2))
def test_on_a_phone_on_its_side_the_picture_stays_and_all_words_can_be_reached(open_page, kind):
    page, (_, lesson, number, step) = open_step(open_page, kind, PHONE[::-1]), CHOSEN[kind]
    until_asked(page, lesson, number)
    found = page.evaluate(REACHED)
    answer(page, step.asks)
    assert [*found, *page.evaluate(REACHED)] == []


def test_a_lesson_in_a_file_plays_without_the_app(new_page, tmp_path, monkeypatch):
    monkeypatch.setattr(static_lesson, "MOST_VALUES", 2)
    monkeypatch.setattr(static_lesson, "N_SURFACES", 3)
    page, errors = new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    at_size(page, *PHONE)
    page.goto(static_lesson.write_lesson("multiclass/how-many-labels", tmp_path, 2).as_uri())
    page.locator("#guess circle").first.press("ArrowUp")
    page.locator("#guess button").click()
    page.locator("#time").press("End")
    expect(page.locator("#verdict")).to_contain_text("The run gave")
    expect(page.locator("#status")).to_contain_text("after iteration 100 of 100")
    assert page.locator(".main-svg").count() > 0
    page.locator("#play").press("Enter")
    expect(page.locator("#play")).to_have_text("Pause")
    assert page.evaluate(IS_NO_WIDER)
    assert Axe().run(page).response["violations"] == []
    assert errors == []
