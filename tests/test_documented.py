"""What a class's parameters are is said once, beside its fields; its docstring is made of that."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

import pytest

import dsgcore
from dsgcore.baselines import COMPETITORS
from dsgcore.core.documented import documented, told
from dsgcore.core.parameters import real

MADE_HERE = [cls for classes in COMPETITORS.values() for cls in classes if ".baselines." in cls.__module__]


@documented
@dataclass
class Example:
    """Do something.

    In two paragraphs.

    Notes
    -----
    Source: nobody.
    """

    gamma: float | None = real(0.5, low=0.0, high=1.0, optional=True, sentence="How much. " * 20)
    seed: int | None = told(None, "one of {cls.__name__}'s", "Of the draws.")
    is_fitted: bool = False


def test_a_docstring_has_each_field_with_its_range_its_default_and_its_sentence():
    doc = Example.__doc__
    assert doc.startswith(
        "Do something.\n\nIn two paragraphs.\n\nParameters\n----------\ngamma : a number between 0 and 1 or None,"
    )
    assert "default=0.5\n    How much. How much." in doc
    assert "seed : one of Example's, default=None\n    Of the draws.\n\nNotes\n-----\nSource: nobody." in doc
    assert "is_fitted" not in doc
    assert max(map(len, doc.splitlines())) <= 116


@pytest.mark.parametrize("cls", MADE_HERE, ids=lambda cls: cls.__name__)
def test_a_competitors_docstring_names_everything_that_it_takes(cls):
    section = re.search(r"^ *Parameters\n *-{10}\n(.*?)(?=\n *\w+\n *-{3}|\Z)", cls.__doc__, re.MULTILINE | re.DOTALL)
    named = re.findall(r"^ *([\w, ]+?) *(?: :|$)", section[1], re.MULTILINE)
    assert set(inspect.signature(cls).parameters) <= {name.strip() for line in named for name in line.split(",")}


def test_a_class_without_a_docstring_stays_without():
    @dataclass
    class Bare:
        gamma: float = real(0.5)

    Bare.__doc__ = None
    assert documented(Bare).__doc__ is None


@pytest.mark.parametrize("cls", [dsgcore.QSGS2AUC, dsgcore.TSGS3VM, dsgcore.QS3ORAO, dsgcore.TSGSU])
def test_an_estimators_docstring_names_everything_that_it_takes(cls):
    section = cls.__doc__.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    assert re.findall(r"^(\w+) : .+, default=", section, re.MULTILINE) == list(inspect.signature(cls).parameters)
    assert "model_ : dsgcore.Expansion" in cls.__doc__
