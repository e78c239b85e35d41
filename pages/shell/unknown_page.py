"""The page at an address at which there is none: it says so, and offers all pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import streamlit as st

from pages.shell.plain_text import plain

TITLE = "There is no such page"
LONGEST = 40


def unknown_page(pages: Sequence[Any]) -> list[Any]:
    """Return a page for the browser's address if it is that of no page. Without it, Streamlit would open its own message."""
    name = unquote(urlsplit(st.context.url or "").path.rpartition("/")[2])
    if not name or name in {page.url_path for page in pages}:
        return []
    draw = partial(draw_unknown, name, [page for page in pages if page.visibility == "visible"])
    return [st.Page(draw, title=TITLE, url_path=name, visibility="hidden")]


def draw_unknown(name: str, pages: Sequence[Any]) -> None:
    st.title(TITLE)
    said = f"{name[:LONGEST]}…" if len(name) > LONGEST else name
    st.markdown(f"DSG Lab has nothing at the address “{plain(said)}”. It has these pages:")
    with st.container(key="doors"):
        for page in pages:
            st.page_link(page, icon=page.icon)
