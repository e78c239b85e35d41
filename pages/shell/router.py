"""Navigation of the app: seven doors in the menu, and the pages to which they lead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import streamlit as st

from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.controls.pickers import setting_asked
from pages.shell.page_link import begin_link, mind_the_browser, write_link
from pages.shell.plain_text import plain
from pages.shell.sharing import arrive, is_admitted, turns

NO_PAGE = "There is no such page"
LONGEST = 40
EXPLAINING = ("How it works", "Glossary")  # not in the menu


def unknown_page(pages: Sequence[Any]) -> list[Any]:
    """Return a page for the browser's address if it is that of no page. Without it, Streamlit would open its own message."""
    name = unquote(urlsplit(st.context.url or "").path.rpartition("/")[2])
    if not name or name in {page.url_path for page in pages}:
        return []
    offered = [page for page in pages if page.visibility == "visible" or page.title in EXPLAINING]
    draw = partial(draw_unknown, name, offered)
    return [st.Page(draw, title=NO_PAGE, url_path=name, visibility="hidden")]


def draw_unknown(name: str, pages: Sequence[Any]) -> None:
    st.title(NO_PAGE)
    said = f"{name[:LONGEST]}…" if len(name) > LONGEST else name
    st.markdown(f"DSG Lab has nothing at the address “{plain(said)}”. It has these pages:")
    with st.container(key="doors"):
        for page in pages:
            st.page_link(page)


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


def page_named(name: str, **options: Any) -> Any:
    """Return the page of a door, or behind one, for the navigation or for a link, which has its title and icon."""
    title, icon = (DOORS | BEHIND)[name]
    return st.Page(f"pages/{name}.py", title=title, icon=f":material/{icon}:", default=title == HOME, **options)


def page_of(setting: type[Setting], **options: Any) -> Any:
    """Return the page of a setting, for the navigation or for a link."""
    draw = partial(_draw, setting.name)
    return st.Page(draw, title=profile_of(setting).short, url_path=setting.name, **options)


def _draw(name: str) -> None:
    from pages.stage.stage import setting_page  # here, so that the other pages appear sooner

    setting_page(name)


def route() -> None:
    """Run the page that the address names."""
    # A page embedded in another must not lead out of its frame.
    position: Literal["hidden", "top"] = "hidden" if st.context.is_embedded else "top"
    # The doors in the order of the menu, then the pages that are not in it. There are no sections, because streamlit's list of
    # sections on a phone is not accessible.
    behind = [page_of(setting, visibility="hidden") for setting in SETTINGS.values()]
    pages = [*map(page_named, DOORS), *behind, *(page_named(name, visibility="hidden") for name in BEHIND)]
    page = st.navigation([*pages, *unknown_page(pages)], position=position)
    st.set_page_config(page_title=TITLE if page.title == HOME else f"{page.title} - {TITLE}")
    begin_link(page.url_path)
    arrive()
    mind_the_browser()
    with turns.preference():
        if is_admitted():
            page.run()
            write_link()
    if other := setting_asked():
        st.switch_page(page_of(other[0]), query_params=other[1])
