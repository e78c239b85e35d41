"""Parameters, each defined once: range, scale, symbol and sentence. Controls, links, specs and docs use them.

Dataclasses whose fields are parameters are read from plain data, as JSON and TOML give them.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache, partial
from numbers import Integral
from numbers import Real as RealNumber
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, TypeVar

from dsgcore.core.errors import DSGError

Made = TypeVar("Made")
LONGEST_QUOTE = 80
# The value in specs and links that lets the run find a number.
AUTOMATIC = "auto"
# Largest number; infinity is never allowed.
FARTHEST = sys.float_info.max
# Default of a field that must be given.
REQUIRED: Any = MISSING
_NUMBERS = re.compile(r"\[[\s\d.,eE+-]+\]")  # a list of numbers
# A field's metadata hold its parameter under this name.
PARAMETER = "parameter"


def counted(n: int, one: str) -> str:
    """Return a number of things in words."""
    return f"{n:,} {one}{'s' * (n != 1)}"


def quoted(value: object) -> str:
    """Return a given value as text for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a number of too many digits"
    return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + " …"


class ParameterError(DSGError):
    """A parameter value that is not allowed. The message says what is wrong, what was given and what is allowed."""


@dataclass(frozen=True)
class Parameter:
    """Base of all parameters: name in code, default, the papers' symbol, a label and a sentence of help.

    `holds` is the type of a simple kind's values, and `what` are these in words. Text is never empty. Other kinds check and
    convert their values themselves.
    """

    holds: ClassVar[type] = object
    what: ClassVar[str] = "given"
    name: str
    default: Any
    symbol: str = ""
    label: str = ""
    sentence: str = ""
    optional: bool = False  # True if None is allowed, too

    def called(self, label: str, sentence: str) -> Self:
        """Return the parameter with its label and sentence."""
        return replace(self, label=label, sentence=sentence)

    def check(self, value: object) -> Any:
        """Return `value` in its own type, or raise `ParameterError`."""
        return None if value is None and self.optional else self._checked(value)

    def allowed(self) -> str:
        """Return the allowed values in words."""
        return self._words() + (" or None" if self.optional else "")

    def _checked(self, value: object) -> Any:
        if not isinstance(value, self.holds) or (self.holds is str and not value):
            raise self.refuse(value)
        return value

    def _words(self) -> str:
        return self.what

    def refuse(self, value: object) -> ParameterError:
        """Return the error for a value that is not allowed."""
        return ParameterError(f"{self.name} must be {self.allowed()}, got {quoted(value)}")


@dataclass(frozen=True)
class Real(Parameter):
    """A real number in [low, high], or one of a few `words`; if `many`, also a list of such numbers.

    `usual` is the range that a slider should offer, on the `scale` that suits it. If None lets the run find the number,
    `automatic` describes that number: then a slider has a stop for None, and "auto" also means None.
    """

    low: float = -FARTHEST
    high: float = FARTHEST
    scale: str = "linear"
    usual: tuple[float, float] | None = None
    automatic: float | None = None
    words: tuple[str, ...] = ()
    many: bool = False

    def allowed(self) -> str:
        """Return the allowed values in words."""
        return super().allowed() if self.automatic is None else f"{self._words()} or {AUTOMATIC!r}"

    def _words(self) -> str:
        number = (
            "a number" if self.high == -self.low == FARTHEST else f"a number between {self.low:g} and {self.high:g}"
        )
        separator = ", " if self.optional else " or "
        return separator.join([number, *map(repr, self.words)]) + ", or a list of such numbers" * self.many

    def _checked(self, value: object) -> Any:
        if isinstance(value, str) and value in self.words:
            return value
        if self.optional and self.automatic is not None and isinstance(value, str) and value == AUTOMATIC:
            return None
        if self.many:
            value = value.tolist() if hasattr(value, "tolist") else value  # an array
        is_list = self.many and isinstance(value, list | tuple) and len(value) > 0
        numbers = []
        for one in value if is_list else [value]:  # type: ignore[attr-defined]
            if isinstance(one, bool) or not isinstance(one, RealNumber):
                raise self.refuse(one)
            try:
                number = float(one) + 0.0  # zero has one sign, so that equal specs have equal text
            except OverflowError:  # a whole number larger than all floats
                raise self.refuse(one) from None
            if not self.low <= number <= self.high:  # also refuses NaN
                raise self.refuse(one)
            numbers.append(number)
        return tuple(numbers) if is_list else numbers[0]


@dataclass(frozen=True)
class Integer(Parameter):
    """A whole number in [low, high], or one of a few `words`. `usual` and `scale` as for a real number."""

    low: int = 0
    high: int = 2**31 - 1
    scale: str = "linear"
    usual: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    takes_flags: bool = False  # True is 1, as for scikit-learn's `verbose`

    def _words(self) -> str:
        return " or ".join([f"a whole number between {self.low} and {self.high}", *map(repr, self.words)])

    def _checked(self, value: object) -> int | str:
        if isinstance(value, str) and value in self.words:
            return value
        is_whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
        if (isinstance(value, bool) and not self.takes_flags) or not is_whole or not self.low <= value <= self.high:  # type: ignore[operator]
            raise self.refuse(value)
        return int(value)  # type: ignore[call-overload]


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few words."""

    options: tuple[str, ...] = ()

    def _words(self) -> str:
        signs = (quoted(one) if not re.search(r"\w", one) else one for one in self.options)  # such as , and ;
        return "one of " + ", ".join(signs)

    def _checked(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise self.refuse(value)
        return value


@dataclass(frozen=True)
class Flag(Parameter):
    """True or false."""

    holds = bool
    what = "true or false"


@dataclass(frozen=True)
class Text(Parameter):
    """Any text except the empty one."""

    holds = str
    what = "text that is not empty"


def field_of(kind: type[Parameter], default: Any, **words: Any) -> Any:
    """Return a dataclass field that is a parameter: its default, and range, symbol and sentence as in `kind`."""
    return like(kind(name="", default=default, **words))


def parameter_like(owner: Any, name: str, /, **changes: Any) -> Any:
    """Return the parameter of that name of a class that has `parameters`, with these changes."""
    return replace(next(p for p in owner.parameters if p.name == name), **changes)


def like(source: Any, /, *more: Any, **changes: Any) -> Any:
    """Return a dataclass field for a parameter that is defined elsewhere, with these changes.

    `like(Owner, "name")` takes the parameter of that name of another class, and `like(parameter)` the parameter itself.
    `like(parameter, default)` gives the field a default of its own.
    """
    if isinstance(source, Parameter):
        parameter, default = replace(source, **changes), more
    else:
        parameter, default = parameter_like(source, more[0], **changes), more[1:]
    (value,) = default or (parameter.default,)
    return field(default=value, metadata={PARAMETER: parameter})


# Dataclass fields of one kind: the default, and keywords as in the kind.
real = partial(field_of, Real)
integer = partial(field_of, Integer)
choice = partial(field_of, Choice)
flag = partial(field_of, Flag)


def parameters_of_fields() -> Any:
    """Return a class attribute: the parameters among a dataclass's fields, in their order."""
    return _FieldParameters()


class _FieldParameters:
    def __get__(self, instance: object, owner: type) -> tuple[Parameter, ...]:
        if "__dataclass_fields__" not in owner.__dict__:
            raise AttributeError("the class is still being made")
        return parameters_of(owner)


@cache
def parameters_of(owner: type) -> tuple[Parameter, ...]:
    """Return the parameters among the fields of a dataclass, or of an instance."""
    found = ((f.name, f.metadata.get(PARAMETER)) for f in fields(owner))
    return tuple(replace(parameter, name=name) for name, parameter in found if parameter is not None)


class Checked(Protocol):
    """Base of a frozen dataclass that checks its parameters: each is converted to its own type, or raises an error."""

    parameters: ClassVar[tuple[Parameter, ...]] = parameters_of_fields()

    def __post_init__(self) -> None:
        """Raise `ParameterError` if a parameter has a value that is not allowed."""
        for parameter in parameters_of(type(self)):
            given = getattr(self, parameter.name)
            value = parameter.check(given)
            if value is not given:
                object.__setattr__(self, parameter.name, value)


def derived(record: Made, **computed: Any) -> Made:
    """Return a copy of a record with computed values, which may be outside the allowed range."""
    other = copy(record)
    for name, value in computed.items():
        object.__setattr__(other, name, value)
    return other


def grid(parameter: Real | Integer) -> tuple[float, ...]:
    """Return the values that a slider should offer.

    On a "log" scale: 1, 2, 5 per decade; on "log2": the powers of two; else twenty equal steps. A log scale that may
    start at 0 begins with it. The default is always among them.
    """
    low, high = parameter.usual or (parameter.low, parameter.high)
    if parameter.scale == "log":
        smallest = low if low > 0 else high * 1e-6
        exponents = range(math.floor(math.log10(smallest)), math.ceil(math.log10(high)) + 1)
        values = {float(f"{digit}e{e}") for e in exponents for digit in (1, 2, 5)}
        values = {value for value in values if smallest <= value <= high} | ({0.0} if low == 0 else set())
    elif parameter.scale == "log2":
        values = {float(2**e) for e in range(32) if low <= 2**e <= high}
    else:
        values = {float(f"{low + (high - low) * i / 20:.6g}") for i in range(21)}
    if parameter.default is not None:
        values.add(float(parameter.default))
    kind = int if isinstance(parameter, Integer) else float
    return tuple(sorted({kind(value) for value in values}))


def check_all(
    parameters: Sequence[Parameter], given: object, place: str, defaults: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return every parameter's value, or its default if not given; raise an error for unknown names."""
    own = {**defaults, **known(given, parameters, place)}
    return {p.name: p.check(own.get(p.name, p.default)) for p in parameters}


def known(given: object, parameters: Sequence[Parameter], place: str) -> Mapping[str, Any]:
    """Return plain data that is an object with these fields only, or raise `ParameterError`."""
    names = sorted(parameter.name for parameter in parameters)
    if not isinstance(given, Mapping):
        raise ParameterError(f"{place} must be an object with {', '.join(names)}, got {quoted(given)}")
    if not given.keys() <= set(names):
        check_names(given, names, place)
    return given


def check_names(given: Iterable[object], names: Collection[str], place: str, what: str = "field") -> None:
    """Raise `ParameterError` for a name that is none of these; the message begins with similar ones."""
    for name in given:
        if name not in names:
            raise ParameterError(
                f"{place} has no {what} {quoted(name)}{did_you_mean(name, names)}; it has {', '.join(names)}"
            )


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a question that names those most similar to a misspelled name; empty if none is similar."""
    by_lower = {one.lower(): one for one in reversed(list(names))}
    close = [quoted(by_lower[one]) for one in get_close_matches(str(name).lower(), by_lower)]
    return f" (did you mean {' or '.join(close)}?)" if close else ""


@dataclass(frozen=True)
class Anything(Parameter):
    """Any value. The code that asks for it checks it."""


ANYTHING = Anything("item", None)


@dataclass(frozen=True)
class Items(Parameter):
    """A list of values of one kind, of `least` to `most` of them."""

    item: Parameter = ANYTHING
    least: int = 0
    most: int = 10_000

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
    """Return an instance of a dataclass whose fields are parameters, made from plain data: a mapping of names to values.

    Missing fields take their defaults; `more` are fields that are not in the data. Raise `ParameterError` if a field is unknown,
    missing or has a value that is not allowed; its message begins with the `place`.
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


def finite(value: Any) -> Any:
    """Return plain data in which None stands for each number that JSON does not have."""
    if isinstance(value, Mapping):
        return {str(name): finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(plain: dict[str, Any], *, indent: int | None) -> str:
    """Return JSON with sorted keys and the shortest exact floats; without `indent`, without white space.

    With `indent`, a list of numbers stays on one line: thousands of coordinates would otherwise take a line each.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(plain, sort_keys=True, indent=indent, separators=separators, allow_nan=False)
    return text if indent is None else _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
