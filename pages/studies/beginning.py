"""The first widgets of a question over seeds: a setting, its data, and all other values, under a page's own keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Parameter
from dsgcore.experiments import SETTINGS, Setting, Spec, load_split
from dsgcore.experiments.settings import FILE
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import Control, draw, key_of, read_controls
from pages.controls.controls import ALSO, PICKER, refused_also
from pages.controls.hand import EDITS
from pages.controls.link import names_of, unknown_names
from pages.controls.own_file import entry_of, offer_own, store
from pages.shell.plain_text import say_of_link
from pages.upload.upload import draw_upload

Answer = TypeVar("Answer")
SETTING, VARY = "setting", "vary"
# Endings of the keys of an axis' widgets.
ENDS = VALUES, RANGE, NUMBER = "_values", "_range", "_n"


def pick(label: str, options: Iterable[str], usual: str, key: str, say: Callable[[str], str] = str) -> str:
    """Draw a choice of how the answer is shown, which the link keeps."""
    return st.segmented_control(
        label,
        list(options),
        default=usual,
        required=True,
        key=key,
        bind="query-params",
        format_func=say,
        label_visibility="collapsed",
    )


@dataclass(frozen=True)
class Beginning:
    """The first widgets of a page.

    Attributes
    ----------
    prefix : str
        Prefix of the keys of its widgets, which are also their names in the link.
    kept : tuple of Parameter
        The page's own widgets, whose keys without the prefix are the parameters' names.
    settings : tuple of str
        The settings that can be chosen.
    views : tuple of str
        More keys without the prefix, for names in the link: how the answer is shown.
    """

    prefix: str
    kept: tuple[Parameter, ...]
    settings: tuple[str, ...]
    views: tuple[str, ...] = ()

    def question(
        self,
        main: DeltaGenerator,
        upload: DeltaGenerator,
        draw_main: Callable[[type[Setting], Mapping[str, Control]], tuple[Answer, set[str]]],
        usual_of: Callable[[type[Setting]], Mapping[str, Any] | None] = lambda problem: None,
    ) -> tuple[Spec, Answer] | None:
        """Draw the setting, the data and all other values in the sidebar, and the page's own part at `main`.

        `draw_main` gets the setting and its controls. It returns the page's answer, and the names of the controls that
        vary. `usual_of` returns the page's own defaults of a setting. Return the spec and the answer, or None if the
        reader must still choose a file. Raise `SpecError` if a value does not fit.
        """
        given = st.query_params.to_dict()  # a widget leaves out what it does not have
        self.read_own_once("own", given, {p.name: Control(self.prefix + p.name, "view", p) for p in self.kept})
        self.read_own_once(SETTING, given, {SETTING: self.of_setting})
        problem = self.setting()
        choice = controls.dataset_choice(problem)
        of_data = Control(self.data_key(problem), "data", choice, say=lambda name: entry_of(problem, name).title)
        self.read_own_once(f"data_{problem.name}", given, {"data": of_data})
        dataset = self.dataset(problem)
        own = self.upload(problem, upload) if dataset == FILE else None
        usual = usual_of(problem)
        self.read_link_once(problem, dataset, self.offered(problem, dataset, usual))
        offered = self.offered(problem, dataset, usual)
        with main:
            answer, varied = draw_main(problem, offered)
        values = self.others(offered, varied)
        self.end()
        if dataset == FILE and own is None:
            return None
        return self.checked(controls.to_spec(problem, values, dataset, 0, own)), answer

    @property
    def of_setting(self) -> Control:
        """The choice of a setting as a control."""
        choice = Choice(SETTING, "auc", options=self.settings)
        return Control(self.prefix + SETTING, "view", choice, say=lambda name: profile_of(SETTINGS[name]).short)

    def read_own_once(self, what: str, given: Mapping[str, str], offered: Mapping[str, Control]) -> None:
        """Show a sentence for each value of a link that one of the page's own widgets does not have."""
        noted = f"_{self.prefix}read_{what}"
        if noted not in st.session_state:
            st.session_state[noted] = read_controls(offered, given)
        for notice in st.session_state[noted]:
            say_of_link(notice)

    def setting(self) -> type[Setting]:
        """Draw the choice of a setting."""
        name = st.selectbox(
            "Setting",
            list(self.settings),
            key=self.of_setting.key,
            index=self.settings.index("auc"),
            bind="query-params",
            format_func=self.of_setting.say,
        )
        return SETTINGS[name]

    def dataset(self, problem: type[Setting]) -> str:
        """Draw the choice of data; an uploaded file stays chosen when the setting changes."""
        choice, key = controls.dataset_choice(problem), self.data_key(problem)
        drawn = f"_{self.prefix}data"  # the last drawn setting, and its data
        before = st.session_state.get(drawn, (problem.name, ""))
        if before[0] != problem.name and before[1] == FILE and key not in st.query_params:
            st.session_state[key] = FILE
        dataset = st.selectbox(
            choice.label,
            choice.options,
            index=choice.options.index(choice.default),
            key=key,
            bind="query-params",
            format_func=lambda name: entry_of(problem, name).title,
            help=choice.sentence,
            on_change=self._begin_anew,
        )
        offer_own(key, dataset, self._begin_anew)
        st.session_state[drawn] = problem.name, dataset
        return dataset

    def data_key(self, problem: type[Setting]) -> str:
        """Return the key of the choice of data."""
        return self.prefix + key_of(problem, "data")

    def upload(self, problem: type[Setting], place: DeltaGenerator) -> dict[str, Any] | None:
        """Draw the uploader; return the file's entries in a spec, or None if there is no file."""
        file_key = self.prefix + key_of(problem, "file")
        return draw_upload(problem, place, file_key, self._begin_anew, upload_key=f"{self.prefix}upload")

    def checked(self, spec: Spec) -> Spec:
        """Return the spec; raise `DataError` before any run if the labels of an uploaded file cannot be hidden as asked."""
        noted, asked = f"_{self.prefix}split", (type(spec.problem).name, spec.data)
        if spec.data.name == FILE and st.session_state.get(noted) != asked:
            load_split(spec, files=store())
            st.session_state[noted] = asked
        return spec

    def _begin_anew(self, given: frozenset[str] = frozenset()) -> None:
        """Reset all values that depend on the data to their defaults at the next drawing, except the given keys.

        Deleting the session's values is not enough, because the browser keeps the values and sends them again.
        """
        st.session_state[f"_{self.prefix}anew"] = given

    def usual(self, key: str, value: Any) -> None:
        """Set a widget to its default before it is drawn, if the data have changed."""
        if self._is_anew(key):
            st.session_state[key] = value

    def _is_anew(self, key: str) -> bool:
        given = st.session_state.get(f"_{self.prefix}anew")
        return given is not None and key not in given

    def end(self) -> None:
        """Record that all widgets are drawn."""
        st.session_state.pop(f"_{self.prefix}anew", None)

    def offered(
        self, problem: type[Setting], dataset: str, usual: Mapping[str, Any] | None = None
    ) -> dict[str, Control]:
        """Return the controls of a setting with its data; `usual` replaces defaults by name."""
        found = controls.controls_for(problem, dataset)
        if PICKER in found:
            key, names = self.prefix + found[PICKER].key, found[PICKER].options
            titles = {found[PICKER].say(name): name for name in names}
            kernel = st.session_state.get(key, titles.get(st.query_params.get(key, "")))
            is_left = kernel not in names or self._is_anew(key)  # the usual kernel is then used
            found = controls.controls_for(problem, dataset, None if is_left else kernel)
        return {
            name: replace(
                c,
                key=self.prefix + c.key,
                on_change=None,
                parameter=replace(c.parameter, default=(usual or {}).get(name, c.parameter.default)),
            )
            for name, c in found.items()
        }

    def read_link_once(self, problem: type[Setting], dataset: str, offered: Mapping[str, Control]) -> None:
        """Show a sentence for each invalid value in the page's link, and add slider stops for its valid values."""
        noted, given = f"_{self.prefix}read_{problem.name}_{dataset}", st.query_params.to_dict()
        if noted not in st.session_state:
            bad_line = refused_also(problem, offered[ALSO].key, given)
            st.session_state[noted] = [*read_controls(dict(offered), given), *bad_line]
        for notice in [*st.session_state[noted], *unknown_names(given, self._known_names(given))]:
            say_of_link(notice)

    def _known_names(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return all names that the page's link can have, for any setting, and for axes with their endings."""
        settings = [SETTINGS[name] for name in self.settings]
        known = {word: name for problem in settings for word, name in names_of(problem, self.prefix).items()}
        of_axes = {self.prefix + key_of(problem, VARY) for problem in settings}
        own = {self.prefix + name for name in (SETTING, EDITS, *(p.name for p in self.kept), *self.views)}
        own |= {name for name in given if name.startswith(f"{self.prefix}quantity_")}  # one for each list of measures
        ended = {name + end for name in known.values() for end in ENDS}
        return known | {name: name for name in of_axes | own | ended}

    def others(self, offered: Mapping[str, Control], varied: set[str]) -> dict[str, Any]:
        """Draw all controls that do not vary; return the values by name, with the usual values for those that vary."""
        values = {name: c.parameter.default for name, c in offered.items() if name in varied}
        left = {name: c for name, c in offered.items() if name not in varied}
        titles = (("Everything else", ("problem", "kernel", "solver", "stop", ALSO)), ("Data options", ("data",)))
        for title, sections in titles:
            with st.expander(title):
                for name, control in left.items():
                    if control.section in sections:
                        self.usual(control.key, control.parameter.default)
                        values[name] = draw(control)
        return values
