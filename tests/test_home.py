"""Home: every setting at work in a picture, words before names, and one place to start."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from cases import each
from opened_pages import checked, open_page
from pictures_of_settings import picture

from dsgcore.settings import PROFILES
from pages.pictures.kept import file_of, kept_picture, still

PATH = "{http://www.w3.org/2000/svg}path"
NUMBER = re.compile(r"-?\d+\.?\d*")


@pytest.mark.parametrize("setting", PROFILES)
def test_each_setting_has_a_headline_in_words_and_a_picture(setting):
    headline = PROFILES[setting].headline
    assert headline
    assert not re.search(r"[A-Z]{2}", headline), "words, not acronyms"
    assert ET.fromstring(file_of(setting).read_text(encoding="utf-8")).tag.endswith("svg")


@pytest.mark.weekly
@pytest.mark.parametrize("setting", PROFILES)
def test_a_picture_shows_what_the_first_lesson_learns(setting):
    drawn, kept = ET.fromstring(picture(setting)), ET.fromstring(file_of(setting).read_text(encoding="utf-8"))
    assert [path.get("fill") for path in drawn.iter(PATH)] == [path.get("fill") for path in kept.iter(PATH)]
    assert len(drawn.findall("{*}g")) == 6, "frames"
    # Another machine may round a point or a cell's shade otherwise.
    for one, other in zip(drawn.iter(PATH), kept.iter(PATH), strict=True):
        a, b = (len(NUMBER.findall(path.get("d", ""))) for path in (one, other))
        np.testing.assert_allclose(a, b, rtol=0.1, atol=30)


@each("setting", PROFILES)
def test_who_wants_less_motion_sees_the_last_frame(setting):
    moving, frame = (ET.fromstring(one.svg) for one in (kept_picture(setting), still(kept_picture(setting))))
    assert frame.find("{*}style") is None
    assert [path.attrib for path in frame.find("{*}g")] == [path.attrib for path in moving.findall("{*}g")[-1]]
    assert len(frame.findall("{*}g")) == 1
    assert len(frame.findall(PATH)) == len(moving.findall(PATH)), "the points stay"


def test_the_first_thing_to_press_is_the_first_lesson_and_every_setting_has_its_name():
    app = checked(open_page("home"))
    assert len(app.markdown) == 1, "one sentence"
    links = [link.proto for link in app.get("page_link")]
    assert (links[0].label, links[0].page) == ("Start here", "auc")
    assert links[0].query_string.startswith("lesson=unlabeled")
    names = [profile.full_name for profile in PROFILES.values()]
    assert [link.label for link in links[1 : len(names) + 1]] == names
    assert len(app.get("image")) == 2 * len(names), "a moving and a still one"
