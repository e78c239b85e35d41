"""Navigation of the app: seven doors in the menu, and the pages to which they lead."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.controls.setting_picker import setting_asked
from pages.server.sessions import arrive
from pages.session.link import without_others
from pages.shell.admission import is_admitted
from pages.shell.browser import mind_the_browser
from pages.shell.turns import turns
from pages.shell.unknown_page import unknown_page
from pages.shell.visits import note_visit

TITLE = "DSG Lab"
HOME = "Home"
# File, title and icon of each page in the menu.
DOORS = {
    "home": (HOME, "home"),
    "lessons": ("Lessons", "school"),
    "methods": ("Methods", "apps"),
    "data": ("Data", "table_chart"),
    "explore": ("Explore", "grid_on"),
    "convergence": ("Convergence", "trending_down"),
    "papers": ("Papers", "article"),
}
# Pages that others lead to.
BEHIND = {
    "how_it_works": ("How it works", "lightbulb"),
    "glossary": ("Glossary", "dictionary"),
    "pinned": ("Pinned runs", "keep"),
    "take_away": ("To take away", "download"),
}


def all_pages() -> list[Any]:
    """Return the app's pages: the doors in the order of the menu, then those that are not in it."""
    # Without sections, because streamlit's list of sections on a phone is not accessible.
    doors = [_page_in(file, title, icon, default=title == HOME) for file, (title, icon) in DOORS.items()]
    behind = [_page_in(file, title, icon, visibility="hidden") for file, (title, icon) in BEHIND.items()]
    return [*doors, *(page_of(setting, visibility="hidden") for setting in SETTINGS.values()), *behind]


def _page_in(file: str, title: str, icon: str, **options: Any) -> Any:
    return st.Page(f"pages/{file}.py", title=title, icon=f":material/{icon}:", **options)


def page_of(setting: type[Setting], **options: Any) -> Any:
    """Return the page of a setting, for the navigation or for a link."""
    draw = partial(_draw, setting.name)
    return st.Page(draw, title=profile_of(setting).short, url_path=setting.name, **options)


def _draw(name: str) -> None:
    from pages.stage.page import setting_page  # here, so that the other pages appear sooner

    setting_page(name)


def route() -> None:
    """Run the page that the address names."""
    # A page embedded in another must not lead out of its frame.
    position: Literal["hidden", "top"] = "hidden" if st.context.is_embedded else "top"
    pages = all_pages()
    page = st.navigation([*pages, *unknown_page(pages)], position=position)
    st.set_page_config(page_title=TITLE if page.title == HOME else f"{page.title} - {TITLE}")
    if note_visit(page.url_path):
        _forget_runs_of_others(page.url_path)
    arrive()
    mind_the_browser()
    with turns.preference():
        if is_admitted():
            page.run()
    if other := setting_asked():
        st.switch_page(page_of(other[0]), query_params=other[1])


def _forget_runs_of_others(page: str) -> None:
    """Remove the parameters of the page before, which Streamlit leaves in the link."""
    given = st.query_params.to_dict()
    for name in given.keys() - without_others(page, given).keys():
        del st.query_params[name]
