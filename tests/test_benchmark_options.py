"""The options of the benchmarks' command lines."""

import sys

import pytest
from reporting import command_line


def test_a_load_is_measured_quietly_if_its_option_says_so(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["load.py", "watching", "--quiet"])
    asked = command_line("", ["watching", "visits"], quiet=False)
    assert asked.quiet
    assert asked.what == ["watching"]


def test_an_unknown_option_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["load.py", "--loud"])
    with pytest.raises(SystemExit):
        command_line("", quiet=False)
    assert "--loud" in capsys.readouterr().err
