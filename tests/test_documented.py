"""Parameters written once beside their fields, and docstrings made of them."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import ClassVar

import pytest
from cases import each

import dsgcore
from dsgcore.baselines import COMPETITORS
from dsgcore.core.documented import described, documented
from dsgcore.core.parameters import Parameter, parameters_of_fields, real

MADE_HERE = [cls for classes in COMPETITORS.values() for cls in classes if ".baselines." in cls.__module__]


@documented
@dataclass
class Example:
    """Do something.

    In two paragraphs.

    Parameters
    ----------
    gamma : Trust
        How much. How much. How much. How much. How much. How much. How much. How much.
        How much. How much. How much. How much. How much. How much. How much. How much.
    seed
        Of the draws.

    Attributes
    ----------
    size_ : int
        How large.

    Notes
    -----
    Source: nobody.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    gamma: float | None = real(0.5, low=0.0, high=1.0, optional=True)
    seed: int | None = described(None, "one of {cls.__name__}'s")
    is_fitted: bool = False


@documented
@dataclass
class Heir(Example):
    """Do it otherwise.

    Parameters
    ----------
    gamma
        How little.

    Attributes
    ----------
    size_ : int
        How small.
    """

    lam: float = real(1.0, low=0.0, label="Ridge", sentence="How strongly.")


def test_a_docstring_has_each_field_with_its_range_its_default_and_its_sentence():
    doc = Example.__doc__
    assert doc.startswith(
        "Do something.\n\nIn two paragraphs.\n\nParameters\n----------\ngamma : a number between 0 and 1 or None,"
    )
    assert "default=0.5\n    How much. How much." in doc
    assert "seed : one of Example's, default=None\n    Of the draws.\n\nAttributes\n-" in doc
    assert doc.endswith("size_ : int\n    How large.\n\nNotes\n-----\nSource: nobody.\n")
    assert "is_fitted" not in doc
    assert max(map(len, doc.splitlines())) <= 116


def test_a_parameter_has_the_docstrings_label_and_sentence():
    (gamma,) = Example.parameters
    assert (gamma.name, gamma.label, gamma.sentence) == ("gamma", "Trust", " ".join(["How much."] * 16))


def test_a_subclass_says_what_is_otherwise_and_inherits_the_rest():
    gamma, lam = Heir.parameters
    assert (gamma.label, gamma.sentence) == ("Trust", "How little.")
    assert (lam.label, lam.sentence) == ("Ridge", "How strongly.")
    assert "seed : one of Heir's, default=None\n    Of the draws." in Heir.__doc__
    assert "size_ : int\n    How small." in Heir.__doc__
    assert "How large." not in Heir.__doc__
    assert Example.parameters[0].sentence.startswith("How much.")


@each("cls", MADE_HERE)
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
