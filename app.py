"""Entry point: the server's app, and the script of every visit with the page settings, the warm-up and the router."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from pages.handouts.notes import notes_route
from pages.room.entrance import room_routes
from pages.shell.front_page import elsewhere, routes
from pages.shell.router import route
from pages.shell.streamlit_gaps import ignore_pages_folder
from pages.shell.ticks import TickDoor
from pages.shell.warm_up import life, warm_up

# A file of the app, because named icons would be fetched from another server.
ICON = str(Path(__file__).parent / ".github" / "icon.svg")

if __name__ == "__main__":  # the script of a visit
    st.set_page_config(page_icon=ICON, layout="wide")
    warm_up()
    route()
else:  # the server's module
    ignore_pages_folder()
    addresses = [*routes(), *room_routes(), notes_route(), *elsewhere()]
    app = st.App(__file__, routes=addresses, middleware=[Middleware(TickDoor)], lifespan=life)
