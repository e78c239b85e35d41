"""The examples in the docstrings of data sets, models, studies and diagnostics print the shown output."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = [
    "data.anywhere.opening",
    "data.splits",
    "diagnostics.convergence",
    "diagnostics.limits",
    "experiments.suggesting",
    "models",
    "studies.study",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_show(name):
    results = doctest.testmod(import_module(f"dsgcore.{name}"))
    assert results.attempted > 0
    assert results.failed == 0
