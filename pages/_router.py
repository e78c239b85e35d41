"""The pages, and the way back to them for a visit that Streamlit has not sent through app.py."""

from __future__ import annotations

import streamlit as st

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of

_ROUTED = "_is_routed"


def all_pages(*, with_icons: bool) -> list:
    """Return the app's pages, in the order of the navigation."""
    listed = (
        ("home", "DSG Lab", ":material/home:"),
        *((name, profile_of(setting).short, profile_of(setting).icon) for name, setting in SETTINGS.items()),
        ("data", "Data", ":material/table_chart:"),
    )
    return [
        st.Page(f"pages/{name}.py", title=title, icon=icon if with_icons else None, default=name == "home")
        for name, title, icon in listed
    ]


def route() -> None:
    """Run the page that the address names."""
    st.session_state[_ROUTED] = True
    st.navigation(all_pages(with_icons=True), position="top").run()


def ensure_routed() -> None:
    """Begin again through app.py where a page was run by itself.

    Streamlit takes a folder named pages/ for the pages of an app without `st.navigation`, until that is called once in the
    process: the first visit to a fresh server would run a page's file alone if its address names one.
    """
    if _ROUTED not in st.session_state:
        # Without icons: before the page settings are made, one of them would be fetched for the browser's tab.
        st.navigation(all_pages(with_icons=False), position="hidden")
        st.rerun()
