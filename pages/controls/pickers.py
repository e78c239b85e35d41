"""The pickers of setting, data set and kernel in the sidebar. Values that depend on them follow the choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dsgcore.data import OPTION_NAMES, DatasetEntry
from dsgcore.data.datasets import AS_IS, CONVERSIONS, ONE_REST, SEED
from dsgcore.experiments import SETTINGS, Run, Setting, Spec
from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.settings import kernel_names
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import Control, draw, key_of, read_controls, without_blank
from pages.controls.controls import (
    ALSO,
    PICKER,
    controls_for,
    dataset_choice,
    kernel_asked,
    kernel_widths,
    usual_kernel,
)
from pages.controls.data_parameters import SUITED
from pages.controls.own_file import entry_of, offer_own
from pages.controls.view import SPEED, keep, name_of
from pages.shell.plain_text import in_sentence, plain

# The note on the controls that the data have set names so many of them; its help names all.
MOST_SAID = 4


def draw_dataset(problem: type[Setting]) -> str:
    """Draw the picker of the data set, and return the name of the set."""
    choice = dataset_choice(problem)
    dataset = st.selectbox(
        choice.label,
        choice.options,
        index=choice.options.index(choice.default),
        key=key_of(problem, "data"),
        bind="query-params",
        format_func=lambda name: entry_of(problem, name).title,
        help=choice.sentence,
        on_change=_use_suited,
        args=(problem,),
    )
    offer_own(key_of(problem, "data"), dataset, partial(_use_suited, problem))
    _notice_dataset(problem, dataset)
    _say_what_was_set(problem, dataset)
    _say_reading(problem, entry_of(problem, dataset))
    return dataset


def keep_dataset(problem: type[Setting], texts: dict[str, str]) -> str:
    """Return the name of the set without drawing the picker; `texts` is as in `keep`."""
    choice = dataset_choice(problem)
    picker = Control(key_of(problem, "data"), "data", choice, say=lambda name: entry_of(problem, name).title)
    dataset = str(keep(picker, texts))
    _notice_dataset(problem, dataset)
    return dataset


def _say_reading(problem: type[Setting], entry: DatasetEntry) -> None:
    """Show how the set's classes are converted, unless they are used unchanged."""
    usual = entry.conversions_for(problem.labels)[0]
    key = key_of(problem, "convert")
    name = st.session_state.get(key, st.query_params.get(key))
    conversion = name if name in entry.conversions_for(problem.labels) else usual
    key = key_of(problem, "positive")
    named = st.session_state.get(key, st.query_params.get(key))  # before the first drawing, the link's value
    positive = named if named in entry.class_names else entry.class_names[0]
    if conversion == ONE_REST:
        st.caption(f"{plain(str(positive))} against the rest (see More).")
    elif conversion != AS_IS:
        st.caption(CONVERSIONS[conversion].sentence)


def _use_suited(problem: type[Setting]) -> None:
    """After a choice of data, set the controls that depend on the data to suitable values."""
    dataset = st.session_state[key_of(problem, "data")]
    before = st.session_state.get(seen_key(problem), dataset)
    st.session_state[seen_key(problem)] = dataset
    _suit(problem, before, _going_with(problem, dataset))


def _notice_dataset(problem: type[Setting], dataset: str) -> None:
    """Do the same after a link within the app has chosen other data, except for values that the link holds."""
    before = st.session_state.get(seen_key(problem), dataset)
    st.session_state[seen_key(problem)] = dataset
    if before != dataset:
        _suit(problem, before, [c for c in _going_with(problem, dataset) if c.key not in st.query_params])


def _suit(problem: type[Setting], before: str, suited: Sequence[Control]) -> None:
    """Set controls to the values that suit the new data, and record which of them had another value with the data before."""
    known = {control.key: control.parameter.default for control in _going_with(problem, before)}
    changed = []
    for control in suited:
        value = control.parameter.default
        if control.key in known and without_blank(st.session_state.get(control.key, known[control.key])) != value:
            changed.append(control)
        st.session_state[control.key] = value
    st.session_state[_set_key(problem)] = changed


def _say_what_was_set(problem: type[Setting], dataset: str) -> None:
    """Show which controls the choice of the data has set, as long as they keep these values."""
    first = profile_of(problem).front
    kept = [control for control in st.session_state.get(_set_key(problem), ()) if _is_kept(control)]
    said = [_with_value(c) for c in sorted(kept, key=lambda control: control.parameter.name not in first)]
    if said:
        title, n_more = entry_of(problem, dataset).title, len(said) - MOST_SAID
        few = said if n_more < 2 else [*said[:MOST_SAID], f"{n_more} more controls"]
        st.caption(f"{title} set {_listed(few)}.", help=f"{_listed(said)}." if n_more >= 2 else None)


def _listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])


def _is_kept(control: Control) -> bool:
    value = control.parameter.default
    return bool(without_blank(st.session_state.get(control.key, value)) == value)


def _with_value(control: Control) -> str:
    value = control.parameter.default
    return f"{in_sentence(control.parameter.label)} to {control.say(value) or 'nothing'}"


def _set_key(problem: type[Setting]) -> str:
    """Return the key of the controls that the choice of the data has set, in the session's state."""
    return f"_set_by_data_{problem.name}"


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


def draw_kernel(problem: type[Setting], dataset: str) -> dict[str, Any]:
    """Draw the picker, a sentence about the kernel, and its parameters; return their values by name."""
    kernel, values = usual_kernel(problem), {}
    offered = controls.kernel_controls(problem, dataset, kernel)
    if PICKER in offered:
        kernel = draw(replace(offered[PICKER], on_change=partial(_use_defaults, problem, dataset)))
        values[PICKER] = kernel
        sentence = words_of(kernel).sentence
        st.caption(f"{sentence[0].upper()}{sentence[1:]}")
    st.session_state[_drawn_key(problem)] = kernel
    _clean_link(problem, dataset, kernel)
    own = _own_controls(problem, dataset, kernel)
    return values | {control.parameter.name: draw(control) for control in own.values()}


def keep_kernel(problem: type[Setting], dataset: str, take: Callable[[Control], Any]) -> dict[str, Any]:
    """Return the values of the picker and of the parameters by name without drawing them; `take` returns a control's value."""
    offered = controls.kernel_controls(problem, dataset, usual_kernel(problem))
    values = {PICKER: take(offered[PICKER])} if PICKER in offered else {}
    kernel = values.get(PICKER, usual_kernel(problem))
    st.session_state[_drawn_key(problem)] = kernel
    own = _own_controls(problem, dataset, kernel)
    return values | {control.parameter.name: take(control) for control in own.values()}


@st.cache_resource(show_spinner="Compiling this kernel, once on this machine")
def make_ready(kernel: str) -> bool:
    """Compile a kernel's loops, or load them from the cache, with a run of two iterations; once in each process."""
    few = {"name": "two_moons", "n": 40, "n_labeled": 4}
    short = {"n_iter": 2, "n_features": 4, "batch_size": 4}
    spec = {"setting": "auc", "kernel": {"name": kernel}, "data": few, "solver": short}
    return Run(Spec.from_dict(spec)).advance() == 2


def _own_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the controls of a kernel's parameters, by their keys."""
    offered = controls.kernel_controls(problem, dataset, kernel)
    return {control.key: control for name, control in offered.items() if name != PICKER}


def _use_defaults(problem: type[Setting], dataset: str) -> None:
    """Set the parameters of a newly picked kernel to their defaults, except those that the previous kernel also has."""
    kernel = controls.kernel_asked(problem)
    shared = _own_controls(problem, dataset, st.session_state.get(_drawn_key(problem), kernel))
    for key, control in _own_controls(problem, dataset, kernel).items():
        if key not in shared:
            st.session_state[key] = control.parameter.default


def _drawn_key(problem: type[Setting]) -> str:
    return f"_kernel_{problem.name}"


def _clean_link(problem: type[Setting], dataset: str, kernel: str) -> None:
    """Remove other kernels' parameters from the link. Streamlit leaves them there after an interrupted run."""
    keys = {key for other in kernel_names(problem) for key in _own_controls(problem, dataset, other)}
    for key in keys - set(_own_controls(problem, dataset, kernel)):
        if key in st.query_params:
            # the control existed a moment ago, and Streamlit removes its value itself
            with suppress(StreamlitAPIException):
                del st.query_params[key]


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
        open_setting(chosen, carried(problem, SETTINGS[chosen], st.query_params.to_dict()))


def open_setting(name: str, given: dict[str, str]) -> None:
    """Let the router open the page of a setting by the query of a link to it."""
    st.session_state[_OTHER] = name, given


def setting_asked() -> tuple[type[Setting], dict[str, str]] | None:
    """Return the setting that was just chosen in place of the page's, and the query of the link to it, once; else None."""
    name, given = st.session_state.pop(_OTHER, (None, {}))
    return None if name is None else (SETTINGS[name], given)


def carried(before: type[Setting], after: type[Setting], given: Mapping[str, str]) -> dict[str, str]:
    """Return the query of a link to a setting with the data of another one, and with those values of its link that it allows."""
    said, choice = {}, dataset_choice(after)
    dataset = st.session_state.get(key_of(before, "data")) or dataset_choice(before).default
    if dataset in choice.options:
        said[key_of(after, "data")] = entry_of(after, dataset).title
    else:
        dataset = choice.default
    kernel = kernel_asked(before) if kernel_asked(before) in kernel_names(after) else None
    offered = {name: c for name, c in controls_for(after, dataset, kernel).items() if c.section != OF_ITS_OWN}
    offered |= {p.name: Control(key_of(after, p.name), "view", p, say=name_of) for p in (SPEED, SEED)}
    for name, control in offered.items():
        text = given.get(key_of(before, name))
        if text is not None and not read_controls({name: control}, {control.key: text}):
            said[control.key] = text
    if (file := given.get(key_of(before, "file"))) and key_of(after, "data") in said:
        said[key_of(after, "file")] = file
    return said
