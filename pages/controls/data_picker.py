"""The picker of the data set in the sidebar. Values that depend on the data follow the choice."""

from __future__ import annotations

import streamlit as st

from dsgcore.data import OPTION_NAMES, DatasetEntry
from dsgcore.data.conversions import AS_IS, CONVERSIONS, ONE_REST
from dsgcore.experiments import Setting
from dsgcore.settings import profile_of
from pages.controls.also import ALSO
from pages.controls.control import Control, key_of
from pages.controls.controls import controls_for, dataset_choice, kernel_asked, kernel_widths
from pages.controls.data_parameters import SUITED
from pages.controls.own_file import entry_of

DATA_PAGE = "pages/data.py"


def draw_dataset(problem: type[Setting]) -> str:
    """Draw the picker of the data set and a link to the gallery, and return the name of the set."""
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
    _notice_dataset(problem, dataset)
    _say_reading(problem, entry_of(problem, dataset))
    st.page_link(DATA_PAGE, label="See all data sets", icon=":material/grid_view:")
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
        st.caption(f"{positive} against the rest (see Data options).")
    elif conversion != AS_IS:
        st.caption(CONVERSIONS[conversion].sentence)


def _use_suited(problem: type[Setting]) -> None:
    """After a choice of data, set the controls that depend on the data to suitable values."""
    dataset = st.session_state[key_of(problem, "data")]
    st.session_state[seen_key(problem)] = dataset
    for control in _going_with(problem, dataset):
        st.session_state[control.key] = control.parameter.default


def _notice_dataset(problem: type[Setting], dataset: str) -> None:
    """Do the same after a link within the app has chosen other data, except for values that the link holds."""
    before = st.session_state.get(seen_key(problem), dataset)
    st.session_state[seen_key(problem)] = dataset
    if before != dataset:
        for control in _going_with(problem, dataset):
            if control.key not in st.query_params:
                st.session_state[control.key] = control.parameter.default


def seen_key(problem: type[Setting]) -> str:
    """Return the key of the data set for which the controls were set, in the session's state."""
    return f"_dataset_{problem.name}"


def _going_with(problem: type[Setting], dataset: str) -> list[Control]:
    """Return the controls that depend on the data, including the width of the current kernel."""
    names = {name for suited in SUITED.values() for name in suited}
    names |= {name for own in profile_of(problem).elsewhere.values() for name in own}
    names |= set(profile_of(problem).usual(1, 1, 0.5))
    names |= {"prior", "convert", "positive", "n_labeled", ALSO, *OPTION_NAMES}
    offered = controls_for(problem, dataset, kernel_asked(problem))
    return [control for name, control in offered.items() if name in {*names, *kernel_widths(offered)}]
