"""A session's link: what is not good in it, in a sentence each, and what it keeps of a run besides its controls."""

from __future__ import annotations

from dataclasses import replace

from dsgcore.data import DATASETS
from dsgcore.data.options import SEED
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.also import ALSO, refused_also
from pages.controls.changes import CHANGES
from pages.controls.control import Control, key_of, number
from pages.controls.from_link import in_link, read_controls, refusal
from pages.controls.names import names_of, unknown_names
from pages.controls.own_file import entry_of
from pages.controls.view_choices import ONCE_SHARED, SPEED, choices_of
from pages.workbench.map_axes import AXES

# What no control holds: the changes made during the run, where it is, which earlier step is looked at, where the reader is in
# a guided lesson, which race has ended, and the code of a class's room, whose key is in no link.
LESSON, RACE, ROOM = "lesson", "race", "room"
KEPT = (CHANGES, "at", "look", LESSON, RACE, ROOM)


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
    notices += refused_also(problem, key_of(problem, ALSO), given)
    return notices + unknown_names(given, _known_names(problem))


def _known_names(problem: type[Setting]) -> dict[str, str]:
    """Return all names that the link of a setting's page can have."""
    others = [*KEPT, *AXES, *(choice.name for choice in choices_of(problem)), *ONCE_SHARED]
    return names_of(problem) | {key: key for key in (key_of(problem, name) for name in others)}


def link_to_lesson(problem: type[Setting]) -> dict[str, str]:
    """Return what a link to a setting's first lesson says."""
    values = dict(profile_of(problem).lessons[0].values)
    if "data" in values:
        values["data"] = DATASETS[values["data"]].title
    return {key_of(problem, name): in_link(value) for name, value in values.items()}


def link_to_guided(problem: type[Setting], name: str) -> dict[str, str]:
    """Return what a link to the first step of a guided lesson says."""
    return {key_of(problem, LESSON): name, key_of(problem, SPEED.name): "fast"}  # a run is waited for
