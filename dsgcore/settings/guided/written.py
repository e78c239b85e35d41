"""Reader of lesson files: one TOML file per lesson, in a folder per setting. The file's name is the lesson's name in links.

A file has the fields ``title``, ``learned`` and ``minutes`` of `GuidedLesson`. ``order`` sorts the lessons of a setting.
Each of its ``[[steps]]`` has the fields of `LessonStep`, and at most one question: ``pick``, ``estimate`` or ``curve``.
The expected option of a pick has ``is_expected = true``. A claim is a table or a name in `NAMED`. The value "auto" lets the
run choose, as in links.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import AUTOMATIC, quoted
from dsgcore.core.text_files import TextFileError, read_text
from dsgcore.settings.guided.lesson import (
    BETTER,
    DIVERGES,
    TIE,
    WORSE,
    Claim,
    Curve,
    Estimate,
    Goal,
    GuidedLesson,
    LessonStep,
    Option,
    Pick,
)

HERE = Path(__file__).parent
# Short names of frequent claims.
NAMED = {"better": BETTER, "tie": TIE, "worse": WORSE, "diverges": DIVERGES}
KINDS_OF_QUESTIONS = ("pick", "estimate", "curve")

# Function from a place in a file and the value there to an object.
Reader = Callable[[str, Any], Any]


class LessonError(DSGError):
    """Error in a lesson file. The message says where it is, the value given, and what is allowed."""


def lessons_of(setting: str, folder: Path = HERE) -> tuple[GuidedLesson, ...]:
    """Return the lessons of a setting, sorted by `order` and name.

    Raises
    ------
    LessonError
        If a file is not valid. The message names the file, the place, the value given, and what is allowed.
    """
    read = [_read(file) for file in sorted((folder / setting).glob("*.toml"))]
    return tuple(lesson for _, lesson in sorted(read, key=lambda of_one: of_one[0]))


def _read(file: Path) -> tuple[int, GuidedLesson]:
    """Return the order of a lesson, and the lesson."""
    place = f"{file.parent.name}/{file.name}"
    try:
        given = tomllib.loads(read_text(file, "a lesson in TOML"))
    except TextFileError as error:
        raise LessonError(str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{place} is not valid TOML: {error}") from None
    found = _LESSON(place, given)
    return found.pop("order"), GuidedLesson(name=file.stem, **found)


def _refused(place: str, allowed: str, given: object) -> LessonError:
    return LessonError(f"{place} must be {allowed}, got {quoted(given)}")


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and not math.isnan(given)


def _one(allowed: str, is_allowed: Callable[[Any], bool], make: Callable[[Any], Any] = lambda given: given) -> Reader:
    """Read one value, and convert it with `make`."""

    def reader(place: str, given: Any) -> Any:
        if not is_allowed(given):
            raise _refused(place, allowed, given)
        return make(given)

    return reader


_text = _one("a text", lambda given: isinstance(given, str) and given.strip() != "")
_whole = _one("a whole number", lambda given: isinstance(given, int) and not isinstance(given, bool))
_number = _one("a number", _is_number, float)
_truth = _one("true or false", lambda given: isinstance(given, bool))
_value = _one(
    f"a text, a number, true, false or {AUTOMATIC!r}",
    lambda given: isinstance(given, str | bool) or _is_number(given),
    lambda given: None if given == AUTOMATIC else given,
)


def _values(place: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _refused(place, "a table of controls' values", given)
    return {name: _value(f"{place}, {name}", value) for name, value in given.items()}


def _list_of(read: Reader) -> Reader:
    def reader(place: str, given: Any) -> tuple[Any, ...]:
        if not isinstance(given, list):
            raise _refused(place, "a list", given)
        one = place.removesuffix("s")  # the second of "steps" is "step 2"
        return tuple(read(f"{one} {number}", value) for number, value in enumerate(given, start=1))

    return reader


def _table(
    make: Callable[..., Any], needed: Mapping[str, Reader], optional: Mapping[str, Reader] | None = None
) -> Reader:
    """Read a table with these keys. An error of `make` names the table."""
    known = {**needed, **(optional or {})}

    def reader(place: str, given: Any) -> Any:
        if not isinstance(given, dict):
            raise _refused(place, f"a table with {', '.join(known)}", given)
        for name in given:
            if name not in known:
                raise LessonError(f"{place} has no key {quoted(name)}; it has {', '.join(known)}")
        if missing := [name for name in needed if name not in given]:
            raise LessonError(f"{place} must have {', '.join(missing)}, got {', '.join(given) or 'nothing'}")
        read = {name: known[name](f"{place}, {name}", value) for name, value in given.items()}
        try:
            return make(**read)
        except DSGError as error:
            raise LessonError(f"{place} {error}") from None

    return reader


def _bounded(measure: str, **bounds: float) -> Claim:
    if not bounds:
        raise DSGError("must have low, high or both, got neither")
    return Claim(measure, **bounds)


def _claim(place: str, given: Any) -> Claim:
    if not isinstance(given, str):
        return _BOUNDED(place, given)
    if given not in NAMED:
        raise _refused(place, f"a table or one of {', '.join(NAMED)}", given)
    return NAMED[given]


def _option(words: str, claims: tuple[Claim, ...], is_expected: bool = False) -> tuple[Option, bool]:
    return Option(words, claims), is_expected


def _pick(text: str, options: tuple[tuple[Option, bool], ...]) -> Pick:
    expected = [number for number, (_, is_expected) in enumerate(options) if is_expected]
    if len(expected) != 1:
        raise DSGError(f"must have one option with is_expected = true, got {len(expected)} of {len(options)}")
    return Pick(text, tuple(option for option, _ in options), expected[0])


def _step(**given: Any) -> LessonStep:
    asked = [kind for kind in KINDS_OF_QUESTIONS if kind in given]
    if len(asked) > 1:
        raise DSGError(f"may ask one question, {', '.join(KINDS_OF_QUESTIONS)}, got {' and '.join(asked)}")
    return LessonStep(asks=given.pop(asked[0]) if asked else None, **given)


_BOUNDED = _table(_bounded, {"measure": _text}, {"low": _number, "high": _number})
_CLAIMS = _list_of(_claim)
_OPTION = _table(_option, {"words": _text, "claims": _CLAIMS}, {"is_expected": _truth})
_AXIS: dict[str, Reader] = {"words": _text, "low": _number, "high": _number, "near": _number}
_STEP = _table(
    _step,
    {"text": _text, "explanation": _text},
    {
        "values": _values,
        "controls": _list_of(_text),
        "pick": _table(_pick, {"text": _text, "options": _list_of(_OPTION)}),
        "estimate": _table(Estimate, {"text": _text, "measure": _text, **_AXIS}),
        "curve": _table(Curve, {"text": _text, "column": _text, **_AXIS}),
        "goal": _table(Goal, {"text": _text, "claims": _CLAIMS, "solution": _values}),
        "claims": _CLAIMS,
        "notes": _text,
    },
)
_LESSON = _table(dict, {"title": _text, "learned": _text, "minutes": _whole, "order": _whole, "steps": _list_of(_STEP)})
