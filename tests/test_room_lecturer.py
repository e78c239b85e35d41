"""The lecturer's page and a class's room: votes hidden until the reveal, two rounds side by side, and a key that stays secret."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("streamlit")
from cases import each
from opened_pages import open_page, shown
from room_phones import PICK
from streamlit.runtime.context import ContextProxy
from test_stage import presented

from dsgcore.experiments import script
from dsgcore.rooms.questions import LABELS, result_of
from dsgcore.rooms.rooms import Asked, Key
from pages.room import lecturer_pages
from pages.room.drawings import answers
from pages.room.pace import Pace
from pages.server.sessions import Session
from pages.shell.room_key import Ticket
from pages.workbench.page import OTHER_TABS

NUMBER = Asked("auc", "random-features", 0)
CURVE = Asked("s3vm", "batches", 1)
MAP = Asked("auc", "unlabeled", 0, LABELS)


@pytest.fixture
def browser_of(monkeypatch):
    """Give a function that lets the browser have kept the key of a room."""

    kept = {}
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _context: kept))
    return lambda key: kept.update({f"dsglab_room_{key.code}": key.secret})


def drawn(app, name="room-bars"):
    """Return the HTML of the room's panel that has an element of that class."""
    texts = [html.proto.body for html in app.get("html")]
    mounts = [mount.proto for mount in app.get("bidi_component") if "room-drawing" in mount.proto.id]
    texts += [json.loads(mount.json)["html"] for mount in mounts]
    return [text for text in texts if f'class="{name}"' in text]


def bench_of(app):
    return app.session_state["_bench_auc"]


def opened():
    """Return a page whose lecturer has asked the class, and the code of its room."""
    app = presented(lesson="unlabeled")
    app.button(key="room-open").click().run()
    return app, bench_of(app).lesson.room.code


def click(app, key):
    app.button(key=f"room-{key}").click().run()
    assert not app.exception
    return app


@pytest.mark.compiled
def test_the_vote_is_hidden_until_the_lecturer_reveals_it_and_the_second_one_stands_beside_it(phones, rooms):
    app, code = opened()
    for k in range(40):
        phones.send(code, str(k % 2), client=f"{k:032d}")
    app.run()
    assert drawn(app) == []
    assert "40 answered" in drawn(app, "room-count")[0]
    click(app, "reveal")
    assert "A: 20, B: 20, C: 0" in drawn(app)[0]
    click(app, "again")
    assert drawn(app) == []
    assert phones.send(code, "0").status_code == 409  # to the round before
    for k in range(30):
        phones.send(code, "0", client=f"{k:032d}", round=2)
    click(app, "reveal")
    assert "second vote: A: 30, B: 0, C: 0" in drawn(app)[0]
    assert app.button(key="room-again").disabled


@pytest.mark.compiled
def test_the_run_ends_the_vote_and_marks_the_right_answer_on_phones_too(phones, rooms):
    app, code = opened()
    bench = bench_of(app)
    phones.send(code, "0")
    app.button(key="lesson-run").click().run()
    assert not rooms.state(code).is_open
    for _ in range(100):
        if bench.lesson.place.outcome is not None:
            break
        app.run()
    assert "result" not in phones.asked(code).json()
    click(app, "reveal")
    assert "A ✓: 1" in drawn(app)[0]
    said = phones.asked(code).json()
    assert said["result"]["right"] == 0
    assert said["result"]["why"].startswith("With ten labels")
    app.button(key="lesson-next").click().run()
    assert phones.asked(code).json()["name"] == "auc/unlabeled/1"


@pytest.mark.compiled
def test_a_timer_and_the_close_button_end_the_vote(phones, rooms):
    app, code = opened()
    click(app, "timer-30")
    assert 25 < rooms.state(code).left <= 30
    assert "s left" in drawn(app, "room-count")[0]
    click(app, "close")
    assert not rooms.state(code).is_open
    assert "closed" in drawn(app, "room-count")[0]


@pytest.mark.compiled
def test_a_lecturer_lets_in_no_new_phones_and_then_new_ones_again(phones, rooms):
    app, code = opened()
    phones.send(code, client="a" * 32)
    click(app, "shut")
    assert "1 answered</b>, no new phones" in drawn(app, "room-count")[0]
    refused = phones.send(code)
    assert (refused.status_code, refused.json()) == (409, {"why": "The lecturer lets in no new phones now."})
    assert phones.send(code, "0", client="a" * 32).status_code == 200
    assert app.button(key="room-shut").label == "Let in new phones again"
    click(app, "shut")
    assert phones.send(code).status_code == 200


@pytest.mark.compiled
def test_the_class_can_be_asked_which_points_to_label_and_then_the_question_again(phones, rooms):
    app, code = opened()
    click(app, "labels").run()
    said = phones.asked(code).json()
    assert said["name"] == MAP.name
    assert len(said["picture"]["points"]) > 100
    assert all(0 <= value <= 1 for point in said["picture"]["points"] for value in point)
    phones.send(code, "~".join(["0.500"] * 10), name=MAP.name)
    click(app, "reveal")
    assert drawn(app, "room-map")
    click(app, "labels").run()
    assert phones.asked(code).json()["name"] == PICK.name
    assert phones.asked(code).json()["isOpen"]


@pytest.mark.compiled
def test_a_step_on_placing_labels_asks_the_class_for_them_beside_the_map_to_label(phones, rooms):
    app = presented(lesson="five-labels:2")
    app.button(key="room-open").click().run()
    code = bench_of(app).lesson.room.code
    said = phones.asked(code).json()
    assert said["name"] == "auc/five-labels/1/labels"
    for k in range(3):
        place = [round(value, 3) for point in said["picture"]["points"][k : k + 5] for value in point]
        assert phones.send(code, "~".join(f"{value:.3f}" for value in place), name=said["name"]).status_code == 200
    click(app, "reveal")
    assert "Map of the points that 3 phones would label" in drawn(app, "room-map")[0]
    assert "room-open" not in [button.key for button in app.button]
    click(app, "labels").run()
    assert drawn(app, "room-map") == []
    assert "name" not in phones.asked(code).json()
    app.button(key="room-open").click().run()  # the same vote again
    assert "3 answered" in drawn(app, "room-count")[0]


@pytest.mark.compiled
def test_a_closed_room_is_gone_from_the_page_and_another_can_be_opened(phones, rooms):
    app, code = opened()
    click(app, "end").run()
    assert phones.asked(code).status_code == 404
    assert drawn(app, "room-count") == []
    app.button(key="room-open").click().run()
    assert bench_of(app).lesson.room.code != code


@pytest.mark.compiled
def test_a_link_brings_the_lecturers_browser_back_to_the_room(phones, room, rooms, browser_of):
    for _ in range(3):
        phones.send(room.code)
    rooms.reveal(room)
    browser_of(room)
    app = presented(lesson="unlabeled", room=room.code)
    assert "B: 3" in drawn(app)[0]
    assert not app.warning


@pytest.mark.compiled
def test_a_second_tab_with_the_room_changes_nothing_for_the_class_until_it_takes_over(
    phones, rooms, browser_of, monkeypatch
):
    monkeypatch.setattr(Session, "is_connected", True)
    first, code = opened()
    browser_of(bench_of(first).lesson.room)
    phones.send(code)
    before = phones.asked(code).json()
    second = presented(lesson="five-labels:2", room=code).run()
    assert phones.asked(code).json() == before  # no other question, and the vote is still open
    assert [button.key for button in second.button if button.key.startswith("room-")] == ["room-lead"]
    first.run()
    assert "1 answered" in drawn(first, "room-count")[0]
    second.button(key="room-lead").click().run()
    second.button(key="room-open").click().run()
    assert phones.asked(code).json()["name"] == "auc/five-labels/1/labels"
    now = phones.asked(code).json()
    first.run().run()
    assert [button.key for button in first.button if button.key.startswith("room-")] == ["room-lead"]
    first.button(key="lesson-run").click().run()
    assert phones.asked(code).json() == now


@pytest.mark.compiled
def test_a_tab_leads_the_room_whose_other_tab_has_closed(phones, rooms, browser_of, monkeypatch):
    monkeypatch.setattr(Session, "is_connected", False)
    first, code = opened()
    browser_of(bench_of(first).lesson.room)
    second = presented(lesson="unlabeled:2", room=code).run()
    assert phones.asked(code).json()["name"] == "auc/unlabeled/1"
    assert "room-lead" not in [button.key for button in second.button]


@pytest.mark.compiled
def test_the_way_into_the_room_is_shown_while_the_vote_is_open(phones, rooms):
    app, _code = opened()

    def is_shown():
        return bool(drawn(app, "room-qr") or drawn(app, "room-key") or app.warning)

    assert is_shown()
    click(app, "close")
    assert not is_shown()
    click(app, "again")
    assert is_shown()


@pytest.mark.compiled
def test_another_browser_with_the_lecturers_link_has_no_room(phones, rooms, room, browser_of):
    phones.send(room.code)
    for link in (room.code, f"{room.code}.{room.secret}", f"{room.code}.guessed", ".", "<b>"):
        app = presented(lesson="unlabeled", room=link)
        assert drawn(app, "room-count") == []
        assert any("one that this browser has opened" in shown(warning.value) for warning in app.warning) == (
            link != "."
        )
        assert "." not in str(app.query_params["room"])
    browser_of(Key(room.code, "guessed"))
    app = presented(lesson="unlabeled", room=room.code)
    assert any("another lecturer's" in shown(warning.value) for warning in app.warning)
    assert rooms.rounds(room, PICK) == [[1]]


def test_the_cookie_with_the_key_is_for_one_ticket_and_no_script(phones, room):
    ticket = Ticket(room)
    reply = phones.post("/room-key", ticket.name.encode())
    cookie = reply.headers["set-cookie"]
    assert reply.status_code == 204
    assert reply.text == ""
    assert cookie.startswith(f"dsglab_room_{room.code}={room.secret};")
    assert {"HttpOnly", "SameSite=strict", "Max-Age=86400"} <= set(cookie.split("; "))
    # Without a path it holds for the folder of its address as the browser knows it: below any prefix, and no further.
    assert "path" not in cookie.lower()
    for body in (b"", b"x" * 32, b"x" * 1000, b"\xff", ticket.name[:-1].encode(), room.code.encode()):
        assert phones.post("/room-key", body).status_code == 404
        assert "set-cookie" not in phones.post("/room-key", body).headers
    name = ticket.name.encode()
    del ticket
    assert phones.post("/room-key", name).status_code == 404  # its session has ended


def offered(app):
    """Return all contents of a page: every message of its script, its link, and its downloads."""
    run = bench_of(app).live.run
    return [
        *messages_of(app),
        str(dict(app.query_params)),
        str(bench_of(app).link.texts),
        script(run.spec, run.tried),
        run.spec.to_json(),
    ]


def messages_of(app):
    """The messages that make a page, as they go to the browser."""
    waiting, found = [app.main, app.sidebar], []
    while waiting:
        place = waiting.pop()
        proto = getattr(place, "proto", None)
        found += [str(proto), str(proto.SerializeToString())] if proto is not None else []
        waiting += getattr(place, "children", {}).values()
    return found


@pytest.mark.compiled
def test_nothing_that_a_page_offers_holds_the_lecturers_key(phones, rooms, caplog, monkeypatch):
    monkeypatch.setattr("pages.shell.browser.are_served", lambda: True)
    caplog.set_level(0)
    app, code = opened()
    bench = bench_of(app)
    assert bench.lesson.ticket.name in str(offered(app))  # what is searched holds what the page tells the browser
    secret, found = bench.lesson.room.secret, offered(app)
    found += [phones.asked(code).text, phones.get(f"/r/{code}").text, phones.get(f"/r/{code}/notes").text]
    for name, value in {"present": "", "tabs": "Code"}.items():  # the whole page, with its code
        app.query_params[name] = value
        if name == "tabs":
            app.session_state["tabs"] = value
    bench.opened |= set(OTHER_TABS)
    bench.lesson.place = None
    app.run().run()
    blocks = [block.value for block in app.code]
    assert [block for block in blocks if block.startswith("<iframe")]
    found += [*offered(app), *blocks, caplog.text, repr(bench.lesson.room), repr(bench)]
    assert [text for text in found if secret in text] == []
    assert [block for block in blocks if code in block] == []


def cookie_of(key):
    return f"dsglab_room_{key.code}={key.secret}"


@each("page", ["notes/now", "results.csv", "results.html"])
def test_notes_and_results_are_for_the_lecturers_browser_alone(phones, room, page):
    path = f"/r/{room.code}/{page}"
    assert phones.get(path, cookie=cookie_of(room)).status_code == 200
    for cookie in (
        "",
        f"dsglab_room_{room.code}=",
        f"dsglab_room_{room.code}=guessed",
        cookie_of(Key("222222", room.secret)),
    ):
        reply = phones.get(path, cookie=cookie)
        assert reply.status_code == 403
        assert set(reply.json()) == {"why"}


def test_who_tries_keys_is_put_off_and_the_lecturer_is_not(phones, room, monkeypatch):
    monkeypatch.setattr(lecturer_pages, "_wrong_keys", Pace(3, 0))
    path = f"/r/{room.code}/notes/now"
    assert phones.get(path, cookie=cookie_of(room)).status_code == 200
    tried = [phones.get(path, cookie=cookie_of(Key(room.code, f"guess{k}"))).status_code for k in range(5)]
    assert tried == [403] * 3 + [429] * 2
    assert phones.get(path, cookie=cookie_of(room)).status_code == 200


def test_the_second_screen_has_the_notes_and_the_answers_before_the_class_sees_them(phones, room):
    phones.send(room.code, "1")
    now = phones.get(f"/r/{room.code}/notes/now", cookie=cookie_of(room)).json()
    assert now["number"] == 1
    assert not now["isRevealed"]
    assert "A: 0, B: 1, C: 0" in now["drawing"]
    assert len(now["notes"]) > 20
    assert now["lesson"].endswith("Step 1 of 4.")


def test_the_results_are_one_page_and_a_table_with_all_questions(phones, rooms, room):
    phones.send(room.code, "0")
    rooms.again(room)
    phones.send(room.code, "1", round=2)
    rooms.tell(room, result_of(PICK, {"verdict": 1.0}))
    rooms.ask(room, CURVE)
    phones.send(room.code, "0.5~0.6~0.7~0.8~0.9~1", name=CURVE.name)
    page = phones.get(f"/r/{room.code}/results.html", cookie=cookie_of(room)).text
    assert page.count("<section>") == 2
    assert "first vote: A ✓: 1, B: 0, C: 0; second vote: A ✓: 0, B: 1, C: 0" in page
    assert 'class="band"' in page
    table = phones.get(f"/r/{room.code}/results.csv", cookie=cookie_of(room))
    assert len(table.text.splitlines()) == 4
    assert table.headers["content-disposition"] == f'attachment; filename="room-{room.code}.csv"'


@each("asked, guesses", [(PICK, [0, 1]), (NUMBER, [0.1, 0.9]), (CURVE, [[0.5] * 6, [0.9] * 6]), (MAP, [[0.5] * 10])])
def test_every_kind_of_question_is_drawn_with_and_without_answers_and_says_it_in_words(asked, guesses):
    picture = {"points": [[0.2, 0.3]]} if asked.kind else {}
    for rounds in ([[]], [guesses], [[], guesses], [guesses, guesses]):
        for result in ({}, {"right": 0, "value": [0.7] * 6 if asked is CURVE else 0.4}):
            made = answers(asked.question, rounds, result, picture)
            assert made.count('role="img"') >= 1
            assert made.count("aria-label=") == made.count('role="img"')


def test_the_outcome_of_a_run_lies_over_the_band_and_the_median_of_all_curves():
    made = answers(CURVE.question, [[[0.5] * 6, [0.6] * 6, [0.7] * 6]], {"value": [0.8] * 6}, {})
    assert made.index('class="band"') < made.index('class="middle"') < made.index('class="outcome"')
    assert "3 curves; median at the start: 0.60" in made
    assert "outcome at the start: 0.80" in made


@pytest.mark.compiled
def test_drawn_curves_are_shown_as_a_band_and_a_median(phones, rooms, room, browser_of):
    browser_of(room)
    rooms.ask(room, CURVE)
    for guess in ("0.5~0.5~0.5~0.5~0.5~0.5", "0.5~0.6~0.7~0.8~0.9~0.9", "1~1~1~1~1~1"):
        phones.send(room.code, guess=guess, name=CURVE.name)
    rooms.reveal(room)
    app = open_page("s3vm", present="1", svm_lesson="batches:2", svm_room=room.code)
    (figure,) = drawn(app, "room-curves")
    assert "median at the start: 0.50, after 10%: 0.60" in figure
