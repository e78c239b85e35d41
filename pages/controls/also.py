"""A line of text, also in the link, that sets the fields of a spec which have no control."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from dsgcore.core.parameters import Parameter, ParameterError, Text, quoted
from dsgcore.experiments import Setting, Spec, SpecError
from dsgcore.experiments.settings import DATA_PARAMETERS, DiagnosticsSpec, StopSpec, solver_parameters
from pages.controls.control import leave_out

ALSO = "also"
# The fields that name a file have their own line in the link.
_OF_THE_FILE = ("name", "path", "sha256", "recipe")
_SECTIONS = ("problem", "data", "solver", "stop", "diagnostics")
LINE = Text(
    ALSO,
    "",
    label="Also set",
    sentence="Fields that no other control sets, with commas between them, such as "
    "solver.dtype=float64,diagnostics.n_probes=0. They override the other controls.",
)


def parameters_of(problem: type[Setting]) -> dict[str, Parameter]:
    """Return the parameters that the line can set, by section and name."""
    sections: dict[str, Sequence[Parameter]] = {
        "problem": problem.parameters,
        "data": [p for p in DATA_PARAMETERS if p.name not in _OF_THE_FILE],
        "solver": solver_parameters(problem),
        "stop": StopSpec.parameters,
        "diagnostics": DiagnosticsSpec.parameters,
    }
    return {f"{section}.{p.name}": p for section, parameters in sections.items() for p in parameters}


def what_differs(spec: Spec, other: Spec) -> str:
    """Return the line that turns `other` into the spec, without its changes, kernel, seed and file."""
    wanted, there = spec.to_dict(), other.to_dict()
    fields = [
        f"{section}.{name}={_text(value)}"
        for section in _SECTIONS
        for name, value in wanted[section].items()
        if value != there[section].get(name) and not (section == "data" and name in _OF_THE_FILE)
    ]
    if not fields:
        return ""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def read_also(problem: type[Setting], text: str) -> dict[str, dict[str, Any]]:
    """Return the values that a line sets, by section and name; raise `SpecError` if the line is not valid."""
    known, found = parameters_of(problem), dict[str, dict[str, Any]]()
    for field in _fields(text):
        name, sign, value = field.strip().partition("=")
        if not sign:
            raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5, got {quoted(field)}")
        if name not in known:
            raise SpecError(f"{ALSO} must name one of {', '.join(known)}, got {quoted(name)}")
        try:
            checked = known[name].check(_value(value))
        except ParameterError as error:
            raise SpecError(f"in {ALSO}, {error}") from None
        section, _, own = name.partition(".")
        found.setdefault(section, {})[own] = checked
    return found


def refused_also(problem: type[Setting], key: str, given: Mapping[str, str]) -> list[str]:
    """Check the line of a link; if it is not valid, leave it out and return a sentence with the reason."""
    text = given.get(key, "")
    try:
        read_also(problem, text)
    except SpecError as error:
        leave_out(key, text)
        return [f"In the link, {error}; it is left out."]
    return []


def _fields(text: str) -> list[str]:
    try:
        return next(csv.reader([" ".join(text.splitlines())]), [])
    except csv.Error as error:
        raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5: {error}") from None


def with_also(problem: type[Setting], sections: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a spec's sections with the values that a line sets."""
    also = read_also(problem, text)
    return {**sections, **{name: {**sections.get(name, {}), **values} for name, values in also.items()}}


def _text(value: Any) -> str:
    """Return a value as it appears in the line: a word without quotes, unless it would be read as another type."""
    is_plain = isinstance(value, str) and value.isprintable() and _value(value) == value
    return value if is_plain else json.dumps(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
