"""A spec's parameters as widgets, and back. The only place that knows the widgets' keys, which are also the link's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dsgcore.data import DATASETS, OPTION_NAMES, DatasetEntry
from dsgcore.data.conversions import AS_IS, CONVERSIONS, ONE_REST
from dsgcore.experiments import Setting, Spec, SpecError, default_spec
from dsgcore.experiments.settings import FILE, SEED, STEERABLE_OF, STOP_PARAMETERS
from dsgcore.parameters import Choice, Flag, Integer, Parameter, Real, grid
from dsgcore.schedules import STEERABLE
from dsgcore.solver import SOLVER_PARAMETERS
from pages._data_parameters import SUITED, data_parameters, share_of_positives, suited_values
from pages._own_file import entry_of

# The same key on two pages would carry one page's value to the other, whose ranges and defaults differ.
PREFIXES = {"auc": "", "s3vm": "svm_", "similar_unlabeled": "su_", "ordinal": "ord_", "multiclass": "mc_"}
N_HEROES = 3
# Parameters of a problem that are seldom moved.
SELDOM = {"multiclass": ("theta", "radius", "n_neighbors", "variant", "is_full_gradient")}
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
DATA_PAGE = "pages/data.py"


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
    on_change: Callable[[], None] | None = None

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


def also_offer(key: str, value: float) -> None:
    """Let the slider of that key stand at a value between its stops."""
    st.session_state.setdefault(_extra_key(key), set()).add(value)


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
        "data": data_parameters(problem, dataset, default.data),
    }
    suited = suited_values(problem, dataset)
    return {
        p.name: Control(
            key_of(problem, p.name),
            section,
            replace(p, default=suited.get(p.name, p.default)),
            on_change=_shares_follow(problem, dataset) if p.name in ("convert", "positive") else None,
        )
        for section, parameters in sections.items()
        for p in parameters
    }


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
    return [replace(p, default=value) for p, value in values if value is not None]


def dataset_choice(problem: type[Setting]) -> Choice:
    """Return the parameter that picks one of the data sets that suit the setting."""
    suiting = [entry for entry in DATASETS.values() if entry.suits(problem.labels)]
    # Those made for such labels first.
    names = tuple(entry.name for entry in sorted(suiting, key=lambda entry: not entry.is_made_for(problem.labels)))
    names = (*names, FILE)
    default = default_spec(problem.name).data.name
    return Choice("data", default, options=names, label="Data", sentence="Which data to learn from.")


def read_link(problem: type[Setting]) -> list[str]:
    """Check a new session's link: keep good values that no slider stop has, and say in a sentence what is not good."""
    given = st.query_params.to_dict()
    choice = dataset_choice(problem)
    titles = {entry_of(problem, name).title: name for name in choice.options}
    data_key = key_of(problem, "data")
    title = given.get(data_key, DATASETS[choice.default].title)
    notices = []
    if title not in titles:
        notices.append(_refusal(data_key, replace(choice, options=tuple(titles)), title))
    notices += read_controls(controls_for(problem, titles.get(title, choice.default)), given)
    for view in (SPEED, SLIDER, map_choice(problem)):
        if given.get(view.name, view.default) not in view.options:
            notices.append(_refusal(view.name, view, given[view.name]))
    if "seed" in given and _number(given["seed"], SEED) is None:
        notices.append(_refusal("seed", SEED, given["seed"]))
    return notices


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
        value = _number(text, parameter)
        if value is None:
            return _refusal(control.key, parameter, text)
        if text != shown(value):
            return f"In the link, {control.key} must be written {shown(value)}, got {text!r}; the default is used."
        also_offer(control.key, value)
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
    if control.on_change is not None:
        common["on_change"] = control.on_change
    if isinstance(p, Flag):
        return st.toggle(value=p.default, **common)
    if isinstance(p, Choice):
        return st.selectbox(options=p.options, index=p.options.index(p.default), **common)
    _keep_between_stops(control)
    return st.select_slider(options=control.options, value=p.default, format_func=shown, **common)


def _keep_between_stops(control: Control) -> None:
    """Let the slider stand where a lesson has put it, though none of its stops is there: else it would fall back."""
    p, value = control.parameter, st.session_state.get(control.key)
    if not isinstance(p, Real | Integer) or not isinstance(value, int | float) or value in control.options:
        return
    if _number(str(value), p) == value:
        also_offer(control.key, value)


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
    """Draw the picker of the data set with the way to the gallery, and return its name."""
    choice = dataset_choice(problem)
    dataset = st.selectbox(
        choice.label,
        choice.options,
        index=choice.options.index(choice.default),
        key=key_of(problem, "data"),
        bind="query-params",
        format_func=lambda name: entry_of(problem, name).title,
        help=choice.sentence,
        on_change=_use_suited,
        args=(problem,),
    )
    _notice_dataset(problem, dataset)
    _say_reading(problem, entry_of(problem, dataset))
    st.page_link(DATA_PAGE, label="See all data sets", icon=":material/grid_view:")
    return dataset


def _say_reading(problem: type[Setting], entry: DatasetEntry) -> None:
    """Say what is made of the set's classes where they are not used as they are."""
    usual = entry.conversions_for(problem.labels)[0]
    key = key_of(problem, "convert")
    name = st.session_state.get(key, st.query_params.get(key))
    conversion = name if name in entry.conversions_for(problem.labels) else usual
    key = key_of(problem, "positive")
    named = st.session_state.get(key, st.query_params.get(key))  # before the first drawing, the link's
    positive = named if named in entry.class_names else entry.class_names[0]
    if conversion == ONE_REST:
        st.caption(f"{positive} against the rest (see Data options).")
    elif conversion != AS_IS:
        st.caption(CONVERSIONS[conversion].sentence)


def _use_suited(problem: type[Setting]) -> None:
    """After a choice of data, give what goes with the data the value that suits them."""
    dataset = st.session_state[key_of(problem, "data")]
    st.session_state[_seen_key(problem)] = dataset
    for control in _going_with(problem, dataset):
        st.session_state[control.key] = control.parameter.default


def _notice_dataset(problem: type[Setting], dataset: str) -> None:
    """Do the same where a link within the app has chosen other data, but for what the link itself says.

    A lesson that brings its data brings all values with them, and asks for a new beginning.
    """
    before = st.session_state.get(_seen_key(problem), dataset)
    st.session_state[_seen_key(problem)] = dataset
    if before != dataset and not st.session_state.get("_restart"):
        for control in _going_with(problem, dataset):
            if control.key not in st.query_params:
                st.session_state[control.key] = control.parameter.default


def _seen_key(problem: type[Setting]) -> str:
    return f"_dataset_{problem.name}"


def _going_with(problem: type[Setting], dataset: str) -> list[Control]:
    """Return the controls whose value goes with the data."""
    names = {name for suited in SUITED.values() for name in suited}
    names |= {"prior", "convert", "positive", "n_labeled", *OPTION_NAMES}
    return [control for name, control in controls_for(problem, dataset).items() if name in names]


def to_spec(
    problem: type[Setting], values: Mapping[str, Any], dataset: str, seed: int, own: Mapping[str, Any] | None = None
) -> Spec:
    """Return the spec of the controls' values, without changes; a value that no longer fits raises `SpecError`.

    `own` says of one's own file what no control does.
    """
    controls = controls_for(problem, dataset)
    sections: dict[str, dict[str, Any]] = {name: {} for name in ("problem", "kernel", "solver", "stop", "data")}
    for name, control in controls.items():
        sections[control.section][name] = values.get(name, control.parameter.default)
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
