"""The record of changes during a run, as text for the link."""

from __future__ import annotations

from typing import Any

from dsgcore.experiments import Spec, SpecError
from pages.controls.control import AUTOMATIC, shown
from pages.controls.from_link import SHOWN_FROM_LINK

CHANGES = "changes"


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
    start, changes = _parse_changes(text)
    plain = spec.to_dict()
    end = {**start, **{change["name"]: change["value"] for change in changes}}
    now = spec.values_at(0)
    for name, value in end.items():
        if now.get(name) != value:
            raise SpecError(
                f"In the link, the record of changes ends with {name} {shown(value)}, but the slider has another value."
            )
    for name, value in start.items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    plain["changes"] = changes
    return Spec.from_dict(plain)


def _parse_changes(text: str) -> tuple[dict[str, float | None], list[dict[str, Any]]]:
    start: dict[str, float | None] = {}
    changes: list[dict[str, Any]] = []
    try:
        for part in text.split(","):
            t, assignment = part.split(":")
            name, value = assignment.split("=")
            if int(t) == 0:
                start[name] = _number(value)
            else:
                changes.append({"t": int(t), "name": name, "value": _number(value)})
    except ValueError:
        short = text[:SHOWN_FROM_LINK]
        raise SpecError(
            f"In the link, changes must be a list like 0:lam=0.1,12:lam=0.5, got {short!r}; it is left out."
        ) from None
    return start, changes


def _number(text: str) -> float | None:
    return None if text == AUTOMATIC else float(text)
