"""Progress lines of the commands: the time left, and a line that is written again."""

import sys

import pytest
from cases import each
from clocks import Clock

from dsgcore.cli.ending import Line, bar
from dsgcore.core.durations import TimeLeft, duration_text


@pytest.fixture
def clock():
    return Clock()


def test_the_time_left_follows_from_the_parts_so_far(clock):
    left = TimeLeft(clock)
    clock.now += 30.0
    assert left.text(10, 40) == ", about 2 min left"
    clock.now += 30.0
    assert left.text(30, 40) == ", about 20 s left"


def test_parts_of_an_earlier_command_take_no_time(clock):
    left = TimeLeft(clock)
    clock.now += 1000.0
    left.skip(50)
    clock.now += 10.0
    assert left.text(60, 100) == ", about 40 s left"


@each("done, total", ((0, 10), (1, 1000), (10, 10)))
def test_nothing_is_said_before_the_first_parts_or_after_the_last(done, total):
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += 5.0
    assert left.text(done, total) == ""


@each("seconds, text", ((0.4, "0 s"), (89.0, "89 s"), (90.0, "2 min"), (5399.0, "90 min"), (9000.0, "2.5 h")))
def test_a_duration_has_a_readable_unit(seconds, text):
    assert duration_text(seconds) == text


def test_a_line_is_written_over_and_ended_once(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = Line(is_quiet=False)
    line.end()
    line.show("a longer text")
    line.show("short")
    line.end()
    line.end()
    said = capsys.readouterr().err
    first, second = said.removeprefix("\r").rstrip("\n").split("\r")
    assert (first.rstrip(), second.rstrip()) == ("a longer text", "short")
    assert len(second) == len(first)
    assert said.count("\n") == 1


def test_a_quiet_line_writes_nothing(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = Line(is_quiet=True)
    line.show("text")
    line.end()
    assert capsys.readouterr().err == ""


def test_without_a_terminal_nothing_is_written(capsys):
    Line(is_quiet=False).show("text")
    assert capsys.readouterr().err == ""


def test_a_bar_fills_from_left_to_right():
    assert [bar(done, 4).count("#") for done in range(5)] == [0, 6, 12, 18, 24]
    assert bar(0, 0).count("#") == 0
