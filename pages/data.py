"""The Data page: a gallery of data sets, and a close look at one of them with labels hidden as in a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.data import CONVERSIONS, DATASETS, DatasetEntry, Split
from dsgcore.data.datasets import AS_IS, SEED, CountError
from dsgcore.data.reading import Recipe, Step
from dsgcore.experiments import SETTINGS, Setting, Spec, load_dataset, load_split
from dsgcore.experiments.settings import DATA_PARAMETERS, FILE
from dsgcore.problems import UNLABELED
from dsgcore.settings import profile_of
from pages.charts.live_chart import theme_now
from pages.comparing.which_method import which_method
from pages.controls import controls
from pages.controls.control import (
    BAD_INPUT,
    Control,
    also_offer,
    draw,
    key_of,
    linked_number,
    read_controls,
    refusal,
    refused,
    shown,
    too_many,
    without_bad_seed,
)
from pages.controls.link import unknown_names
from pages.controls.own_file import TITLE as OWN_TITLE
from pages.controls.own_file import entry_of, store
from pages.gallery import data_views as views
from pages.gallery.gallery import facts, gallery, setting_link
from pages.gallery.thumbnails import class_colors
from pages.shell.plain_text import plain, say_of_link
from pages.studies.onward import draw_links
from pages.upload.choosing import linked_keys
from pages.upload.upload import draw_upload

PREFIX = "data_"
SEED_KEY, FEATURE, OWN_FILE = "look_seed", "look_feature", "look_file"
TITLES = {OWN_TITLE: FILE} | {entry.title: entry.name for entry in DATASETS.values()}
_READ = "_data_file"  # the file for which the options were set
_CLAMP = "_data_clamp"  # the number of labels to set at the next drawing
_CLAMPED = "_data_clamped"  # the number that was set in place of another one, and why
_IS_READ = "_data_is_read"  # True once the link has been checked
_BAD_SEED = "_data_bad_seed"  # a sentence about the link's seed
_ANEW = "_data_anew"  # True while the options are still those of another set


def page() -> None:
    """Draw the gallery, or the set that the link or the picker names."""
    st.title("Data")
    _leave_out_bad_seed()
    if _BAD_SEED in st.session_state:
        say_of_link(st.session_state.pop(_BAD_SEED))
    for notice in unknown_names(st.query_params.to_dict(), _known_names()):
        say_of_link(notice)
    given = st.query_params.get("set")
    if given is not None and given not in TITLES and "set" not in st.session_state:
        say_of_link(f"In the link, set must be one of {', '.join(TITLES)}, got {refused(given)}; all sets are shown.")
    chosen = st.selectbox(
        "Data set",
        list(TITLES),
        index=None,
        key="set",
        bind="query-params",
        placeholder="Choose a data set, or click a card",
        label_visibility="collapsed",
        on_change=_begin_anew,
    )
    if chosen is None:
        st.markdown(
            "Pick a data set, then open it in one of the settings below it. Settings in grey do not fit: "
            "**Look closer** tells you why."
        )
        gallery(_choose)
    else:
        _close_look(TITLES[chosen])


def _known_names() -> dict[str, str]:
    """Return all names that the page's link can have."""
    own = (
        "set",
        "across",
        "up",
        f"{PREFIX}setting",
        SEED_KEY,
        FEATURE,
        OWN_FILE,
        *(PREFIX + p.name for p in DATA_PARAMETERS),
    )
    return {name: name for name in own}


def _leave_out_bad_seed() -> None:
    given = st.query_params.to_dict()
    own = without_bad_seed(given, SEED_KEY)
    if own != given:
        st.session_state[_BAD_SEED] = refusal(SEED_KEY, SEED, given[SEED_KEY])
        st.query_params.from_dict(own)
        st.rerun()  # only a link that is there at the first drawing sets controls


def _choose(name: str) -> None:
    st.session_state["set"] = next(title for title, own in TITLES.items() if own == name)
    _begin_anew()


def _begin_anew() -> None:
    """Forget the options and the view of the previous set."""
    _forget_options()
    for key in {f"{PREFIX}setting", "across", "up", FEATURE} & set(st.session_state):
        del st.session_state[key]


def _forget_options(given: frozenset[str] = frozenset()) -> None:
    """Reset the options to the usual values of the set at the next drawing, except the given keys.

    Deleting the session's values is not enough, because the browser keeps the values and sends them again.
    """
    st.session_state[_ANEW] = given


def _drawn(control: Control) -> Any:
    """Draw an option, with its usual value for a set that was just chosen, and no more labels than the data have."""
    if control.parameter.name == "n_labeled" and _CLAMP in st.session_state:
        st.session_state[control.key] = st.session_state.pop(_CLAMP)
        also_offer(control.key, st.session_state[control.key])
    given = st.session_state.get(_ANEW)
    if given is not None and control.key not in given:
        st.session_state[control.key] = control.parameter.default
    return draw(control)


def _close_look(name: str) -> None:
    with st.sidebar:
        setting = _setting(name)
    problem = SETTINGS[setting]
    own = _read_own(problem) if name == FILE else None
    if name == FILE and own is None:
        return  # the upload has its own message
    entry = entry_of(problem, name)
    with st.sidebar:
        offered = _offered(setting, name)
        values = {name: _drawn(control) for name, control in offered.items()}
        st.session_state.pop(_ANEW, None)
        seed = _seed()
    try:
        spec = controls.to_spec(problem, values, name, seed, own)
        dataset, split = load_dataset(spec, files=store()), load_split(spec, files=store())
    except CountError as error:
        if error.nearest == values["n_labeled"]:
            st.error(plain(str(error)))
            return
        st.session_state[_CLAMP] = error.nearest
        st.session_state[_CLAMPED] = error.nearest, too_many(values["n_labeled"], error)
        st.rerun()
    except BAD_INPUT as error:
        st.error(plain(str(error)))
        return
    clamped, said = st.session_state.get(_CLAMPED, (None, ""))
    if clamped == values["n_labeled"]:
        st.warning(plain(said), icon=":material/vertical_align_bottom:")
    else:
        st.session_state.pop(_CLAMPED, None)
    _head(entry, spec, setting, _linked(offered, values, spec, split))
    title, table = (entry.title, None) if own is None else (own["path"], _table(own, problem))
    which_method(dataset, title, entry, is_ordered=problem.labels == "ordinal", table=table)
    theme = theme_now()
    kind = {"pairs": "binary", "binary": "binary"}.get(spec.problem.labels, entry.target)
    colors = class_colors(kind, len(split.class_names))
    views.plane_view(dataset, split, colors, theme)
    views.split_views(split, spec.problem.labels, theme, key="chart-data")
    views.column_views(dataset, split, colors, theme, key=FEATURE)
    views.table_view(dataset, split)


def _read_own(problem: type[Setting]) -> dict[str, Any] | None:
    """Draw the uploader; return the file's entries in a spec, or None if there is no file."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        own = draw_upload(problem, right, OWN_FILE, upload_key=f"{PREFIX}upload")
    read = own and (own["sha256"], problem.name)
    before = st.session_state.get(_READ, read)
    if read and before != read:
        _forget_options(linked_keys(problem) if before is None else frozenset())  # a link waits for its file
    st.session_state[_READ] = read
    return own


def _table(own: dict[str, Any], problem: type[Setting]) -> tuple[pd.DataFrame, Recipe]:
    """Return the rows of the file, and their recipe."""
    recipe = Recipe.from_dict(own["recipe"])
    return store().result(own["sha256"], own["path"], Step("kept", problem.labels, recipe)), recipe


def _setting(dataset: str) -> str:
    """Draw the choice of the setting that hides the labels."""
    suiting = [name for name, problem in SETTINGS.items() if entry_of(problem, dataset).suits(problem.labels)]
    made_for = next(
        name
        for name in sorted(suiting, key=lambda name: SETTINGS[name].labels == "pairs")  # which need more than classes
        if entry_of(SETTINGS[name], dataset).is_made_for(SETTINGS[name].labels)
    )
    choice = Choice("setting", made_for, options=tuple(suiting))
    control = Control(f"{PREFIX}setting", "view", choice, say=lambda name: profile_of(SETTINGS[name]).short)
    if _IS_READ not in st.session_state:
        for notice in read_controls({choice.name: control}, st.query_params.to_dict()):
            say_of_link(notice)
    return st.selectbox(
        "Hide labels as in",
        suiting,
        index=suiting.index(made_for),
        key=control.key,
        bind="query-params",
        format_func=control.say,
        help="Each setting reads the classes and hides labels in its own way.",
    )


def _offered(setting: str, dataset: str) -> dict[str, Control]:
    """Return the data options of a setting, under this page's own keys."""
    found = controls.controls_for(SETTINGS[setting], dataset)
    own = {name: replace(c, key=PREFIX + name, on_change=None) for name, c in found.items() if c.section == "data"}
    if _IS_READ not in st.session_state:
        for notice in read_controls(own, st.query_params.to_dict()):
            say_of_link(notice)
        st.session_state[_IS_READ] = True  # set now, because an earlier click would have ended this drawing
    return own


def _seed() -> int:
    return linked_number(SEED.label, SEED.low, SEED.high, SEED.default, key=SEED_KEY, help=SEED.sentence)


def _linked(offered: dict[str, Control], values: dict[str, Any], spec: Spec, split: Split) -> dict[str, str]:
    """Return the query of a link to the workbench, besides the set: all values that differ from its defaults."""
    setting = type(spec.problem)
    differing = {name: values[name] for name, c in offered.items() if values[name] != c.parameter.default}
    if setting.labels == "pairs":
        differing |= _prior(spec, split)
    for name, value in differing.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            also_offer(key_of(setting, name), value)
    linked = {
        key_of(setting, name): offered[name].text(value) if name in offered else shown(value)
        for name, value in differing.items()
    }
    return linked | ({key_of(setting, "seed"): str(spec.seed)} if spec.seed != SEED.default else {})


def _prior(spec: Spec, split: Split) -> dict[str, float]:
    """Return the share of positives for the method, if it differs from the set's usual one."""
    usual = controls.controls_for(type(spec.problem), spec.data.name)["prior"].parameter.default
    share = round(float(np.mean(split.y_hidden[split.y_train == UNLABELED] == 1)), 2)
    return {} if share in (usual, 0.5) else {"prior": share}


def _head(entry: DatasetEntry, spec: Spec, setting: str, linked: dict[str, str]) -> None:
    st.markdown(f"## {entry.title}\n{entry.sentence}")
    st.caption(facts(entry))
    conversion = spec.data.convert
    if conversion is not None and conversion != AS_IS:
        st.markdown(f"In this setting: {CONVERSIONS[conversion].sentence}")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="open-in"):
        st.markdown("Open in", width="content")
        for name in SETTINGS:
            setting_link(entry, name, linked if name == setting else {})
        draw_links(spec)
        st.button("All data sets", icon=":material/grid_view:", on_click=_show_all, type="tertiary")
    for problem in SETTINGS.values():
        if reason := entry.why_not(problem.labels):
            st.caption(f"{profile_of(problem).short}: {reason}")


def _show_all() -> None:
    st.session_state["set"] = None
    _begin_anew()


page()
