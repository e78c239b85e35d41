"""Addresses of callers: trusted proxies are believed, strangers are not."""

import anyio
import pytest
import uvicorn
from room_phones import forget_loops
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from pages.room import entrance
from pages.room.entrance import entrance_routes
from pages.room.pace import Pace
from pages.shell.callers import VARIABLE, caller_of


def scope_of(peer, *forwarded, path="/"):
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "server": ("h", 80)}
    scope |= {"scheme": "http", "client": (peer, 4711) if peer else None, "asgi": {"version": "3.0"}}
    return scope | {"headers": [(b"x-forwarded-for", said.encode("latin-1")) for said in forwarded]}


def directly(peer, *forwarded):
    """As a server gives it that does not read the header itself."""
    return caller_of(Request(scope_of(peer, *forwarded)))


def through_uvicorn(peer, *forwarded):
    """As uvicorn gives it, which reads the header first."""

    async def answer(request):
        return PlainTextResponse(caller_of(request))

    return body_of(Starlette(routes=[Route("/", answer)]), scope_of(peer, *forwarded))[1]


def body_of(app, scope):
    config, sent = uvicorn.Config(app, log_config=None, lifespan="off"), []
    config.load()

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    anyio.run(config.loaded_app, scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


@pytest.fixture(params=[directly, through_uvicorn], ids=["directly", "through uvicorn"])
def caller(request, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    return request.param


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("203.0.113.9", (), "203.0.113.9"),
        # A stranger says what he likes.
        ("203.0.113.9", ("10.0.0.1",), "203.0.113.9"),
        ("203.0.113.9", ("127.0.0.1",), "203.0.113.9"),
        ("203.0.113.9", ("127.0.0.1, 127.0.0.1",), "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", ("10.0.0.1",), "2001:db8:1:2::/64"),
        # Through a proxy, what he says stands before what the proxy has seen.
        ("127.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("127.0.0.1", ("10.0.0.1, 203.0.113.9",), "203.0.113.9"),
        ("127.0.0.1", ("127.0.0.1, 203.0.113.9",), "203.0.113.9"),
        ("127.0.0.1", ("unknown, , 203.0.113.9",), "203.0.113.9"),
        ("127.0.0.1", ("10.0.0.1", "203.0.113.9"), "203.0.113.9"),
        # Several proxies on this machine.
        ("127.0.0.1", ("203.0.113.9, 127.0.0.1",), "203.0.113.9"),
        ("127.0.0.1", ("203.0.113.9, 127.0.0.2, ::1",), "203.0.113.9"),
        ("::1", ("203.0.113.9",), "203.0.113.9"),
        ("127.0.0.5", ("203.0.113.9",), "203.0.113.9"),
        ("::ffff:127.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        # A proxy elsewhere is a stranger until it is named.
        ("127.0.0.1", ("203.0.113.9, 10.0.0.5",), "10.0.0.5"),
        # Ports, and IPv6 in its spellings.
        ("127.0.0.1", ("203.0.113.9:5123",), "203.0.113.9"),
        ("127.0.0.1", ("[2001:db8:1:2::9]:5123",), "2001:db8:1:2::/64"),
        ("127.0.0.1", ("[2001:db8:1:2::9]",), "2001:db8:1:2::/64"),
        ("127.0.0.1", ("2001:DB8:1:2:0:0:0:a",), "2001:db8:1:2::/64"),
        ("127.0.0.1", ("::ffff:203.0.113.9",), "203.0.113.9"),
        ("::ffff:203.0.113.9", ("10.0.0.1",), "203.0.113.9"),
        ("127.0.0.1", ('"[2001:db8:1:2::9]:1"',), "2001:db8:1:2::/64"),
        ("127.0.0.1", (" \t203.0.113.9 ",), "203.0.113.9"),
        # Nothing to go by.
        ("127.0.0.1", (), "127.0.0.1"),
        ("127.0.0.1", ("",), "127.0.0.1"),
        ("127.0.0.1", (" , ",), "127.0.0.1"),
        ("127.0.0.1", ("unknown",), "unknown"),
        ("127.0.0.1", ("[2001:db8",), "[2001:db8"),
        ("127.0.0.1", ("x" * 10_000,), "x" * 64),
        ("", ("203.0.113.9",), ""),
    ],
)
def test_a_caller_is_who_the_last_trusted_proxy_has_seen(caller, peer, forwarded, found):
    assert caller(peer, *forwarded) == found


@pytest.mark.parametrize(
    ("named", "peer", "forwarded", "found"),
    [
        ("10.0.0.0/8", "10.0.0.5", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.0.0.5", "127.0.0.1, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("10.0.0.5, 192.0.2.1", "192.0.2.1", "203.0.113.9, 10.0.0.5:80", "203.0.113.9"),
        ("127.0.0.1,10.0.0.0/8", "127.0.0.1", "203.0.113.9, 10.0.0.5", "203.0.113.9"),
        ("2001:db8:1::/48", "2001:db8:1::5", "203.0.113.9", "203.0.113.9"),
        (
            "10.0.0.0/8",
            "127.0.0.1",
            "203.0.113.9",
            "127.0.0.1",
        ),  # as uvicorn has it: what is named is all that is trusted
        ("10.0.0.0/8", "11.0.0.1", "203.0.113.9", "11.0.0.1"),
        ("", "127.0.0.1", "203.0.113.9", "127.0.0.1"),
        ("*", "198.51.100.1", "203.0.113.9, 192.0.2.1", "203.0.113.9"),
    ],
)
def test_the_proxies_that_are_trusted_can_be_named(caller, monkeypatch, named, peer, forwarded, found):
    monkeypatch.setenv(VARIABLE, named)
    assert caller(peer, forwarded) == found


def test_a_proxy_that_is_named_wrongly_is_said_and_left_out(monkeypatch, caplog):
    monkeypatch.setenv(VARIABLE, "nonsense/99, 10.0.0.5")
    assert directly("10.0.0.5", "203.0.113.9") == "203.0.113.9"
    assert directly("nonsense/99", "203.0.113.9") == "nonsense/99"
    assert "got 'nonsense/99'" in caplog.text


def test_a_flood_through_a_proxy_puts_off_one_phone_and_no_other(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setattr(entrance, "_pace", Pace(3, 0))
    entrance.rooms.cache_clear()
    app = Starlette(routes=entrance_routes())

    def status(peer, *forwarded):
        forget_loops()
        return body_of(app, scope_of(peer, *forwarded, path="/r/room/asked"))[0]

    try:
        assert [status("127.0.0.1", f"10.0.0.{k}, 203.0.113.9:{k}") for k in range(5)] == [404] * 3 + [429] * 2
        assert status("127.0.0.1", "203.0.113.10") == 404
        assert [status("198.51.100.1", f"10.0.0.{k}") for k in range(5)] == [404] * 3 + [429] * 2
    finally:
        entrance.rooms.cache_clear()
        forget_loops()
