"""A parameter as a widget: its key, its stops, its name in the link, and its value as the link's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from mimetypes import guess_type
from typing import Any

import streamlit as st

from dsgcore import ParameterError, ProblemError, SpecError
from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real, Text, grid
from dsgcore.data import DataError
from dsgcore.data.datasets import CountError
from dsgcore.experiments import Setting
from dsgcore.settings import profile_of
from pages.shell.page_link import say_in_link
from pages.shell.plain_text import in_sentence, with_minus

BAD_INPUT = (SpecError, ParameterError, ProblemError, DataError)


# The stop of a slider for the value None: the run, the method or the data choose the value.
AUTOMATIC = "auto"
# A choice's None in a link.
NONE = "none"
# Streamlit takes None for "nothing is chosen yet". This stands for a choice's None.
_NONE = ""


def key_of(problem: type[Setting], name: str) -> str:
    """Return the key of a setting's widget."""
    # Two pages with the same key would share a value, but their ranges and defaults differ.
    return f"{profile_of(problem).prefix}{name}"


def shown(value: Any) -> str:
    """Return a value as the shortest text that reads back exactly."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return AUTOMATIC if value is None else str(value)


def brief(value: Any) -> str:
    """Return a value for people: with four digits, if it is a number that was computed."""
    text = shown(value)
    return with_minus(f"{value:.4g}" if isinstance(value, float) and len(text) > LONGEST_NUMBER else text)


LONGEST_NUMBER = 8  # characters of a number that a person has chosen


@dataclass(frozen=True)
class Control:
    """A parameter as a widget."""

    key: str
    section: str  # of the spec; empty without one
    parameter: Parameter
    on_change: Callable[[], None] | None = None
    say: Callable[[Any], str] = shown  # the name of an option on the page

    @property
    def name(self) -> str:
        """Its name in the link: section and name, as in a spec. What picks a section's kind is that section's name."""
        own = self.parameter.name
        return f"{self.section}.{'name' if own == self.section else own}" if self.section else own

    @property
    def usual(self) -> Any:
        """The value that a link leaves out."""
        return self.parameter.default

    @property
    def allowed(self) -> str:
        """What a link's text must be, in words."""
        return self.parameter.allowed().removesuffix(" or None")

    def told(self, value: Any) -> str:
        """Return a value for a sentence."""
        return brief(value) if isinstance(value, float) else self.say(value)

    def text(self, value: Any) -> str:
        """Return a value as a link has it."""
        if isinstance(value, bool):
            return str(value).lower()
        return NONE if value is None and isinstance(self.parameter, Choice) else shown(value)

    def read(self, text: str) -> Any:
        """Return the value of a link's text: as a spec has it, or as the page says it; raise `ValueError` if there is none."""
        p = self.parameter
        if isinstance(p, Text):
            return text
        if isinstance(p, Real | Integer):
            if text == AUTOMATIC and can_be_automatic(p):
                return None
            value = number(text, p)
            if value is None:
                raise ValueError(text)
            return value
        try:
            return next(option for option in self.options if text in (Control.text(self, option), self.say(option)))
        except StopIteration:
            raise ValueError(text) from None

    @property
    def options(self) -> tuple[Any, ...]:
        """The values that the widget offers. A slider also has a stop for each value between its own that a link, a lesson or
        the data have set."""
        if isinstance(self.parameter, Choice):
            return (None, *self.parameter.options) if self.parameter.optional else self.parameter.options
        if isinstance(self.parameter, Flag):
            return (False, True)
        if isinstance(self.parameter, Text):
            return (self.parameter.default,)
        assert isinstance(self.parameter, Real | Integer)
        key, present = f"_between_{self.key}", st.session_state.get(self.key)
        between = st.session_state.get(key, frozenset())
        if isinstance(present, int | float) and number(str(present), self.parameter) == present:
            st.session_state[key] = between = between | {present}
        stops: list[float | None] = sorted({*grid(self.parameter), *between})
        if can_be_automatic(self.parameter):
            automatic = automatic_of(self.parameter)
            place = 0 if automatic is None else sum(stop is not None and stop <= automatic for stop in stops)
            stops.insert(place, None)
        return tuple(stops)


def can_be_automatic(parameter: Parameter) -> bool:
    """Return True if the parameter's slider has a stop for None."""
    return isinstance(parameter, Real) and parameter.optional


def automatic_of(parameter: Parameter) -> float | None:
    """Return the approximate value that the run chooses for a parameter, or None if a number must be given."""
    return parameter.automatic if isinstance(parameter, Real) else None


def in_words(error: Exception, controls: Mapping[str, Control]) -> str:
    """Return an error's text with the labels of controls in place of names such as `n_features`."""
    labels = {name: in_sentence(c.parameter.label) for name, c in controls.items() if "_" in name}  # others are words
    names = rf"\b({'|'.join(labels)})\b"
    return re.sub(names, lambda found: "the number of " * found[1].startswith("n_") + labels[found[1]], str(error))


def too_many(controls: Mapping[str, Control], asked: int, error: CountError) -> str:
    """Return a sentence that says which number of labels a slider has in place of one that the data do not have."""
    what, why = in_sentence(controls["n_labeled"].parameter.label), in_words(error, controls)
    return f"{asked:,} {what} are not possible with these data, so the slider is at {error.nearest:,}: {why}."


def number(text: str, parameter: Real | Integer) -> float | None:
    """Return the number in a text, or None if the parameter does not allow it."""
    try:
        value = float(text)
        return parameter.check(int(value) if isinstance(parameter, Integer) and value.is_integer() else value)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1024)  # a link may add stops
def names_of_stops(stops: tuple[Any, ...]) -> dict[Any, str]:
    """Return the names of a slider's stops: those that were computed with four digits, unless another stop has that name."""
    short = {stop: brief(stop) for stop in stops}
    names = list(short.values())
    return {stop: name if names.count(name) == 1 else shown(stop) for stop, name in short.items()}


def draw(control: Control, *, label: str = "", is_plain: bool = False, **options: Any) -> Any:
    """Draw a control and return its value. A plain one has no help; the options are those of its widget."""
    p = control.parameter
    common: dict[str, Any] = {
        "label": label or p.label,
        "key": control.key,
        "help": None
        if is_plain or not p.sentence
        else f"{p.sentence} (Symbol: {p.symbol})"
        if p.symbol
        else p.sentence,
        **options,
    }
    if control.on_change is not None:
        common["on_change"] = control.on_change
    if isinstance(p, Flag):
        value = st.toggle(value=p.default, **common)
    elif isinstance(p, Text):
        value = st.text_input(value=p.default, **common)
    elif isinstance(p, Choice):
        value = _draw_choice(control, common)
    else:
        assert isinstance(p, Real | Integer)
        stops = control.options
        names = names_of_stops(stops)
        common["format_func"] = lambda stop: names.get(stop, shown(stop))
        value = st.select_slider(options=stops, value=p.default, **common)
    return in_link(control, value)


def buttons(control: Control, **options: Any) -> Any:
    """Draw a choice as a row of buttons, and return its value."""
    p = control.parameter
    options = {"default": p.default, "format_func": control.say, "help": p.sentence or None, **options}
    return in_link(control, st.segmented_control(p.label, control.options, required=True, key=control.key, **options))


def _draw_choice(control: Control, common: dict[str, Any]) -> Any:
    options = tuple(_NONE if option is None else option for option in control.options)
    if control.key in st.session_state and st.session_state[control.key] is None:
        st.session_state[control.key] = _NONE
    if st.session_state.get(control.key, options[0]) not in options:
        del st.session_state[control.key]  # an option of other data
    default = _NONE if control.parameter.default is None else control.parameter.default
    chosen = st.selectbox(
        options=options,
        index=options.index(default),
        format_func=lambda option: control.say(None if option == _NONE else option),
        **common,
    )
    return without_blank(chosen)


def without_blank(value: Any) -> Any:
    """Return the value that a widget's value stands for."""
    return None if value == _NONE else value


SHOWN_FROM_LINK = 40


def in_link(control: Control, value: Any) -> Any:
    """Note a control's value for the link, which leaves out the usual one, and return it."""
    is_usual = (tuple(value) if isinstance(value, list) else value) == control.usual
    say_in_link(control.name, "" if is_usual else control.text(value), control.key)
    return value


def keep(control: Control) -> Any:
    """Return a control's value without drawing it, and note it for the link."""
    value = st.session_state.get(control.key, control.usual)
    st.session_state[control.key] = value  # else Streamlit forgets the value of a widget that is no longer drawn
    return in_link(control, without_blank(value) if isinstance(control.parameter, Choice) else value)


def read_controls(offered: Iterable[Control], given: Mapping[str, str]) -> list[str]:
    """Set controls to a link's values; return a sentence for each value that is not valid."""
    refusals = []
    for control in offered:
        if (text := given.get(control.name, "")) == "":
            continue
        try:
            st.session_state[control.key] = control.read(text)
        except ValueError:
            said = f"In the link, {control.name} must be {control.allowed}, got {refused(text)}; the default is used."
            refusals.append(said)
    return refusals


def refused(given: str) -> str:
    """Return a link's value for a sentence: in quotes, and shortened if it is long."""
    return repr(given if len(given) <= SHOWN_FROM_LINK else given[:SHOWN_FROM_LINK] + "…")


@dataclass(frozen=True)
class Several(Control):
    """Several values of a parameter: the chosen options, or the ends of a range."""

    many: tuple[Any, ...] = ()  # the usual values
    ending: str = ""  # what follows the parameter's name in the link
    high: int | None = None  # the largest number of values
    is_range: bool = False  # for the two ends

    @property
    def name(self) -> str:
        """Its name in the link."""
        return super().name + self.ending

    @property
    def usual(self) -> Any:
        """The values that a link leaves out."""
        return self.many

    def text(self, value: Any) -> str:
        """Return the values as a link has them, with commas between them."""
        return ",".join(map(super().text, value)) or NONE

    @property
    def allowed(self) -> str:
        """What a link's text must be, in words."""
        if not self.is_range or not isinstance(p := self.parameter, Real | Integer):
            return super().allowed
        return f"two numbers with a comma between them, the lower one first, each between {p.low:g} and {p.high:g}"

    def read(self, text: str) -> Any:
        """Return the values of a link's text; raise `ValueError` if one is not valid, or if there are too many or too few."""
        values = () if text == NONE else tuple(map(super().read, text.split(",")))
        if self.is_range and (len(values) != 2 or None in values or values[0] > values[1]):
            raise ValueError(text)
        if len(values) > (self.high or len(values)):
            raise ValueError(text)
        return values if self.is_range else tuple(dict.fromkeys(values))


def count(control: Control, label: str = "", **options: Any) -> int:
    """Draw a whole number as a field to write in, and return it."""
    p = control.parameter
    assert isinstance(p, Integer)
    return int(
        in_link(control, st.number_input(label or p.label, p.low, p.high, p.default, key=control.key, **options))
    )


def draw_download(label: str, file: str, make: Callable[[], str | bytes]) -> None:
    """Draw the button that saves a file; `make` returns its content, at the click."""
    kind, icon = guess_type(file)[0] or "application/octet-stream", ":material/download:"
    st.download_button(label, make, file, kind, on_click="ignore", icon=icon, key=f"get-{file}")
