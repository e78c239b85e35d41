"""Home: every setting at work in a picture, words before names, and one place to start."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from cases import each
from live_page import figure
from opened_pages import bench_of, checked, open_page, run_of, shown
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


def test_home_leads_to_the_first_lesson_to_how_it_works_to_a_file_and_to_every_method():
    app = checked(open_page("home"))
    links = [link.proto for link in app.get("page_link")]
    assert [(link.label.split("**")[1], link.page) for link in links[:3]] == [
        ("Start the first lesson", "auc"),
        ("How it works", "how_it_works"),
        ("Try your own file", "data"),
    ]
    assert links[0].query_string.startswith("lesson=unlabeled")
    assert links[2].query_string == "set=Your+own+file"
    cards = {link.page: link.label for link in links[3:]}
    for name, profile in PROFILES.items():
        assert cards[name] == f"**{profile.short}** {profile.card}"
        assert not re.search(r"[A-Z]{2}", cards[name]), "words, not acronyms"
    assert len(app.get("image")) == 2 * len(PROFILES), "a moving and a still one"


def test_the_picture_learns_by_itself_from_ten_labels_and_a_crowd_and_shows_both_sides_of_the_divider():
    app = checked(open_page("home"))
    run = run_of(app, "home")
    assert len(run.labeled_rows) == 10
    assert len(run.split.X_train) > 300
    assert bench_of(app, "home").is_playing
    wipe = figure(app, "chart-map")["layout"]["meta"]["wipe"]
    assert wipe["left"].startswith("labels only")
    assert wipe["right"].startswith("with grey points")


def test_a_label_given_by_hand_begins_another_run_and_without_labels_the_page_says_what_to_do():
    app = checked(open_page("home"))
    split = run_of(app, "home").split
    grey = int(split.train_rows[split.y_train < 0][0])
    for number, edit in enumerate(({"do": "label", "rows": [grey], "to": 1}, {"do": "label", "rows": "all"}), start=1):
        bench = bench_of(app, "home")
        bench.hand.take({"mount": "here", "edits": [[number, edit]]}, bench.spec, bench.live.run.split)
        assert not bench.hand.refused
        checked(app.run())
        if number == 1:
            assert len(run_of(app, "home").labeled_rows) == 11
    assert bench.hand.lacks in [shown(text.value) for text in app.markdown]
