"""Docstrings of classes whose parameters are their fields: what one means stands beside it, and nowhere else."""

from __future__ import annotations

import re
from dataclasses import Field, field, fields
from inspect import cleandoc
from textwrap import fill
from typing import Any, TypeVar

from dsgcore.core.parameters import PARAMETER

WORDS = "words"
WIDTH = 116
# What `random_state` may be.
SEED = "int, RandomState instance or None"
HEADING = re.compile(r"^([A-Z]\w+)\n-+\n", re.MULTILINE)
Class = TypeVar("Class", bound=type)


def told(default: Any, allowed: str, sentence: str, **options: Any) -> Any:
    """Return a dataclass field that is no parameter of pages or specs, but has a place in the docstring.

    Parameters
    ----------
    default : object
    allowed : str
        What it may be; `{cls}` stands for the class.
    sentence : str
        What it is.
    **options
        Of `dataclasses.field`.
    """
    return field(default=default, metadata={WORDS: (allowed, sentence)}, **options)


def documented(cls: Class) -> Class:
    """Complete a dataclass's docstring: a section Parameters, each field's range, default and sentence; all Attributes.

    Attributes that the docstrings of its bases tell are told again, but for those that its own tells otherwise.
    """
    if cls.__doc__:  # not where Python was told to leave docstrings out
        text, own = _sections(cls)
        entries = [entry for f in fields(cls) if (entry := _entry(cls, f))]
        attributes: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            attributes |= {
                _name(told): told for told in re.split(r"\n(?=\S)", _sections(base)[1].get("Attributes", ""))
            }
        made = {"Parameters": "\n".join(entries), "Attributes": "\n".join(filter(None, attributes.values()))}
        sections = [f"{name}\n{'-' * len(name)}\n{body}" for name, body in {**made, **{**own, **made}}.items() if body]
        cls.__doc__ = "\n\n".join([text, *sections]) + "\n"
    return cls


def _sections(cls: type) -> tuple[str, dict[str, str]]:
    """Return a class's own docstring: what stands above the sections, and these by their names."""
    text, *rest = HEADING.split(cleandoc(cls.__dict__.get("__doc__") or ""))
    return text.strip(), {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}


def _name(entry: str) -> str:
    return entry.split(" : ")[0]


def _entry(cls: type, own: Field[Any]) -> str:
    """Return the lines about a field; none about one that holds no words."""
    if (parameter := own.metadata.get(PARAMETER)) is not None:
        allowed, sentence = parameter.allowed().replace("or null", "or None"), parameter.sentence
    elif WORDS in own.metadata:
        allowed, sentence = own.metadata[WORDS]
    else:
        return ""
    body = fill(sentence, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{own.name} : {allowed.format(cls=cls)}, default={own.default!r}\n{body}"
