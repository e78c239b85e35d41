"""A spec's parameters as widgets, and back. The only place that knows the widgets' keys, which are also the link's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real, grid
from dsgcore.core.schedules import SCHEDULE_WORDS
from dsgcore.core.solver_parameters import SOLVER_PARAMETERS
from dsgcore.data import DATASETS, DatasetEntry
from dsgcore.data.conversions import ONE_REST
from dsgcore.data.options import SEED
from dsgcore.experiments import Setting, Spec, default_spec
from dsgcore.experiments.settings import FILE, StopSpec, solver_parameters
from dsgcore.settings import profile_of
from pages.controls.data_parameters import data_parameters, share_of_positives, suited_values
from pages.controls.kernel_parameters import (
    OWN_KEYS,
    PICKER,
    kernel_choices,
    kernel_parameters,
    kernel_title,
    usual_kernel,
)
from pages.controls.own_file import entry_of

N_HEROES = 3
SHOWN_FROM_LINK = 40
# The stop of a slider at which the run finds the value by itself.
AUTOMATIC = "auto"
SPEED = Choice("speed", "normal", options=("slow", "normal", "fast", "instant"), label="Speed")
SLIDER = Choice(
    "slider",
    "steer",
    options=("steer", "redo"),
    label="A slider moved during the run",
    sentence="Steers it: the run goes on with the new value, and the curves get a mark. Or redoes it from the start, as always "
    "at speed “instant”.",
)
MAP = Choice(
    "map",
    "f",
    options=("f", "h", "error"),
    label="On the map",
    sentence="The score f, its twin h with the exact kernel, or the error |f − h| that the random features make.",
)
CLASS_MAP = Choice(
    "class_map",
    "classes",
    options=("classes", "margin"),
    label="On the map",
    sentence="The class with the highest score, or by how much it leads over the next one.",
)


LOG_OBJECTIVE = "log_objective"
# How a run is looked at and goes on: of each page its own, as its parameters are. Once they had one name for all pages.
VIEWS = (SPEED, SLIDER, MAP, CLASS_MAP)
ONCE_SHARED = ("seed", "columns", "feature", LOG_OBJECTIVE, *(choice.name for choice in VIEWS))


def steerable(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters that a slider can change while the run goes on."""
    return profile_of(problem).steerable


def heroes(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters whose sliders come first."""
    return steerable(problem)[:N_HEROES]


def is_prominent(problem: type[Setting], name: str) -> bool:
    """Whether a parameter of the problem stands beside the first sliders; others are under "More"."""
    return name not in profile_of(problem).seldom


def map_choice(problem: type[Setting]) -> Choice:
    """Return what can be shown on the map."""
    return CLASS_MAP if problem.decision == "highest" else MAP


def key_of(problem: type[Setting], name: str) -> str:
    """Return the key of a setting's widget, which is also its name in the link."""
    # The same key on two pages would carry one page's value to the other, whose ranges and defaults differ.
    return f"{profile_of(problem).prefix}{name}"


def shown(value: Any) -> str:
    """Return a value as text: the shortest that reads back exactly."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return AUTOMATIC if value is None else str(value)


@dataclass(frozen=True)
class Control:
    """One parameter as a widget: its key (and name in the link), its section of the spec, and what it offers.

    `say` gives a choice's options their names, which are also those in the link.
    """

    key: str
    section: str
    parameter: Parameter
    on_change: Callable[[], None] | None = None
    say: Callable[[Any], str] = shown

    @property
    def options(self) -> tuple[Any, ...]:
        """The values that the widget offers, a link's own value among them."""
        if isinstance(self.parameter, Choice):
            return self.parameter.options
        if isinstance(self.parameter, Flag):
            return (False, True)
        assert isinstance(self.parameter, Real | Integer)
        extra = st.session_state.get(_extra_key(self.key), set())
        stops: list[float | None] = sorted({*grid(self.parameter), *extra})
        automatic = automatic_of(self.parameter)
        if automatic is not None:
            stops.insert(sum(stop is not None and stop <= automatic for stop in stops), None)
        return tuple(stops)


def automatic_of(parameter: Parameter) -> float | None:
    """Return about what a parameter is where the run finds it; None where a number must be given."""
    return parameter.automatic if isinstance(parameter, Real) else None


def _extra_key(key: str) -> str:
    return f"_from_link_{key}"


def also_offer(key: str, value: float) -> None:
    """Let the slider of that key stand at a value between its stops."""
    st.session_state.setdefault(_extra_key(key), set()).add(value)


def controls_for(problem: type[Setting], dataset: str, kernel: str | None = None) -> dict[str, Control]:
    """Return the controls of a setting with a data set and a kernel (by default the usual one), by the parameters' names."""
    default = default_spec(problem.name)
    sections: dict[str, Sequence[Parameter]] = {
        "problem": _with_defaults(problem.parameters, default.problem),
        "solver": _with_defaults([p for p in solver_parameters(problem) if p.name != "dtype"], default.solver),
        "stop": _with_defaults(StopSpec.parameters, default.stop),
        "data": data_parameters(problem, dataset, default.data),
    }
    suited = suited_values(problem, dataset)
    made = {
        p.name: Control(
            key_of(problem, p.name),
            section,
            replace(p, default=suited.get(p.name, p.default)),
            on_change=_shares_follow(problem, dataset) if p.name in ("convert", "positive") else None,
            say=SCHEDULE_WORDS.__getitem__ if p.name == "schedule" else shown,
        )
        for section, parameters in sections.items()
        for p in parameters
    }
    return made | kernel_controls(problem, dataset, kernel or usual_kernel(problem))


def kernel_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the picker of the kernel, where there is one, and the controls of a kernel's own parameters."""
    picked = {p.name: Control(key_of(problem, p.name), "kernel", p, say=kernel_title) for p in kernel_choices(problem)}
    return picked | {
        p.name: Control(key_of(problem, OWN_KEYS.get((kernel, p.name), p.name)), "kernel", p)
        for p in kernel_parameters(problem, dataset, kernel)
    }


def kernel_asked(problem: type[Setting]) -> str:
    """Return the kernel that the page is to use: the widget's, or before it has been drawn the link's."""
    usual, key = usual_kernel(problem), key_of(problem, PICKER)
    titles = {kernel_title(name): name for choice in kernel_choices(problem) for name in choice.options}
    linked = titles.get(st.query_params.get(key, ""), usual)
    asked = st.session_state.get(key, linked)
    return asked if asked in titles.values() else usual


def kernel_widths(offered: Mapping[str, Control]) -> list[str]:
    """Return the names of those controls that say how wide the kernel is: they go with the data."""
    return [name for name, c in offered.items() if c.section == "kernel" and isinstance(c.parameter, Real)]


def _shares_follow(problem: type[Setting], dataset: str) -> Callable[[], None] | None:
    """Return what to do when the classes are read in another way: of pairs, tell the method the new share of positives."""
    if problem.labels != "pairs":
        return None

    def follow() -> None:
        conversion = st.session_state.get(key_of(problem, "convert"), ONE_REST)
        name = st.session_state.get(key_of(problem, "positive"))
        names = DATASETS[dataset].class_names
        share = share_of_positives(dataset, conversion, names.index(name) if name in names else 0)
        if share is not None:
            also_offer(key_of(problem, "prior"), share)
            st.session_state[key_of(problem, "prior")] = share

    return follow


def _with_defaults(parameters: Sequence[Parameter], owner: object) -> list[Parameter]:
    """Give parameters the defaults of the setting's first spec; leave out what only a spec can say (a list, nothing)."""
    values = [(p, getattr(owner, p.name)) for p in parameters]
    return [replace(p, default=value) for p, value in values if value is not None or automatic_of(p) is not None]


def dataset_choice(problem: type[Setting]) -> Choice:
    """Return the parameter that picks one of the data sets that suit the setting."""
    suiting = [entry for entry in DATASETS.values() if entry.suits(problem.labels)]
    # Those made for such labels first.
    names = tuple(entry.name for entry in sorted(suiting, key=lambda entry: not entry.is_made_for(problem.labels)))
    names = (FILE, *names)
    default = default_spec(problem.name).data.name
    return Choice("data", default, options=names, label="Data", sentence="Which data to learn from.")


def read_controls(offered: Mapping[str, Control], given: Mapping[str, str]) -> list[str]:
    """Check what a link says for these controls; return a sentence for each value that is not good."""
    sentences = (_read_one(control, given[control.key]) for control in offered.values() if control.key in given)
    return [sentence for sentence in sentences if sentence]


def in_link(value: Any) -> str:
    """Return a control's value as a link says it."""
    return str(value).lower() if isinstance(value, bool) else shown(value)


def _read_one(control: Control, text: str) -> str | None:
    parameter = control.parameter
    if isinstance(parameter, Real | Integer):
        if text == AUTOMATIC and automatic_of(parameter) is not None:
            return None
        value = number(text, parameter)
        if value is None:
            return refusal(control.key, parameter, text)
        if text != shown(value):
            return f"In the link, {control.key} must be written {shown(value)}, got {text!r}; the default is used."
        also_offer(control.key, value)
    elif isinstance(parameter, Choice):
        if text in parameter.options and control.say(text) != text:
            st.session_state[control.key] = text  # as links said it before, and specs do
            return None
        named = replace(parameter, options=tuple(map(control.say, parameter.options)))
        return None if text in named.options else refusal(control.key, named, text)
    elif isinstance(parameter, Flag) and text not in ("true", "false"):
        return refusal(control.key, parameter, text)
    return None


def number(text: str, parameter: Real | Integer) -> float | None:
    """Return the number that a text says, None where it says none that the parameter allows."""
    try:
        value = float(text)
        return parameter.check(int(value) if isinstance(parameter, Integer) and value.is_integer() else value)
    except (ValueError, OverflowError):
        return None


def viewed(problem: type[Setting], choice: Choice) -> str:
    """Return what has been chosen of the view, or of how the run goes on."""
    return str(st.session_state.get(key_of(problem, choice.name), choice.default))


def seed_asked(problem: type[Setting]) -> int:
    """Return the seed that the page is to use: the widget's, or before it has been drawn the link's."""
    key = key_of(problem, "seed")
    linked = number(st.query_params.get(key, ""), SEED)
    return int(st.session_state.get(key, SEED.default if linked is None else linked))


def refusal(key: str, parameter: Parameter, given: str) -> str:
    """Say that a link's value is not allowed, and what is."""
    short = given if len(given) <= SHOWN_FROM_LINK else given[:SHOWN_FROM_LINK] + "…"
    return f"In the link, {key} must be {parameter.allowed().removesuffix(' or null')}, got {short!r}; the default is used."


def half_step(value: float) -> float:
    """Return the step slider's stop nearest to half of `value`."""
    step = next(p for p in SOLVER_PARAMETERS if p.name == "step_size")
    assert isinstance(step, Real)
    return float(min(grid(step), key=lambda stop: abs(stop - value / 2)))


def draw(control: Control, *, label: str = "") -> Any:
    """Draw a control and return its value."""
    p = control.parameter
    common: dict[str, Any] = {
        "label": label or p.label,
        "key": control.key,
        "help": f"{p.sentence} (Symbol: {p.symbol})" if p.symbol else p.sentence,
        "bind": "query-params",
    }
    if control.on_change is not None:
        common["on_change"] = control.on_change
    if isinstance(p, Flag):
        return st.toggle(value=p.default, **common)
    if isinstance(p, Choice):
        return st.selectbox(options=p.options, index=p.options.index(p.default), format_func=control.say, **common)
    _keep_between_stops(control)
    return st.select_slider(options=control.options, value=p.default, format_func=shown, **common)


def _keep_between_stops(control: Control) -> None:
    """Let the slider stand where a lesson has put it, though none of its stops is there: else it would fall back."""
    p, value = control.parameter, st.session_state.get(control.key)
    if not isinstance(p, Real | Integer) or not isinstance(value, int | float) or value in control.options:
        return
    if number(str(value), p) == value:
        also_offer(control.key, value)


def draw_choice(problem: type[Setting], choice: Choice, *, has_label: bool = False) -> None:
    """Draw a choice of the view as a row of buttons."""
    st.segmented_control(
        choice.label,
        choice.options,
        default=choice.default,
        required=True,
        key=key_of(problem, choice.name),
        bind="query-params",
        help=choice.sentence or None,
        label_visibility="visible" if has_label else "collapsed",
    )


def to_spec(
    problem: type[Setting], values: Mapping[str, Any], dataset: str, seed: int, own: Mapping[str, Any] | None = None
) -> Spec:
    """Return the spec of the controls' values, without changes; a value that no longer fits raises `SpecError`.

    `own` says of one's own file what no control does.
    """
    controls = controls_for(problem, dataset, values.get(PICKER))
    sections: dict[str, dict[str, Any]] = {name: {} for name in ("problem", "kernel", "solver", "stop", "data")}
    for name, control in controls.items():
        field = "name" if name == PICKER else name
        sections[control.section][field] = values.get(name, control.parameter.default)
    entry = entry_of(problem, dataset)
    if own is not None:
        sections["data"] |= own
        return Spec.from_dict({"setting": problem.name, "seed": seed, **sections})
    if sections["data"]["n"] == entry.n and entry.option("n").default is None:
        sections["data"]["n"] = None  # all of it
    sections["data"]["name"] = dataset
    sections["data"] |= _read_classes(entry, sections["data"], problem.labels)
    return Spec.from_dict({"setting": problem.name, "seed": seed, **sections})


def _read_classes(entry: DatasetEntry, data: Mapping[str, Any], labels: str) -> dict[str, Any]:
    """Return how the controls read the set's classes, as a spec says it."""
    name = data.get("convert") or entry.conversions_for(labels)[0]
    positive = entry.class_names.index(data["positive"]) if name == ONE_REST and "positive" in data else None
    return {"convert": name, "positive": positive}
