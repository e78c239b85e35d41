"""A class's room in a browser: phones answer by touch and keys, the reveal reaches them, a reload loses nothing."""

import re

import numpy as np
import pytest
from cases import tiers
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from pages.room.door import qr_image

from .conftest import LONG
from .watched_pages import BARRED, DESK, IS_NO_WIDER, LOOKED_AT, THEMES, Axe, assert_accessible, expect, until_ready

COUNT = ".room-count"
TEXT_IS_IN_BOX = """() => {
    const box = document.querySelector(".st-key-room-panel .stAlert");  // this server listens on this machine only
    return box.querySelector("p").getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom;
}"""
SAVED = "Your answer is saved"
SOON = 5_000  # milliseconds after which a class would wonder


@pytest.fixture
def phone(new_page):
    return new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def button(page, name):
    return page.get_by_role("button", name=name)


def says(page, part, text, timeout=LONG):
    expect(page.locator(part)).to_contain_text(text, timeout=timeout)


def bars(page, text):
    """Wait until the bars of all answers say so."""
    expect(page.locator(".room-bars")).to_have_attribute("aria-label", f"Guesses: {text}")


def open_lesson(open_page, link, viewport=(1280, 900)):
    lecturer = open_page(f"{link}&present=1&view.speed=instant", viewport=viewport)
    expect(button(lecturer, "Ask the class")).to_be_visible()
    until_ready(lecturer)
    return lecturer


def ask_the_class(lecturer, phone=None):
    """Open a room, which a phone enters; return the cookie that holds the room's key."""
    with lecturer.expect_response(lambda one: (one.request.post_data or "").endswith(" key")) as kept:
        button(lecturer, "Ask the class").click()
    assert kept.value.status == 200
    if phone is not None:
        enter(phone, lecturer)
    (cookie,) = [one for one in lecturer.context.cookies() if one["name"].startswith("dsglab_room_")]
    return cookie


def enter(phone, lecturer):
    phone.goto(lecturer.locator(".room-key a, .room-address a").get_attribute("href"))


def assert_clean(phone):
    assert phone.evaluate(IS_NO_WIDER)
    for theme in LOOKED_AT:
        phone.emulate_media(color_scheme=theme)
        rules = Axe().run(phone, options={"resultTypes": ["violations"]}).response["violations"]
        found = [f"{rule['id']}: {rule['nodes'][0]['html']}" for rule in rules if rule["impact"] in BARRED]
        assert not found, (theme, *found)


@pytest.mark.ci
def test_a_phone_votes_twice_and_learns_with_the_reveal_whether_it_was_right(open_page, phone):
    lecturer = open_lesson(open_page, "auc?lesson=unlabeled")
    ask_the_class(lecturer, phone)
    assert lecturer.evaluate(TEXT_IS_IN_BOX)
    button(phone, "about the same").tap()
    says(phone, "#said", SAVED)
    says(lecturer, COUNT, "1 answered")
    expect(lecturer.locator(".room-bars")).to_have_count(0)
    phone.reload()
    expect(button(phone, "about the same")).to_have_attribute("aria-pressed", "true")
    phone.context.set_offline(True)
    button(phone, "higher: unlabeled points help").tap()
    says(phone, "#said", "Trying again", timeout=SOON)
    phone.context.set_offline(False)
    says(phone, "#said", SAVED)
    button(lecturer, "Reveal").click()
    bars(lecturer, "A: 1, B: 0, C: 0")
    expect(phone.locator(".room-bars")).to_be_visible(timeout=SOON)
    button(lecturer, "Vote again").click()
    says(phone, "#code", "round 2", timeout=SOON)
    button(phone, "lower: they hurt").press("Enter")  # a keyboard does the same
    says(lecturer, COUNT, "Round 2: 1 answered")
    button(lecturer, "Run").click()
    expect(button(lecturer, "Next")).to_be_enabled()
    expect(phone.locator("#verdict")).to_be_empty()
    button(lecturer, "Reveal").click()
    bars(lecturer, "first vote: A ✓: 1, B: 0, C: 0; second vote: A ✓: 0, B: 0, C: 1")
    expect(phone.locator("#verdict")).to_contain_text("Not this time. The answer: A. higher", use_inner_text=True)
    says(phone, "#verdict", "With ten labels")
    assert_clean(phone)
    assert_accessible(lecturer)


@pytest.mark.weekly
def test_a_curve_is_drawn_with_a_finger_and_lies_over_those_of_all_after_the_reveal(open_page, phone):
    lecturer = open_lesson(open_page, "s3vm?lesson=batches:2")
    ask_the_class(lecturer, phone)
    expect(button(phone, "Send")).to_be_disabled()
    before = phone.evaluate("scrollY")
    drag(phone, [(0.14, 0.8), (0.3, 0.5), (0.6, 0.2), (0.95, 0.1)])
    assert phone.evaluate("scrollY") == before  # the page stays while a finger draws
    values = [float(knot.get_attribute("aria-valuenow")) for knot in phone.get_by_role("slider").all()]
    assert values == sorted(values)
    assert values[-1] - values[0] > 0.25
    button(phone, "Send").tap()  # at once: a fast stroke is no fling that swallows the tap
    says(phone, "#said", SAVED)
    button(lecturer, "Reveal").click()
    expect(lecturer.locator(".room-curves .band")).to_be_attached()
    expect(phone.locator("svg .band")).to_be_attached()
    expect(phone.locator("svg polyline.own")).to_be_attached()
    expect(phone.get_by_role("slider")).to_have_count(0)
    assert_clean(phone)


def drag(phone, places):
    """Draw through places of the pad, given as shares of its width and height, with one finger."""
    box = phone.locator("svg.touch").bounding_box()
    touch = phone.context.new_cdp_session(phone)
    points = [{"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in places]
    for kind, point in zip(["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.weekly
def test_a_question_typed_in_class_is_shown_as_it_is_typed_the_arrow_key_leads_back_and_points_are_chosen_on_a_map(
    open_page, phone
):
    lecturer, question = open_lesson(open_page, "auc?lesson=unlabeled", viewport=DESK), ".st-key-stage-answer h2"
    button(lecturer, "Ask anything").click()
    lecturer.get_by_label("Question").fill("Which <b>did</b> you use?\nk-means\nan SVM\nnone <i>of</i> them")
    button(lecturer, "Ask now").click()
    expect(lecturer.locator(question)).to_have_text("Which <b>did</b> you use?")
    enter(phone, lecturer)
    button(phone, "none <i>of</i> them").tap()
    says(lecturer, COUNT, "1 answered")
    assert_clean(phone)
    lecturer.keyboard.press("ArrowRight")
    says(lecturer, question, "Where will the solid curve end")
    says(phone, "#title", "Where will the solid curve end")
    button(lecturer, "More").click()
    button(lecturer, "Ask: which points to label?").click()
    expect(lecturer.locator("[data-testid=stPopoverBody]")).to_have_count(0)  # a list closes behind a choice
    points = phone.get_by_role("checkbox")
    expect(points.nth(4)).to_be_attached()
    for k in range(4):
        points.nth(k).tap(force=True)
    phone.locator('[role="checkbox"][tabindex="0"]').focus()
    while phone.get_by_text("5 of 5 chosen").count() == 0:
        phone.keyboard.press("ArrowRight")
        phone.keyboard.press("Space")
    button(phone, "Send").tap()
    says(phone, "#said", SAVED)
    assert_clean(phone)
    button(lecturer, "Reveal").click()
    expect(lecturer.locator(".room-map .cell").first).to_be_attached()
    expect(phone.locator("svg .cell").first).to_be_attached()


@pytest.mark.parametrize("theme", tiers(THEMES, 0, 2))
def test_the_qr_code_is_read_as_the_address_in_both_themes(new_page, theme):
    cv2 = pytest.importorskip("cv2", reason="opencv is not installed")
    there = "http://192.168.137.201:8501/lab/r/ABC234"
    page = new_page(color_scheme=theme)
    page.set_content(f'<style>:root {{color-scheme: light dark}}</style><img width="200" src="{qr_image(there)}">')
    picture = np.frombuffer(page.screenshot(), np.uint8)
    said, _corners, _code = cv2.QRCodeDetector().detectAndDecode(cv2.imdecode(picture, cv2.IMREAD_COLOR))
    assert said == there


@pytest.mark.ci
def test_a_reload_keeps_the_room_no_script_reads_its_key_and_arrow_keys_lead_on(open_page, phone):
    lecturer = open_lesson(open_page, "auc?lesson=unlabeled")
    cookie = ask_the_class(lecturer)
    code = cookie["name"].removeprefix("dsglab_room_")
    lecturer.wait_for_url(re.compile(rf"room={code}(&|$)"))
    lecturer.reload()  # which loses nothing: the key is in the cookie
    until_ready(lecturer)
    says(lecturer, ".st-key-room-panel", code)
    assert cookie["value"] not in lecturer.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    phone.clock.install()
    enter(phone, lecturer)
    button(lecturer, "Timer").click()
    button(lecturer, "120 seconds").click()
    says(phone, "#time", " s")
    button(lecturer, "More").click()
    button(lecturer, "Close the room").click()
    says(phone, "#title", "This room is closed")
    phone.clock.run_for(2500)  # two beats of its clock
    expect(phone.locator("#time")).to_be_empty()
    lecturer.locator(".st-key-stage-answer [role=radiogroup] label").first.click()
    until_ready(lecturer)
    lecturer.keyboard.press("ArrowRight")
    expect(button(lecturer, "Next")).to_be_enabled()
    says(lecturer, ".st-key-stage-answer", "Correct")  # the answer that was clicked
    lecturer.keyboard.press("ArrowRight")
    says(lecturer, ".stage-steps", "Step 2 of 4")


@pytest.mark.ci
def test_a_page_that_streamlit_removes_is_back_in_its_room(new_page, app_url, phone):
    """Streamlit removes the whole page if a message has a place that the page lacks, as after a lost message."""
    is_misplaced = [True]  # nothing yet

    def carry(socket):
        def to_page(data):
            message = ForwardMsg.FromString(data)
            if not is_misplaced[-1] and message.delta.fragment_id:
                message.metadata.delta_path.append(99)
                is_misplaced.append(True)
            socket.send(message.SerializeToString())

        socket.connect_to_server().on_message(to_page)

    lecturer = new_page(viewport={"width": 1280, "height": 900})
    lecturer.route_web_socket("**/_stcore/stream", carry)
    lecturer.goto(f"{app_url}/auc?lesson=unlabeled&present=1&view.speed=instant")
    until_ready(lecturer)
    ask_the_class(lecturer, phone)
    button(phone, "about the same").tap()
    says(lecturer, COUNT, "1 answered")
    with lecturer.expect_event("load", timeout=LONG):
        is_misplaced.append(False)
    says(lecturer, COUNT, "1 answered")
    expect(button(lecturer, "Reveal")).to_be_visible()
