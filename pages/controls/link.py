"""What a link says besides the values of controls: the changes during a run, and names that a page does not know."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any

from dsgcore.experiments import Setting, Spec, SpecError
from dsgcore.experiments.settings import kernel_names, sections_of
from dsgcore.kernels import KERNELS
from pages.controls.control import AUTOMATIC, SHOWN_FROM_LINK, refused, shown
from pages.controls.controls import ALSO
from pages.shell.page_link import OF_THE_FRAME

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
        raise SpecError(
            "In the link, changes must be a list like 0:lam=0.1,12:lam=0.5, "
            f"got {text[:SHOWN_FROM_LINK]!r}; it is left out."
        ) from None
    plain, now = spec.to_dict(), spec.values_at(0)
    for name, value in {**start, **{change["name"]: change["value"] for change in changes}}.items():
        if now.get(name) != value:
            raise SpecError(
                f"In the link, the record of changes ends with {name} {shown(value)}, but the slider has another value."
            )
    for name, value in start.items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    return Spec.from_dict(plain | {"changes": changes})


MOST_NAMED = 4
_OTHERS = ("kernel.name", "data.name", FILE_ENTRY, "seed", ALSO)


def names_of(problem: type[Setting]) -> dict[str, str]:
    """Return the names of a setting's controls in a link, by themselves and by synonyms: their labels, and their symbols,
    spelled out if they are Greek."""
    own = sections_of(problem)
    sections = {name: own[name] for name in ("problem", "solver", "stop", "data")}
    sections["kernel"] = tuple(p for name in kernel_names(problem) for p in KERNELS[name].parameters)
    named = [(f"{section}.{p.name}", p) for section, parameters in sections.items() for p in parameters]
    known = {name: name for name in (*_OTHERS, *dict(named))}
    for name, parameter in named:
        known.setdefault(parameter.name, name)
    for name, parameter in named:
        greek = unicodedata.name(parameter.symbol, "") if len(parameter.symbol) == 1 else ""
        spelled = greek.rpartition(" ")[2].lower() if greek.startswith("GREEK SMALL LETTER") else ""
        spelled = {"lamda": "lambda"}.get(spelled, spelled)
        for word in filter(None, (parameter.label.lower().replace(" ", "_"), parameter.symbol, spelled)):
            known.setdefault(word, name)
    return known


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
    if name in known:
        return known[name]
    lower: dict[str, str] = {}
    for word, own in known.items():
        lower.setdefault(word.lower(), own)
    if name.lower() in lower:
        return lower[name.lower()]
    if in_section := [own for own in known.values() if own.endswith(f".{name.lower().rpartition('.')[2]}")]:
        return min(in_section, key=len)
    return known[max(known, key=lambda word: SequenceMatcher(None, name.lower(), word.lower()).ratio())]
