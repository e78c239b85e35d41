"""The first widgets of a question over seeds: a setting, its data, and all other values, under a page's own keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Integer, Parameter, Real, Text
from dsgcore.data.datasets import SEED
from dsgcore.experiments import SETTINGS, Setting, Spec, load_split
from dsgcore.experiments.settings import FILE
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import Control, Several, draw, in_link, key_of, read_controls
from pages.controls.controls import PICKER, data_picker, read_spec
from pages.controls.hand import EDITS
from pages.controls.link import names_of, unknown_names
from pages.controls.own_file import offer_own, store
from pages.shell.page_link import link_now
from pages.shell.plain_text import say_of_link
from pages.shell.sessions import visit
from pages.upload.upload import draw_upload

Answer = TypeVar("Answer")
SETTING, VARY, NOTHING = "setting", "vary", "nothing"
# Endings of the keys of an axis' widgets.
VALUES, RANGE, NUMBER = "_values", "_range", "_n"
MOST_VALUES = 20  # of an axis


def pick(label: str, options: Iterable[str], usual: str, key: str, say: Callable[[str], str] = str, **more: Any) -> str:
    """Draw a choice of how the answer is shown, which the link keeps under the key without the page's prefix."""
    options = tuple(options)
    control = Control(key, "", Choice(key.partition("_")[2], usual, options=options))
    if (asked := st.session_state.get(key, usual)) not in options:  # a link may have the words of the page
        st.session_state[key] = next((option for option in options if say(option) == asked), usual)
    chosen = st.segmented_control(
        label,
        options,
        default=usual,
        required=True,
        key=key,
        format_func=say,
        label_visibility="collapsed",
        **more,
    )
    return str(in_link(control, chosen))


def _title(titles: Mapping[str, str], name: str) -> str:
    return titles.get(name, name)


def can_be_axis(control: Control) -> bool:
    """Return True if a study can vary a control: a number, or a required choice of the solver or the problem."""
    p = control.parameter
    return isinstance(p, Real | Integer) or (
        isinstance(p, Choice) and not p.optional and control.section in ("solver", "problem")
    )


def values_of_axis(control: Control) -> Several:
    """Return the chosen options of an axis as a control."""
    p = control.parameter
    options = p.options if isinstance(p, Choice) else ()
    return Several(control.key + VALUES, control.section, p, say=control.say, many=options, ending=".values")


def ends_of_axis(control: Control, usual: tuple[float, ...] = ()) -> Several:
    """Return the ends of an axis of numbers as a control."""
    return Several(control.key + RANGE, control.section, control.parameter, many=usual, ending=".range", is_range=True)


def number_on_axis(control: Control, usual: int = 0) -> Control:
    """Return the number of values of an axis of numbers as a control."""
    named = Integer(f"{control.parameter.name}.n", usual, low=1, high=MOST_VALUES)
    return Control(control.key + NUMBER, control.section, named)


@dataclass(frozen=True)
class Beginning:
    """The first widgets of a page.

    Attributes
    ----------
    prefix : str
        Prefix of the keys of its widgets.
    kept : tuple of Parameter
        The page's own widgets, whose keys without the prefix are the parameters' names.
    settings : tuple of str
        The settings that can be chosen.
    views : tuple of str
        More keys without the prefix, for names in the link: how the answer is shown.
    most_varied : int
        Number of parameters that can vary at the same time.
    """

    prefix: str
    kept: tuple[Parameter, ...]
    settings: tuple[str, ...]
    views: tuple[str, ...] = ()
    most_varied: int = 1

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
        self.read_link()
        problem = self.setting()
        dataset = self.dataset(problem)
        own = self.upload(problem, upload) if dataset == FILE else None
        offered = self.offered(problem, dataset, usual_of(problem))
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
        return Control(self.prefix + SETTING, "", choice, say=lambda name: profile_of(SETTINGS[name]).short)

    def read_link(self) -> None:
        """Read the page's link once in a visit; show a sentence for each value that is not valid."""
        noted = f"_{self.prefix}notices"
        if st.session_state.get(noted, (-1, []))[0] != visit():
            st.session_state[noted] = visit(), self._refusals(link_now().given)
        for notice in st.session_state[noted][1]:
            say_of_link(notice)

    def _refusals(self, given: Mapping[str, str]) -> list[str]:
        """Set the page's controls to a link's values; return a sentence for each one that is not valid."""
        said = read_controls([self.of_setting, *self._own(given)], given)
        problem = SETTINGS[st.session_state.get(self.of_setting.key, self.of_setting.usual)]
        said += read_spec(problem, given, self._placed)
        dataset = st.session_state.get(self.data_key(problem), controls.dataset_choice(problem).default)
        offered = self.offered(problem, dataset)
        axes = [control for control in offered.values() if can_be_axis(control)]
        for control in axes:
            is_choice = isinstance(control.parameter, Choice)
            own = [values_of_axis(control)] if is_choice else [ends_of_axis(control), number_on_axis(control)]
            said += read_controls(own, given)
        said += read_controls([self.varied(problem, {f"{c.section}.{c.parameter.name}": c for c in axes})], given)
        return said + unknown_names(given, self._known_names(given))

    def varied(self, problem: type[Setting], axes: Mapping[str, Control], usual: tuple[str, ...] = ()) -> Control:
        """Return the choice of what varies as a control: of several axes, or of one or none."""
        titles = {name: control.parameter.label or name for name, control in axes.items()}
        key, say = self.prefix + key_of(problem, VARY), partial(_title, titles)
        if self.most_varied == 1:
            one = usual[0] if usual else NOTHING
            return Control(key, "", Choice(VARY, one, label="Vary", options=(NOTHING, *axes)), say=say)
        choice = Choice(VARY, usual, label="Vary", options=tuple(axes))
        return Several(key, "", choice, say=say, many=usual, high=self.most_varied)

    def _own(self, given: Mapping[str, str]) -> list[Control]:
        """Return the page's own controls, and how the answer is shown: one quantity for each list of quantities."""
        views = [*self.views, *(name for name in given if name.startswith("quantity_"))]
        texts = [Control(self.prefix + name, "", Text(name, "")) for name in views]
        return [*(Control(self.prefix + p.name, "", p) for p in self.kept), *texts]

    def _placed(self, control: Control) -> Control:
        """Return a control with the key that it has on the page."""
        return replace(control, key=self.prefix + control.key, on_change=None)

    def setting(self) -> type[Setting]:
        """Draw the choice of a setting."""
        return SETTINGS[draw(self.of_setting, label="Setting", is_plain=True)]

    def dataset(self, problem: type[Setting]) -> str:
        """Draw the choice of data; an uploaded file stays chosen when the setting changes."""
        picker = self._placed(data_picker(problem))
        drawn = f"_{self.prefix}data"  # the last drawn setting, and its data
        before = st.session_state.get(drawn, (problem.name, ""))
        if before[0] != problem.name and before[1] == FILE and picker.key not in st.session_state:
            st.session_state[picker.key] = FILE
        dataset = str(draw(replace(picker, on_change=self._begin_anew)))
        offer_own(picker.key, dataset, self._begin_anew)
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
        """Reset all values that depend on the data to their defaults at the next drawing, except those of the given names.

        Deleting the session's values is not enough, because the browser keeps the values and sends them again.
        """
        st.session_state[f"_{self.prefix}anew"] = given

    def usual(self, control: Control) -> None:
        """Set a widget to its default before it is drawn, if the data have changed."""
        if self._is_anew(control):
            st.session_state[control.key] = control.usual

    def _is_anew(self, control: Control) -> bool:
        given = st.session_state.get(f"_{self.prefix}anew")
        return given is not None and control.name not in given

    def end(self) -> None:
        """Record that all widgets are drawn."""
        st.session_state.pop(f"_{self.prefix}anew", None)

    def offered(
        self, problem: type[Setting], dataset: str, usual: Mapping[str, Any] | None = None
    ) -> dict[str, Control]:
        """Return the controls of a setting with its data; `usual` replaces defaults by name."""
        found = controls.controls_for(problem, dataset)
        if PICKER in found:
            picker = self._placed(found[PICKER])
            kernel = st.session_state.get(picker.key)
            is_left = kernel not in picker.options or self._is_anew(picker)  # the usual kernel is then used
            found = controls.controls_for(problem, dataset, None if is_left else kernel)
        placed = {name: self._placed(control) for name, control in found.items()}
        defaults = {name: value for name, value in (usual or {}).items() if name in placed}
        return placed | {
            name: replace(placed[name], parameter=replace(placed[name].parameter, default=value))
            for name, value in defaults.items()
        }

    def _known_names(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return all names that the page's link can have, for any setting, and for axes with their endings."""
        known = {word: name for setting in self.settings for word, name in names_of(SETTINGS[setting]).items()}
        own = {SETTING, VARY, EDITS, SEED.name, *(control.name for control in self._own(given))}
        ended = {f"{name}{ending}" for name in known.values() for ending in (".values", ".range", ".n")}
        return known | {name: name for name in own | ended}

    def others(self, offered: Mapping[str, Control], varied: set[str]) -> dict[str, Any]:
        """Draw all controls that do not vary; return the values by name, with the usual values for those that vary."""
        values = {name: c.parameter.default for name, c in offered.items() if name in varied}
        left = {name: c for name, c in offered.items() if name not in varied}
        titles = (("Everything else", ("problem", "kernel", "solver", "stop", "")), ("Data options", ("data",)))
        for title, sections in titles:
            with st.expander(title):
                for name, control in left.items():
                    if control.section in sections:
                        self.usual(control)
                        values[name] = draw(control)
        return values
