"""What the server gives a browser first: streamlit's page with what a setting's page will need asked for ahead."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

import pytest
import streamlit as st

from pages.charts.live_chart import LIBRARY, LIBRARY_ADDRESS
from pages.shell.front_page import routes

STATIC = Path(st.__file__).parent / "static"


@pytest.fixture(scope="module")
def html():
    route = next(route for route in routes() if route.path == "/auc")
    return asyncio.run(route.endpoint(None)).body.decode()


def test_the_code_of_every_kind_of_widget_is_asked_for_with_the_page(html):
    ahead = re.findall(r'modulepreload" crossorigin href="\./(static/js/([\w-]+)[\w.-]*)"', html)
    assert len(ahead) == len(set(ahead))
    assert all((STATIC / path).is_file() for path, _ in ahead)
    kinds = {"Slider", "Selectbox", "ButtonGroup", "Checkbox", "NumberInput", "Metric", "BidiComponent", "PageLink"}
    assert kinds <= {name for _, name in ahead}
    assert "serialization" in {name for _, name in ahead}, "what a widget needs is asked for, too"


def test_the_chart_library_is_asked_for_with_the_page(html):
    assert f'<link rel="preload" as="script" href="{LIBRARY_ADDRESS}">' in html


def test_the_chart_library_is_as_published():
    """As `npm pack plotly.js-cartesian-dist-min@4.1.1` gives it, under the licence that lies beside it."""
    digest = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
    assert digest == "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
    assert "MIT License" in LIBRARY.with_name("LICENSE").read_text()
