"""A question over seeds as widgets under a page's own keys: a setting, its data, what varies, and all other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Integer, Parameter, Real, Text, grid
from dsgcore.data.datasets import SEED
from dsgcore.experiments import SETTINGS, Setting, Spec, load_split
from dsgcore.experiments.settings import FILE
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import (
    Control,
    Several,
    automatic_of,
    buttons,
    count,
    draw,
    in_link,
    key_of,
    read_controls,
    shown,
)
from pages.controls.controls import PICKER, data_picker, read_spec
from pages.controls.hand import EDITS
from pages.controls.link import names_of, unknown_names
from pages.controls.own_file import offer_own, store
from pages.shell.page_link import read_once
from pages.upload.upload import draw_upload

SETTING, VARY, NOTHING = "setting", "vary", "nothing"
# Endings of the keys of an axis' widgets.
VALUES, RANGE, NUMBER = "_values", "_range", "_n"
MOST_VALUES = 20  # of an axis


def pick(label: str, options: Iterable[str], usual: str, key: str, say: Callable[[str], str] = str, **more: Any) -> str:
    """Draw a choice of how the answer is shown, which the link keeps under the key without the page's prefix."""
    choice = Choice(key.partition("_")[2], usual, label=label, options=tuple(options))
    if (asked := st.session_state.get(key, usual)) not in choice.options:  # a link may have the words of the page
        st.session_state[key] = next((option for option in choice.options if say(option) == asked), usual)
    return str(buttons(Control(key, "", choice, say=say), label_visibility="collapsed", **more))


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
class Begun:
    """What the first widgets of a page say: the setting, its data (of a file its entries in a spec), and its other controls."""

    problem: type[Setting]
    dataset: str
    own: dict[str, Any] | None
    offered: Mapping[str, Control]


@dataclass(frozen=True)
class Question:
    """The widgets that the pages of studies share.

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

    def begin(
        self,
        upload: DeltaGenerator,
        usual_of: Callable[[type[Setting]], Mapping[str, Any]] = lambda problem: {},
    ) -> Begun:
        """Read the link; draw the setting and the data. `usual_of` returns the page's own defaults of a setting."""
        read_once(self._refusals)
        problem = SETTINGS[draw(self._of_setting, label="Setting", is_plain=True)]
        dataset = self._dataset(problem)
        own = None
        if dataset == FILE:
            file_key = self.prefix + key_of(problem, "file")
            own = draw_upload(problem, upload, file_key, self._begin_anew, upload_key=f"{self.prefix}upload")
        return Begun(problem, dataset, own, self._offered(problem, dataset, usual_of(problem)))

    def spec(self, begun: Begun, varied: set[str]) -> Spec | None:
        """Draw all controls that do not vary; return the spec, with the usual values of those that vary.

        Return None if the reader must still choose a file. Raise `SpecError` if a value does not fit.
        """
        values = {name: control.parameter.default for name, control in begun.offered.items()}
        for title, sections in (
            ("Everything else", ("problem", "kernel", "solver", "stop", "")),
            ("Data options", ("data",)),
        ):
            with st.expander(title):
                for name, control in begun.offered.items():
                    if control.section in sections and name not in varied:
                        self.usual(control)
                        values[name] = draw(control)
        st.session_state.pop(self._anew, None)
        if begun.dataset == FILE and begun.own is None:
            return None
        spec = controls.to_spec(begun.problem, values, begun.dataset, 0, begun.own)
        noted, asked = f"_{self.prefix}split", (begun.problem.name, spec.data)
        if begun.own is not None and st.session_state.get(noted) != asked:
            load_split(spec, files=store())  # before any run: can the labels of a file be hidden as asked?
            st.session_state[noted] = asked
        return spec

    @property
    def _of_setting(self) -> Control:
        choice = Choice(SETTING, "auc", options=self.settings)
        return Control(self.prefix + SETTING, "", choice, say=lambda name: profile_of(SETTINGS[name]).short)

    def _refusals(self, given: Mapping[str, str]) -> list[str]:
        """Set the page's controls to a link's values; return a sentence for each one that is not valid."""
        said = read_controls([self._of_setting, *self._own(given)], given)
        problem = SETTINGS[st.session_state.get(self._of_setting.key, self._of_setting.usual)]
        said += read_spec(problem, given, self._placed)
        data = self._placed(data_picker(problem))
        offered = self._offered(problem, st.session_state.get(data.key, data.usual))
        axes = {f"{c.section}.{name}": c for name, c in offered.items() if can_be_axis(c)}
        for control in axes.values():
            is_choice = isinstance(control.parameter, Choice)
            own = [values_of_axis(control)] if is_choice else [ends_of_axis(control), number_on_axis(control)]
            said += read_controls(own, given)
        said += read_controls([self.varied(problem, axes)], given)
        return said + unknown_names(given, self._known_names(given))

    def _known_names(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return all names that the page's link can have, for any setting, and for axes with their endings."""
        known = {word: name for setting in self.settings for word, name in names_of(SETTINGS[setting]).items()}
        own = {SETTING, VARY, EDITS, SEED.name, *(control.name for control in self._own(given))}
        ended = {f"{name}{ending}" for name in known.values() for ending in (".values", ".range", ".n")}
        return known | {name: name for name in own | ended}

    def _own(self, given: Mapping[str, str]) -> list[Control]:
        """Return the page's own controls, and how the answer is shown: one quantity for each list of quantities."""
        views = [*self.views, *(name for name in given if name.startswith("quantity_"))]
        texts = [Text(name, "") for name in views]
        return [Control(self.prefix + p.name, "", p) for p in (*self.kept, *texts)]

    def varied(self, problem: type[Setting], axes: Mapping[str, Control], usual: tuple[str, ...] = ()) -> Control:
        """Return the choice of what varies as a control: of several axes, or of one or none."""
        titles = {name: control.parameter.label or name for name, control in axes.items()}
        key = self.prefix + key_of(problem, VARY)

        def say(name: str) -> str:
            return titles.get(name, name)

        if self.most_varied == 1:
            one = usual[0] if usual else NOTHING
            return Control(key, "", Choice(VARY, one, label="Vary", options=(NOTHING, *axes)), say=say)
        choice = Choice(VARY, usual, label="Vary", options=tuple(axes))
        return Several(key, "", choice, say=say, many=usual, high=self.most_varied)

    def _placed(self, control: Control) -> Control:
        """Return a control with the key that it has on the page."""
        return replace(control, key=self.prefix + control.key, on_change=None)

    def _dataset(self, problem: type[Setting]) -> str:
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

    def _offered(
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
        return placed | {
            name: replace(placed[name], parameter=replace(placed[name].parameter, default=value))
            for name, value in (usual or {}).items()
            if name in placed
        }

    @property
    def _anew(self) -> str:
        """Key of the names that a link has set, while all other values that depend on the data must follow it."""
        return f"_{self.prefix}anew"

    def _begin_anew(self, given: frozenset[str] = frozenset()) -> None:
        """Reset all values that depend on the data to their defaults at the next drawing, except those of the given names.

        Deleting the session's values is not enough, because the browser keeps the values and sends them again.
        """
        st.session_state[self._anew] = given

    def usual(self, control: Control) -> None:
        """Set a widget to its default before it is drawn, if the data have changed."""
        if self._is_anew(control):
            st.session_state[control.key] = control.usual

    def _is_anew(self, control: Control) -> bool:
        given = st.session_state.get(self._anew)
        return given is not None and control.name not in given

    def axis(
        self, name: str, control: Control, points: int | None = None, *, reach: tuple[float, float], usual: int
    ) -> dict[str, Any]:
        """Draw the values of one axis; return the axis as plain data.

        Parameters
        ----------
        name : str
        control : Control
        points : int, optional
            Number of values drawn at random.
        reach : tuple of two float
            Default ends of a logarithmic axis, as factors of the usual value.
        usual : int
            Default number of values.
        """
        p = control.parameter
        if isinstance(p, Choice):
            several = values_of_axis(control)
            self.usual(several)
            values = st.multiselect(p.label, p.options, default=p.options, key=several.key, format_func=control.say)
            return {"name": name, "values": list(in_link(several, values) or p.options)}
        assert isinstance(p, Real | Integer)
        ends = ends_of_axis(control, _usual_ends(p, reach))
        self.usual(ends)
        stops = _stops(p, ends.key)
        left, right = st.columns([3, 1], gap="small")
        with left:
            low, high = st.select_slider(
                f"{p.label} ({p.symbol})" if p.symbol else p.label,
                stops,
                value=ends.usual,
                key=ends.key,
                format_func=shown,
                help=p.sentence,
            )
            in_link(ends, (low, high))
        if points is not None:
            return {"name": name, "from": low, "to": high, "n": points, "random": True}
        with right:
            n = count(number_on_axis(control, usual), "Values")
        return {"name": name, "from": low, "to": high, "n": int(n)}


def _stops(p: Real | Integer, key: str) -> list[float]:
    """Return the possible ends of an axis: the slider's own stops, and values from a link; a logarithmic axis has no zero."""
    if p.scale != "linear" and 0 in st.session_state.get(key, ()):
        del st.session_state[key]
    values = {stop for stop in (*grid(p), *st.session_state.get(key, ())) if stop is not None}
    return sorted(stop for stop in values if p.scale == "linear" or stop > 0)


def _usual_ends(p: Real | Integer, reach: tuple[float, float]) -> tuple[float, float]:
    """Return the default ends of an axis: a few powers of ten around the usual value, or the whole slider."""
    usual = p.default if p.default is not None else automatic_of(p)
    if p.scale == "linear" or not usual:
        own = [stop for stop in grid(p) if p.scale == "linear" or stop > 0]
        return own[0], own[-1]
    low, high = usual * reach[0], usual * reach[1]
    # Only the slider's own stops, because a link does not hold default values.
    near = [stop for stop in grid(p) if stop > 0 and low <= stop * 1.001 and stop <= high * 1.001]
    return near[0], near[-1]
