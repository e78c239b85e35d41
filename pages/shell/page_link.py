"""The link of the page: read once when the page is opened, and written in one place after it was drawn.

No widget is bound to the link. Streamlit 1.67 would drop what is bound to another page's widget, and so would need other names
on each page; and it would write the link in the middle of a drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from pages.shell.plain_text import say_of_link
from pages.shell.ticks import ADDRESS, GONE, Ticker, are_served
from pages.shell.warm_up import warm_up

_NOW, _LEFT, _KNOWN = "_page_link", "_links_left", "_known"
# Names for the frame around a page, not for the page itself.
OF_THE_FRAME = ("hide", "present", "lecture", "embed", "embed_options")


@dataclass
class PageLink:
    """The link of one visit to a page. Each opening of a page is another visit."""

    page: str = ""  # its address
    before: str = ""  # the page from which the session came; empty if there is none, and for Home
    visit: int = 0  # its number in the session
    is_over: bool = False  # the browser has gone back to another link of the page
    given: dict[str, str] = field(default_factory=dict)  # with which the page was opened
    said: dict[str, str] = field(default_factory=dict)  # by the present drawing; an empty text is left out of the link
    texts: dict[str, str] = field(default_factory=dict)  # of the last whole drawing
    keys: set[str] = field(default_factory=set)  # of the session's values that the link has
    owner: str = ""  # the name under which the session is known to the browser
    entry: str = ""  # the name whose change is a new entry of the browser's history
    notices: list[str] | None = None  # about what the link holds that is not valid; None until it is read

    @property
    def is_plain(self) -> bool:
        """True if the page was opened without a wish of its own."""
        return not self.given.keys() - set(OF_THE_FRAME)


def link_now() -> PageLink:
    return st.session_state.setdefault(_NOW, PageLink())


def begin_link(page: str) -> None:
    """Begin a drawing of the page; at its first one in a visit, read the link and forget the values of the page before."""
    link = link_now()
    if link.visit and link.page == page and not link.is_over:
        link.said = {}
        return
    for key in link.keys & set(st.session_state):
        del st.session_state[key]
    before = link.before if link.page == page else link.page
    st.session_state[_NOW] = PageLink(page, before, link.visit + 1, given=st.query_params.to_dict())


def given(name: str) -> str:
    """Return the text that the link had for a name when the page was opened; empty without one."""
    return link_now().given.get(name, "")


def read_once(read: Callable[[dict[str, str]], list[str]]) -> None:
    """Read the page's link once in a visit; show each sentence that `read` returns, about a value that is not valid."""
    link = link_now()
    if link.notices is None:
        link.notices = read(link.given)
    for notice in link.notices:
        say_of_link(notice)


def left(page: str) -> dict[str, str]:
    """Return the link with which the reader has left a page; empty if it was not open."""
    return st.session_state.get(_LEFT, {}).get(page, {})


def say_in_link(name: str, text: str, key: str = "") -> None:
    """Note an entry of the link, and the key of the session's value that it has; an empty text is left out."""
    link = link_now()
    link.said[name] = text
    if key:
        link.keys.add(key)


def write_link() -> None:
    """Make the browser keep the entries of the drawing that has ended in the page's link, and no others but those of the frame;
    leave it as it is while the core gets ready.

    If the owner changes while the page stays, the server has lost the session, and streamlit has started a new one without
    these values. The browser then loads its own link again.
    """
    link = link_now()
    if not warm_up().is_ready or not (link.said or link.texts):
        return
    link.texts = {name: text for name, text in link.said.items() if text}
    st.session_state.setdefault(_LEFT, {})[link.page] = link.texts
    data = {"page": link.page, "values": link.texts, "owner": link.owner, "entry": link.entry}
    mount("part-state-link", {**data, "frame": OF_THE_FRAME})  # any of these parts may be mounted first


def mind_the_browser() -> None:
    """Mount the browser part: one history entry for each page and none for its changes, and the other additions above."""
    session = {}
    if are_served():
        if _KNOWN not in st.session_state:  # a name that the server knows as long as it keeps this session
            st.session_state[_KNOWN] = Ticker(lambda _: GONE)
        session = {"session": {"name": st.session_state[_KNOWN].token, "address": ADDRESS}}
    mount("part-state-browser", {"theme": st.context.theme.type, **session})


def keep_room_key(ticket: str) -> None:
    """Make the browser keep the key of the lecturer's room in a cookie, which the server sets for this ticket."""
    if are_served():
        mount("part-state-room", {"room": {"ticket": ticket, "address": ADDRESS}})


def bring_back_file(name: str) -> None:
    """Make the browser choose the file again that this tab had chosen before the page was loaded anew."""
    mount("part-state-file-again", {"file": name})


def mount(key: str, data: dict[str, Any], **options: Any) -> Any:
    """Mount the browser part with what it is to do; its key begins with part-state-, so it takes no room."""
    # Back ends the visit of that moment, which may be a later one: the drawing of this part may have been broken off.
    changes = {
        "on_theme_change": lambda: None,
        "on_back_change": lambda: setattr(link_now(), "is_over", True),
    } | options
    with st.container(key=key):
        return _component()(key=f"{key}-component", data=data, **changes)


@cache
def _component() -> Callable[..., Any]:
    return component(
        "browser_manners", js=(Path(__file__).parent / "manners.js").read_text(encoding="utf-8"), isolate_styles=False
    )
