"""The page "How it works": five screens with the frames that dsgcore computes, at the place that the link names."""

import base64
import json

import numpy as np
import pytest
from cases import each
from opened_pages import checked, open_page, said

from dsgcore.explained import example, single_waves
from pages.explained.place import Place, read_place
from pages.explained.screens import SCREENS


def drawn(app):
    (mount,) = [c for c in app.get("bidi_component") if "how-it-works" in c.proto.id]
    return [json.loads(line) for line in mount.proto.bytes.decode().split("\n")]


@each("number", range(1, 6))
def test_a_screen_has_few_words_one_slider_and_a_frame_for_each_stop(number):
    around, screen = drawn(checked(open_page("how_it_works", screen=str(number), at="2")))
    assert around["place"] == {"screen": number, "at": 2, "on": 3}
    sentences = screen["text"].count(". ") + 1
    assert 2 <= sentences <= 3
    assert all(len(sentence.split()) <= 25 for sentence in screen["text"].split(". "))
    n_frames = len(screen["stops"]) * 4 ** bool(screen["switches"])
    for panel in screen["panels"]:
        if panel["kind"] == "chart":
            assert len(panel["moving"]) == n_frames
        else:
            sent = base64.b64decode(panel["field"] or panel["values"])
            assert len(sent) % n_frames == 0
            assert len(panel["picked"]) in (0, len(screen["stops"]))
    assert len(json.dumps(screen)) < 200_000, "bytes"


def test_the_map_has_the_values_that_the_core_computes():
    panel = SCREENS[0]().plain()["panels"][0]
    sent = np.frombuffer(base64.b64decode(panel["field"]), np.int8).reshape(24, -1) / 127
    np.testing.assert_allclose(sent, np.clip(single_waves(example(), 24), -1, 1), atol=0.02)


@each("given, place", [({}, Place()), ({"screen": "5", "at": "9", "off": "points"}, Place(5, 9, 2))])
def test_a_link_names_the_place(given, place):
    assert read_place(given, 5) == (place, [])


@each("given", [{"screen": "6"}, {"screen": "-1"}, {"screen": "1e9"}, {"at": "100"}, {"at": "²"}, {"off": "<b>"}])
def test_an_invalid_link_gets_one_sentence_and_the_usual_place(given):
    place, sentences = read_place(given, 5)
    assert place in (Place(), Place(at=0))
    (name,) = given
    assert len(sentences) == 1
    assert sentences[0].startswith(f"In the link, {name} must be ")


def test_the_page_shows_that_sentence():
    assert len(said(open_page("how_it_works", screen="seven"))) == 1


@pytest.mark.parametrize("page", ["home", "auc", "multiclass"])
def test_home_and_every_setting_lead_here(page):
    links = [link.proto.page for link in open_page(page).get("page_link")]
    assert "how_it_works" in links
