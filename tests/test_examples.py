"""Docstrings: their examples print what they show, and each names all that its class takes."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from cases import each

import dsgcore
from dsgcore.baselines import COMPETITORS

ROOT = Path(__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "dsgcore").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_show(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_there_are_examples():
    assert len(MODULES) > 15


MADE_HERE = [cls for classes in COMPETITORS.values() for cls in classes if ".baselines." in cls.__module__]


@each("cls", MADE_HERE)
def test_a_competitors_docstring_names_everything_that_it_takes(cls):
    section = re.search(r"^ *Parameters\n *-{10}\n(.*?)(?=\n *\w+\n *-{3}|\Z)", cls.__doc__, re.MULTILINE | re.DOTALL)
    named = re.findall(r"^ *([\w, ]+?) *(?: :|$)", section[1], re.MULTILINE)
    assert set(inspect.signature(cls).parameters) <= {name.strip() for line in named for name in line.split(",")}


@pytest.mark.parametrize("cls", [dsgcore.QSGS2AUC, dsgcore.TSGS3VM, dsgcore.QS3ORAO, dsgcore.TSGSU])
def test_an_estimators_docstring_names_everything_that_it_takes(cls):
    section = cls.__doc__.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    assert re.findall(r"^(\w+) : .+, default=", section, re.MULTILINE) == list(inspect.signature(cls).parameters)
    assert "model_ : dsgcore.Expansion" in cls.__doc__
