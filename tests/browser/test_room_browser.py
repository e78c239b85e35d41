"""A class's room in a browser: phones answer by touch and keys, the reveal reaches them, a reload loses nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
from axe_playwright_python.sync_playwright import Axe
from cases import some, tiers
from playwright.sync_api import expect

from pages.room.door import qr_image

from .test_accessibility import BARRED, LOOKED_AT, THEMES, found_on

LONG = 30_000  # milliseconds, on a machine with other tests
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
COUNT = ".room-count"


def serious(page, theme):
    page.emulate_media(color_scheme=theme)
    rules = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{theme}: {rule['id']}: {rule['nodes'][0]['html']}" for rule in rules if rule["impact"] in BARRED]


@pytest.fixture
def phone(browser):
    context = browser.new_context(**PHONE)
    yield context.new_page()
    context.close()


def enter(phone, lecturer):
    phone.goto(lecturer.locator(".room-key a, .room-address a").get_attribute("href"))


def clean(phone):
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = [line for theme in LOOKED_AT for line in serious(phone, theme)]
    assert not found, "\n".join(found)


@pytest.mark.ci
def test_a_phone_votes_twice_and_learns_with_the_reveal_whether_it_was_right(open_page, wait_ready, phone):
    lecturer = open_page("auc?present=1&lesson=unlabeled&view.speed=instant")
    wait_ready(lecturer)
    with lecturer.context.expect_page() as opened:
        lecturer.get_by_role("link", name="Notes").click()
    ask_the_class(lecturer)
    enter(phone, lecturer)
    phone.get_by_role("button", name="about the same").tap()
    expect(phone.locator("#said")).to_contain_text("Your answer is saved")
    expect(lecturer.locator(COUNT)).to_contain_text("1 answered", timeout=LONG)
    expect(opened.value.locator("#count")).to_contain_text("1 answered", timeout=LONG)  # opened before the room
    opened.value.close()
    expect(lecturer.locator(".room-bars")).to_have_count(0)
    phone.reload()
    expect(phone.get_by_role("button", name="about the same")).to_have_attribute("aria-pressed", "true")
    phone.context.set_offline(True)
    above = phone.get_by_role("button", name="higher: unlabeled points help")
    above.tap()
    expect(phone.locator("#said")).to_contain_text("Trying again")
    phone.context.set_offline(False)
    expect(phone.locator("#said")).to_contain_text("Your answer is saved", timeout=LONG)
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-bars")).to_have_attribute("aria-label", "Guesses: A: 1, B: 0, C: 0", timeout=LONG)
    expect(phone.locator(".room-bars")).to_be_visible()
    lecturer.get_by_role("button", name="Vote again").click()
    expect(phone.locator("#code")).to_contain_text("round 2")
    phone.get_by_role("button", name="lower: they hurt").press("Enter")  # a keyboard does the same
    expect(lecturer.locator(COUNT)).to_contain_text("Round 2: 1 answered", timeout=LONG)
    lecturer.get_by_role("button", name="Run").click()
    expect(lecturer.get_by_role("button", name="Next")).to_be_enabled(timeout=LONG)
    expect(phone.locator("#verdict")).to_be_empty()
    lecturer.get_by_role("button", name="Reveal").click(timeout=LONG)
    said = "first vote: A ✓: 1, B: 0, C: 0; second vote: A ✓: 0, B: 0, C: 1"
    expect(lecturer.locator(".room-bars")).to_have_attribute("aria-label", f"Guesses: {said}", timeout=LONG)
    expect(phone.locator("#verdict")).to_contain_text("Not this time. The answer: A. higher", use_inner_text=True)
    expect(phone.locator("#verdict")).to_contain_text("With ten labels")
    clean(phone)
    found = [line for theme in LOOKED_AT for line in found_on(lecturer, theme)]
    assert not found, "\n".join(found)


@pytest.mark.weekly
def test_a_curve_is_drawn_with_a_finger_and_lies_over_those_of_all_after_the_reveal(open_page, wait_ready, phone):
    lecturer = open_page("s3vm?present=1&lesson=batches:2&view.speed=instant")
    wait_ready(lecturer)
    ask_the_class(lecturer)
    enter(phone, lecturer)
    expect(phone.get_by_role("button", name="Send")).to_be_disabled()
    before = phone.evaluate("scrollY")
    drag(phone, [(0.14, 0.8), (0.3, 0.5), (0.6, 0.2), (0.95, 0.1)])
    assert phone.evaluate("scrollY") == before  # the page stays while a finger draws
    values = [float(knot.get_attribute("aria-valuenow")) for knot in phone.get_by_role("slider").all()]
    assert values == sorted(values)
    assert values[-1] - values[0] > 0.25
    phone.get_by_role("button", name="Send").tap()  # at once: a fast stroke is no fling that swallows the tap
    expect(phone.locator("#said")).to_contain_text("Your answer is saved")
    first = phone.get_by_role("slider").first
    first.press("ArrowUp")
    assert float(first.get_attribute("aria-valuenow")) > values[0]
    phone.get_by_role("button", name="Send").tap()
    expect(phone.locator("#said")).to_contain_text("Your answer is saved")
    clean(phone)
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-curves .band")).to_be_attached(timeout=LONG)
    expect(phone.locator("svg .band")).to_be_attached()
    expect(phone.locator("svg polyline.own")).to_be_attached()
    expect(phone.get_by_role("slider")).to_have_count(0)
    clean(phone)


@pytest.mark.weekly
def test_a_question_typed_in_class_is_asked_at_once_and_the_arrow_key_leads_back(open_page, wait_ready, phone):
    lecturer = open_page("auc?present=1&lesson=unlabeled&view.speed=instant", viewport=(1366, 768))
    wait_ready(lecturer)
    lecturer.get_by_role("button", name="Ask anything").click(timeout=LONG)
    lecturer.get_by_label("Question").fill("Which <b>did</b> you use?\nk-means\nan SVM\nnone <i>of</i> them")
    lecturer.get_by_role("button", name="Ask now").click()
    expect(lecturer.locator(".st-key-stage-answer h2")).to_have_text("Which <b>did</b> you use?", timeout=LONG)
    expect(lecturer.get_by_role("button", name="Ask now")).to_be_hidden()
    enter(phone, lecturer)
    phone.get_by_role("button", name="none <i>of</i> them").tap()
    expect(lecturer.locator(COUNT)).to_contain_text("1 answered", timeout=LONG)
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-bars")).to_have_attribute("aria-label", "Guesses: A: 0, B: 0, C: 1", timeout=LONG)
    clean(phone)
    assert lecturer.evaluate(COVERS) == ""
    lecturer.keyboard.press("ArrowRight")
    expect(lecturer.locator(".st-key-stage-answer h2")).to_contain_text("Where will the solid curve end", timeout=LONG)
    expect(phone.locator("#title")).to_contain_text("Where will the solid curve end", timeout=LONG)


@pytest.mark.weekly
def test_five_points_are_chosen_by_tapping_a_map_or_with_keys(open_page, wait_ready, phone):
    lecturer = open_page("auc?present=1&lesson=five-labels:2&view.speed=instant")
    wait_ready(lecturer)
    ask_the_class(lecturer)
    enter(phone, lecturer)
    points = phone.get_by_role("checkbox")
    expect(points.nth(4)).to_be_attached(timeout=LONG)
    for k in (0, 1, 2, 3):
        points.nth(k).tap(force=True)
    expect(phone.get_by_text("4 of 5 chosen")).to_be_visible()
    phone.locator('[role="checkbox"][tabindex="0"]').focus()
    phone.keyboard.press("ArrowRight")
    while phone.get_by_text("5 of 5 chosen").count() == 0:
        phone.keyboard.press("ArrowRight")
        phone.keyboard.press("Space")
    phone.get_by_role("button", name="Send").tap()
    expect(phone.locator("#said")).to_contain_text("Your answer is saved")
    clean(phone)
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-map .cell").first).to_be_attached(timeout=LONG)
    expect(phone.locator("svg .cell").first).to_be_attached()


@pytest.mark.weekly
def test_a_list_of_choices_closes_behind_a_choice(open_page, wait_ready):
    lecturer = open_page("auc?present=1&lesson=unlabeled&view.speed=instant")
    wait_ready(lecturer)
    ask_the_class(lecturer)
    chosen = lecturer.locator("[data-testid=stPopoverBody]")
    for of, choice in (
        ("Timer", "60 seconds"),
        ("More", "Let in no new phones"),
        ("More", "Ask: which points to label?"),
    ):
        lecturer.get_by_role("button", name=of, exact=True).click()
        lecturer.get_by_role("button", name=choice).click()
        expect(chosen).to_have_count(0, timeout=LONG)
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-map")).to_be_attached(timeout=LONG)


@pytest.mark.parametrize("theme", tiers(THEMES, 0, 2))
def test_the_qr_code_is_read_as_the_address_in_both_themes(browser, theme):
    cv2 = pytest.importorskip("cv2", reason="opencv is not installed")
    there = "http://192.168.137.201:8501/lab/r/ABC234"
    page = browser.new_page(color_scheme=theme)
    try:
        page.set_content(f'<style>:root {{color-scheme: light dark}}</style><img width="200" src="{qr_image(there)}">')
        picture = np.frombuffer(page.screenshot(), np.uint8)
    finally:
        page.close()
    said, _corners, _code = cv2.QRCodeDetector().detectAndDecode(cv2.imdecode(picture, cv2.IMREAD_COLOR))
    assert said == there


def ask_the_class(lecturer):
    """Open a room; return the cookie that holds its key."""
    expect(lecturer.get_by_role("button", name="Ask the class")).to_be_visible(timeout=2 * LONG)
    with lecturer.expect_response("**/room-key", timeout=LONG) as kept:
        lecturer.get_by_role("button", name="Ask the class").click()
    assert kept.value.status == 204
    (cookie,) = [one for one in lecturer.context.cookies() if one["name"].startswith("dsglab_room_")]
    return cookie


# The panel's place and the pictures' places: nothing of the panel lies over the map, and nothing of it is outside of the window.
COVERS = """() => {
    const box = selector => document.querySelector(selector)?.getBoundingClientRect();
    const panel = box(".st-key-stage-class-outcome, .st-key-stage-class-question"), map = box("#chart-map");
    if (!panel || !map) return "a part is missing";
    const isOver = panel.left < map.right && map.left < panel.right && panel.top < map.bottom && map.top < panel.bottom;
    const buttons = [...document.querySelectorAll(".st-key-room-bar button")].map(one => one.getBoundingClientRect());
    const isOut = buttons.some(({bottom, right}) => bottom > innerHeight + 1 || right > innerWidth + 1);
    return isOver ? "over the map" : isOut ? "outside of the window" : "";
}"""


@pytest.mark.weekly
@pytest.mark.parametrize("link", some(["s3vm?lesson=gap&view.speed", "auc?lesson=random-features&view.speed"], 1))
def test_the_panel_of_the_room_never_covers_the_map(open_page, wait_ready, link):
    lecturer = open_page(f"{link}=instant&present=1", viewport=(1366, 768))
    wait_ready(lecturer)
    ask_the_class(lecturer)

    def look():
        expect(lecturer.locator(COUNT)).to_be_visible(timeout=LONG)
        for width, height in ((1920, 1080), (1366, 768)):
            lecturer.set_viewport_size({"width": width, "height": height})
            lecturer.wait_for_function(f"innerWidth === {width} && ({COVERS})() === ''", timeout=LONG)

    look()
    lecturer.get_by_role("button", name="Run").click()
    expect(lecturer.get_by_text("Nobody has answered yet")).to_be_visible(timeout=LONG)
    look()
    wait_ready(lecturer)
    lecturer.get_by_role("button", name="Run").click()
    expect(lecturer.get_by_role("button", name="Next")).to_be_enabled(timeout=LONG)
    look()
    lecturer.get_by_role("button", name="Reveal").click()
    expect(lecturer.locator(".room-drawing > *").first).to_be_attached(timeout=LONG)
    look()


def test_arrow_keys_go_on_after_a_click_on_an_answer_and_a_closed_room_counts_no_more(open_page, wait_ready, phone):
    lecturer = open_page("auc?present=1&lesson=unlabeled&view.speed=instant")
    wait_ready(lecturer)
    asked = []
    lecturer.on("request", lambda request: asked.append(request.url))
    cookie = ask_the_class(lecturer)
    code = cookie["name"].removeprefix("dsglab_room_")
    lecturer.wait_for_url(re.compile(rf"room={code}(&|$)"))
    lecturer.reload()  # which loses nothing: the key is in the cookie
    wait_ready(lecturer)
    expect(lecturer.locator(".st-key-room-panel")).to_contain_text(code)
    stored = lecturer.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert cookie["httpOnly"]
    assert [text for text in (stored, lecturer.content(), *asked) if cookie["value"] in text] == []
    enter(phone, lecturer)
    lecturer.get_by_role("button", name="Timer").click()
    lecturer.get_by_role("button", name="120 seconds").click()
    expect(phone.locator("#time")).to_contain_text(" s", timeout=LONG)
    lecturer.get_by_role("button", name="More").click()
    lecturer.get_by_role("button", name="Close the room").click()
    expect(phone.locator("#title")).to_contain_text("This room is closed", timeout=LONG)
    phone.wait_for_timeout(1200)  # two beats of its clock
    expect(phone.locator("#time")).to_be_empty()
    expect(lecturer.get_by_role("button", name="Ask the class")).to_be_visible(timeout=LONG)
    lecturer.locator(".st-key-stage-answer [role=radiogroup] label").first.click()
    wait_ready(lecturer)
    lecturer.keyboard.press("ArrowRight")
    expect(lecturer.get_by_role("button", name="Next")).to_be_enabled(timeout=LONG)
    expect(lecturer.locator(".st-key-stage-answer")).to_contain_text("Correct")  # the answer that was clicked
    lecturer.keyboard.press("ArrowRight")
    expect(lecturer.locator(".stage-steps")).to_contain_text("Step 2 of 4", timeout=LONG)
    wait_ready(lecturer)
    lecturer.keyboard.press("ArrowLeft")
    expect(lecturer.locator(".stage-steps")).to_contain_text("Step 1 of 4", timeout=LONG)


def drag(phone, places):
    """Draw through places of the pad, given as shares of its width and height, with one finger."""
    box = phone.locator("svg.touch").bounding_box()
    touch = phone.context.new_cdp_session(phone)
    points = [{"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in places]
    for kind, point in zip(["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
