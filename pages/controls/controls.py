"""A spec's parameters as widgets, and the spec of the widgets; fields without a widget are a line of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Parameter, ParameterError, Real, Text, quoted
from dsgcore.data import DATASETS
from dsgcore.data.datasets import ONE_REST
from dsgcore.experiments import Setting, Spec, SpecError, default_spec
from dsgcore.experiments.settings import (
    FILE,
    StopSpec,
    kernel_names,
    sections_of,
    usual_width_of,
)
from dsgcore.experiments.theory import words_of
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_scale
from dsgcore.solver.parameters import OF_A_FIT
from dsgcore.solver.task import SCHEDULE_WORDS, SHUFFLED
from pages.controls.control import Control, also_offer, key_of, read_controls, shown
from pages.controls.data_parameters import data_parameters, share_of_positives, suited_values
from pages.controls.own_file import entry_of, own_file

ALSO = "also"
# The fields that name a file have their own entry in the link.
_OF_THE_FILE = ("name", "path", "sha256", "recipe")
_SECTIONS = ("problem", "data", "solver", "stop", "diagnostics")
LINE = Text(
    ALSO,
    "",
    label="Also set",
    sentence="Fields that no other control sets, with commas between them, such as "
    "solver.dtype=float64,diagnostics.n_probes=0. They override the other controls.",
)


def parameters_of(problem: type[Setting]) -> dict[str, Parameter]:
    """Return the parameters that the line can set, by section and name."""
    sections = sections_of(problem)
    sections["data"] = tuple(p for p in sections["data"] if p.name not in _OF_THE_FILE)
    return {f"{section}.{p.name}": p for section, parameters in sections.items() for p in parameters}


def what_differs(spec: Spec, other: Spec) -> str:
    """Return the line that turns `other` into the spec, without its changes, kernel, seed and file."""
    wanted, there = spec.to_dict(), other.to_dict()
    fields = [
        f"{section}.{name}={_text(value)}"
        for section in _SECTIONS
        for name, value in wanted[section].items()
        if value != there[section].get(name) and not (section == "data" and name in _OF_THE_FILE)
    ]
    if not fields:
        return ""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def read_also(problem: type[Setting], text: str) -> dict[str, dict[str, Any]]:
    """Return the values that a line sets, by section and name; raise `SpecError` if the line is not valid."""
    known, found = parameters_of(problem), dict[str, dict[str, Any]]()
    try:
        fields = next(csv.reader([" ".join(text.splitlines())]), [])
    except csv.Error as error:
        raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5: {error}") from None
    for field in fields:
        name, sign, value = field.strip().partition("=")
        if not sign:
            raise SpecError(f"{ALSO} must be a list like solver.dtype=float64,stop.patience=5, got {quoted(field)}")
        if name not in known:
            raise SpecError(f"{ALSO} must name one of {', '.join(known)}, got {quoted(name)}")
        try:
            checked = known[name].check(_value(value))
        except ParameterError as error:
            raise SpecError(f"in {ALSO}, {error}") from None
        section, _, own = name.partition(".")
        found.setdefault(section, {})[own] = checked
    return found


def with_also(problem: type[Setting], sections: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a spec's sections with the values that a line sets."""
    also = read_also(problem, text)
    return {**sections, **{name: {**sections.get(name, {}), **values} for name, values in also.items()}}


def _text(value: Any) -> str:
    """Return a value as it appears in the line: a word without quotes, unless it would be read as another type."""
    is_plain = isinstance(value, str) and value.isprintable() and _value(value) == value
    return value if is_plain else json.dumps(value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


PICKER = "kernel"
# Parameters with the same name but another meaning in each kernel have separate controls.
OWN_KEYS = {
    ("laplacian", "sigma"): "laplacian_sigma",
    ("dot_product", "sigma"): "dot_product_sigma",
}


def usual_kernel(problem: type[Setting]) -> str:
    """Return the name of a setting's default kernel."""
    return str(default_spec(problem.name).kernel.name)


# Names of the options of choices on the page.
SAID: dict[str, Callable[[Any], str]] = {
    "schedule": SCHEDULE_WORDS.__getitem__,
    "average": lambda value: "second half" if value else "none",
    "start": lambda value: "exact solution" if value else "0",
    "sampling": lambda value: "in passes" if value == SHUFFLED else "independent",
}


def controls_for(
    problem: type[Setting], dataset: str, kernel: str | None = None, *, for_lesson: bool = False
) -> dict[str, Control]:
    """Return the controls of a setting for a data set and a kernel (by default the usual one), by parameter name.

    In a lesson they start with the values that the lesson was made for, on every data set.
    """
    default = default_spec(problem.name)
    # Only a run on one's own file is that of an estimator's fit.
    left_out, of_run = ("dtype", *(() if dataset == FILE else OF_A_FIT)), sections_of(problem)["solver"]
    sections: dict[str, Sequence[Parameter]] = {
        "problem": _with_defaults(problem.parameters, default.problem),
        "solver": _with_defaults([p for p in of_run if p.name not in left_out], default.solver),
        "stop": _with_defaults(StopSpec.parameters, default.stop),
        "data": data_parameters(problem, dataset, default.data),
    }
    suited, follow = suited_values(problem, dataset, for_lesson=for_lesson), partial(_follow_shares, problem, dataset)
    made = {
        p.name: Control(
            key_of(problem, p.name),
            section,
            replace(p, default=suited.get(p.name, p.default)),
            on_change=follow if problem.labels == "pairs" and p.name in ("convert", "positive") else None,
            say=SAID.get(p.name, shown),
        )
        for section, parameters in sections.items()
        for p in parameters
    }
    also = {ALSO: Control(key_of(problem, ALSO), "", LINE)}
    return made | kernel_controls(problem, dataset, kernel or usual_kernel(problem)) | also


def kernel_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the picker of the kernel, if there is a choice, and the controls of the kernel's own parameters, with defaults
    that suit a data set."""
    made, names = dict[str, Control](), kernel_names(problem)
    if len(names) > 1:
        each = "\n".join(f"- **{words.title}**: {words.sentence}" for words in map(words_of, names))
        sentence = f"The measure of how alike two points are. A change starts a new run.\n\n{each}\n\n"
        choice = Choice(PICKER, usual_kernel(problem), "k", "Kernel", sentence, options=names)
        made[PICKER] = Control(key_of(problem, PICKER), "kernel", choice, say=lambda name: words_of(name).title)
    own = own_file(problem) if dataset == FILE else None
    width = like_scale(kernel, own.sigma, own.d) if own else usual_width_of(problem, dataset, kernel)
    for p in KERNELS[kernel].parameters:
        key = key_of(problem, OWN_KEYS.get((kernel, p.name), p.name))
        made[p.name] = Control(key, "kernel", replace(p, default=width.get(p.name, p.default)))
    return made


def kernel_asked(problem: type[Setting]) -> str:
    """Return the kernel that the page uses."""
    asked = st.session_state.get(key_of(problem, PICKER))
    return asked if asked in kernel_names(problem) else usual_kernel(problem)


def kernel_widths(offered: Mapping[str, Control]) -> list[str]:
    """Return the names of the controls for the width of the kernel, which depends on the data."""
    return [name for name, c in offered.items() if c.section == "kernel" and isinstance(c.parameter, Real)]


def _follow_shares(problem: type[Setting], dataset: str) -> None:
    """Set the share of positives that goes with a new conversion of the classes."""
    conversion = st.session_state.get(key_of(problem, "convert"), ONE_REST)
    name = st.session_state.get(key_of(problem, "positive"))
    names = DATASETS[dataset].class_names
    share = share_of_positives(dataset, conversion, names.index(name) if name in names else 0)
    if share is not None:
        also_offer(key_of(problem, "prior"), share)
        st.session_state[key_of(problem, "prior")] = share


def _with_defaults(parameters: Sequence[Parameter], owner: object) -> list[Parameter]:
    """Give parameters the defaults of the setting's default spec."""
    return [replace(p, default=getattr(owner, p.name)) for p in parameters]


def dataset_choice(problem: type[Setting]) -> Choice:
    """Return the parameter that picks one of the data sets that suit the setting."""
    suiting = [entry for entry in DATASETS.values() if entry.suits(problem.labels)]
    # Sets that were made for such labels come first.
    names = tuple(entry.name for entry in sorted(suiting, key=lambda entry: not entry.is_made_for(problem.labels)))
    names = (FILE, *names)
    default = default_spec(problem.name).data.name
    return Choice("data", default, options=names, label="Data", sentence="Data set that the run learns from.")


def data_picker(problem: type[Setting]) -> Control:
    """Return the picker of the data set."""
    choice = dataset_choice(problem)
    return Control(key_of(problem, "data"), "data", choice, say=lambda name: entry_of(problem, name).title)


def read_spec(
    problem: type[Setting], given: Mapping[str, str], placed: Callable[[Control], Control] = lambda control: control
) -> list[str]:
    """Set the controls of a spec to a link's values; return a sentence for each value that is not valid.

    `placed` returns a control with the key that it has on the page.
    """
    data = placed(data_picker(problem))
    refusals = read_controls([data], given)
    dataset, kernel = st.session_state.get(data.key, data.usual), usual_kernel(problem)
    if picker := kernel_controls(problem, dataset, kernel).get(PICKER):
        refusals += read_controls([placed(picker)], given)
        kernel = st.session_state.get(placed(picker).key, kernel)
    line = list[str]()
    try:
        read_also(problem, given.get(ALSO, ""))
    except SpecError as error:
        line = [f"In the link, {error}; it is left out."]
    others = controls_for(problem, dataset, kernel)
    read = [placed(control) for name, control in others.items() if name != PICKER and not (name == ALSO and line)]
    return [*refusals, *read_controls(read, given), *line]


def to_spec(
    problem: type[Setting], values: Mapping[str, Any], dataset: str, seed: int, own: Mapping[str, Any] | None = None
) -> Spec:
    """Return the spec of the controls' values, without changes; raise `SpecError` if a value does not fit.

    `own` holds the fields for an uploaded file that have no control.
    """
    sections: dict[str, dict[str, Any]] = {name: {} for name in ("problem", "kernel", "solver", "stop", "data")}
    for name, control in controls_for(problem, dataset, values.get(PICKER)).items():
        if name != ALSO:
            sections[control.section]["name" if name == PICKER else name] = values.get(name, control.parameter.default)
    data, entry = sections["data"], entry_of(problem, dataset)
    if own is not None:
        data |= own
    else:
        if data["n"] == entry.n and entry.option("n").default is None:
            data["n"] = None  # None stands for all points
        convert = data.get("convert") or entry.conversions_for(problem.labels)[0]
        is_one_rest = convert == ONE_REST and "positive" in data
        positive = entry.class_names.index(data["positive"]) if is_one_rest else None
        data |= {"name": dataset, "convert": convert, "positive": positive}
    return Spec.from_dict(
        {"setting": problem.name, "seed": seed, **with_also(problem, sections, values.get(ALSO) or "")}
    )
