"""What the server answers, where phones find it, and how files of lessons are read, as it is kept in tests/golden/."""

import io
import json
import os
import re
import socket
import zlib
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import anyio
import pytest
import streamlit as st
import uvicorn
from golden_files import check
from golden_text import said, text
from room_phones import CURVE, GUESSES, MAP, NUMBER, ask
from small_specs import OWN_LESSON
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from test_golden_pages import shortened

from dsgcore import lessons
from dsgcore.__main__ import main
from dsgcore.cli import app, network
from dsgcore.experiments import SETTINGS
from dsgcore.lessons import FOLDER, library
from dsgcore.rooms.questions import question_in
from dsgcore.settings.lessons import read_lesson
from pages.charts.live_chart import digest
from pages.handouts.notes import notes_route
from pages.room import door
from pages.room.drawings import answers
from pages.room.entrance import LONGEST_ANSWER, room_routes
from pages.session.lesson_check import check_file
from pages.shell import addresses, router
from pages.shell.addresses import PROXIES, caller_of
from pages.shell.front_page import elsewhere, routes
from pages.shell.room_key import cookie_name
from pages.shell.ticks import TickDoor
from pages.stage.links import address_of

OPTIONS = {"server.baseUrlPath": "", "server.address": "127.0.0.1", "server.port": 8501}
KEPT_HEADERS = ("content-type", "location", "content-security-policy", "cache-control", "set-cookie")


@pytest.fixture
def configured(monkeypatch):
    """Give a function that sets the server's options, and the address at which the browser is."""

    def set_options(url="http://localhost:8501/auc", **options):
        named = OPTIONS | {f"server.{name}": value for name, value in options.items()}
        monkeypatch.setattr(st, "get_option", named.__getitem__)
        monkeypatch.setattr(st, "context", SimpleNamespace(url=url, headers={}))

    set_options()
    return set_options


# Below each base path: pages, other names of pages, nothing, what Streamlit serves; a word that is no method is a host's name.
PAGES = ("", "data", "r", "r/", "r/ABCDEF", "r/ABCDEF/", "r/<script>alert(1)<", "notes?of=auc/gone", *SETTINGS)
OTHERS = """pairs ranking gaps ordered many ordered-classes AUC QSG-S2AUC How-it-works home index.html auc/ data/ ranking/ pages/auc
a/b/ nothing ranking2 <b> päge page.py r2 component starting _stcore/health auc/_stcore/host-config media/a.png
component/a/b.js favicon.png assets/0123456789abcdef/charts/browser/chart.js"""
OTHERS = (
    *OTHERS.split(),
    *(f"assets/{digest()}/{name}" for name in ("charts/browser/chart.js", "nothing.js", "../app.py")),
    "Many classes",
    "a b",
    "a/b c",
)
HOSTS = ("lab.example.org", "[::1]:8501", "", "*", "a; script-src *", "a b")


def test_addresses(configured, monkeypatch):
    monkeypatch.setattr("pages.shell.front_page.warm_up", lambda: SimpleNamespace(said=lambda: "Compiling: 2 of 4"))
    lines = []
    for base in ("", "lab", "/user/a.b/proxy/8501/"):
        configured(baseUrlPath=base)
        begin = f"/{base.strip('/')}" if base else ""
        pages = [
            *routes(),
            *room_routes(),
            notes_route(),
            *elsewhere(),
            Mount("/", PlainTextResponse("Streamlit's", 404)),
        ]
        server = Starlette(routes=pages, middleware=[Middleware(TickDoor)])
        rows = [("GET", f"{begin}/{path}", "localhost") for path in (*PAGES, *OTHERS)]
        rows += [("POST", f"{begin}/tick", "localhost"), ("GET", "/auc", "localhost"), ("GET", "/r/", "localhost")]
        rows += [("GET", "/auc", host) for host in HOSTS] * (not base)
        for method, path, host in rows:
            path, _, query = path.partition("?")
            reply = ask(server, method, path, query or "eta=0.1&data=Two+moons", headers={"host": host})
            kept = [f"{name}: {reply.headers[name]}" for name in KEPT_HEADERS if name in reply.headers]
            lines += ["", f"{method} {path} {host}", str(reply.status_code), *kept, *first_words(reply)]
    check("server_addresses", unlike_before(re.sub(r"\b[0-9a-f]{16}\b", "HASH", line) for line in lines))


def first_words(reply):
    """Yield what a page shows before its scripts are there, and what keeps the browser from drawing it."""
    text = "" if "javascript" in reply.headers.get("content-type", "") else reply.text
    if '<div id="root">' not in text:
        yield shortened(text)
        return
    yield from re.findall(r"<title>.*?</title>", text)
    yield " ".join(text.partition('<div id="root">')[2].partition("</div>")[0].split())
    head = text.partition("</head>")[0]
    for tag in re.findall(r"<(?:link rel=.stylesheet|script)[^>]*>", head):
        yield re.sub(r"(\.[\w-]{8}|\?v=\w+)(?=\.(js|css)|[\"'])", ".HASH", tag)
    yield f"style: {[name in text for name in ('.starting', '.stAppViewContainer:has(.stProgress)')]}"


def unlike_before(lines):
    """Return long lines once, and later only a sum of their letters."""
    seen = set()
    for line in lines:
        yield f"again {zlib.crc32(line.encode()):08x}" if line in seen and len(line) > 40 else line
        seen.add(line)


# What is no answer to a question, and parts of a good answer that are not.
BODIES = (b"", b"{", b"[]", b"7", b"null", b"[" * 390, b'{"code": 1}', b"\xff\xfe")
BODIES += (b'{"code": "A", "client": [], "name": {}, "round": 1e999, "guess": 1, "age": 0}',)
BODIES += (b'{"code": "A", "client": "c", "name": "n", "round": 1, "guess": "1", "age": "x"}',)
PARTS = ({"round": 10**40}, {"client": 7}, {"guess": ["1"]}, {"name": "x" * 60}, {"code": []}, {"code": "222222"})
PARTS += ({"guess": "<img src=x onerror=alert(1)>"}, {"round": 2}, {"name": NUMBER.name}, {"age": float("nan")})
LENGTHS = ((LONGEST_ANSWER, None), (LONGEST_ANSWER + 1, None), (1_000_000, None), (1, ""), (1, "-1"))
OF = ("auc/unlabeled\nWho <i>knows</i>? | I do | I do not\ns3vm/gap", "auc/unlabeled\nno-lesson", "<script>alert(1)")


def test_what_a_room_answers(rooms, room, phones):
    lines = []

    def tell(what, reply):
        kept = [reply.headers[name] for name in KEPT_HEADERS if name in reply.headers]
        said = [f"{what}: {reply.status_code} {' '.join(kept)}", *reply.text.replace("><", ">\n<").split("\n")]
        for half in (room.code, room.code[:4], room.code[4:]):
            said = [text.replace(half, "CODE")[:200] for text in said]
        lines.extend(said)

    for body in BODIES:
        tell(f"{body[:70]}", phones.post("/r/room/answer", body))
    for part in PARTS:
        tell(f"{str(part)[:70]}", phones.send(**{"code": room.code, "client": "c" * 32} | part))
    for n, length in LENGTHS:
        tell(f"{n} bytes, said to be {length}", phones.post("/r/room/answer", b"x" * n, length))
    lines.append(f"kept {[state.rounds for state in rooms.questions(room)]}")
    phones.send(room.code, "0")
    rooms.again(room)
    phones.send(room.code, "1", round=2)
    rooms.tell(room, {"verdict": 1.0})
    rooms.ask(room, CURVE)
    phones.send(room.code, GUESSES[CURVE], name=CURVE.name)
    rooms.ask(room, MAP, {"points": [[0.1, 0.2]]})
    for code in (room.code, "222222", "", "<b>"):
        tell(f"asked {code}", phones.asked(code))
    for since in ("x", "-1", "9" * 50, "½"):
        lines.append(f"since {since} {phones.asked(room.code, since=since).status_code}")
    for of in OF:
        tell(f"notes of {of}", phones.get("/notes", of=of, room=room.code))
    cookies = ((room.code, room.secret), (room.code, ""), (room.code, "guessed"), ("222222", room.secret))
    for page, cookie in product(("notes/now", "results.html"), (*cookies, None)):
        sent = "" if cookie is None else f"{cookie_name(cookie[0])}={cookie[1]}"
        tell(f"{page} {sent.replace(room.secret, 'SECRET')}", phones.get(f"/r/{room.code}/{page}", cookie=sent))
    for question, guesses in (("0 to 100", [95.0]), ("1952 to 2024", [1974.0, 1952.0]), ("0 to 1999999", [1999999.0])):
        lines += answers(question_in(f"How many? | {question}"), [guesses], {}, {}).split("><")
    for n in (1, 5, 11):
        lines += answers(CURVE.question, [[[0.5 + 0.4 * k / n] * 6 for k in range(n)]], {}, {}).split("><")
    check("server_room", unlike_before(lines))


# The proxies that are named as trusted, or none of them; who asks; and what the header says.
CALLERS = """
- | 203.0.113.9 | ; 10.0.0.1; 127.0.0.1; 127.0.0.1, 127.0.0.1
- | 2001:db8:1:2:3:4:5:6 | 10.0.0.1
- | 127.0.0.1 | 10.0.0.1, 203.0.113.9; 127.0.0.1, 203.0.113.9; unknown, , 203.0.113.9; 10.0.0.1 + 203.0.113.9
- | 127.0.0.1 | 203.0.113.9, 127.0.0.1; 203.0.113.9, 127.0.0.2, ::1; 203.0.113.9, 10.0.0.5; ; +; , ; unknown; [2001:db8
- | 127.0.0.1 | 203.0.113.9:5123; ::ffff:203.0.113.9; 	203.0.113.9 ; [2001:db8:1:2::9]:5123; [2001:db8:1:2::9]
- | 127.0.0.1 | 2001:DB8:1:2:0:0:0:a; "[2001:db8:1:2::9]:1"
- | ::1 | 203.0.113.9
- | 127.0.0.5 | 203.0.113.9
- | ::ffff:127.0.0.1 | 203.0.113.9
- | ::ffff:203.0.113.9 | 10.0.0.1
- | | 203.0.113.9
10.0.0.0/8 | 10.0.0.5 | 203.0.113.9; 127.0.0.1, 203.0.113.9, 10.9.9.9
10.0.0.5, 192.0.2.1 | 192.0.2.1 | 203.0.113.9, 10.0.0.5:80
127.0.0.1,10.0.0.0/8 | 127.0.0.1 | 203.0.113.9, 10.0.0.5
2001:db8:1::/48 | 2001:db8:1::5 | 203.0.113.9
10.0.0.0/8 | 127.0.0.1 | 203.0.113.9
10.0.0.0/8 | 11.0.0.1 | 203.0.113.9
| 127.0.0.1 | 203.0.113.9
* | 198.51.100.1 | 203.0.113.9, 192.0.2.1
nonsense, 10.0.0.0/8 | 10.0.0.5 | 203.0.113.9
"""


def scope_of(peer, forwarded):
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "server": ("h", 80), "scheme": "http"}
    scope |= {"client": (peer, 4711) if peer else None, "asgi": {"version": "3.0"}}
    return scope | {"headers": [(b"x-forwarded-for", said.encode("latin-1")) for said in forwarded]}


def through_uvicorn(scope):
    """Return the caller as uvicorn gives it, which reads the header first."""
    found = []

    async def asked(scope, receive, send):
        found.append(caller_of(Request(scope)))

    config = uvicorn.Config(asked, log_config=None, lifespan="off", interface="asgi3")
    config.load()
    anyio.run(config.loaded_app, scope, None, None)
    return found[0]


def test_a_caller_is_who_the_last_trusted_proxy_has_seen_and_a_stranger_says_what_he_likes(monkeypatch):
    lines = []
    for row in CALLERS.strip("\n").split("\n"):
        named, peer, said = (part.strip(" ") for part in row.split("|"))
        monkeypatch.setenv(PROXIES, named)
        if named == "-":
            monkeypatch.delenv(PROXIES)
        for forwarded in (*said.split(";"), "x" * 10_000):
            scope = scope_of(peer, forwarded.split("+"))
            found = caller_of(Request(scope))
            assert through_uvicorn(scope) == found, row
            lines.append(f"{named} | {peer} | {forwarded[:60]} -> {found}")
    check("server_callers", lines)


# --- where phones find the server


class Probe:
    """A socket of a machine with a routing table: its own addresses by the beginning of the others'."""

    def __init__(self, table):
        self.table = table

    def __enter__(self):
        return self

    def __exit__(self, *_error): ...

    def connect(self, there):
        self.own = next((own for start, own in self.table.items() if there[0].startswith(start)), None)
        if self.own is None:
            raise OSError("Network is unreachable")

    def getsockname(self):
        return (self.own, 4711)


TABLES = ({"": "192.0.2.7"}, {"192.168.137.": "192.168.137.1", "": "10.3.0.7"}, {}, {"": "127.0.0.1"}, {"": "0.0.0.0"})
LISTENS = ({"address": "0.0.0.0"}, {"port": 8502, "baseUrlPath": "lab"}, {"address": "0.0.0.0", "baseUrlPath": "lab"})
URLS = (
    "http://localhost:8501/lab/auc",
    "https://hub.example/user/a/proxy/8501/take_away",
    "http://[2001:db8::1]:8501/auc",
)
SAID = (
    "",
    "10.0.0.5",
    "  ",
    " lab.example.org:80 ",
    "https://example.org/lab/",
    "lab.local:80",
    "a b",
    "ftp://a",
    "a:x",
)
SAID += ("http://[2001:db8::1]:8080", "https://user@a.b", "a.b?c", "a" * 300)
HERE = ("localhost", "lab.localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "localhost.")
THERE = ("192.168.0.7", "2001:db8::1", "lab.example.org", "localhost.example.org", None, "")


def of_drawing(found):
    return f"[{found[0].count(chr(10))} rows, {zlib.crc32(found[0].encode()):08x}]\n"


def test_where_phones_find_the_server(configured, monkeypatch, tmp_path):
    lines, drawn = [f"of this machine: {[host for host in (*HERE, *THERE) if addresses.is_of_this_machine(host)]}"], []
    monkeypatch.setattr(network, "_ROUTES", tmp_path / "none")
    monkeypatch.setattr(network.platform, "release", lambda: "6.1")
    monkeypatch.setattr(network.sys, "platform", "linux")
    monkeypatch.setattr(app, "addresses", network.addresses)
    for element in ("html", "warning", "code"):
        monkeypatch.setattr(st, element, lambda text, **_options: drawn.append(text))
    for table, variable in (*product(TABLES, SAID[:2]), *product(TABLES[:1], SAID[2:])):
        monkeypatch.setattr(socket, "socket", lambda *_, table=table: Probe(table))
        found = network.addresses()
        lines += ["", f"{table} variable {variable[:60]!r}: {found} {network.obstacles((found or [''])[0], found)}"]
        for listens, url in product(LISTENS, URLS if table in TABLES[:2] and len(variable) < 9 else URLS[:1]):
            configured(url, **listens)
            monkeypatch.setenv(network.VARIABLE, variable)
            door.draw_door("ABC23456")
            lines += [f"{listens} {url}", *drawn]
            drawn.clear()
        for port, base in ((8501, ""), (8600, "/lab/")):
            monkeypatch.setenv(network.VARIABLE, "")
            out = io.StringIO()
            lines += [
                f"command {said(app.open_to_the_class, variable or None, port, base, out)}",
                *re.sub("([ ▀▄█]{9,}\n)+", of_drawing, out.getvalue()).split("\n"),
            ]
            lines.append(f"variable {os.environ[network.VARIABLE]!r}")
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    app.open_to_the_class("lab.example.org", 8501, "", plain)
    plain.seek(0)
    lines += ["a terminal without block characters", *plain.read().split("\n")]
    for url in URLS:
        configured(url)
        lines += [
            address_of(SETTINGS["auc"], {"data.name": "Two moons"}),
            addresses.beside_this_page("r", {"a": "b"}).geturl(),
        ]
    for content in ("ENABLED=yes\n", "ENABLED=no\n"):
        monkeypatch.setattr(Path, "read_text", lambda *_, content=content, **__: content)
        lines.append(network.firewall_hint(8501))
    monkeypatch.undo()
    check("server_phones", unlike_before(shortened(line) if len(line) > 400 else line for line in lines))


def test_an_address_of_no_page_says_so_in_plain_text(monkeypatch):
    pages = [SimpleNamespace(url_path=path, title=path, visibility="visible") for path in ("", "auc", "data")]
    monkeypatch.setattr(router.st, "Page", lambda draw, **options: SimpleNamespace(**options))
    told = []
    monkeypatch.setattr(router.st, "markdown", told.append)
    for address in ("nothing", "[Log in](https://a.b)", "päge", "x" * 200, ":red[a]", "$x$"):
        monkeypatch.setattr(router.st, "context", SimpleNamespace(url=f"https://h/lab/{quote(address, safe='')}?a=/b"))
        (page,) = router.unknown_page(pages)
        assert page.url_path == address
        router.draw_unknown(address, [])
        assert "](" not in told[-1]
    check("server_unknown", told)


# --- what the commands start: all options away from their defaults, with and without a screen

SERVED = """
app --port 8600
app --address ::1 --base-path lab
app --address :: --no-browser
app --address 0.0.0.0 --base-path /lab/
app --class
app --class --address 0.0.0.0 --base-path lab --no-browser
app --class --address lab.example.org --port 8700
app --address lab.example.org --lessons own
app --lessons week.toml
study open study.json --base-path /lab/ --port 8600
study open file.json --address ::1
study open convert.json --no-browser
study open target.json
study open lost.json
study open digest.json
"""


def test_what_the_commands_start(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(app, "addresses", lambda: ["192.0.2.7"])
    monkeypatch.setattr(app, "_usable_port", lambda host, port: port or (8501 if host else 0))
    monkeypatch.setattr(app, "firewall_hint", "hint {}".format)
    monkeypatch.setattr(app.sys, "platform", "linux")
    monkeypatch.setattr(app.signal, "signal", lambda *_: None)
    started = []
    monkeypatch.setattr(
        app.threading, "Thread", lambda target, args, **how: SimpleNamespace(start=lambda: started.append(args))
    )
    monkeypatch.setattr(
        app.runpy, "run_module", lambda name, **_: started.append([name, *app.sys.argv[1:2], *app.sys.argv[3:]])
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text(OWN_LESSON, encoding="utf-8")
    (tmp_path / "own" / "wrong.toml").write_text("title =", encoding="utf-8")
    (tmp_path / "data.csv").write_text(
        "a,b,kind\n" + "".join(f"{i % 7},{i * i % 5},{'xyz'[i % 3]}\n" for i in range(60))
    )
    sigma, file = {"name": "kernel.sigma", "values": [0.5, 2.0]}, {"name": "file", "path": "data.csv", "n_labeled": 9}
    moons = {"name": "two_moons", "n": 100, "n_labeled": 10}
    named = {
        "study": (moons, sigma),
        "file": (file, sigma),
        "convert": (file, {"name": "data.convert", "values": ["one against the rest", "even against odd"]}),
        "target": (file, {"name": "data.target", "values": ["kind", "b"]}),
        "lost": (file | {"path": "lost.csv"}, sigma),
        "digest": (file | {"sha256": "0" * 64}, sigma),
    }
    for name, (data, axis) in named.items():
        plain = {"spec": {"setting": "auc", "data": data}, "axes": [axis], "seeds": [0, 1]}
        (tmp_path / f"{name}.json").write_text(json.dumps(plain), encoding="utf-8")
    lines = []
    for row, screen in (("app", ""), *((row, ":0") for row in SERVED.strip().split("\n"))):
        monkeypatch.setenv("DISPLAY", screen)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        for variable in (network.VARIABLE, FOLDER):
            monkeypatch.setenv(variable, "")
        lines += [f"{row} {screen}: {main(row.split())} {text(started)}"]
        lines += [f"    {name} {os.environ[name]}" for name in (network.VARIABLE, FOLDER) if os.environ[name]]
        lines += [
            f"    {line}" for stream in capsys.readouterr() for line in stream.splitlines() if not {*"█▀"} & {*line}
        ]
        started.clear()
    kept = [re.sub(r"data\.file=[^&]*", "data.file=FILE", line.replace(str(tmp_path), "TMP")) for line in lines]
    kept = [re.sub(r"(?<![\w.])[0-9a-f]{12,64}", "DIGEST", line) for line in kept]
    kept = [re.sub(r"asks for '[^,]*,", "asks for FILE,", line) for line in kept]  # a long address is shortened
    check("server_started", (line[i : i + 380] for line in kept for i in range(0, len(line), 380)))


# --- files of lessons: all that one can say, and one sentence for each mistake, which names the place

LESSON = '''
title = "What is there?"
learned = "Something."
minutes = 2
order = 10

[[steps]]
values = { data = "digits", n_labeled = 20, lam = 0.01, is_pooled = true, step_size = "auto" }
controls = ["data", "n_labeled"]
text = """\\
    Long lines are \\
    wrapped."""
pick.text = "What will be?"
pick.options = [
    { words = "this", claims = ["better"], why = "Not quite." },
    { words = "that", is_expected = true, claims = [{ measure = "score", low = 0, high = 0.5 }, "diverges"] },
]
explanation = "That."
claims = [{ measure = "score_test@0.1", high = 1 }]
notes = "Ask."

[[steps]]
text = "How many?"
estimate.text = "Guess."
estimate.measure = "near"
estimate.words = "the part"
estimate.low = 0
estimate.high = 1.0
estimate.near = 0.1
explanation = "So many."

[[steps]]
text = "How will it go?"
curve.text = "Draw."
curve.column = "objective"
curve.words = "objective"
curve.low = -1
curve.high = 1.0
curve.near = 0.1
explanation = "So."

[[steps]]
controls = ["step_size"]
show = ["map"]
text = "And now?"
goal.text = "Reach it."
goal.claims = [{ measure = "n_features", high = 64 }]
goal.solution = { step_size = "auto" }
explanation = "Reached."
'''

OWN_PICK = 'pick = { text = "?", options = [{ words = "a", is_expected = true, claims = [] }] }\n'
# What stands in the file => what a person wrote there.
MISTAKES = """
minutes = => minuets =
title = "What is there?" =>
minutes = 2 => minutes = 2.5
notes = "Ask." => notes = ""
n_labeled = 20 => n_labeled = [20]
"score", low = 0 => "score", from = 0
is_expected = true, =>
"this", => "this", is_expected = true,
text = "How many?" =>
words = "that", => words = "this",
estimate.low = 0 => estimate.low = 1
low = -1 => low = 1
low = -1 => low = nan
score_test@0.1 => score_test@1.5
"near" => "near@x"
column = "objective" => column = "objective@1"
["step_size"] => "step_size"
["step_size"] => [1]
["map"] => ["table"]
["map"] => ["score", "error"]
["map"] => ["map", "map"]
= { step_size = "auto" } => = "auto"
"n_features", high = 64 => "n_features"
["better"] => ["best"]
options = [ => options = [0, 1, 2, 3, 4, 5, 6, 7, 8,
"""
MISTAKES = [tuple(map(str.strip, row.split("=>"))) for row in MISTAKES.strip().split("\n")]
MISTAKES += [('curve.text = "', f'{OWN_PICK}curve.text = "'), (LESSON[LESSON.index("[[steps]]") :], "steps = [1]")]
OF_PAGES = """
setting = "auc" =>
setting = "auc" => setting = "multiclass"
n_iter = 20 => n_iters = 20
n_iter = 20 => data = "my-set"
n_iter = 20 => n_iter = 0
["n_labeled"] => ["labels"]
goal.text => other.text
text = "Look." => text = "Look."\\nshow = ["spectrum"]
title = "My lesson" => title =
"""
LECTURES = (
    '"Who? | I | you"',
    '"unlabeled", "gap", "gap"',
    '"unlabeled", "no-lesson"',
    '"unlabled"',
    '"unlabeled", "Who? | I"',
)
LECTURES += (
    '"unlabeled", "How many? | 5 to 1"',
    '"unlabeled", "Where? | map"',
    '"unlabeled", "Who? | I | you", "s3vm/gap"',
)


def test_files_of_lessons(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path / "own"))
    monkeypatch.setattr(lessons, "SECONDS_BETWEEN_LOOKS", 1e-9)
    file, own, week = (tmp_path / name for name in ("auc/what.toml", "own/mine.toml", "week.toml"))
    for folder in (file.parent, own.parent):
        folder.mkdir()
    file.write_text(LESSON, encoding="utf-8")
    lines = [f"{name}: {text(value)}" for name, value in vars(read_lesson(file)).items()]
    for found, written in MISTAKES:
        assert found in LESSON, found
        file.write_text(LESSON.replace(found, written, 1), encoding="utf-8")
        lines.append(f"{found[:60]} => {written[:60]}: {said(read_lesson, file)}")
    for row in OF_PAGES.strip().split("\n"):
        found, written = row.replace("\\n", "\n").split("=>")
        own.write_text(OWN_LESSON.replace(found.strip(), written.strip(), 1), encoding="utf-8")
        lines.append(f"{row}: {library().faults}")
    for parts in LECTURES:
        week.write_text(f'title = "Week"\nparts = [{parts}]', encoding="utf-8")
        lines.append(f"{parts}: {said(lambda: len(list(check_file(week))))}")
    check("server_lessons", [line.replace(str(tmp_path), "FOLDER").replace(tmp_path.name, "FOLDER") for line in lines])
