"""The commands app, class and study open: what reaches Streamlit, where phones find the server, and this machine's addresses."""

from __future__ import annotations

import io
import json
import os
import socket
import sys

import numpy as np
import pandas as pd
import pytest
from cases import each
from commands import refusal
from servers import free_port

from dsgcore.__main__ import main
from dsgcore.cli import app, network
from dsgcore.core.errors import DSGError
from dsgcore.studies import Study

# The halves of a character cell that are light, because terminals are dark.
HALVES = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}


@pytest.fixture
def machine(monkeypatch):
    """Give this machine an address, and keep Streamlit from starting; return the arguments that it would have been given."""
    started = []
    monkeypatch.setenv(network.VARIABLE, "")
    monkeypatch.setattr(app, "addresses", lambda: ["192.168.1.20"])
    monkeypatch.setattr("runpy.run_module", lambda name, **_: started.append((name, sys.argv)))
    monkeypatch.setattr(sys, "argv", [])
    return started


@each("words, host", [
    *((words, "0.0.0.0") for words in (["app", "--class"], ["class"], ["--class"])),
    *((words, "127.0.0.1") for words in ([], ["app"], ["--address", "127.0.0.1"])),
])  # fmt: skip
def test_what_is_typed_reaches_streamlit_and_only_a_class_is_let_in(machine, capsys, words, host):
    port = str(free_port())
    assert main([*words, "--port", port, "--base-path", "lab", "--no-browser"]) == 0
    (program, argv) = machine.pop()
    options = dict(word.removeprefix("--server.").split("=") for word in argv if word.startswith("--server."))
    assert program == "streamlit"
    assert options == {"address": host, "port": port, "baseUrlPath": "lab"}
    printed = capsys.readouterr().out
    assert (f"http://192.168.1.20:{port}/lab/r" in printed) is ("phones" in printed) is (host == "0.0.0.0")


def test_control_c_ends_the_app_without_a_word_before_it_serves(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "_usable_port", interrupt)
    assert main(["app"]) == 0
    assert capsys.readouterr() == ("", "")


@each("data, said", [
    ({"name": "two_moons", "n": 400, "n_labeled": 20}, "data.name=two_moons"),
    ({"name": "file", "path": "data.csv", "n_labeled": 10}, "data.csv"),
])  # fmt: skip
def test_a_study_opens_in_the_app(machine, data, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).normal(size=80)
    pd.DataFrame({"a": a, "b": a[::-1], "class": np.where(a > 0, "yes", "no")}).to_csv("data.csv", index=False)
    axis, file = {"name": "kernel.sigma", "from": 0.1, "to": 10, "n": 3, "scale": "log"}, tmp_path / "study.json"
    study = Study.from_dict({"spec": {"setting": "auc", "data": data}, "axes": [axis], "seeds": [0, 1]})
    file.write_text(json.dumps(study.to_dict()), encoding="utf-8")  # as Explore writes it
    assert main(["study", "open", str(file), "--no-browser", "--base-path", "lab", "--port", "8599"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The study is at http://127.0.0.1:8599/lab/explore?setting=auc&")
    assert said in printed
    assert (" The page asks for " in printed) is (data["name"] == "file")
    assert [program for program, _ in machine] == ["streamlit"]
    machine.clear()
    other = {"name": "file", "path": "data.csv", "sha256": "0" * 64, "n_labeled": 10}
    for plain, why in (
        (
            {"spec": {"setting": "auc", "data": other}, "axes": [axis]},
            "the file 'data.csv' differs from the spec's file",
        ),
        (
            study.to_dict() | {"budget": {"seconds": 5.0}},
            "cannot show this study: it must have an axis and no time limit",
        ),
    ):
        file.write_text(json.dumps(plain), encoding="utf-8")
        assert why in refusal(capsys, ["study", "open", file])


# --- where phones find the server


def printed(chosen=None, port=8501, base_path=""):
    out = io.StringIO()
    app.open_to_the_class(chosen, port, base_path, out)
    return out.getvalue()


def decoded(text):
    """Return the text of a QR code that is drawn with half blocks."""
    cv2 = pytest.importorskip("cv2", reason="opencv is not installed")
    rows = [line for line in text.splitlines() if line and set(line) <= set(HALVES)]
    cells = np.array([[HALVES[sign] for sign in row] for row in rows])
    image = np.kron(cells.transpose(0, 2, 1).reshape(-1, cells.shape[1]), np.ones((8, 8))) * 255
    said, _corners, _code = cv2.QRCodeDetector().detectAndDecode(image.astype(np.uint8))
    return said


@each("given, address", [
    ({}, "http://192.168.1.20:8501/r"),
    ({"port": 8600, "base_path": "/lab/"}, "http://192.168.1.20:8600/lab/r"),
    ({"chosen": "10.0.0.7"}, "http://10.0.0.7:8501/r"),
    ({"chosen": "https://example.org/lab/"}, "https://example.org/lab/r"),
    ({"chosen": "lab.local:80", "base_path": "x"}, "http://lab.local:80/x/r"),
    ({"chosen": "http://[2001:db8::1]:8080", "base_path": "x"}, "http://[2001:db8::1]:8080/r"),
])  # fmt: skip
def test_the_qr_code_in_the_terminal_is_read_as_the_printed_address_which_the_app_shows_if_it_was_chosen(
    machine, monkeypatch, given, address
):
    monkeypatch.setenv(network.VARIABLE, "")
    text = printed(**given)
    assert f"Students open {address} on" in text
    assert decoded(text) == address
    assert os.environ[network.VARIABLE] == given.get("chosen", "")
    assert f"Students open {address} on" in printed(**given | {"chosen": None}), "a second start follows the variable"


def test_the_variable_names_an_address_or_is_refused(machine, monkeypatch):
    monkeypatch.setenv(network.VARIABLE, "  ")
    assert network.said_address() is None
    monkeypatch.setenv(network.VARIABLE, " lab.example.org:80 ")
    said = network.said_address()
    assert (said.scheme, said.hostname, said.port) == ("", "lab.example.org", 80)
    monkeypatch.setenv(network.VARIABLE, "a b")
    for asked in (network.said_address, lambda: printed("a b")):
        with pytest.raises(DSGError, match="got 'a b'"):
            asked()


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


@each("table, found", [
    ({"192.168.137.": "192.168.137.1", "": "10.3.0.7"}, ["10.3.0.7", "192.168.137.1"]),
    *((table, []) for table in ({}, {"": "127.0.0.1"}, {"": "0.0.0.0"})),
])  # fmt: skip
def test_the_address_that_leads_to_the_internet_comes_first_a_hotspots_is_found_too_and_no_network_is_said(
    monkeypatch, tmp_path, table, found
):
    monkeypatch.setattr(socket, "socket", lambda *_: Probe(table))
    monkeypatch.setattr(network, "_ROUTES", tmp_path / "none")
    assert network.addresses() == found
    assert network.address_in_network() == (found[0] if found else None)
    assert ("no network" in network.obstacles("", found)[0]) is not bool(found)
