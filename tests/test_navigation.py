"""The pages in the navigation: every page that a reader may look for."""

import streamlit as st
from opened_pages import APP
from streamlit.testing.v1 import AppTest


def test_every_page_is_in_the_navigation_once_and_home_is_first(monkeypatch):
    given, navigation = [], st.navigation

    def seen(pages, **options):
        given[:] = [page.title for page in pages if page.visibility == "visible"]
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    assert not AppTest.from_file(APP, default_timeout=60).run().exception
    assert given[0] == "DSG Lab"
    assert given[-4:] == ["Convergence", "Compare", "Papers", "Glossary"]
    assert len(given) == len(set(given)) == 13
