"""Classes whose parameters are their fields: what one means stands in the docstring, its range beside it, each only there.

A class's own docstring has under Parameters its fields' names, each with a label and a sentence. From there pages and links
take them (where Python leaves docstrings out there are none), and from the fields the docstring gets ranges and defaults.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import Field, field, fields, replace
from inspect import cleandoc
from textwrap import fill
from types import MappingProxyType
from typing import Any, TypeVar

from dsgcore.core.parameters import PARAMETER

WORDS = "words"
WIDTH = 116
# What `random_state` may be.
SEED = "int, RandomState instance or None"
# The sections that a class inherits.
GATHERED = ("Parameters", "Attributes", "Warns")
HEADING = re.compile(r"^([A-Z]\w+)\n-+\n", re.MULTILINE)
Class = TypeVar("Class", bound=type[Any])


def told(default: Any, allowed: str, **options: Any) -> Any:
    """Return a dataclass field that is no parameter of pages or specs, but has its place in the docstring.

    Parameters
    ----------
    default : object
    allowed : str
        What it may be; `{cls}` stands for the class.
    **options
        Of `dataclasses.field`.
    """
    return field(default=default, metadata={WORDS: allowed}, **options)


def documented(cls: Class) -> Class:
    """Give a dataclass's parameters the sentences of its docstring, and the docstring all their ranges and defaults.

    What the docstrings of its bases say of parameters, attributes and warnings is said again, but for what its own says otherwise.
    """
    if cls.__doc__:
        text, own = _sections(cls)
        gathered = cls.__gathered__ = {section: _gathered(cls, section) for section in GATHERED}
        held: dict[str, Field[Any]] = cls.__dataclass_fields__
        held.update(
            {name: _worded(own_field, gathered["Parameters"].get(name, "")) for name, own_field in held.items()}
        )
        entries = [_entry(cls, f, gathered["Parameters"].get(f.name, "")) for f in fields(cls)]
        made = {section: "\n".join(told.values()) for section, told in gathered.items()}
        made["Parameters"] = "\n".join(filter(None, entries))
        sections = [f"{name}\n{'-' * len(name)}\n{body}" for name, body in {**made, **own, **made}.items() if body]
        cls.__doc__ = "\n\n".join([text, *sections]) + "\n"
    return cls


def _sections(cls: type) -> tuple[str, dict[str, str]]:
    """Return a class's own docstring: what stands above the sections, and these by their names."""
    text, *rest = HEADING.split(cleandoc(cls.__dict__.get("__doc__") or ""))
    return text.strip(), {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}


def _gathered(cls: type, section: str) -> dict[str, str]:
    """Return the entries of a section by their names, from the docstrings of all bases, the class's own before theirs."""
    entries: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if "__gathered__" in base.__dict__:  # its docstring is one that was made here
            entries |= base.__dict__["__gathered__"][section]
        else:
            told = filter(None, re.split(r"\n(?=\S)", _sections(base)[1].get(section, "")))
            entries |= {re.split(r" : |\n", entry)[0]: entry for entry in told}
    return entries


def _worded(own: Field[Any], entry: str) -> Field[Any]:
    """Return a field whose parameter has the docstring's label and sentence, where there are any."""
    parameter = own.metadata.get(PARAMETER)
    if parameter is None or not entry:
        return own
    label = entry.splitlines()[0].removeprefix(own.name).removeprefix(" : ")
    parameter = replace(parameter, label=label or parameter.label, sentence=_sentence(entry) or parameter.sentence)
    changed = copy(own)
    changed.metadata = MappingProxyType({**own.metadata, PARAMETER: parameter})
    return changed


def _sentence(entry: str) -> str:
    return " ".join(line.strip() for line in entry.splitlines()[1:])


def _entry(cls: type, own: Field[Any], entry: str) -> str:
    """Return the lines about a field; none about one that is no parameter."""
    if (parameter := own.metadata.get(PARAMETER)) is not None:
        allowed, sentence = parameter.allowed().replace("or null", "or None"), parameter.sentence
    elif WORDS in own.metadata:
        allowed, sentence = own.metadata[WORDS], _sentence(entry)
    else:
        return entry
    body = fill(sentence, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{own.name} : {allowed.format(cls=cls)}, default={own.default!r}\n{body}"
