"""The pages in the navigation: every page that a reader may look for."""

from types import SimpleNamespace
from urllib.parse import quote

import streamlit as st
from cases import each
from opened_pages import APP, checked, open_page, shown
from streamlit.testing.v1 import AppTest

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from pages.shell import unknown_page


def test_every_page_is_in_the_navigation_once_and_home_is_first(monkeypatch):
    given, navigation = [], st.navigation

    def seen(pages, **options):
        given[:] = [page.title for page in pages if page.visibility == "visible"]
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    assert not AppTest.from_file(APP, default_timeout=60).run().exception
    assert given[0] == "DSG Lab"
    assert given[-4:] == ["Convergence", "Compare", "Papers", "Glossary"]
    assert [profile_of(setting).short for setting in SETTINGS.values()] == given[3:8]
    assert len(given) == len(set(given)) == 14


def test_a_setting_is_named_by_what_it_does_and_on_the_pages_of_lessons_and_papers_its_paper_is_second():
    profiles = [profile_of(setting) for setting in SETTINGS.values()]
    assert all(profile.full_name.startswith(f"{profile.short} (") for profile in profiles)
    for page in ("lessons", "papers"):
        assert {heading.value for heading in checked(open_page(page)).header} == {one.full_name for one in profiles}


PAGES = [SimpleNamespace(url_path=path, visibility="visible") for path in ("", "auc", "data", "take_away")]


@each("address", ["nothing", "[Log in](https://a.b)", "päge", "x" * 200, ":red[a]", "$x$"])
def test_an_address_of_no_page_says_so_in_plain_text_and_offers_all_pages(monkeypatch, address):
    monkeypatch.setattr(
        unknown_page.st, "context", SimpleNamespace(url=f"https://h/lab/{quote(address, safe='')}?a=/b")
    )
    monkeypatch.setattr(unknown_page.st, "Page", lambda draw, **options: SimpleNamespace(**options))
    (page,) = unknown_page.unknown_page(PAGES)
    assert page.url_path == address
    said = []
    monkeypatch.setattr(unknown_page.st, "markdown", said.append)
    unknown_page.draw_unknown(address, [])
    assert address[:30] in shown(said[0])
    assert "](" not in said[0]


@each("path", ["", "auc", "data", "take_away"])
def test_an_address_of_a_page_is_not_unknown(monkeypatch, path):
    monkeypatch.setattr(unknown_page.st, "context", SimpleNamespace(url=f"https://h/lab/{path}"))
    assert unknown_page.unknown_page(PAGES) == []
