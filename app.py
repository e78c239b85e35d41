"""Entry point: page settings, warm-up, and the router. Everything else is in pages/ and dsgcore/."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._router import route
from pages._warm_up import warm_up

# A file of our own: named icons would be fetched from elsewhere.
ICON = str(Path(__file__).parent / ".github" / "icon.svg")

st.set_page_config(page_title="DSG Lab", page_icon=ICON, layout="wide")
warm_up()
route()
