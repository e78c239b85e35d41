"""Entry point: page settings, warm-up, and the router. Everything else is in pages/ and dsgcore/."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import streamlit as st

from dsgcore.features import warm_up
from pages._router import route

# A file of our own: named icons would be fetched from elsewhere.
ICON = str(Path(__file__).parent / ".github" / "icon.svg")


@st.cache_resource(show_spinner=False)
def start_warm_up() -> threading.Thread:
    """Compile the core in the background, once a process, while the first page is read."""
    thread = threading.Thread(target=_warm_up, name="warm-up", daemon=True)
    thread.start()
    return thread


def _warm_up() -> None:
    warm_up()
    # What is loaded by now stays: later collections need not look at it again.
    gc.collect()
    gc.freeze()


st.set_page_config(page_title="DSG Lab", page_icon=ICON, layout="wide")
start_warm_up()
route()
