"""The pages: one for each registered setting, and the files of the others; and the way back for a visit that comes too early.

Streamlit takes a folder named pages/ for the pages of an app without `st.navigation`, until that is called once in the
process. Then the first visit to a fresh server whose address names a file there runs that file alone (`ensure_routed`), and
one whose address names a setting is told that there is no such page (`route`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.shell.browser import mind_the_browser
from pages.shell.visits import note_visit
from pages.workbench.link import without_others

TITLE = "DSG Lab"
_ROUTED = "_is_routed"
_RELOAD = "<script>location.reload()</script>"


def all_pages(*, with_icons: bool) -> list[Any]:
    """Return the app's pages, in the order of the navigation."""
    home = st.Page("pages/home.py", title=TITLE, icon=_if(with_icons, ":material/home:"), default=True)
    data = st.Page("pages/data.py", title="Data", icon=_if(with_icons, ":material/table_chart:"))
    return [home, *(page_of(setting, with_icon=with_icons) for setting in SETTINGS.values()), data]


def _if(wanted: bool, icon: str) -> str | None:
    return icon if wanted else None


def page_of(setting: type[Setting], *, with_icon: bool = False) -> Any:
    """Return the page of a setting, for the navigation or a link."""
    profile = profile_of(setting)
    draw = partial(_draw, setting.name)
    return st.Page(draw, title=profile.short, icon=_if(with_icon, profile.icon), url_path=setting.name)


def _draw(name: str) -> None:
    from pages.workbench.page import workbench  # here: the other pages are there sooner without it

    workbench(name)


def route(*, is_early: bool) -> None:
    """Run the page that the address names; `is_early` says that Streamlit did not know of these pages when it was asked."""
    is_first = _ROUTED not in st.session_state
    st.session_state[_ROUTED] = True
    # A page within another has no way out of its frame.
    position: Literal["hidden", "top"] = "hidden" if st.context.is_embedded else "top"
    page = st.navigation(all_pages(with_icons=True), position=position)
    st.set_page_config(page_title=TITLE if page.title == TITLE else f"{page.title} - {TITLE}")
    if is_early and is_first and page.url_path:
        # The browser has been told that there is no such page: it asks once more.
        st.html(_RELOAD, unsafe_allow_javascript=True)
        st.stop()
    if note_visit(page.url_path):
        _forget_runs_of_others(page.url_path)
    mind_the_browser()
    page.run()
    # Says that all is there: until then the style keeps the page unseen.
    st.markdown('<span class="page-end"></span>', unsafe_allow_html=True)


def _forget_runs_of_others(page: str) -> None:
    """Take out of the link what streamlit leaves there of the page before."""
    given = st.query_params.to_dict()
    own = without_others(page, given)
    if own != given:
        st.query_params.from_dict(own)


def ensure_routed() -> None:
    """Begin again through app.py where a page's file was run by itself."""
    if _ROUTED not in st.session_state:
        # Without icons: before the page settings are made, one of them would be fetched for the browser's tab.
        st.navigation(all_pages(with_icons=False), position="hidden")
        st.rerun()
