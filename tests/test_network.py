"""This machine's addresses for phones: found without sending anything, and what keeps phones away is said."""

from __future__ import annotations

import socket

import pytest
from cases import each

from dsgcore.cli import network
from dsgcore.core.errors import DSGError


class Routes:
    """A routing table: own addresses by the beginning of the others'."""

    def __init__(self, table):
        self.table = table

    def __call__(self, _family, _kind):
        return Probe(self.table)


class Probe:
    def __init__(self, table):
        self.table = table

    def __enter__(self):
        return self

    def __exit__(self, *_error): ...

    def connect(self, there):
        found = [own for start, own in self.table.items() if there[0].startswith(start)]
        if not found:
            raise OSError("Network is unreachable")
        self.own = found[0]

    def getsockname(self):
        return (self.own, 4711)


@pytest.fixture
def routes(monkeypatch, tmp_path):
    def give(table, file=None):
        monkeypatch.setattr(socket, "socket", Routes(table))
        path = tmp_path / "route"
        if file is not None:
            path.write_text(file)
        monkeypatch.setattr(network, "_ROUTES", path if file is not None else tmp_path / "none")

    return give


def test_the_address_that_leads_to_the_internet_comes_first_and_a_hotspots_is_found_too(routes):
    routes({"192.168.137.": "192.168.137.1", "": "10.3.0.7"})
    assert network.addresses() == ["10.3.0.7", "192.168.137.1"]
    assert network.address_in_network() == "10.3.0.7"


def test_a_network_without_a_way_out_is_found_in_the_routing_table(routes):
    table = "Iface\tDestination\tGateway\nveth\t00644D0A\t00000000\nx\n"
    routes({"10.77.100.": "10.77.100.1"}, table)
    assert network.addresses() == ["10.77.100.1"]


@each("table", [{}, {"": "127.0.0.1"}, {"": "0.0.0.0"}])
def test_a_machine_without_a_network_has_no_address(routes, table):
    routes(table)
    assert network.addresses() == []
    assert network.address_in_network() is None
    assert "no network" in network.obstacles("", [])[0]


def test_several_addresses_are_listed_with_the_way_to_choose():
    (said,) = network.obstacles("10.3.0.7", ["10.3.0.7", "192.168.137.1"])
    assert "192.168.137.1" in said
    assert "--address" in said
    assert network.obstacles("10.3.0.7", ["10.3.0.7"]) == []


def test_linux_inside_windows_is_named(monkeypatch):
    monkeypatch.setattr("platform.release", lambda: "5.15.1-microsoft-standard-WSL2")
    assert "WSL" in network.obstacles("172.20.1.2", ["172.20.1.2"])[0]


@each("system, said", [("win32", "Windows Defender"), ("darwin", "System Settings"), ("linux", "port 8501")])
def test_the_hint_names_the_systems_firewall(system, said, monkeypatch):
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(network, "_has_ufw", lambda: False)
    assert said in network.firewall_hint(8501)


def test_the_variable_names_the_address(monkeypatch):
    monkeypatch.setenv(network.VARIABLE, "  ")
    assert network.said_address() is None
    monkeypatch.setenv(network.VARIABLE, "lab.example.org:80")
    said = network.said_address()
    assert (said.scheme, said.hostname, said.port) == ("", "lab.example.org", 80)
    monkeypatch.setenv(network.VARIABLE, "a b")
    with pytest.raises(DSGError, match="got 'a b'"):
        network.said_address()


def test_the_machines_own_addresses_are_ones_that_others_can_use():
    for own in network.addresses():
        assert network.place_for_phones(own).hostname == own
