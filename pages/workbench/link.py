"""A session's link: what is not good in it, in a sentence each, and the record of what was moved during a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dsgcore.data import DATASETS
from dsgcore.data.options import SEED
from dsgcore.experiments import SETTINGS, Setting, Spec, SpecError
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import AUTOMATIC, Control, key_of, number, shown
from pages.controls.from_link import SHOWN_FROM_LINK, in_link, read_controls, refusal
from pages.controls.own_file import entry_of
from pages.controls.view_choices import ONCE_SHARED, SPEED, choices_of

# What no control holds: the changes made during the run, where it is, which earlier step is looked at, where the reader is in
# a guided lesson, which race has ended, and the code of a class's room, whose key is in no link.
LESSON, RACE, ROOM = "lesson", "race", "room"
KEPT = ("changes", "at", "look", LESSON, RACE, ROOM)


def kept(problem: type[Setting], **values: str) -> dict[str, str]:
    """Return what the link says of a run besides its controls, each of `KEPT`, by its names there."""
    assert values.keys() == set(KEPT)
    return {key_of(problem, name): values[name] for name in KEPT}


def without_others(page: str, given: dict[str, str]) -> dict[str, str]:
    """Return a link without what was kept there of the runs of other pages."""
    others = {key_of(problem, name) for problem in SETTINGS.values() if problem.name != page for name in KEPT}
    return {name: text for name, text in given.items() if name not in others}


def in_own_names(problem: type[Setting], given: dict[str, str]) -> dict[str, str]:
    """Return a link with this page's names in place of those that all pages once shared."""
    shared = {name: key_of(problem, name) for name in ONCE_SHARED}
    renamed = {shared[name]: text for name, text in given.items() if name in shared}
    kept = {name: text for name, text in given.items() if name not in shared or name in shared.values()}
    return renamed | kept


def read_link(problem: type[Setting], given: dict[str, str]) -> list[str]:
    """Check the link that a page is opened with: keep good values that no slider stop has; say in a sentence what is not good."""
    choice = controls.dataset_choice(problem)
    titles = {entry_of(problem, name).title: name for name in choice.options}
    data_key = key_of(problem, "data")
    title = given.get(data_key, DATASETS[choice.default].title)
    notices = []
    if title not in titles:
        notices.append(refusal(data_key, replace(choice, options=tuple(titles)), title))
    dataset = titles.get(title, choice.default)
    notices += read_controls(controls.controls_for(problem, dataset, controls.kernel_asked(problem)), given)
    views = {view.name: Control(key_of(problem, view.name), "view", view) for view in choices_of(problem)}
    notices += read_controls(views, given)
    key = key_of(problem, "seed")
    if key in given and number(given[key], SEED) is None:
        notices.append(refusal(key, SEED, given[key]))
    return notices


def link_to_lesson(problem: type[Setting]) -> dict[str, str]:
    """Return what a link to a setting's first lesson says."""
    values = dict(profile_of(problem).lessons[0].values)
    if "data" in values:
        values["data"] = DATASETS[values["data"]].title
    return {key_of(problem, name): in_link(value) for name, value in values.items()}


def link_to_guided(problem: type[Setting], name: str) -> dict[str, str]:
    """Return what a link to the first step of a guided lesson says."""
    return {key_of(problem, LESSON): name, key_of(problem, SPEED.name): "fast"}  # a run is waited for


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
    """Return the spec with a link's record of changes; raise `SpecError` where it does not fit the sliders.

    The sliders show the values at the end; the record holds those at the start and every change since.
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
                f"In the link, the record of changes ends with {name} {shown(value)}, but the slider does not."
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
                start[name] = None if value == AUTOMATIC else float(value)
            else:
                changes.append({"t": int(t), "name": name, "value": float(value)})
    except ValueError:
        short = text[:SHOWN_FROM_LINK]
        raise SpecError(
            f"In the link, changes must be a list like 0:lam=0.1,12:lam=0.5, got {short!r}; it is left out."
        ) from None
    return start, changes
