"""The commands' help pages: each option is explained, and each page ends with an example that can be typed."""

import argparse
import shlex

import pytest
from cases import each

from dsgcore.__main__ import _parser, main
from dsgcore.cli import options
from dsgcore.cli.options import PROGRAM
from dsgcore.data import datasets


def pages(parser, words=()):
    """Yield the words of each command, and its parser."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield from pages(each, (*words, name))


PAGES = dict(pages(_parser()))


def shown(words, capsys):
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_all_commands_are_found():
    single = {"app", "run", "check", "sweep", "compare", "fit", "predict", "data", "export-lesson"}
    assert {words[0] for words in PAGES if len(words) == 1} == single
    assert {words[1] for words in PAGES if len(words) == 2} == {"list", "fetch", "describe", "convert"}


@each("words", PAGES)
def test_the_help_of_each_command_ends_with_an_example_that_parses(words, capsys):
    example = shown(words, capsys).split("\nexample:\n", 1)[1].strip()
    assert example.startswith(PROGRAM)
    typed = shlex.split(example.removeprefix(PROGRAM))
    assert tuple(typed[: len(words)]) == words
    if typed:
        assert _parser().parse_args(typed).command == typed[0]


@each("words", PAGES)
def test_each_command_and_each_option_is_explained(words):
    parser = PAGES[words]
    assert parser.description.endswith(".")
    unexplained = [a.dest for a in parser._actions if not a.help and not isinstance(a, argparse._SubParsersAction)]
    assert unexplained == []


def test_the_kinds_of_labels_are_those_of_the_data():
    assert options.LABELS == datasets.LABELS
