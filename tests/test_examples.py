"""The examples in docstrings print the shown output."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

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
