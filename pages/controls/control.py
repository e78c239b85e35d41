"""A parameter as a widget: its key, which is also its name in the link, its stops, and its value as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsgcore import ParameterError, ProblemError, SpecError
from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real, Text, grid
from dsgcore.data import DataError
from dsgcore.data.datasets import SEED, CountError
from dsgcore.experiments import Setting
from dsgcore.settings import profile_of

BAD_INPUT = (SpecError, ParameterError, ProblemError, DataError)


# The stop of a slider for the value None: the run, the method or the data choose the value.
AUTOMATIC = "auto"
# Streamlit takes None for "nothing is chosen yet", and leaves it out of the link. This stands for a choice's None.
_NONE = ""


def key_of(problem: type[Setting], name: str) -> str:
    """Return the key of a setting's widget, which is also its name in the link."""
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


@dataclass(frozen=True)
class Control:
    """A parameter as a widget: its key (and name in the link), its section of the spec, and its options.

    `say` returns the name of an option, on the page and in the link.
    """

    key: str
    section: str
    parameter: Parameter
    on_change: Callable[[], None] | None = None
    say: Callable[[Any], str] = shown

    def text(self, value: Any) -> str:
        """Return a value as a link has it."""
        return str(value).lower() if isinstance(self.parameter, Flag) else self.say(value)

    def read(self, text: str) -> Any:
        """Return the value of a link's text; raise `ValueError` if the control has no such value."""
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
        if isinstance(p, Choice) and text in p.options:
            return text  # as specs and people write it
        try:
            return next(option for option in self.options if self.text(option) == text)
        except StopIteration:
            raise ValueError(text) from None

    @property
    def options(self) -> tuple[Any, ...]:
        """The values that the widget offers, including a value from the link."""
        if isinstance(self.parameter, Choice):
            return (None, *self.parameter.options) if self.parameter.optional else self.parameter.options
        if isinstance(self.parameter, Flag):
            return (False, True)
        if isinstance(self.parameter, Text):
            return (self.parameter.default,)
        assert isinstance(self.parameter, Real | Integer)
        extra = st.session_state.get(_extra_key(self.key), set())
        stops: list[float | None] = sorted({*grid(self.parameter), *extra})
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


def _extra_key(key: str) -> str:
    return f"_from_link_{key}"


def also_offer(key: str, value: float) -> None:
    """Add a value between the stops to the slider with that key."""
    st.session_state.setdefault(_extra_key(key), set()).add(value)


def too_many(asked: int, error: CountError) -> str:
    """Return a sentence that says which number of labels a slider has in place of one that the data do not have."""
    return (
        f"{asked:,} labels or pairs are not possible with these data, so the slider is at {error.nearest:,}: {error}."
    )


def leave_out(key: str, text: str) -> None:
    """Let the text field with that key count as empty as long as it holds this text."""
    st.session_state[_left_out_key(key)] = text


def _left_out_key(key: str) -> str:
    return f"_left_out_{key}"


def number(text: str, parameter: Real | Integer) -> float | None:
    """Return the number in a text, or None if the parameter does not allow it."""
    try:
        value = float(text)
        return parameter.check(int(value) if isinstance(parameter, Integer) and value.is_integer() else value)
    except (ValueError, OverflowError):
        return None


def draw(control: Control, *, label: str = "", is_plain: bool = False, disabled: bool = False) -> Any:
    """Draw a control and return its value. A plain one has no help."""
    p = control.parameter
    common: dict[str, Any] = {
        "label": label or p.label,
        "key": control.key,
        "help": None if is_plain else f"{p.sentence} (Symbol: {p.symbol})" if p.symbol else p.sentence,
        "disabled": disabled,
        "bind": "query-params",
    }
    if control.on_change is not None:
        common["on_change"] = control.on_change
    if isinstance(p, Flag):
        return st.toggle(value=p.default, **common)
    if isinstance(p, Text):
        return value_in(control, st.text_input(value=p.default, **common))
    if isinstance(p, Choice):
        return _draw_choice(control, common)
    _keep_between_stops(control)
    return st.select_slider(options=control.options, value=p.default, format_func=shown, **common)


def _draw_choice(control: Control, common: dict[str, Any]) -> Any:
    options = tuple(_NONE if option is None else option for option in control.options)
    if control.key in st.session_state and st.session_state[control.key] is None:
        st.session_state[control.key] = _NONE
    default = _NONE if control.parameter.default is None else control.parameter.default
    chosen = st.selectbox(
        options=options,
        index=options.index(default),
        format_func=lambda option: control.say(None if option == _NONE else option),
        **common,
    )
    return value_in(control, chosen)


def value_in(control: Control, state: Any) -> Any:
    """Return the value of a control whose widget has this state."""
    if isinstance(control.parameter, Text):
        is_left_out = state == st.session_state.get(_left_out_key(control.key))
        return control.parameter.default if is_left_out else state
    return without_blank(state) if isinstance(control.parameter, Choice) else state


def without_blank(value: Any) -> Any:
    """Return the value that a widget's value stands for."""
    return None if value == _NONE else value


def _keep_between_stops(control: Control) -> None:
    """Add a stop for the value that a lesson has set; without it the slider would return to its default."""
    p, value = control.parameter, st.session_state.get(control.key)
    if not isinstance(p, Real | Integer) or not isinstance(value, int | float) or value in control.options:
        return
    if number(str(value), p) == value:
        also_offer(control.key, value)


SHOWN_FROM_LINK = 40


def read_controls(offered: Mapping[str, Control], given: Mapping[str, str]) -> list[str]:
    """Check a link's values for these controls; return a sentence for each value that is not valid."""
    sentences = (_read_one(control, given[control.key]) for control in offered.values() if control.key in given)
    return [sentence for sentence in sentences if sentence]


def _read_one(control: Control, text: str) -> str | None:
    p = control.parameter
    try:
        value = control.read(text)
    except ValueError:
        named = replace(p, options=tuple(map(control.say, control.options))) if isinstance(p, Choice) else p
        return refusal(control.key, named, text)
    if isinstance(p, Real | Integer) and value is not None:
        if text != shown(value):
            return f"In the link, {control.key} must be written {shown(value)}, got {text!r}; the default is used."
        also_offer(control.key, value)
    elif control.text(value) != text:
        st.session_state[control.key] = value  # the widget itself reads only the names of its options
    return None


def without_bad_seed(given: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a link without an invalid seed, because the widget would fail for a number such as infinity."""
    return {name: text for name, text in given.items() if name != key or number(text, SEED) is not None}


def refusal(key: str, parameter: Parameter, given: str) -> str:
    """Return a sentence with the link's value and the allowed values."""
    allowed = parameter.allowed().removesuffix(" or null")
    return f"In the link, {key} must be {allowed}, got {refused(given)}; the default is used."


def refused(given: str) -> str:
    """Return a link's value for a sentence: in quotes, and shortened if it is long."""
    return repr(given if len(given) <= SHOWN_FROM_LINK else given[:SHOWN_FROM_LINK] + "…")


def linked_number(label: str, low: int, high: int, usual: int, *, key: str, **options: Any) -> int:
    """Draw a whole number that the link keeps under its key, and return it.

    A number in the link that no float holds is left out first: streamlit's conversion would end the page.
    """
    with suppress(ValueError):
        if math.isinf(float(st.query_params.get(key, "0"))):
            del st.query_params[key]
            st.rerun()  # only a link that is there at the first drawing sets controls
    return int(st.number_input(label, low, high, usual, key=key, bind="query-params", **options))
