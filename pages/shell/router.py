"""Navigation of the app: one page for each setting, and the other pages' files."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.server.sessions import arrive
from pages.session.link import without_others
from pages.shell.admission import is_admitted
from pages.shell.browser import mind_the_browser
from pages.shell.turns import turns
from pages.shell.unknown_page import unknown_page
from pages.shell.visits import note_visit

TITLE = "DSG Lab"


def all_pages() -> list[Any]:
    """Return the app's pages in the order of the navigation. Those for which the bar has no room are in its last menu."""
    home = st.Page("pages/home.py", title=TITLE, icon=":material/home:", default=True)
    data = st.Page("pages/data.py", title="Data", icon=":material/table_chart:")
    lessons = st.Page("pages/lessons.py", title="Lessons", icon=":material/school:")
    how = st.Page("pages/how_it_works.py", title="How it works", icon=":material/lightbulb:")
    explore = st.Page("pages/explore.py", title="Explore", icon=":material/grid_on:")
    convergence = st.Page("pages/convergence.py", title="Convergence", icon=":material/trending_down:")
    compare = st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:")
    glossary = st.Page("pages/glossary.py", title="Glossary", icon=":material/dictionary:")
    papers = st.Page("pages/papers.py", title="Papers", icon=":material/article:")
    settings = (page_of(setting, with_icon=True) for setting in SETTINGS.values())
    # This page is reached at a lesson's end.
    take_away = st.Page("pages/take_away.py", title="To take away", icon=":material/download:", visibility="hidden")
    # Without sections, because streamlit's list of sections on a phone is not accessible.
    return [home, lessons, how, *settings, explore, data, convergence, compare, papers, glossary, take_away]


def page_of(setting: type[Setting], *, with_icon: bool = False) -> Any:
    """Return the page of a setting, for the navigation or for a link, which shows the icon of the page."""
    profile = profile_of(setting)
    draw = partial(_draw, setting.name)
    return st.Page(draw, title=profile.short, icon=profile.icon if with_icon else None, url_path=setting.name)


def _draw(name: str) -> None:
    from pages.stage.page import setting_page  # here, so that the other pages appear sooner

    setting_page(name)


def route() -> None:
    """Run the page that the address names."""
    # A page embedded in another must not lead out of its frame.
    position: Literal["hidden", "top"] = "hidden" if st.context.is_embedded else "top"
    pages = all_pages()
    page = st.navigation([*pages, *unknown_page(pages)], position=position)
    st.set_page_config(page_title=TITLE if page.title == TITLE else f"{page.title} - {TITLE}")
    if note_visit(page.url_path):
        _forget_runs_of_others(page.url_path)
    arrive()
    mind_the_browser()
    with turns.preference():
        if is_admitted():
            page.run()


def _forget_runs_of_others(page: str) -> None:
    """Remove the parameters of the page before, which Streamlit leaves in the link."""
    given = st.query_params.to_dict()
    for name in given.keys() - without_others(page, given).keys():
        del st.query_params[name]
