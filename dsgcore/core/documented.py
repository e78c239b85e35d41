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
FIRST_SECTION = re.compile(r"^(?=[A-Z]\w+\n-+$)", re.MULTILINE)
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
    """Put the section Parameters before the others of a dataclass's docstring: each field's range, default and sentence."""
    if cls.__doc__:  # not where Python was told to leave docstrings out
        entries = [entry for own in fields(cls) if (entry := _entry(cls, own))]
        section = "\n".join(["Parameters", "----------", *entries])
        text, *sections = FIRST_SECTION.split(cleandoc(cls.__doc__))
        cls.__doc__ = "\n\n".join([text.rstrip(), section, "".join(sections)]).rstrip() + "\n"
    return cls


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
