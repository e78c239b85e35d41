"""What a link says besides the values of controls: a line of other fields, the changes during a run, and unknown names."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any

from dsgcore.core.parameters import Parameter, ParameterError, Text, check_names, quoted
from dsgcore.experiments import Setting, Spec, SpecError
from dsgcore.experiments.spec import sections_of
from dsgcore.kernels import KERNELS
from pages.controls.control import AUTOMATIC, SHOWN_FROM_LINK, refused, shown
from pages.shell.page_link import OF_THE_FRAME

ALSO = "also"
# The fields that name a file have their own entry in the link.
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
    sections = sections_of(problem)
    sections["data"] = tuple(p for p in sections["data"] if p.name not in _OF_THE_FILE)
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
    try:
        fields = next(csv.reader([" ".join(text.splitlines())]), [])
    except csv.Error as error:
        raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5: {error}") from None
    for field in fields:
        name, sign, value = field.strip().partition("=")
        if not sign:
            raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5, got {quoted(field)}")
        try:
            check_names([name], list(known), "this page")
            checked = known[name].check(_value(value))
        except ParameterError as error:
            raise SpecError(f"in {ALSO}, {error}") from None
        section, _, own = name.partition(".")
        found.setdefault(section, {})[own] = checked
    return found


def _text(value: Any) -> str:
    """Return a value as it appears in the line: a word without quotes, unless it would be read as another type."""
    is_plain = isinstance(value, str) and value.isprintable() and _value(value) == value
    return value if is_plain else json.dumps(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


CHANGES = "changes"
FILE_ENTRY = "data.file"  # an uploaded file: its name, its digest, its recipe and facts


def changes_to_text(spec: Spec) -> str:
    """Return a record of the changes for the link: the values at the start, then each change as t:name=value."""
    start = spec.values_at(0)
    if not spec.changes:
        return ""
    names = {change.name for change in spec.changes}
    parts = [f"0:{name}={shown(start[name])}" for name in spec.steerable if name in names]
    parts += [f"{change.t}:{change.name}={shown(change.value)}" for change in spec.changes]
    return ",".join(parts)


def with_changes(spec: Spec, text: str) -> Spec:
    """Return the spec with a link's record of changes; raise `SpecError` if the record does not fit the sliders.

    The sliders show the values at the end. The record holds the values at the start and all changes.
    """
    if not text:
        return spec
    start, changes = dict[str, float | None](), list[dict[str, Any]]()
    try:
        for part in text.split(","):
            t, assignment = part.split(":")
            name, said = assignment.split("=")
            value = None if said == AUTOMATIC else float(said)
            if int(t) == 0:
                start[name] = value
            else:
                changes.append({"t": int(t), "name": name, "value": value})
    except ValueError:
        got = text[:SHOWN_FROM_LINK]
        raise SpecError(f"changes must be a list like 0:lam=0.1,12:lam=0.5, got {got!r}") from None
    plain, now = spec.to_dict(), spec.values_at(0)
    for name, value in {**start, **{change["name"]: change["value"] for change in changes}}.items():
        if now.get(name) != value:
            raise SpecError(f"changes end with {name} {shown(value)}, but the slider has another value")
    for name, value in start.items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    return Spec.from_dict(plain | {"changes": changes})


MOST_NAMED = 4
_OTHERS = ("kernel.name", "data.name", FILE_ENTRY, "seed", ALSO)


def names_of(problem: type[Setting]) -> dict[str, str]:
    """Return the names of a setting's controls in a link, by themselves and by synonyms: their labels, and their symbols,
    spelled out if they are Greek."""
    fields = {name: p for name, p in parameters_of(problem).items() if not name.startswith("diagnostics.")}
    named = fields | {f"kernel.{p.name}": p for name in problem.kernels for p in KERNELS[name].parameters}
    words = [*((name, name) for name in (*_OTHERS, *named)), *((p.name, name) for name, p in named.items())]
    for name, p in named.items():
        greek = unicodedata.name(p.symbol, "").rpartition(" ")[2].lower() if len(p.symbol) == 1 else ""
        spelled = {"lamda": "lambda"}.get(greek, greek)
        words += [(word, name) for word in (p.label.lower().replace(" ", "_"), p.symbol, spelled) if word]
    return dict(reversed(words))  # the first one that has a word keeps it


def unknown_names(given: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return a sentence about the names in a link that a page does not know, with the closest known names, or nothing.

    `known` has the page's names, by themselves and by their synonyms.
    """
    unknown = [name for name in given if name not in set(known.values()) and name not in OF_THE_FRAME]
    if not unknown:
        return []
    said = [f"{refused(name)} (the closest name is {_closest(name, known)})" for name in unknown[:MOST_NAMED]]
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    it = "it is" if len(unknown) == 1 else "they are"
    return [f"In the link, this page does not know {', '.join(said)}{more}; {it} left out."]


def _closest(name: str, known: Mapping[str, str]) -> str:
    lower, own = {word.lower(): own for word, own in reversed(list(known.items()))}, name.lower()
    if own in lower:
        return known.get(name, lower[own])
    if in_section := [full for full in known.values() if full.endswith(f".{own.rpartition('.')[2]}")]:
        return min(in_section, key=len)
    return known[max(known, key=lambda word: SequenceMatcher(None, own, word.lower()).ratio())]
