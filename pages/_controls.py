"""A spec's parameters as widgets, and back. The only place that knows the widgets' keys, which are also the link's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsgcore.data import DATASETS
from dsgcore.experiments import Setting, Spec, SpecError, default_spec
from dsgcore.experiments.settings import DATA_PARAMETERS, SEED, STEERABLE_OF, STOP_PARAMETERS
from dsgcore.experiments.spec import DataSpec
from dsgcore.parameters import Choice, Flag, Integer, Parameter, Real, grid
from dsgcore.schedules import STEERABLE
from dsgcore.solver import SOLVER_PARAMETERS

# The same key on two pages would carry one page's value to the other, whose ranges and defaults differ.
PREFIXES = {"auc": "", "s3vm": "svm_", "similar_unlabeled": "su_", "ordinal": "ord_", "multiclass": "mc_"}
N_HEROES = 3
# Parameters of a problem that are seldom moved.
SELDOM = {"multiclass": ("theta", "radius", "n_neighbors", "variant", "is_full_gradient")}
# A kernel's sharpness, and with it what the graph may weigh, goes with the data: defaults where the setting's do not suit.
SUITED: dict[str, dict[str, float]] = {
    "ten_digits": {"sigma": 0.1, "tau_I": 1e-4, "tau_S": 1e-3},
    "wine": {"sigma": 1.0},
    "iris": {"sigma": 5.0},
}
SHOWN_FROM_LINK = 40
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
# What the app offers of a data set's size: a run of it answers while one looks on.
MAX_POINTS = 20_000


def steerable(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters that a slider can change while the run goes on."""
    return STEERABLE_OF.get(problem.name, STEERABLE)


def heroes(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters whose sliders come first."""
    return steerable(problem)[:N_HEROES]


def is_prominent(problem: type[Setting], name: str) -> bool:
    """Whether a parameter of the problem stands beside the first sliders; others are under "More"."""
    return name not in SELDOM.get(problem.name, ())


def map_choice(problem: type[Setting]) -> Choice:
    """Return what can be shown on the map."""
    return CLASS_MAP if problem.labels == "classes" else MAP


def key_of(problem: type[Setting], name: str) -> str:
    """Return the key of a setting's widget, which is also its name in the link."""
    return PREFIXES[problem.name] + name


@dataclass(frozen=True)
class Control:
    """One parameter as a widget: its key (and name in the link), its section of the spec, and what a slider offers."""

    key: str
    section: str
    parameter: Parameter

    @property
    def options(self) -> tuple[Any, ...]:
        """The values that the widget offers, a link's own value among them."""
        if isinstance(self.parameter, Choice):
            return self.parameter.options
        if isinstance(self.parameter, Flag):
            return (False, True)
        assert isinstance(self.parameter, Real | Integer)
        extra = st.session_state.get(_extra_key(self.key), set())
        return tuple(sorted({*grid(self.parameter), *extra}))


def _extra_key(key: str) -> str:
    return f"_from_link_{key}"


def shown(value: Any) -> str:
    """Return a value as text: the shortest that reads back exactly."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def controls_for(problem: type[Setting], dataset: str) -> dict[str, Control]:
    """Return the controls of a setting with a data set, by the parameters' names."""
    default = default_spec(problem.name)
    sections = {
        "problem": _with_defaults(problem.parameters, default.problem),
        "kernel": _with_defaults(type(default.kernel).parameters, default.kernel),
        "solver": _with_defaults([p for p in SOLVER_PARAMETERS if p.name != "dtype"], default.solver),
        "stop": _with_defaults(STOP_PARAMETERS, default.stop),
        "data": _data_parameters(problem, dataset, default.data),
    }
    suited = SUITED.get(dataset, {})
    return {
        p.name: Control(key_of(problem, p.name), section, replace(p, default=suited.get(p.name, p.default)))
        for section, parameters in sections.items()
        for p in parameters
    }


def _with_defaults(parameters: Sequence[Parameter], owner: object) -> list[Parameter]:
    """Give parameters the defaults of the setting's first spec; leave out what only a spec can say (a list, nothing)."""
    values = [(p, getattr(owner, p.name)) for p in parameters]
    return [replace(p, default=value) for p, value in values if value is not None]


def _data_parameters(problem: type[Setting], dataset: str, default: DataSpec) -> list[Parameter]:
    """Return the parameters of the data that this set takes, with its own ranges and defaults."""
    takes = {option.name: option for option in DATASETS[dataset].options}
    parameters: list[Parameter] = []
    for p in DATA_PARAMETERS:
        if p.name in ("name", "path", "target", "positive", "stratified"):
            continue
        option = takes.get(p.name)
        usual = getattr(default, p.name) if default.name == dataset else None
        if p.name == "n_labeled":
            p = replace(p, default=default.n_labeled)
            if problem.labels == "pairs":
                p = replace(p, label="Similar pairs", sentence="How many pairs of points are known to share a class.")
        elif p.name == "n" and option is not None:
            high = int(min(option.high, MAX_POINTS))
            p = replace(p, default=usual or option.default or high, usual=(100, high))  # type: ignore[call-arg]
        elif p.name in ("noise", "imbalance") and (option is None or option.default is None):
            continue  # as the data are; a spec file can say otherwise
        elif option is not None:
            p = replace(p, default=option.default if usual is None else usual)
        parameters.append(p)
    return parameters


def dataset_choice(problem: type[Setting]) -> Choice:
    """Return the parameter that picks one of the data sets that suit the setting."""
    names = tuple(name for name, entry in DATASETS.items() if entry.suits(problem.labels))
    default = default_spec(problem.name).data.name
    return Choice("data", default, options=names, label="Data", sentence="Which data to learn from.")


def read_link(problem: type[Setting]) -> list[str]:
    """Check a new session's link: keep good values that no slider stop has, and say in a sentence what is not good."""
    given = st.query_params.to_dict()
    choice = dataset_choice(problem)
    titles = {DATASETS[name].title: name for name in choice.options}
    data_key = key_of(problem, "data")
    title = given.get(data_key, DATASETS[choice.default].title)
    notices = []
    if title not in titles:
        notices.append(_refusal(data_key, replace(choice, options=tuple(titles)), title))
    for control in controls_for(problem, titles.get(title, choice.default)).values():
        if control.key in given and (sentence := _read_one(control, given[control.key])):
            notices.append(sentence)
    for view in (SPEED, SLIDER, map_choice(problem)):
        if given.get(view.name, view.default) not in view.options:
            notices.append(_refusal(view.name, view, given[view.name]))
    if "seed" in given and _number(given["seed"], SEED) is None:
        notices.append(_refusal("seed", SEED, given["seed"]))
    return notices


def _read_one(control: Control, text: str) -> str | None:
    parameter = control.parameter
    if isinstance(parameter, Real | Integer):
        value = _number(text, parameter)
        if value is None:
            return _refusal(control.key, parameter, text)
        if text != shown(value):
            return f"In the link, {control.key} must be written {shown(value)}, got {text!r}; the default is used."
        st.session_state.setdefault(_extra_key(control.key), set()).add(value)
    elif (isinstance(parameter, Choice) and text not in parameter.options) or (
        isinstance(parameter, Flag) and text not in ("true", "false")
    ):
        return _refusal(control.key, parameter, text)
    return None


def _number(text: str, parameter: Real | Integer) -> float | None:
    try:
        value = float(text)
        return parameter.check(int(value) if isinstance(parameter, Integer) and value.is_integer() else value)
    except (ValueError, OverflowError):
        return None


def seed_asked() -> int:
    """Return the seed that the page is to use: the widget's, or before it has been drawn the link's."""
    linked = _number(st.query_params.get("seed", ""), SEED)
    return int(st.session_state.get("seed", SEED.default if linked is None else linked))


def _refusal(key: str, parameter: Parameter, given: str) -> str:
    short = given if len(given) <= SHOWN_FROM_LINK else given[:SHOWN_FROM_LINK] + "…"
    return f"In the link, {key} must be {parameter.allowed()}, got {short!r}; the default is used."


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
    if isinstance(p, Flag):
        return st.toggle(value=p.default, **common)
    if isinstance(p, Choice):
        return st.selectbox(options=p.options, index=p.options.index(p.default), **common)
    return st.select_slider(options=control.options, value=p.default, format_func=shown, **common)


def draw_choice(choice: Choice, *, has_label: bool = False) -> None:
    """Draw a choice of the view as a row of buttons."""
    st.segmented_control(
        choice.label,
        choice.options,
        default=choice.default,
        required=True,
        key=choice.name,
        bind="query-params",
        help=choice.sentence or None,
        label_visibility="visible" if has_label else "collapsed",
    )


def draw_dataset(problem: type[Setting]) -> str:
    """Draw the picker of the data set, and return its name."""
    choice = dataset_choice(problem)
    return st.selectbox(
        choice.label,
        choice.options,
        index=choice.options.index(choice.default),
        key=key_of(problem, "data"),
        bind="query-params",
        format_func=lambda name: DATASETS[name].title,
        help=choice.sentence,
        on_change=_use_suited,
        args=(problem,),
    )


def _use_suited(problem: type[Setting]) -> None:
    """After a choice of data, give what goes with the data the value that suits them."""
    names = {name for suited in SUITED.values() for name in suited}
    for name, control in controls_for(problem, st.session_state[key_of(problem, "data")]).items():
        if name in names and problem.labels == "classes":
            st.session_state[control.key] = control.parameter.default


def to_spec(problem: type[Setting], values: Mapping[str, Any], dataset: str, seed: int) -> Spec:
    """Return the spec of the controls' values, without changes; a value that no longer fits raises `SpecError`."""
    controls = controls_for(problem, dataset)
    sections: dict[str, dict[str, Any]] = {name: {} for name in ("problem", "kernel", "solver", "stop", "data")}
    for name, control in controls.items():
        sections[control.section][name] = values.get(name, control.parameter.default)
    entry = DATASETS[dataset]
    if sections["data"]["n"] == entry.n and entry.option("n").default is None:
        sections["data"]["n"] = None  # all of it
    sections["data"]["name"] = dataset
    return Spec.from_dict({"setting": problem.name, "seed": seed, **sections})


def changes_to_text(spec: Spec) -> str:
    """Return a record of the changes for the link: the values at the start, then each change as t:name=value."""
    start = spec.values_at(0)
    if not spec.changes:
        return ""
    names = {change.name for change in spec.changes}
    parts = [f"0:{name}={shown(start[name])}" for name in spec.steerable if name in names]
    parts += [f"{change.t}:{change.name}={shown(change.value)}" for change in spec.changes]
    return ",".join(parts)


def with_changes(spec: Spec, text: str) -> Spec:
    """Return the spec with a link's record of changes; raise `SpecError` where it does not fit the sliders.

    The sliders show the values at the end; the record holds those at the start and every change since.
    """
    if not text:
        return spec
    start, changes = _parse_changes(text)
    plain = spec.to_dict()
    end = {**start, **{change["name"]: change["value"] for change in changes}}
    now = spec.values_at(0)
    for name, value in end.items():
        if now.get(name) != value:
            raise SpecError(f"In the link, the record of changes ends with {name} {value:g}, but the slider does not.")
    for name, value in start.items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    plain["changes"] = changes
    return Spec.from_dict(plain)


def _parse_changes(text: str) -> tuple[dict[str, float], list[dict[str, Any]]]:
    start: dict[str, float] = {}
    changes: list[dict[str, Any]] = []
    try:
        for part in text.split(","):
            t, assignment = part.split(":")
            name, value = assignment.split("=")
            if int(t) == 0:
                start[name] = float(value)
            else:
                changes.append({"t": int(t), "name": name, "value": float(value)})
    except ValueError:
        short = text[:SHOWN_FROM_LINK]
        raise SpecError(
            f"In the link, changes must be a list like 0:lam=0.1,12:lam=0.5, got {short!r}; it is left out."
        ) from None
    return start, changes
