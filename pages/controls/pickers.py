"""The pickers of setting, data set and kernel in the sidebar. Values that depend on them follow the choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from dsgcore.data import OPTION_NAMES
from dsgcore.data.datasets import AS_IS, CONVERSIONS, ONE_REST
from dsgcore.experiments import SETTINGS, Run, Setting, Spec
from dsgcore.experiments.theory import words_of
from dsgcore.settings import profile_of
from pages.controls.control import Control, draw, keep, key_of, without_blank
from pages.controls.controls import (
    SUITED,
    controls_for,
    data_picker,
    dataset_choice,
    kernel_asked,
    kernel_widths,
)
from pages.controls.link import ALSO, FILE_ENTRY
from pages.controls.own_file import entry_of, offer_own
from pages.controls.view import SPEED, TAB, seed_control, view_control
from pages.shell.page_link import link_now
from pages.shell.plain_text import in_sentence, plain

# The note on the controls that the data have set names so many of them; its help names all.
MOST_SAID = 4
_SET_BY_DATA = "_set_by_data_"  # begins the key of the controls that the choice of the data has set


def draw_dataset(problem: type[Setting]) -> str:
    """Draw the picker of the data set, and return the name of the set."""
    follow = partial(_follow_data, problem)
    picker = replace(data_picker(problem), on_change=follow)
    dataset = str(draw(picker))
    offer_own(picker.key, dataset, follow)
    follow(link_now().given)
    # Show which controls the choice of the data has set, as long as they keep these values.
    first, said = profile_of(problem).front, list[str]()
    for control in sorted(
        st.session_state.get(f"{_SET_BY_DATA}{problem.name}", ()), key=lambda c: c.parameter.name not in first
    ):
        value = control.parameter.default
        if without_blank(st.session_state.get(control.key, value)) == value:
            said.append(f"{in_sentence(control.parameter.label)} to {control.told(value) or 'nothing'}")
    if said:
        title, n_more = entry_of(problem, dataset).title, len(said) - MOST_SAID
        few = said if n_more < 2 else [*said[:MOST_SAID], f"{n_more} more controls"]
        st.caption(f"{title} set {_listed(few)}.", help=f"{_listed(said)}." if n_more >= 2 else None)
    # Show how the set's classes are converted, unless they are used unchanged.
    entry = entry_of(problem, dataset)
    usual = entry.conversions_for(problem.labels)[0]
    name = st.session_state.get(key_of(problem, "convert"))
    conversion = name if name in entry.conversions_for(problem.labels) else usual
    named = st.session_state.get(key_of(problem, "positive"))
    positive = named if named in entry.class_names else entry.class_names[0]
    if conversion == ONE_REST:
        st.caption(f"{plain(str(positive))} against the rest (see More).")
    elif conversion != AS_IS:
        st.caption(CONVERSIONS[conversion])
    return dataset


def keep_dataset(problem: type[Setting]) -> str:
    """Return the name of the set without drawing the picker."""
    dataset = str(keep(data_picker(problem)))
    _follow_data(problem, link_now().given)
    return dataset


def _follow_data(problem: type[Setting], left_out: Collection[str] = ()) -> None:
    """After another choice of data, set the controls that depend on them to suitable values; record which of them had another
    value before. After a link within the app has chosen them, leave out the names that the link holds."""
    dataset = st.session_state[key_of(problem, "data")]
    before = st.session_state.get(seen_key(problem), dataset)
    st.session_state[seen_key(problem)] = dataset
    if before == dataset:
        return
    known = {control.key: control.parameter.default for control in _going_with(problem, before)}
    changed = []
    for control in _going_with(problem, dataset):
        value = control.parameter.default
        if control.name in left_out:
            continue
        if control.key in known and without_blank(st.session_state.get(control.key, known[control.key])) != value:
            changed.append(control)
        st.session_state[control.key] = value
    st.session_state[f"{_SET_BY_DATA}{problem.name}"] = changed


def _listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])


def seen_key(problem: type[Setting]) -> str:
    """Return the key of the data set for which the controls were set, in the session's state."""
    return f"_dataset_{problem.name}"


def _going_with(problem: type[Setting], dataset: str) -> list[Control]:
    """Return the controls that depend on the data, including the width of the current kernel."""
    names = {name for suited in SUITED.values() for name in suited}
    names |= {name for own in problem.other_sets.values() for name in own}
    names |= set(profile_of(problem).usual(1, 1, 0.5))
    names |= {"prior", "convert", "positive", "n_labeled", ALSO, *OPTION_NAMES}
    offered = controls_for(problem, dataset, kernel_asked(problem))
    return [control for name, control in offered.items() if name in {*names, *kernel_widths(offered)}]


def say_kernel(problem: type[Setting]) -> None:
    """Draw a sentence about the kernel, if there is a choice."""
    if len(problem.kernels) > 1:
        sentence = words_of(kernel_asked(problem)).sentence
        st.caption(f"{sentence[0].upper()}{sentence[1:]}")


@st.cache_resource(show_spinner="Compiling this kernel, once on this machine")
def make_ready(kernel: str) -> bool:
    """Compile a kernel's loops, or load them from the cache, with a run of two iterations; once in each process."""
    few = {"name": "two_moons", "n": 40, "n_labeled": 4}
    short = {"n_iter": 2, "n_features": 4, "batch_size": 4}
    spec = {"setting": "auc", "kernel": {"name": kernel}, "data": few, "solver": short}
    return Run(Spec.from_dict(spec)).advance() == 2


_OTHER = "_other_setting"
OF_ITS_OWN = "problem"  # section of parameters that mean something else in another setting


def draw_setting(problem: type[Setting]) -> None:
    """Draw the picker of the setting, and open the page of another one that is chosen."""
    names = list(SETTINGS)
    chosen = st.selectbox(
        "Setting",
        names,
        index=names.index(problem.name),
        key=f"setting-{problem.name}",
        format_func=lambda name: profile_of(SETTINGS[name]).short,
        help="What is learned, and from what. Another setting keeps your data and values as far as it allows them.",
    )
    if chosen != problem.name:
        # The router opens the other page after this one is drawn: the link of a page that is not loses its values.
        open_setting(chosen, carried(problem, SETTINGS[chosen], link_now().texts))


def open_setting(name: str, given: dict[str, str]) -> None:
    """Let the router open the page of a setting by the query of a link to it."""
    st.session_state[_OTHER] = name, given


def setting_asked() -> tuple[type[Setting], dict[str, str]] | None:
    """Return the setting that was just chosen in place of the page's, and the query of the link to it, once; else None."""
    name, given = st.session_state.pop(_OTHER, (None, {}))
    return None if name is None else (SETTINGS[name], given)


def carried(before: type[Setting], after: type[Setting], given: Mapping[str, str]) -> dict[str, str]:
    """Return the query of a link to a setting with the data of another one, and with those values of its link that it allows."""
    said, picker = {}, data_picker(after)
    dataset = st.session_state.get(key_of(before, "data")) or dataset_choice(before).default
    if dataset in picker.options:
        said[picker.name] = dataset
    else:
        dataset = picker.usual
    kernel = kernel_asked(before) if kernel_asked(before) in after.kernels else None
    offered = [c for c in controls_for(after, dataset, kernel).values() if c.section != OF_ITS_OWN]
    for control in (*offered, *(view_control(after, choice) for choice in (SPEED, TAB)), seed_control(after)):
        if (text := given.get(control.name)) is not None:
            with suppress(ValueError):  # a value that is not allowed there
                control.read(text)
                said[control.name] = text
    if (file := given.get(FILE_ENTRY)) and picker.name in said:
        said[FILE_ENTRY] = file
    return said
