"""Reader of plain data, as JSON and TOML give them, into dataclasses whose fields are parameters; and its canonical JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from typing import Any, TypeVar

from dsgcore.core.parameters import PARAMETER, Parameter, ParameterError, field_of, known, like, parameters_of

Made = TypeVar("Made")
# Default of a field that must be given.
REQUIRED: Any = MISSING
_NUMBERS = re.compile(r"\[[\s\d.,eE+-]+\]")  # a list of numbers


@dataclass(frozen=True)
class Anything(Parameter):
    """Any value. The code that asks for it checks it."""

    def _words(self) -> str:
        return "given"

    def _checked(self, value: object) -> Any:
        return value


ANYTHING = Anything("item", None)


@dataclass(frozen=True)
class Items(Parameter):
    """A list of values of one kind, of `least` to `most` of them."""

    item: Parameter = ANYTHING
    least: int = 0
    most: int = 10_000
    optional: bool = False

    def _words(self) -> str:
        return f"a list of {self.least} to {self.most}" if self.least else f"a list of at most {self.most}"

    def _checked(self, value: object) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence) or not self.least <= len(value) <= self.most:
            raise self.refuse(value)
        one = self.name.removesuffix("s")  # the second of "steps" is "step 2"
        return tuple(replace(self.item, name=f"{one} {number}").check(own) for number, own in enumerate(value, start=1))


@dataclass(frozen=True)
class Record(Parameter):
    """An object whose fields are those of a dataclass, or the name of a known one."""

    kind: type = object
    optional: bool = False
    named: Mapping[str, Any] | None = None

    def _words(self) -> str:
        words = f"an object with {', '.join(p.name for p in parameters_of(self.kind))}"
        return f"{words}, or one of {', '.join(self.named)}" if self.named else words

    def _checked(self, value: object) -> Any:
        if self.named and isinstance(value, str) and value in self.named:
            return self.named[value]
        if not isinstance(value, Mapping | self.kind):
            raise self.refuse(value)
        return value if isinstance(value, self.kind) else read(self.kind, value, self.name)


def items(item: Parameter, *default: Any, **options: Any) -> Any:
    """Return a dataclass field for a list. It must be given, unless there is a default."""
    (value,) = default or (REQUIRED,)
    return field_of(Items, value, item=item, **options)


def record(kind: type) -> Any:
    """Return a dataclass field for an object that may be missing."""
    return like(Record("", None, kind=kind, optional=True))


def mapping(parameter: Parameter = ANYTHING) -> Any:
    """Return a dataclass field for an object that is empty by default."""
    return field(default_factory=dict, metadata={PARAMETER: parameter})


def read(cls: type[Made], plain: object, place: str, **more: Any) -> Made:
    """Return an instance of a dataclass whose fields are parameters, made from plain data.

    Parameters
    ----------
    cls : type
        The dataclass.
    plain : object
        A mapping of names to values. Missing fields take their defaults.
    place : str
        Name of the object in messages.
    **more
        Fields that are not in the data.

    Raises
    ------
    ParameterError
        If a field is unknown, missing or has a value that is not allowed. The message begins with the place.
    """
    parameters = parameters_of(cls)  # type: ignore[arg-type]
    given = known(plain, parameters, place)
    if missing := [p.name for p in parameters if p.default is REQUIRED and p.name not in given]:
        raise ParameterError(f"{place} must have {', '.join(missing)}, got {', '.join(given) or 'nothing'}")
    values = {p.name: replace(p, name=f"{place}, {p.name}").check(given[p.name]) for p in parameters if p.name in given}
    try:
        return cls(**values, **more)
    except ParameterError as error:  # from a check of several fields together
        raise ParameterError(f"{place} {error}") from None


def json_text(plain: dict[str, Any], *, indent: int | None) -> str:
    """Return JSON with sorted keys and the shortest exact floats; without `indent`, without white space.

    With `indent`, a list of numbers stays on one line: thousands of coordinates would otherwise take a line each.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(plain, sort_keys=True, indent=indent, separators=separators, allow_nan=False)
    return text if indent is None else _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
