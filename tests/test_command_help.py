"""The commands' help pages: each option is explained, and each page ends with an example that can be typed."""

import argparse
import shlex

import pytest
from cases import each

from dsgcore.__main__ import _COMMANDS, main
from dsgcore.cli.options import PORT, PROGRAM, command_parser
from dsgcore.data import datasets


def pages(parser, words=()):
    """Yield the words of each command, and its parser."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield from pages(each, (*words, name))


PAGES = dict(pages(command_parser()))


def shown(words, capsys):
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_all_commands_are_found():
    assert {words[0] for words in PAGES if len(words) == 1} == _COMMANDS.keys()
    assert {words[1] for words in PAGES if len(words) == 2} == {"list", "fetch", "describe", "convert", "open"}


@each("words", PAGES)
def test_the_help_of_each_command_ends_with_an_example_that_parses(words, capsys):
    example = shown(words, capsys).split("\nexample:\n", 1)[1].strip()
    assert example.startswith(PROGRAM)
    typed = shlex.split(example.removeprefix(PROGRAM))
    assert tuple(typed[: len(words)]) == words
    if typed:
        assert command_parser().parse_args(typed).command == typed[0]


@each("words", PAGES)
def test_each_command_and_each_option_is_explained(words):
    parser = PAGES[words]
    assert parser.description.endswith(".")
    unexplained = [a.dest for a in parser._actions if not a.help and not isinstance(a, argparse._SubParsersAction)]
    assert unexplained == []


def test_what_the_light_file_repeats_is_as_elsewhere():
    offered = {a.dest: a for words in (("data", "describe"), ("app",)) for a in PAGES[words]._actions}
    assert tuple(offered["labels"].choices) == datasets.LABELS
    assert f"from {PORT} on" in offered["port"].help
