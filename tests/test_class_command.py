"""The command for a class, and this machine's addresses for phones."""

from __future__ import annotations

import io
import os
import socket
import sys

import numpy as np
import pytest
from cases import each

from dsgcore.__main__ import main
from dsgcore.cli import app, network
from dsgcore.core.errors import DSGError

# The halves of a character cell that are light, because terminals are dark.
HALVES = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}


@pytest.fixture
def machine(monkeypatch):
    """Give a function that sets this machine's addresses."""

    def set_addresses(*own):
        monkeypatch.setattr(app, "addresses", lambda: list(own))

    monkeypatch.setenv(network.VARIABLE, "")
    set_addresses("192.168.1.20")
    return set_addresses


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


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://192.168.1.20:8501/r"),
        ({"port": 8600, "base_path": "/lab/"}, "http://192.168.1.20:8600/lab/r"),
        ({"chosen": "10.0.0.7"}, "http://10.0.0.7:8501/r"),
        ({"chosen": "https://example.org/lab/"}, "https://example.org/lab/r"),
        ({"chosen": "lab.local:80", "base_path": "x"}, "http://lab.local:80/x/r"),
    ],
)
def test_the_qr_code_in_the_terminal_is_read_as_the_printed_address(machine, given, address):
    text = printed(**given)
    assert f"Students open {address} on" in text
    assert decoded(text) == address


def test_the_app_shows_the_address_that_was_chosen(machine):
    printed()
    assert os.environ[network.VARIABLE] == ""
    printed("10.0.0.7")
    assert os.environ[network.VARIABLE] == "10.0.0.7"
    printed()  # a second start follows the variable
    assert network.said_address().hostname == "10.0.0.7"


def test_an_address_that_is_none_is_refused(machine):
    with pytest.raises(DSGError, match="got 'a b'"):
        printed("a b")


@pytest.mark.parametrize("said", [["app", "--class"], ["class"], ["--class"]])
def test_the_server_listens_to_the_network_with_the_option_and_not_without(machine, monkeypatch, said, capsys):
    started = []
    monkeypatch.setattr(app, "_usable_port", lambda _host, port: port or 8501)
    monkeypatch.setattr(app.runpy, "run_module", lambda *_module, **_options: started.append(sys.argv))
    monkeypatch.setattr(sys, "argv", [])
    assert main([*said, "--no-browser", "--port", "8600"]) == 0
    assert "http://192.168.1.20:8600/r" in capsys.readouterr().out
    assert main(["app", "--no-browser"]) == 0
    assert "phones" not in capsys.readouterr().out
    addresses = [next(option for option in argv if option.startswith("--server.address=")) for argv in started]
    assert addresses == ["--server.address=0.0.0.0", "--server.address=127.0.0.1"]


# --- addresses


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


@pytest.fixture
def routes(monkeypatch, tmp_path):
    def give(table, file=None):
        monkeypatch.setattr(socket, "socket", lambda *_: Probe(table))
        path = tmp_path / "route"
        if file is not None:
            path.write_text(file)
        monkeypatch.setattr(network, "_ROUTES", path if file is not None else tmp_path / "none")

    return give


def test_the_address_that_leads_to_the_internet_comes_first_and_a_hotspots_is_found_too(routes):
    routes({"192.168.137.": "192.168.137.1", "": "10.3.0.7"})
    assert network.addresses() == ["10.3.0.7", "192.168.137.1"]
    assert network.address_in_network() == "10.3.0.7"


@each("table", [{}, {"": "127.0.0.1"}, {"": "0.0.0.0"}])
def test_a_machine_without_a_network_has_no_address(routes, table):
    routes(table)
    assert network.addresses() == []
    assert network.address_in_network() is None
    assert "no network" in network.obstacles("", [])[0]


def test_the_variable_names_the_address(monkeypatch):
    monkeypatch.setenv(network.VARIABLE, "  ")
    assert network.said_address() is None
    monkeypatch.setenv(network.VARIABLE, "lab.example.org:80")
    said = network.said_address()
    assert (said.scheme, said.hostname, said.port) == ("", "lab.example.org", 80)
    monkeypatch.setenv(network.VARIABLE, "a b")
    with pytest.raises(DSGError, match="got 'a b'"):
        network.said_address()
