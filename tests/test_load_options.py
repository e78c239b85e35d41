"""The command line of the load benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("websockets")
sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import load


@pytest.mark.parametrize("is_quiet", [False, True])
def test_the_option_quiet_is_known_and_reaches_the_servers(monkeypatch, is_quiet):
    made = []

    class Served:
        def __init__(self, **options):
            made.append(options)

        def wait(self):
            pass

        def end(self):
            pass

    def measure(seconds):
        with load.served():
            yield "a line"

    monkeypatch.setattr(load, "Server", Served)
    monkeypatch.setattr(load, "CHOSEN", load.Chosen())
    monkeypatch.setitem(load.LOADS, "watching", measure)
    monkeypatch.setattr(sys, "argv", ["load.py", "watching", "--sessions", "2", *["--quiet"] * is_quiet])
    load.main()
    assert made == [{"is_quiet": is_quiet}]
    assert load.CHOSEN.sessions == [2]


def test_all_loads_are_measured_if_none_is_named(monkeypatch, capsys):
    monkeypatch.setattr(load, "CHOSEN", load.Chosen())
    for name in load.LOADS:
        monkeypatch.setitem(load.LOADS, name, lambda seconds, name=name: [f"{name} for {seconds:g} s"])
    monkeypatch.setattr(sys, "argv", ["load.py", "--seconds", "3"])
    load.main()
    assert capsys.readouterr().out.splitlines()[2:] == [f"{name} for 3 s" for name in load.LOADS]
