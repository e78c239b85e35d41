"""Classes whose parameters are their fields. The docstring gives each meaning, the field its range, each only once.

A class's own docstring lists its fields' names under Parameters, each with a label and a sentence. Pages and links take
them from there (if Python keeps docstrings), and the docstring gets ranges and defaults from the fields.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import Field, dataclass, field, fields, replace
from inspect import cleandoc
from textwrap import fill
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

from dsgcore.core.parameters import PARAMETER

WORDS = "words"
WIDTH = 116
# Allowed values of `random_state`.
SEED = "int, RandomState instance or None"
# Sections that a class inherits.
GATHERED = ("Parameters", "Attributes", "Warns")
HEADING = re.compile(r"^([A-Z]\w+)\n-+\n", re.MULTILINE)
Class = TypeVar("Class", bound=type[Any])


def described(default: Any, allowed: str, **options: Any) -> Any:
    """Return a dataclass field that pages and specs do not offer, but that the docstring describes.

    `allowed` are the allowed values in words; `{cls}` stands for the class. `options` are those of `dataclasses.field`.
    """
    return field(default=default, metadata={WORDS: allowed}, **options)


def documented(cls: Class) -> Class:
    """Copy the docstring's sentences to a dataclass's parameters, and all ranges and defaults to the docstring.

    Parameters, attributes and warnings of the bases' docstrings are repeated, unless the class's own docstring replaces
    them.
    """
    if cls.__doc__:
        text, own = _sections(cls)
        gathered: dict[str, dict[str, str]] = {section: {} for section in GATHERED}
        for base in reversed(cls.__mro__):  # the class's own docstring replaces those of its bases
            for section, entries_of in gathered.items():
                if "__gathered__" in base.__dict__:  # this docstring was made here
                    entries_of |= base.__dict__["__gathered__"][section]
                else:
                    told = filter(None, re.split(r"\n(?=\S)", _sections(base)[1].get(section, "")))
                    entries_of |= {re.split(r" : |\n", entry)[0]: entry for entry in told}
        cls.__gathered__ = gathered
        held: dict[str, Field[Any]] = cls.__dataclass_fields__
        for name, entry in gathered["Parameters"].items():
            parameter = held[name].metadata.get(PARAMETER) if name in held else None
            if parameter is not None:  # it gets the docstring's label and sentence
                label = entry.splitlines()[0].removeprefix(name).removeprefix(" : ")
                label, sentence = label or parameter.label, _sentence(entry) or parameter.sentence
                held[name] = copy(held[name])
                worded = replace(parameter, label=label, sentence=sentence)
                held[name].metadata = MappingProxyType({**held[name].metadata, PARAMETER: worded})
        entries = [_entry(cls, f, gathered["Parameters"].get(f.name, "")) for f in fields(cls)]
        made = {section: "\n".join(told.values()) for section, told in gathered.items()}
        made["Parameters"] = "\n".join(filter(None, entries))
        sections = [f"{name}\n{'-' * len(name)}\n{body}" for name, body in {**made, **own, **made}.items() if body]
        cls.__doc__ = "\n\n".join([text, *sections]) + "\n"
    return cls


@dataclass_transform(eq_default=False, kw_only_default=True)
def estimator(cls: Class) -> Class:
    """Make an estimator's class a documented dataclass of keyword parameters. The bases give its `__eq__` and `__repr__`."""
    dataclass(eq=False, repr=False, kw_only=True)(cls)
    return documented(cls)


def _sections(cls: type) -> tuple[str, dict[str, str]]:
    """Return the text above the sections of a class's own docstring, and the sections by their names."""
    text, *rest = HEADING.split(cleandoc(cls.__dict__.get("__doc__") or ""))
    return text.strip(), {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}


def _sentence(entry: str) -> str:
    return " ".join(line.strip() for line in entry.splitlines()[1:])


def _entry(cls: type, own: Field[Any], entry: str) -> str:
    """Return the lines about a field; empty if it is not a parameter."""
    if (parameter := own.metadata.get(PARAMETER)) is not None:
        allowed, sentence = parameter.allowed(), parameter.sentence
    elif WORDS in own.metadata:
        allowed, sentence = own.metadata[WORDS], _sentence(entry)
    else:
        return entry
    body = fill(sentence, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{own.name} : {allowed.format(cls=cls)}, default={own.default!r}\n{body}"
