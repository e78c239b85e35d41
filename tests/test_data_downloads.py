"""Transfers from a server on this machine, which serves, breaks off, serves the wrong thing, and stalls."""

import bz2
import http.server
import io
import threading
import zipfile

import numpy as np
import pytest
from cases import each
from commands import refusal
from hostile_files import GOOD
from own_tables import read, sniff

from dsgcore.__main__ import main
from dsgcore.data import DataError
from dsgcore.data.archive_sets import RemoteSet, cached, download, fetch

CONTENT = np.random.default_rng(0).bytes(300_000)
SHORT = {"seconds": 0.5, "attempts": 2}


class Server:
    """Contents by path, and the misbehaviour of each path."""

    def __init__(self):
        self.contents = {"/file": CONTENT, "/cut": CONTENT}
        self.requests = []
        self.gate = threading.Event()
        self.breaks = 3


def handler_of(served):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            span = self.headers.get("Range")
            served.requests.append((self.path, span))
            getattr(self, "do_" + self.path.strip("/").split("/")[0], self.do_file)(span)

        def do_failing(self, span):
            self.send_error(503)

        def do_page(self, span):
            self.answer(b"<html>Please log in</html>", kind="text/html; charset=utf-8")

        def do_plain(self, span):
            """It knows no ranges, and breaks off once."""
            self.answer(CONTENT, sent=1000 if self.count() == 1 else None)

        def do_cut(self, span):
            """It breaks off, a few times."""
            content = served.contents["/cut"]
            start = int(span.split("=")[1].rstrip("-")) if span else 0
            whole = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            served.breaks -= 1
            self.answer(content[start:], 206 if span else 200, whole, sent=None if served.breaks < 0 else 70_000)

        def do_stall(self, span):
            """It sends a part and nothing more."""
            self.answer(CONTENT, sent=5000)
            self.wfile.flush()
            served.gate.wait(10)

        def do_silent(self, span):
            served.gate.wait(10)
            self.close_connection = True

        def do_changed(self, span):
            """The file changes after the connection broke: the rest of the old one is no longer available."""
            if self.count() == 1:
                self.answer(CONTENT, headers={"ETag": '"one"'}, sent=50_000)
            else:
                assert self.headers["If-Range"] == '"one"'
                self.answer(CONTENT[::-1], headers={"ETag": '"two"'})

        def do_file(self, span):
            content = served.contents.get(self.path)
            self.send_error(404) if content is None else self.answer(content)

        def count(self):
            return sum(path == self.path for path, _ in served.requests)

        def answer(self, content, status=200, headers=(), sent=None, kind="application/octet-stream"):
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **dict(headers)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[:sent])
            self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture
def served():
    state = Server()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(state))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    state.gate.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


def sentence_of(served, address, tmp_path):
    with pytest.raises(DataError) as caught:
        download(served.url + address if address[0] == "/" else address, tmp_path / "to", **SHORT)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_arrives_with_progress_and_only_once(served, tmp_path):
    seen = []
    target = tmp_path / "some" / "folder" / "file.bin"
    assert download(served.url + "/file", target, progress=lambda *p: seen.append(p)) == target
    assert target.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [have for have, _ in seen] == sorted(have for have, _ in seen)
    download(served.url + "/file", target)
    assert len(served.requests) == 1
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


@each(
    "path, spans",
    [
        ("/cut", [None, "bytes=70000-", "bytes=140000-", "bytes=210000-"]),
        ("/plain", [None, "bytes=1000-"]),  # it knows no ranges, and is asked for all again
        ("/changed", [None, "bytes=50000-"]),  # the file has changed meanwhile, and is begun again
    ],
)
def test_what_broke_off_is_taken_up_again(served, tmp_path_factory, path, spans):
    del served.requests[:]
    found = download(served.url + path, tmp_path_factory.mktemp("to") / "to", **SHORT).read_bytes()
    assert found == (CONTENT[::-1] if path == "/changed" else CONTENT)
    assert [span for _, span in served.requests] == spans


def test_a_part_of_an_earlier_try_is_used_and_a_server_that_always_breaks_off_is_gone_on_with(served, tmp_path):
    (tmp_path / "to.part").write_bytes(CONTENT[:200_000])
    served.breaks = 0
    assert download(served.url + "/cut", tmp_path / "to").read_bytes() == CONTENT
    assert served.requests == [("/cut", "bytes=200000-")]
    served.breaks, served.contents["/cut"] = 10**9, CONTENT + bytes(1)
    (tmp_path / "more.part").write_bytes(CONTENT)
    assert download(served.url + "/cut", tmp_path / "more", **SHORT).read_bytes() == CONTENT + bytes(1)


@pytest.mark.ci
def test_a_server_that_stalls_or_says_nothing_is_given_up(served, tmp_path):
    sentence = sentence_of(served, "/stall", tmp_path)
    assert "stopped answering; the 5,000 bytes received are kept, so try again" in sentence
    assert (tmp_path / "to.part").read_bytes() == CONTENT[:5000]
    assert not (tmp_path / "to").exists()
    assert "stopped answering" in sentence_of(served, "/silent", tmp_path)


@each("address, said", [
    ("/missing", "refused the file with 404 (Not Found)"),
    ("/failing", "reported a server error (503 Service Unavailable)"),
    ("/page", "gave a web page instead of the file"),
    ("http://127.0.0.1:9/file", "cannot be reached (is there a network?)"),
    *((address, "must begin with https") for address in ("http://example.org/a", "file:///etc/passwd", "ftp://a.org/a", "spam")),
])  # fmt: skip
def test_what_cannot_be_had_gets_one_sentence_and_only_secure_addresses_are_asked(served, tmp_path, address, said):
    assert said in sentence_of(served, address, tmp_path)
    assert not (tmp_path / "to").exists()


# --- sets by name


def remote(name, address, **more):
    return RemoteSet(name, name, "LIBSVM", address, 40, 2, 2, ("TSGSU",), **more)


def test_a_set_is_fetched_to_the_cache_and_readable(served, cache):
    lines = b"".join(b"%d 1:%d 2:0.5\n" % (1 - 2 * (i % 2), i) for i in range(40))
    served.contents["/some.bz2"] = bz2.compress(lines)
    some = remote("some", served.url + "/some.bz2")
    assert cached(some) is None
    path = fetch(some)
    assert path == cache / "some" / "some.bz2" == cached(some)
    content = path.read_bytes()
    assert read(content, sniff(content, path.name)).X.shape == (40, 2)
    fetch(some)
    assert len(served.requests) == 1


def test_a_table_is_taken_out_of_its_archive(served, cache):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/table.csv", GOOD)
        archive.writestr("readme.txt", "x")
    served.contents["/table.zip"] = packed.getvalue()
    path = fetch(remote("table", served.url + "/table.zip", member="table.csv"))
    assert path.read_bytes() == GOOD
    assert [p.name for p in path.parent.iterdir()] == ["table.csv"]
    with pytest.raises(DataError, match=r"holds no 'other\.csv'"):
        fetch(remote("other", served.url + "/table.zip", member="other.csv"))
    served.contents["/broken.zip"] = packed.getvalue()[:60]
    with pytest.raises(DataError, match="damaged; it was removed"):
        fetch(remote("broken", served.url + "/broken.zip", member="table.csv"))
    assert not (cache / "broken" / "broken.zip").exists()


def test_the_command_fetches_and_refuses_in_one_sentence(served, cache, monkeypatch, capsys):
    served.contents["/glass"] = b"1 1:2 2:1\n2 1:1\n" * 10
    sets = {"glass": remote("glass", served.url + "/glass"), "gone": remote("gone", served.url + "/missing")}
    for module in ("cli.data", "data.archive_sets"):  # one that is imported meanwhile would keep these sets
        monkeypatch.setattr(f"dsgcore.{module}.REMOTE_SETS", sets)
    assert "the set must be one of" in refusal(capsys, ["data", "fetch", "glass", "bogus"])
    assert not (cache / "glass").exists()  # a wrong name is refused before any download
    assert main(["data", "fetch", "glass"]) == 0
    out, errors = capsys.readouterr()
    assert (out, errors) == (f"{cache / 'glass' / 'glass'}\n", "")  # no progress where no terminal is
    assert main(["data", "list"]) == 0
    assert "fetched" in capsys.readouterr().out
    for name, said in (("gone", "404"), ("bogus", "the set must be one of glass, gone")):
        assert said in refusal(capsys, ["data", "fetch", name])
