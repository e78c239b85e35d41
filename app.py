"""Entry point: the server's app, and as every visit's script the page settings, the warm-up and the router."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

# Asked before anything else, which takes its time: another visit's run could answer it meanwhile.
IS_EARLY = bool(getattr(PagesManager, "uses_pages_directory", False))

from pages.shell.front_page import routes  # noqa: E402
from pages.shell.router import route  # noqa: E402
from pages.shell.warm_up import warm_up  # noqa: E402

# A file of our own: named icons would be fetched from elsewhere.
ICON = str(Path(__file__).parent / ".github" / "icon.svg")

if __name__ == "__main__":  # a visit's script
    st.set_page_config(page_icon=ICON, layout="wide")
    warm_up()
    route(is_early=IS_EARLY)
else:  # the server's module
    app = st.App(__file__, routes=routes())
