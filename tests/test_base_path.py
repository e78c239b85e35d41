"""Below any base path: the server's own addresses, those that pages hand on, and where phones are sent."""

from types import SimpleNamespace

import anyio
import pytest
import streamlit as st
from cases import each
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from dsgcore.experiments import SETTINGS
from pages.charts.live_chart import LIBRARY_ADDRESS
from pages.room import door
from pages.room.entrance import entrance_routes
from pages.room.qr import qr_image
from pages.shell import addresses
from pages.shell.asset_routes import asset_routes
from pages.shell.front_page import elsewhere, routes
from pages.shell.room_key import key_route
from pages.shell.ticks import TickDoor
from pages.stage.links import address_of

STREAMLIT = PlainTextResponse("Streamlit's", status_code=404)
OPTIONS = {"server.baseUrlPath": "", "server.address": "127.0.0.1", "server.port": 8501}


@pytest.fixture
def configured(monkeypatch):
    """Give a function that sets the server's options."""

    def set_options(**options):
        named = OPTIONS | {f"server.{name}": value for name, value in options.items()}
        monkeypatch.setattr(st, "get_option", named.__getitem__)

    return set_options


@pytest.fixture
def seen_at(monkeypatch):
    """Give a function that says at which address the browser has found the page, and with which headers."""

    def set_url(url, **headers):
        monkeypatch.setattr(st, "context", SimpleNamespace(url=url, headers=headers))

    return set_url


def asked(path, query="", method="GET"):
    """Return the status, the headers and the body that the server answers with."""
    app = Starlette(
        routes=[*routes(), *asset_routes(), *entrance_routes(), key_route(), *elsewhere(), Mount("/", app=STREAMLIT)],
        middleware=[Middleware(TickDoor)],
    )
    sent = []
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": []}

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    anyio.run(app, scope | {"client": ("10.0.0.1", 1), "server": ("h", 80)}, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)


@pytest.mark.parametrize("base", ["", "lab", "/lab/", "user/a.b/proxy/8501"])
def test_every_own_address_is_below_the_base_path(configured, base):
    configured(baseUrlPath=base)
    begin = f"/{base.strip('/')}" if base else ""
    for page in ("", "data", "lessons", "r/", "r/ABCDEF", *SETTINGS):
        status, headers, body = asked(f"{begin}/{page}")
        assert status == 200, page
        assert headers["content-type"].startswith("text/html")
        assert b"<!DOCTYPE html>" in body
    assert asked(f"{begin}/{LIBRARY_ADDRESS}")[1]["content-type"].startswith("text/javascript")
    assert asked(f"{begin}/tick", method="POST")[0] == 400
    assert asked(f"{begin}/room-key", method="POST")[0] == 404
    assert asked(f"{begin}/r/room/answer", method="POST")[0] == 413
    if base:
        assert asked("/auc")[0] == asked("/r/")[0] == 404


@pytest.mark.parametrize("page", ["auc", "data"])
def test_a_slash_too_many_leads_to_the_page_below_any_prefix(configured, page):
    configured(baseUrlPath="lab")
    status, headers, _body = asked(f"/lab/{page}/", "eta=0.1&data=Two+moons")
    assert status in (301, 302, 307, 308)
    assert headers["location"] == f"../{page}?eta=0.1&data=Two+moons"  # a proxy may have taken a prefix off


WORDS = {
    "pairs": "similar_unlabeled",
    "ranking": "auc",
    "gaps": "s3vm",
    "ordered": "ordinal",
    "many": "multiclass",
    "Many classes": "multiclass",
    "ordered-classes": "ordinal",
    "AUC": "auc",
    "QSG-S2AUC": "auc",
    "How-it-works": "how_it_works",
    "home": "./",
    "index.html": "./",
}


@pytest.mark.parametrize("base", ["", "lab"])
def test_every_other_address_leads_to_the_page_that_it_names_or_to_one_with_style_and_all_doors(configured, base):
    configured(baseUrlPath=base)
    begin = f"/{base}" if base else ""
    for word, page in WORDS.items():
        status, headers, _body = asked(f"{begin}/{word}", "eta=0.1")
        assert status == 307, word
        assert headers["location"] == f"{page}?eta=0.1", word
    for address, there in {"ranking/": "../auc", "pages/auc": "../auc", "a/b c": "../b%20c", "a/b/": "../../b"}.items():
        assert asked(f"{begin}/{address}")[1]["location"] == there, address
    style = asked(f"{begin}/")[2].partition(b"<style>")[2].partition(b"</style>")[0]
    for address in ("nothing", "ranking2", "a b", "<b>", "päge", "page.py", "r2", "component"):
        status, headers, body = asked(f"{begin}/{address}")
        assert status == 404, address
        assert style in body, address
        assert "content-security-policy" in headers


@each("address", ["_stcore/health", "auc/_stcore/host-config", "media/a.png", "component/a/b.js", "favicon.png"])
def test_what_streamlit_serves_is_left_to_it(configured, address):
    configured()
    assert asked(f"/{address}")[2] == STREAMLIT.body


def test_a_base_path_without_its_slash_leads_home(configured):
    configured(baseUrlPath="a/lab")
    assert asked("/a/lab", "x=1")[1]["location"] == "lab/?x=1"


@pytest.mark.parametrize(
    ("url", "begin"),
    [
        ("https://hub.example/user/a/proxy/8501/take_away", "https://hub.example/user/a/proxy/8501"),
        ("http://127.0.0.1:8080/lab/auc", "http://127.0.0.1:8080/lab"),
        ("http://[2001:db8::1]:8501/auc", "http://[2001:db8::1]:8501"),
    ],
)
def test_links_that_are_handed_on_are_below_the_prefix_that_the_browser_sees(seen_at, url, begin):
    seen_at(url)
    assert address_of(SETTINGS["auc"], {"data": "Two moons"}) == f"{begin}/auc?data=Two+moons"
    assert addresses.beside_this_page("r", {"code": "A"}).geturl() == f"{begin}/r?code=A"


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("localhost", True),
        ("lab.localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("192.168.0.7", False),
        ("2001:db8::1", False),
        ("lab.example.org", False),
        ("localhost.example.org", False),
        (None, False),
        ("", False),
    ],
)
def test_a_name_that_means_the_same_machine_everywhere_is_known(host, is_so):
    assert addresses.is_of_this_machine(host) is is_so


@pytest.fixture
def shown(monkeypatch):
    """Give what the room's door and its warning say."""
    monkeypatch.setattr(door, "address_in_network", lambda: "192.0.2.7")
    monkeypatch.delenv("DSGLAB_ADDRESS", raising=False)
    said = []
    monkeypatch.setattr(st, "html", said.append)
    monkeypatch.setattr(st, "warning", lambda text, icon: said.append(text))
    monkeypatch.setattr(st, "code", lambda text, **_options: said.append(text))
    return said


def where(room="ABC234"):
    door.draw_door(room)


def test_phones_are_sent_below_the_prefix(configured, seen_at, shown):
    configured(address="0.0.0.0")
    seen_at("https://lab.example.org/user/a/auc")
    where()
    (picture, line) = shown
    assert 'href="https://lab.example.org/user/a/r/ABC234"' in line
    assert ">lab.example.org/user/a/r<" in line
    assert f'src="{qr_image("https://lab.example.org/user/a/r/ABC234")}"' in picture
    assert "QR code of https://lab.example.org/user/a/r/ABC234" in picture


def test_where_the_server_listens_on_this_machine_alone_the_page_says_which_command_opens_it(
    configured, seen_at, shown
):
    configured(baseUrlPath="/lab/", port=8600)
    seen_at("http://localhost:8600/lab/auc")
    where()
    warning, command, own = shown
    assert "listens on this machine only" in warning
    assert command == "python -m dsgcore app --class --port 8600 --base-path lab"
    assert "http://localhost:8600/lab/r/ABC234" in own  # to try it


@pytest.mark.parametrize(
    ("options", "headers"),
    [({"address": "0.0.0.0"}, {}), ({"address": None}, {}), ({"address": "::"}, {}), ({}, {"X-Forwarded-For": "::1"})],
)
def test_where_others_reach_the_server_its_own_name_for_itself_gives_way(configured, seen_at, shown, options, headers):
    configured(**options)
    seen_at("http://localhost:8501/auc", **headers)
    where()
    (_picture, line) = shown
    assert 'href="http://192.0.2.7:8501/r/ABC234"' in line


@each(
    "said, there",
    [
        ("10.0.0.5", "http://10.0.0.5:8501/lab/r/ABC234"),
        (" lab.example.org ", "http://lab.example.org:8501/lab/r/ABC234"),
        ("lab.example.org:80", "http://lab.example.org:80/lab/r/ABC234"),
        ("https://lab.example.org/user/a/", "https://lab.example.org/user/a/r/ABC234"),
        ("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080/r/ABC234"),
    ],
)
def test_the_variable_says_where_phones_find_the_app(configured, seen_at, shown, monkeypatch, said, there):
    configured(baseUrlPath="lab")
    seen_at("http://localhost:8501/lab/auc")
    monkeypatch.setenv("DSGLAB_ADDRESS", said)
    shown.clear()
    where()
    (_picture, line) = shown
    assert f'href="{there}"' in line


@each("said", ["<script>", "http://", "a b", "ftp://x", "http://u:p@x", "x?y=1", "x:port", "x:999999", "-", "[::1"])
def test_a_variable_that_is_no_address_is_said(configured, seen_at, shown, monkeypatch, said):
    configured(address="0.0.0.0")
    seen_at("http://localhost:8501/auc")
    monkeypatch.setenv("DSGLAB_ADDRESS", said)
    shown.clear()
    where()
    (warning,) = shown
    assert warning.startswith("DSGLAB_ADDRESS: the address for phones must be")


def test_a_machine_without_a_network_is_said_to_have_none(configured, seen_at, shown, monkeypatch):
    monkeypatch.setattr(door, "address_in_network", lambda: None)
    configured(address="0.0.0.0")
    seen_at("http://localhost:8501/auc")
    where()
    assert "this machine has no network" in shown[0]
