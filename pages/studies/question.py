"""A question over seeds as widgets under a page's own keys: a setting, its data, what varies, and all other values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Integer, Real, grid
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS, Setting, Spec, load_split
from dsgcore.experiments.spec import FILE
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import (
    BAD_INPUT,
    Control,
    Several,
    automatic_of,
    count,
    draw,
    in_link,
    keep,
    key_of,
    number,
    read_controls,
    shown,
)
from pages.controls.controls import PICKER, data_picker, read_spec
from pages.controls.hand import EDITS, Hand, edits_in, edits_to_text
from pages.controls.link import names_of, unknown_names
from pages.controls.own_file import offer_own, store
from pages.shell.page_link import link_now, read_once, say_in_link
from pages.shell.plain_text import in_sentence, say_of_link
from pages.upload.upload import draw_upload

SETTING, VARY, NOTHING = "setting", "vary", "nothing"
MOST_VALUES = 20  # of an axis
EDITS_LEFT_OUT = "In the link, {}; all edits are left out."


def begin_anew(prefix: str, given: frozenset[str] = frozenset()) -> None:
    """Reset a page's controls to what suits other data, when they are drawn next, except those of the given names.

    Deleting the session's values is not enough, because the browser keeps the values and sends them again.
    """
    st.session_state[f"_{prefix}anew"] = given


def is_anew(prefix: str, control: Control) -> bool:
    """Return True if a control of the page must follow its data."""
    given = st.session_state.get(f"_{prefix}anew")
    return given is not None and control.name not in given


def follow_data(prefix: str, control: Control) -> Control:
    """Set a control to its usual value before it is drawn, if the data have changed; return it."""
    if is_anew(prefix, control):
        st.session_state[control.key] = control.usual
    return control


def end_anew(prefix: str) -> None:
    """Note that all controls of the page are drawn."""
    st.session_state.pop(f"_{prefix}anew", None)


def can_be_axis(control: Control) -> bool:
    """Return True if a study can vary a control: a number, or a required choice of the solver or the problem."""
    p = control.parameter
    is_choice = isinstance(p, Choice) and not p.optional and control.section in ("solver", "problem")
    return isinstance(p, Real | Integer) or is_choice


def values_of_axis(control: Control) -> Several:
    """Return the chosen options of an axis as a control."""
    p = control.parameter
    options = p.options if isinstance(p, Choice) else ()
    return Several(f"{control.key}_values", control.section, p, say=control.say, many=options, ending=".values")


def ends_of_axis(control: Control, usual: tuple[float, ...] = ()) -> Several:
    """Return the ends of an axis of numbers as a control."""
    key, p = f"{control.key}_range", control.parameter
    return Several(key, control.section, p, many=usual, ending=".range", is_range=True)


def number_on_axis(control: Control, usual: int = 0) -> Control:
    """Return the number of values of an axis of numbers as a control."""
    named = Integer(f"{control.parameter.name}.n", usual, low=1, high=MOST_VALUES)
    return Control(f"{control.key}_n", control.section, named)


def edits_entry(spec: Spec) -> dict[str, str]:
    """Return the link's entries for a spec's edits and for the seed of their data; none without edits."""
    return {EDITS: edits_to_text(spec.data.edits), SEED.name: str(spec.seed)} if spec.data.edits else {}


@dataclass(frozen=True)
class Begun:
    """What the first widgets of a page say: the setting, its data (of a file its entries in a spec), and its other controls."""

    problem: type[Setting]
    dataset: str
    own: dict[str, Any] | None
    offered: Mapping[str, Control]


@dataclass(frozen=True)
class Question:
    """The widgets that the pages of studies share."""

    prefix: str  # of the keys of its widgets
    own: tuple[Control, ...]  # the page's own controls
    settings: tuple[str, ...]  # that can be chosen
    most_varied: int = 1  # parameters at the same time

    def begin(
        self,
        upload: DeltaGenerator,
        usual_of: Callable[[type[Setting]], Mapping[str, Any]] = lambda problem: {},
    ) -> Begun:
        """Read the link; draw the setting and the data. `usual_of` returns the page's own defaults of a setting."""
        read_once(self._refusals)
        problem = SETTINGS[draw(self._of_setting, label="Setting", is_plain=True)]
        picker, drawn = self._placed(data_picker(problem)), f"_{self.prefix}data"
        last, last_data = st.session_state.get(drawn, (problem.name, ""))
        if last != problem.name and last_data == FILE and picker.key not in st.session_state:
            st.session_state[picker.key] = FILE  # an uploaded file stays chosen when the setting changes
        anew = partial(begin_anew, self.prefix)
        dataset = str(draw(replace(picker, on_change=anew)))
        offer_own(picker.key, dataset, anew)
        st.session_state[drawn] = problem.name, dataset
        own = None
        if dataset == FILE:
            file_key = self.prefix + key_of(problem, "file")
            own = draw_upload(problem, upload, file_key, anew, upload_key=f"{self.prefix}upload")
        return Begun(problem, dataset, own, self._offered(problem, dataset, usual_of(problem)))

    def spec(self, begun: Begun, varied: set[str], main: DeltaGenerator) -> Spec | None:
        """Draw all controls that do not vary; return the spec, with the usual values of those that vary.

        At `main` it says that the data have edits by hand, which a link can bring. Return None if the reader must still
        choose a file. Raise `SpecError` if a value does not fit.
        """
        values = {name: control.parameter.default for name, control in begun.offered.items()}
        idle = self.without_effect(begun)
        for title, is_of_data in (("Everything else", False), ("Data options", True)):
            with st.expander(title):
                for name, control in begun.offered.items():
                    if (control.section == "data") is is_of_data and name not in varied:
                        values[name] = (keep if name in idle else draw)(self.followed(control))
        end_anew(self.prefix)
        if begun.dataset == FILE and begun.own is None:
            return None
        plain = controls.to_spec(begun.problem, values, begun.dataset, 0, begun.own)
        hand, seed = st.session_state.get(self._hand, (Hand(), SEED.default))
        spec = hand.edit(replace(plain, seed=seed))
        is_edited = bool(spec.data.edits)
        noted, asked = f"_{self.prefix}split", (begun.problem.name, spec.data, spec.seed)
        if (is_edited or begun.own is not None) and st.session_state.get(noted) != asked:
            try:
                load_split(spec, files=store())  # before any run: do the labels of a file, and the edits, fit the data?
            except BAD_INPUT as error:
                if not is_edited:
                    raise
                del st.session_state[self._hand]  # and say so as long as the page is open
                said = EDITS_LEFT_OUT.format(error)
                link_now().notices = [*(link_now().notices or []), said]
                with main:
                    say_of_link(said)
                return plain
            st.session_state[noted] = asked
        if not is_edited:
            return plain
        for name, text in edits_entry(spec).items():
            say_in_link(name, text)
        kept = "" if fit_any_seed(spec.data.edits) else f" They name points of the data of seed {spec.seed}."
        main.caption(f"With your edits of the data by hand.{kept} Other data come without them.")
        return spec

    def without_effect(self, begun: Begun) -> Collection[str]:
        """Return the names of the controls that change nothing beside the others, which may have to follow their data."""

        def present(control: Control) -> Any:
            return control.usual if is_anew(self.prefix, control) else st.session_state.get(control.key, control.usual)

        return controls.without_effect(begun.problem, begun.offered, present)

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

    def followed(self, control: Control) -> Control:
        """Return a control with its usual value if the data have changed."""
        return follow_data(self.prefix, control)

    def axis(
        self, name: str, control: Control, points: int | None = None, *, reach: tuple[float, float], usual: int
    ) -> dict[str, Any]:
        """Draw the values of one axis, of which `points` are drawn at random; return the axis as plain data.

        By default there are `usual` values, between `reach` times the usual one if the axis is logarithmic.
        """
        p = control.parameter
        if isinstance(p, Choice):
            several = values_of_axis(control)
            self.followed(several)
            values = st.multiselect(p.label, p.options, default=p.options, key=several.key, format_func=control.say)
            return {"name": name, "values": list(in_link(several, values) or p.options)}
        assert isinstance(p, Real | Integer)
        is_linear, middle = p.scale == "linear", p.default if p.default is not None else automatic_of(p)

        def allowed(stops: Iterable[float | None]) -> list[float]:
            return [stop for stop in stops if stop is not None and (is_linear or stop > 0)]

        stops = near = allowed(grid(p))
        if not is_linear and middle:  # of the slider's own stops, because a link does not hold default values
            near = [stop for stop in stops if middle * reach[0] <= stop * 1.001 and stop <= middle * reach[1] * 1.001]
        ends = self.followed(ends_of_axis(control, (near[0], near[-1])))
        asked = st.session_state.get(ends.key, ())  # a link may ask for values between the stops of the slider
        if not is_linear and 0 in asked:  # where a logarithmic axis cannot begin
            del st.session_state[ends.key]
        left, right = st.columns([3, 1], gap="small")
        low, high = left.select_slider(
            f"{p.label} ({p.symbol})" if p.symbol else p.label,
            sorted({*stops, *allowed(asked)}),
            value=ends.usual,
            key=ends.key,
            format_func=shown,
            help=p.sentence,
        )
        in_link(ends, (low, high))
        if points is not None:
            return {"name": name, "from": low, "to": high, "n": points, "random": True}
        with right:
            n = count(number_on_axis(control, usual), f"Values of {p.symbol or in_sentence(p.label)}")
        return {"name": name, "from": low, "to": high, "n": int(n)}

    def _refusals(self, given: Mapping[str, str]) -> list[str]:
        """Set the page's controls to a link's values; return a sentence for each one that is not valid."""
        said = read_controls([self._of_setting, *self.own], given)
        problem = SETTINGS[st.session_state.get(self._of_setting.key, self._of_setting.usual)]
        said += read_spec(problem, given, self._placed)
        data = self._placed(data_picker(problem))
        offered = self._offered(problem, st.session_state.get(data.key, data.usual))
        axes = {f"{c.section}.{name}": c for name, c in offered.items() if can_be_axis(c)}
        for control in axes.values():
            of_numbers = [ends_of_axis(control), number_on_axis(control)]
            said += read_controls(
                [values_of_axis(control)] if isinstance(control.parameter, Choice) else of_numbers, given
            )
        said += read_controls([self.varied(problem, axes)], given)
        try:
            text = given.get(SEED.name) or str(SEED.default)
            seed, hand = number(text, SEED), Hand(edits_in(given.get(EDITS, "")))
            st.session_state[self._hand] = hand, SEED.check(text if seed is None else seed)
        except BAD_INPUT as error:
            st.session_state.pop(self._hand, None)
            said.append(EDITS_LEFT_OUT.format(error))
        # All names that the link can have, for any setting, and for axes with their endings.
        known = {word: name for setting in self.settings for word, name in names_of(SETTINGS[setting]).items()}
        own = {SETTING, VARY, EDITS, SEED.name, *(control.name for control in self.own)}
        ended = {f"{name}{ending}" for name in known.values() for ending in (".values", ".range", ".n")}
        return said + unknown_names(given, known | {name: name for name in own | ended})

    @property
    def _of_setting(self) -> Control:
        choice = Choice(SETTING, "auc", options=self.settings)
        return Control(self.prefix + SETTING, "", choice, say=lambda name: profile_of(SETTINGS[name]).short)

    @property
    def _hand(self) -> str:
        """Key of the edits of the visit's link, and of the seed of their data."""
        return f"_{self.prefix}hand"

    def _placed(self, control: Control) -> Control:
        return replace(control, key=self.prefix + control.key, on_change=None)

    def _offered(
        self, problem: type[Setting], dataset: str, usual: Mapping[str, Any] | None = None
    ) -> dict[str, Control]:
        """Return the controls of a setting with its data; `usual` replaces defaults by name."""
        found = controls.controls_for(problem, dataset)
        if PICKER in found:
            picker = self._placed(found[PICKER])
            kernel = st.session_state.get(picker.key)
            is_left = kernel not in picker.options or is_anew(self.prefix, picker)  # the usual kernel is then used
            found = controls.controls_for(problem, dataset, None if is_left else kernel)
        placed = {name: self._placed(control) for name, control in found.items()}
        for name, value in (usual or {}).items():
            if name in placed:
                placed[name] = replace(placed[name], parameter=replace(placed[name].parameter, default=value))
        return placed
