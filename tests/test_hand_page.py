"""Edits of the data on a page: in the link, in the run, undone, and refused with one sentence."""

import base64
import json
import zlib

import numpy as np
import pytest
from cases import each
from live_page import figures, head, status, tiles
from opened_pages import bench_of, checked, errors, open_page, run_of, said

from dsgcore import Spec
from dsgcore.core.errors import DSGError
from dsgcore.data import Edit
from dsgcore.experiments import SETTINGS, default_spec, load_split
from pages.controls.control import key_of
from pages.controls.edits_text import LONGEST_TEXT, MOST_BYTES, edits_in, edits_to_text
from pages.controls.hand import Hand
from pages.live.tick import tick

SHEET = Edit("erase", "all")


def text_of(plain):
    """Return any plain data, or bytes, as a link's text."""
    content = plain if isinstance(plain, bytes) else json.dumps(plain).encode()
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")


def open_edited(name, text, **more):
    edits, by_hand = (key_of(SETTINGS[name], own) for own in ("edits", "by_hand"))
    return open_page(name, **{edits: text, by_hand: "true", **more})


def points_of(app):
    return figures(app)["hand"]


def send(app, *edits, mount="m", first=1, name="auc"):
    """Do what the browser's trigger does, and draw the page."""
    bench = bench_of(app, name)
    asked = {"mount": mount, "edits": [[first + k, edit] for k, edit in enumerate(edits)]}
    bench.hand.take(asked, bench.live.run.spec, bench.live.run.split)
    return app.run()


def edits_for(name):
    split = load_split(default_spec(name))
    free = split.train_rows[split.y_train < 0].tolist()
    return (
        Edit("pair", tuple(free[:2])) if name == "similar_unlabeled" else Edit("label", (free[0],), 1),
        Edit("paint", at=(0.3, 0.4), to=0),
    )


@each("name", SETTINGS)
def test_a_link_with_edits_gives_the_run_of_its_spec(name):
    edits = edits_for(name)
    app = open_edited(name, edits_to_text(edits))
    assert not said(checked(app))
    assert run_of(app, name).spec.data.edits == edits
    assert bench_of(app, name).hand.text == edits_to_text(edits)


def split_of(text):
    return load_split(Spec.from_dict({"setting": "auc", "data": {"edits": edits_in(text)}}))


HOSTILE = [
    ("characters, got", "x" * (LONGEST_TEXT + 1)),
    ("text that this app has written", "!!!"),
    ("text that this app has written", "abc"),
    ("text that this app has written", "é"),
    ("text that this app has written", text_of(b"[" * 100_000)),
    ("text that this app has written", text_of(b"{")),
    ("bytes of plain data", text_of(b" " * (MOST_BYTES + 1))),
    ("a list of at most", text_of({"do": "label"})),
    ("edit 1 must be an object", text_of([[[[]]]])),
    ("at most 5,000 points", text_of([{"do": "paint", "at": [0] * 200_000}])),
    ("finite numbers", text_of(b'[{"do": "paint", "at": [NaN, 1]}]')),
    ("finite numbers", text_of(b'[{"do": "paint", "at": [1e999, 1]}]')),
    ("class from 0 to 1", text_of([{"do": "label", "rows": [1], "to": 7}])),
    ("points that are there, got row 99999", text_of([{"do": "label", "rows": [99_999], "to": 1}])),
    ("near the data", text_of([{"do": "paint", "at": [1e300, 0.5]}])),
]


@each("sentence, text", HOSTILE)
def test_hostile_edits_in_a_link_get_one_sentence(sentence, text):
    with pytest.raises(DSGError) as caught:
        split_of(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_page_with_hostile_edits_says_one_sentence_and_shows_the_data_as_generated():
    for sentence, text in (HOSTILE[5], HOSTILE[-3]):
        app = open_edited("auc", text)
        (own,) = said(app)
        assert sentence in own
        assert own.startswith("In the link, ")
        assert not errors(app)
        assert run_of(app).spec == default_spec("auc")


def test_the_most_points_fit_in_a_link():
    at = np.random.default_rng(0).random(10_000).round(3).tolist()
    edits = (SHEET, *(Edit("paint", at=tuple(at[k : k + 100]), to=k // 100 % 2) for k in range(0, 10_000, 100)))
    text = edits_to_text(edits)
    assert edits_in(text) == edits
    assert len(text) < 40_000


def test_edits_are_done_undone_and_done_again_and_those_that_came_before_are_ignored():
    app = open_edited("auc", "")
    row = int(run_of(app).split.train_rows[run_of(app).split.y_train < 0][0])
    generated = run_of(app).spec
    label = {"do": "label", "rows": [row], "to": 1}
    app = send(app, label)
    assert run_of(app).spec.data.edits == (Edit("label", (row,), 1),)
    assert points_of(app)["count"] == "11 labels"
    assert points_of(app)["taken"] == ["m", 1]
    app = send(app, label)  # sent again, because the browser did not see that it was taken
    assert points_of(app)["count"] == "11 labels"
    app = send(app, {"do": "undo"}, first=2)
    assert run_of(app).spec == generated
    app = send(app, {"do": "redo"}, {"do": "label", "rows": [row], "to": 0}, first=3)
    assert run_of(app).spec.data.edits == (Edit("label", (row,), 0),)  # a label again replaces the one before
    app = send(app, {"do": "reset"}, first=5)
    assert run_of(app).spec == generated
    app = send(app, {"do": "undo"}, first=6)
    assert run_of(app).spec.data.edits


def test_an_edit_that_is_not_valid_changes_nothing_and_is_explained():
    app = open_edited("auc", "")
    for number, edit in enumerate([{"do": "label", "rows": [10**6], "to": 1}, {"do": "dance"}, "x", None], start=1):
        app = send(app, edit, first=number)
        assert points_of(app)["said"]
        assert not run_of(app).spec.data.edits
    hand = Hand()
    run = run_of(app)
    for asked in (None, 3, {"mount": 1}, {"edits": 3}, {"mount": "m", "edits": []}):
        hand.take(asked, run.spec, run.split)
    erase = {"do": "erase", "rows": "all"}
    for sent in (
        1,
        None,
        "ab",
        [],
        [1],
        [1, erase, 2],
        erase,
        ["1", erase],
        [None, erase],
        [[1], erase],
        [True, erase],
    ):
        for known in ("m", "another"):  # the mount of the last edit, and a new one
            hand.taken = (known, 1)
            hand.take({"mount": "m", "edits": [sent]}, run.spec, run.split)
    assert not hand.made


def test_data_without_labels_wait_for_one_and_go_on_with_it():
    app = open_edited("auc", "")
    app = send(app, {"do": "label", "rows": "all"})
    shown = points_of(checked(app))
    assert shown["count"] == "0 of 10 labels"
    assert (shown["said"], shown["next"]) == (
        "",
        "The run starts when each class has a labeled point. Still missing: negative, positive.",
    )
    assert not errors(app)
    assert "paused" in status(app)
    assert app.button(key="play").disabled
    rows = run_of(app).split.train_rows[:2].tolist()
    app = send(app, *({"do": "label", "rows": [row], "to": to} for to, row in enumerate(rows)), first=2)
    assert points_of(app)["count"] == "2 of 10 labels"
    assert points_of(app)["next"] == ""
    assert len(run_of(app).split.labeled) == 2


def test_a_link_to_data_without_labels_shows_them():
    app = open_edited("auc", edits_to_text((Edit("label", "all"),)))
    assert points_of(checked(app))["count"] == "0 of 10 labels"
    assert bench_of(app).hand.text == edits_to_text((Edit("label", "all"),))


def test_edits_stay_with_their_data_and_come_back_with_them():
    edits = edits_for("auc")
    app = open_edited("auc", edits_to_text(edits))
    app = app.number_input(key="seed").set_value(1).run()
    assert run_of(app).spec.data.edits == ()
    app = app.number_input(key="seed").set_value(0).run()
    assert run_of(app).spec.data.edits == edits


def test_a_drawn_data_set_stays_with_another_seed():
    rng = np.random.default_rng(0)
    drawn = (
        SHEET,
        *(
            Edit("paint", at=tuple(rng.random(40).round(3).tolist()), to=to, is_labeled=known)
            for to in (0, 1)
            for known in (True, False)
        ),
    )
    app = open_edited("auc", edits_to_text(drawn))
    first = run_of(app).split.X_train
    app = app.number_input(key="seed").set_value(1).run()
    assert run_of(app).spec.data.edits == drawn
    np.testing.assert_array_equal(run_of(app).split.X_train, first)


def test_the_points_are_sent_only_if_the_reader_edits_and_only_after_a_change():
    app = open_page("auc")
    assert "hand" not in figures(app)
    app = open_edited("auc", "")
    bench = bench_of(app)
    assert len(points_of(app)["rows"]) == 700
    keys = [[one["key"] for one in json.loads(tick(bench, "look 1").split(b"\n")[0])["figures"]] for _ in range(2)]
    assert "hand" in keys[0]
    assert "hand" not in keys[1]


@each("name", SETTINGS)
def test_right_and_wrong_are_drawn_and_said_in_points(name):
    on = {key_of(SETTINGS[name], flag): "true" for flag in ("truth", "mistakes", "wipe")}
    app = open_page(name, **on)
    run = run_of(app, name)
    figure = figures(checked(app))["chart-map"]
    names = [trace.get("name") for trace in figure["data"]]
    assert [f"truly {own}" for own in run.split.class_names] == [own for own in names if str(own).startswith("truly")]
    wrong = {
        own: len(trace["x"]) for own, trace in zip(names, figure["data"], strict=True) if str(own).endswith("wrong")
    }
    assert len(wrong) == 3
    twin = run.problem.baseline_name
    (more,) = [tile["more"] for tile in tiles(app) if tile["more"]]
    n = len(run.split.y_test)
    right, of_twin = (n - wrong["both wrong"] - wrong[f"only {who} wrong"] for who in ("f", twin))
    assert more == f"f gets {right} of {n} test points right, “{twin}” {of_twin}"
    wipe = figure["layout"]["meta"]["wipe"]
    assert np.shape(wipe["z"]) == np.shape(figure["data"][0]["z"])
    assert name != "auc" or wipe["z"] != figure["data"][0]["z"]


def test_without_a_twin_nothing_is_beside_f():
    app = open_page("auc", gamma="1", wipe="true", mistakes="true")
    assert "wipe" not in figures(checked(app))["chart-map"]["layout"]["meta"]
    assert head(app)["tiles"][1]["more"].endswith("test points right")
