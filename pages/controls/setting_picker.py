"""The first control of a method's page: the setting. Another one opens its page, with what it allows of these values."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dsgcore.data.datasets import SEED
from dsgcore.experiments import SETTINGS, Setting
from dsgcore.experiments.settings import kernel_names
from dsgcore.settings import profile_of
from pages.controls.control import Control, key_of, read_controls
from pages.controls.controls import controls_for, dataset_choice, kernel_asked
from pages.controls.own_file import entry_of
from pages.controls.view import SPEED, name_of

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
        st.session_state[_OTHER] = chosen, carried(problem, SETTINGS[chosen], st.query_params.to_dict())


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
