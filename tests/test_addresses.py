"""Links and file names that a page hands on unchanged: the frame's address, names in a sentence, another file."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from opened_pages import open_auc, run_of, said
from own_tables import iris_csv
from test_app_upload import GOOD, give, open_own

from dsgcore.experiments import Spec
from pages.race import state as race_state

pytestmark = pytest.mark.compiled


def frame_address(app):
    """The address in the frame's HTML, as a browser reads it."""
    (text,) = [code.value for code in app.code if code.value.startswith("<iframe")]
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append(dict(attributes))
    parser.feed(text)
    (attributes,) = found
    assert set(attributes) == {"src", "title", "width", "height"}
    return attributes["src"]


def test_the_frames_address_is_encoded():
    address = frame_address(open_auc(data="Two moons", at="3"))
    assert " " not in address
    given = parse_qs(urlsplit(address).query)
    assert given["data"] == ["Two moons"]
    assert given["at"] == ["3"]
    assert given["embed"] == ["true"]


def test_a_file_in_the_frames_address_does_not_end_it():
    app = give(open_own(), 'a"b&c.csv', iris_csv())
    given = parse_qs(urlsplit(frame_address(app.run())).query)
    assert json.loads(given["file"][0])["name"] == 'a"b&c.csv'
    assert given["hide"] == ["sidebar,tabs"]


def test_a_link_made_for_one_file_says_so_when_another_is_chosen():
    link = json.dumps({"name": "first.csv", "sha256": "0" * 64, "recipe": {}})
    app = give(open_own(file=link), "second.csv", GOOD)
    (notice,) = said(app)
    assert "made for the file first.csv" in notice
    assert "second.csv is a different file" in notice
    assert run_of(app).spec.data.path == "second.csv"
    assert said(app.run()) == [notice]  # by now the link names the second file
    give(app, "third.csv", iris_csv())
    assert not any(
        "made for" in sentence for sentence in said(app)
    )  # that was asked for by nobody but the one who chose it


def test_a_file_name_in_a_race_is_no_markdown():
    spec = Spec()
    spec = replace(spec, data=replace(spec.data, name="file", path="![x](https://a.b/c).csv", sha256="0" * 64))
    started = SimpleNamespace(race=SimpleNamespace(spec=spec), live=None)
    live = SimpleNamespace(run=SimpleNamespace(spec=spec))
    assert "](" not in race_state.whose(started, live)
