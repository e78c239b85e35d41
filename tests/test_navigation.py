"""The pages in the navigation: every page that a reader may look for is in the bar, or in its menu "More"."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")
import streamlit as st
from streamlit.testing.v1 import AppTest
from test_app import APP

from pages.shell.router import MORE


@pytest.fixture
def navigated(monkeypatch):
    """The titles of the pages in each section of the navigation."""
    given, navigation = {}, st.navigation

    def seen(pages, **options):
        for section, own in pages.items():
            given[section] = [page.title for page in own if page.visibility == "visible"]
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    assert not AppTest.from_file(APP, default_timeout=60).run().exception
    return given


def test_what_has_no_room_in_the_bar_is_in_the_menu_more(navigated):
    assert navigated[MORE] == ["Convergence", "Compare", "Papers", "Glossary"]


def test_the_bar_begins_with_home_and_has_no_page_twice(navigated):
    assert navigated[""][0] == "DSG Lab"
    every = navigated[""] + navigated[MORE]
    assert len(every) == len(set(every)) == 13
