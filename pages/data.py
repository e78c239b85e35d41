"""The Data page: a gallery of data sets, and a close look at one of them with labels hidden as in a setting."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Text
from dsgcore.data import CONVERSIONS, DATASETS, DataError, DatasetEntry, Split
from dsgcore.data.datasets import AS_IS, SEED, CountError
from dsgcore.data.reading import Recipe, Step
from dsgcore.experiments import SETTINGS, Setting, Spec, load_dataset, load_split
from dsgcore.experiments.spec import DATA_PARAMETERS, FILE
from dsgcore.problems import UNLABELED
from dsgcore.settings import profile_of
from pages.charts.live_chart import theme_now
from pages.comparing.which_method import which_method
from pages.controls import controls
from pages.controls.control import BAD_INPUT, Control, count, draw, in_words, read_controls, refused, too_many
from pages.controls.link import FILE_ENTRY, unknown_names
from pages.controls.own_file import TITLE as OWN_TITLE
from pages.controls.own_file import entry_of, store
from pages.controls.view import FEATURE
from pages.gallery import data_views as views
from pages.gallery.gallery import facts, gallery, setting_link
from pages.shell.page_link import link_now, read_once, say_in_link
from pages.shell.plain_text import plain
from pages.studies.links import draw_links
from pages.studies.question import begin_anew, end_anew, follow_data
from pages.upload.upload import draw_upload

PREFIX = "data_"
NAME, SET = "data.name", "set"  # in the link, and the key of the choice
FEATURE_KEY, OWN_FILE = "look_feature", "look_file"
LOOK_SEED = Control("look_seed", "", SEED)
TITLES = {OWN_TITLE: FILE} | {entry.title: entry.name for entry in DATASETS.values()}
_READ = "_data_file"  # the file for which the options were set
_LOOKED = "_data_looked"  # the file that was looked at last
_SUITED = "_data_suited"  # the setting to choose at the next drawing
_CLAMP = "_data_clamp"  # the number of labels to set at the next drawing
_CLAMPED = "_data_clamped"  # the number that was set in place of another one, why, and the other one


def page() -> None:
    """Draw the gallery, or the set that the link or the picker names."""
    st.title("Data")
    link_now().entry = NAME  # Back leads from a set to all of them
    read_once(_refusals)
    chosen = st.selectbox(
        "Data set",
        list(TITLES),
        index=None,
        key=SET,
        placeholder="Choose a data set, or click a card",
        label_visibility="collapsed",
        on_change=_forget,
    )
    say_in_link(NAME, TITLES.get(chosen or "", ""), SET)
    if chosen is None:
        st.markdown(
            "Pick a data set, then open it in one of the settings below it. Settings in grey do not fit: "
            "**Look closer** tells you why."
        )
        gallery(_choose)
    else:
        _close_look(TITLES[chosen])


def _refusals(given: dict[str, str]) -> list[str]:
    """Set the page's controls to a link's values; return a sentence for each value and name that is not valid."""
    views = {"across": "across", "up": "up", FEATURE: FEATURE_KEY}
    own = (*(f"view.{name}" for name in views), *(f"data.{p.name}" for p in DATA_PARAMETERS))
    known = {name: name for name in ("setting", SEED.name, FILE_ENTRY, *own)}
    said, asked = unknown_names(given, known), given.get(NAME, "")
    title = next((title for title, name in TITLES.items() if asked in (title, name)), None)
    if title is None:
        sets = ", ".join(TITLES.values())
        refusal = f"In the link, {NAME} must be one of {sets}, got {refused(asked)}; all sets are shown."
        return [*said, *[refusal] * bool(asked)]
    st.session_state[SET] = title
    control = _setting_control(TITLES[title])
    said += read_controls([control], given)
    offered = _offered(st.session_state.get(control.key, control.usual), TITLES[title])
    columns = [Control(key, "view", Text(column, "")) for column, key in views.items()]
    return said + read_controls([*offered.values(), LOOK_SEED, *columns], given)


def _choose(name: str | None) -> None:
    """Show a data set, or all of them."""
    st.session_state[SET] = next((title for title, own in TITLES.items() if own == name), None)
    _forget()


def _forget() -> None:
    """Forget the options and the view of the previous set."""
    begin_anew(PREFIX)
    for key in {f"{PREFIX}setting", "across", "up", FEATURE_KEY} & set(st.session_state):
        del st.session_state[key]


def _close_look(name: str) -> None:
    control = _setting_control(name)
    if _SUITED in st.session_state:
        st.session_state[control.key] = st.session_state.pop(_SUITED)
    with st.sidebar:
        setting = str(draw(control))
    problem = SETTINGS[setting]
    own = _read_own(problem) if name == FILE else None
    if name == FILE and own is None:
        return  # the upload has its own message
    if own is not None and _use_suited(setting, own):
        st.rerun()
    entry, offered = entry_of(problem, name), _offered(setting, name)
    labels = offered["n_labeled"].key
    if _CLAMP in st.session_state:
        st.session_state[labels] = st.session_state.pop(_CLAMP)
    with st.sidebar:
        values = {name: draw(follow_data(PREFIX, control)) for name, control in offered.items()}
        end_anew(PREFIX)
        seed = count(LOOK_SEED, help=SEED.sentence)
    clamped, said, number = st.session_state.get(_CLAMPED, (None, "", 0))
    try:
        spec = controls.to_spec(problem, values, name, seed, own)
        dataset, split = load_dataset(spec, files=store()), load_split(spec, files=store())
    except BAD_INPUT as error:
        if isinstance(error, CountError) and error.nearest != values["n_labeled"]:
            number = number if clamped == values["n_labeled"] else values["n_labeled"]  # one can lead to another
            said = too_many(offered, number, error)
            st.session_state[_CLAMP], st.session_state[_CLAMPED] = error.nearest, (error.nearest, said, number)
            st.rerun()
        st.error(plain(in_words(error, offered)))
        return
    if clamped == values["n_labeled"]:
        st.warning(plain(said), icon=":material/vertical_align_bottom:")
    else:
        st.session_state.pop(_CLAMPED, None)
    entries = {each: entry_of(other, name) for each, other in SETTINGS.items()}  # the own file suits every setting
    if own is not None and _n_labels(problem, own) == 2:
        entries["ordinal"] = replace(entries["ordinal"], target="binary")  # there is nothing to order
    _head(entry, entries, spec, setting, _linked(offered, values, spec, split))
    title, table, options = entry.title, None, list[str]()
    if own is not None:  # its rows, and their recipe
        title, recipe = own["path"], Recipe.from_dict(own["recipe"])
        table = store().result(own["sha256"], title, Step("kept", problem.labels, recipe)), recipe
        guess = store().result(own["sha256"], title, Step("format", problem.labels))  # what a command would guess
        with suppress(DataError):  # of a file that is read in the chosen format alone
            look = store().result(own["sha256"], title, Step("look", problem.labels))
            guess = replace(look.begun, roles=look.recipe.roles, order=look.recipe.order)
        options = recipe.options(guess)
    which_method(dataset, title, entry, is_ordered=problem.labels == "ordinal", table=table, options=options)
    theme, colors = theme_now(), views.colors_of(spec, split)
    views.plane_view(dataset, split, colors, theme)
    views.split_views(split, spec.problem.labels, theme, key="chart-data")
    views.column_views(dataset, split, colors, theme, key=FEATURE_KEY)
    views.table_view(dataset, split)


def _read_own(problem: type[Setting]) -> dict[str, Any] | None:
    """Draw the uploader; return the file's entries in a spec, or None if there is no file."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        own = draw_upload(problem, right, OWN_FILE, upload_key=f"{PREFIX}upload")
    read = own and (own["sha256"], problem.name)
    before = st.session_state.get(_READ, read)
    if read and before != read:
        begin_anew(PREFIX, frozenset(link_now().given if before is None else ()))  # a link waits for its file
    st.session_state[_READ] = read
    return own


def _n_labels(problem: type[Setting], own: dict[str, Any]) -> float:
    """Return the number of different labels of a file; infinity for numbers that are cut into bins."""
    recipe = Recipe.from_dict(own["recipe"])
    look = store().result(own["sha256"], own["path"], Step("look", problem.labels, recipe))
    return len(look.classes) if recipe.bins is None else inf


def _use_suited(setting: str, own: dict[str, Any]) -> bool:
    """Note the setting that suits the labels of a file that was just chosen; return True if it is not the current one."""
    before, st.session_state[_LOOKED] = st.session_state.get(_LOOKED), own["sha256"]
    if before == own["sha256"] or link_now().given.get(FILE_ENTRY) or setting != _setting_control(FILE).usual:
        return False
    n = _n_labels(SETTINGS[setting], own)
    st.session_state[_SUITED] = suited = "ordinal" if n == inf else "multiclass" if n > 2 else setting
    return suited != setting


def _setting_control(dataset: str) -> Control:
    """Return the choice of the setting that hides the labels."""
    suiting = [name for name, problem in SETTINGS.items() if entry_of(problem, dataset).suits(problem.labels)]
    made_for = next(
        name
        for name in sorted(suiting, key=lambda name: SETTINGS[name].labels == "pairs")  # which need more than classes
        if entry_of(SETTINGS[name], dataset).is_made_for(SETTINGS[name].labels)
    )
    choice = Choice("setting", made_for, options=tuple(suiting)).called(
        "Hide labels as in", "Each setting reads the classes and hides labels in its own way."
    )
    return Control(f"{PREFIX}setting", "", choice, say=lambda name: profile_of(SETTINGS[name]).short)


def _offered(setting: str, dataset: str) -> dict[str, Control]:
    """Return the data options of a setting, under this page's own keys."""
    found = controls.controls_for(SETTINGS[setting], dataset)
    return {name: replace(c, key=PREFIX + name, on_change=None) for name, c in found.items() if c.section == "data"}


def _linked(offered: dict[str, Control], values: dict[str, Any], spec: Spec, split: Split) -> dict[str, str]:
    """Return the query of a link to the workbench, besides the set: all values that differ from its defaults."""
    setting, seed = type(spec.problem), {SEED.name: str(spec.seed)} if spec.seed != SEED.default else {}
    there = controls.controls_for(setting, spec.data.name)
    differing = {name: values[name] for name, c in offered.items() if values[name] != c.parameter.default}
    if setting.labels == "pairs":  # the share of positives, if it differs from the set's usual one
        hidden = split.y_hidden[split.y_train == UNLABELED] == 1
        share = round(float(hidden.mean()), 2) if len(hidden) else 0.5
        if share not in (there["prior"].parameter.default, 0.5):
            differing["prior"] = share
    return {there[name].name: there[name].text(value) for name, value in differing.items()} | seed


def _head(
    entry: DatasetEntry, entries: dict[str, DatasetEntry], spec: Spec, setting: str, linked: dict[str, str]
) -> None:
    st.markdown(f"## {entry.title}\n{entry.sentence}")
    st.caption(facts(entry))
    conversion = spec.data.convert
    if conversion is not None and conversion != AS_IS:
        st.markdown(f"In this setting: {CONVERSIONS[conversion]}")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="open-in"):
        st.markdown("Open in", width="content")
        for name in SETTINGS:
            setting_link(entries[name], name, linked if name == setting else {})
        draw_links(spec)
        st.button("All data sets", icon=":material/grid_view:", on_click=_choose, args=(None,), type="tertiary")
    for name, problem in SETTINGS.items():
        if reason := entries[name].why_not(problem.labels):
            st.caption(f"{profile_of(problem).short}: {reason}")


page()
