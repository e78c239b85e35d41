"""The server's first answer to a browser: Streamlit's page with the style and the modules of the app."""

import asyncio
import hashlib
import posixpath
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from pages.charts.live_chart import LIBRARY, MODULES, digest
from pages.shell import front_page
from pages.shell.front_page import asset_routes, routes


def asked_by(host):
    return Request({"type": "http", "headers": [(b"host", host.encode())]})


@pytest.fixture(scope="module")
def html():
    route = next(route for route in routes() if route.path == "/auc")
    return asyncio.run(route.endpoint(asked_by("localhost"))).body.decode()


def test_a_page_loads_nothing_from_another_server():
    route = next(route for route in routes() if route.path == "/auc")
    for host, sockets in {
        "lab.example.org": "ws://lab.example.org wss://lab.example.org ",
        "[::1]:8501": "ws://[::1]:8501 wss://[::1]:8501 ",
        "": "",
        "*": "",
        "a; script-src *": "",
        "a b": "",
    }.items():
        policy = asyncio.run(route.endpoint(asked_by(host))).headers["content-security-policy"]
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == "'self'"
        assert not [rule for rule in rules.values() if "http" in rule or "*" in rule]
        assert rules["connect-src"] == f"'self' {sockets}data: blob:", "no socket of another host"


def test_modules_import_only_what_is_served():
    for name, path in MODULES.items():
        for imported in re.findall(r'from "(\.[^"]+)"', path.read_text(encoding="utf-8")):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)) in MODULES, name


def test_the_chart_library_is_as_published():
    """As `npm pack plotly.js-cartesian-dist-min@4.1.1` gives it, under the licence that lies beside it."""
    found = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
    assert found == "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
    assert "MIT License" in LIBRARY.with_name("LICENSE").read_text()


def test_a_module_of_another_version_is_not_served():
    (route,) = [route for route in asset_routes() if route.path.startswith("/assets/")]
    for path in (
        f"{'0' * 16}/charts/browser/chart.js",
        f"{digest()}/charts/browser/nothing.js",
        f"{digest()}/../app.py",
    ):
        version, _, module = path.partition("/")
        parameters = {"digest": version, "module": module}
        assert route.endpoint(Request({"type": "http", "headers": [], "path_params": parameters})).status_code == 404


def test_the_first_answer_says_that_the_app_starts_before_anything_else_has_arrived(html):
    root = html.partition('<div id="root">')[2]
    assert root.startswith('<p class="starting" role="status">DSG Lab: learn from few labels and many points')
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert ".starting" in style
    # No style sheet and no script in the head keeps the browser from drawing that.
    assert all('media="print"' in sheet for sheet in re.findall(r'<link rel="stylesheet"[^>]*>', html))
    head = html.partition("</head>")[0]
    assert all('type="module"' in script for script in re.findall(r"<script[^>]* src=[^>]*>", head))
    # A page that waits for the numerical core shows its progress bar at once, although it has no title yet.
    assert ".stAppViewContainer:has(.stProgress)" in style


def test_the_first_words_say_what_the_app_is_and_how_far_the_core_is(monkeypatch):
    doing = "Compiling the numerical core, once on this machine: values (2 of 4)"
    monkeypatch.setattr(front_page, "warm_up", lambda: SimpleNamespace(said=lambda: doing))
    by_path = {route.path: route for route in routes()}
    for path in ("/", "/auc", "/starting"):
        text = asyncio.run(by_path[path].endpoint(asked_by("localhost"))).body.decode()
        assert f"{front_page.WHAT}\n{doing}" in text


# --- the app's modules for the browser, tested by node's own test runner


TESTS = sorted((Path(__file__).parent / "javascript").glob("*.test.mjs"))
NODE = shutil.which("node")


@pytest.mark.skipif(
    NODE is None, reason="node is not installed, so the browser modules are tested in browser tests only"
)
@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_modules_for_the_browser(file):
    assert NODE is not None
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# pass 0" not in ran.stdout
