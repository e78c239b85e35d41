"""A session's link: a sentence for each invalid value, and the run's entries and iteration besides its controls."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.data.datasets import SEED
from dsgcore.experiments import SETTINGS, Setting
from pages.controls import controls
from pages.controls.control import Control, key_of, number, read_controls, refusal
from pages.controls.controls import ALSO, refused_also
from pages.controls.hand import EDITS
from pages.controls.link import CHANGES, OF_THE_FRAME, changes_to_text, names_of, unknown_names
from pages.controls.own_file import entry_of
from pages.controls.view import AXES, SPEED, choices_of, name_of
from pages.session import link
from pages.session.bench import PLAYING, Bench
from pages.shell.browser import keep_in_link

# The entries without a control: the changes during the run, the edits of the data, its iteration, the earlier step that the
# page shows, the place in a guided lesson, the finished race, and the code of a class's room. No link holds the room's key.
LESSON, RACE, ROOM = "lesson", "race", "room"
START, FIRST = "auc", "unlabeled"  # a lesson that shows in two minutes how unlabeled points help
KEPT = (CHANGES, EDITS, "at", "look", LESSON, RACE, ROOM)


def kept(problem: type[Setting], **values: str) -> dict[str, str]:
    """Return the run's entries besides its controls, one for each name in `KEPT`, by their names in the link."""
    assert values.keys() == set(KEPT)
    return {key_of(problem, name): values[name] for name in KEPT}


def without_others(page: str, given: dict[str, str]) -> dict[str, str]:
    """Return a link without the entries for the runs of other pages."""
    others = {key_of(problem, name) for problem in SETTINGS.values() if problem.name != page for name in KEPT}
    return {name: text for name, text in given.items() if name not in others}


def read_link(problem: type[Setting], given: dict[str, str]) -> list[str]:
    """Check the link of a page: add slider stops for valid values between stops, and return a sentence for each invalid
    one."""
    choice = controls.dataset_choice(problem)
    titles = {entry_of(problem, name).title: name for name in choice.options}
    data_key = key_of(problem, "data")
    title = given.get(data_key, DATASETS[choice.default].title)
    notices = []
    if title not in titles:
        notices.append(refusal(data_key, replace(choice, options=tuple(titles)), title))
    dataset = titles.get(title, choice.default)
    notices += read_controls(controls.controls_for(problem, dataset, controls.kernel_asked(problem)), given)
    views = {view.name: Control(key_of(problem, view.name), "view", view, say=name_of) for view in choices_of(problem)}
    notices += read_controls(views, given)
    key = key_of(problem, "seed")
    if key in given and number(given[key], SEED) is None:
        notices.append(refusal(key, SEED, given[key]))
    notices += refused_also(problem, key_of(problem, ALSO), given)
    return notices + unknown_names(given, _known_names(problem))


def _known_names(problem: type[Setting]) -> dict[str, str]:
    """Return all names that the link of a setting's page can have."""
    others = [*KEPT, *AXES, *(choice.name for choice in choices_of(problem)), "seed", "feature"]
    return names_of(problem) | {key: key for key in (key_of(problem, name) for name in others)}


def link_to_guided(problem: type[Setting], name: str) -> dict[str, str]:
    """Return the query of a link to the first step of a guided lesson."""
    return {key_of(problem, LESSON): name, key_of(problem, SPEED.name): "fast"}  # because the reader waits for the run


def first_lesson() -> tuple[type[Setting], dict[str, str]]:
    """Return the setting of the lesson that needs no theory, and the query of the link to it."""
    setting = SETTINGS[START]
    return setting, link_to_guided(setting, FIRST)


# Seconds between updates of the iteration in the link during a run.
SECONDS_BETWEEN_PLACES = 3.0


def keep_place(problem: type[Setting], bench: Bench) -> None:
    """Write the changes and the run's iteration into the link: when the run pauses, and every few seconds during it."""
    kept = place_of(problem, bench)
    keep_in_link(problem.name, kept, bench.session)
    said = st.query_params.to_dict()
    bench.link.texts = {name: text for name, text in said.items() if name not in OF_THE_FRAME} | kept


def place_of(problem: type[Setting], bench: Bench) -> dict[str, str]:
    """Return the run's entries in the link besides the controls that are drawn."""
    assert bench.spec is not None
    _note_place(bench)
    lesson = bench.lesson.place.text if bench.lesson.place is not None else ""
    changes = changes_to_text(bench.spec)
    race, room = bench.view.race or bench.link.race, bench.group.room  # read once: the script may close it meanwhile
    kept = link.kept(
        problem,
        changes=changes,
        edits=bench.hand.text,
        at=bench.link.at,
        look=str(bench.look or ""),
        lesson=lesson,
        race=race,
        room="" if room is None else room.code,
    )
    return kept | bench.link.undrawn


def _note_place(bench: Bench) -> None:
    if bench.preparation is not None:
        bench.link.at = bench.preparation.at
        return
    t, now = bench.present.run.t, time.monotonic()
    if bench.link.going_to:
        bench.link.at = f"{bench.link.going_to}{PLAYING * bench.link.plays_on}"
    elif not bench.is_playing or bench.present.is_finished:
        bench.link.at = str(t) if t else ""
    elif t and now - bench.link.at_noted >= SECONDS_BETWEEN_PLACES:
        bench.link.at, bench.link.at_noted = f"{t}{PLAYING}", now
