"""The names in a link: each page has its own, for Streamlit takes those that two pages share out of the link on the way back."""

import pytest
from opened_pages import checked, open_page, said
from own_tables import iris_csv
from test_app import PAGES

from dsgcore.experiments import SETTINGS
from pages.session.link import read_link

OWN_FILE = "look_file"  # drawn when a file has been chosen


def names_of(app):
    """The names under which a page's controls are in the link."""
    assert not app.exception
    found = {getattr(element.proto, "query_param_key", "") for element in app if hasattr(element, "proto")}
    return found - {""}


def test_a_file_that_is_looked_at_is_not_that_of_a_settings_page():
    app = open_page("data", set="Your own file")
    app.file_uploader[0].upload("iris.csv", iris_csv(), "text/csv").run()
    assert not app.exception
    assert OWN_FILE in names_of(app)
    assert not {f"{prefix}file" for prefix in PAGES.values()} & names_of(app)


def test_the_pages_know_the_names_that_they_draw_and_no_two_have_a_name_in_the_link_in_common():
    names = {page: names_of(open_page(page, **{f"{prefix}at": "2"})) for page, prefix in PAGES.items()}
    for page, found in names.items():
        notices = read_link(SETTINGS[page], dict.fromkeys(found, "x"))
        assert not [notice for notice in notices if "does not know" in notice], page
    names["data"] = names_of(open_page("data", set="Iris"))
    assert all(len(found) > 5 for found in names.values()), names
    pages = list(names)
    shared = {(a, b): names[a] & names[b] for i, a in enumerate(pages) for b in pages[:i] if names[a] & names[b]}
    assert shared == {}


def test_a_seed_of_the_data_page_that_is_none_is_left_out():
    app = open_page("data", set="Iris", look_seed="9" * 400)
    assert not app.exception
    assert app.number_input(key="look_seed").value == 0


@pytest.mark.parametrize("text", ["start over", "redo"])
@pytest.mark.parametrize("hide", ["", "sidebar"])
def test_a_link_holds_the_name_of_a_choice_or_its_value(text, hide):
    app = open_page("auc", slider=text, hide=hide)
    assert said(app) == []
    assert app.session_state["slider"] == "redo"


@pytest.mark.parametrize(("page", "names"), [("multiclass", ["class_map"]), ("s3vm", ["map", "speed", "slider"])])
def test_a_choice_of_the_view_that_a_link_leaves_empty_is_its_default(page, names):
    keys = [f"{PAGES[page]}{name}" for name in names]
    app = checked(open_page(page, **dict.fromkeys(keys, "")))
    for key in keys:
        app.session_state[key] = None  # as streamlit's own half of the page reads it
    checked(app.run())
