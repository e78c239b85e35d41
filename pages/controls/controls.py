"""A spec's parameters as widgets, and the spec of the widgets. Only this module knows the widgets' keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Parameter, Real
from dsgcore.data import DATASETS, DatasetEntry
from dsgcore.data.datasets import ONE_REST, SEED
from dsgcore.experiments import Setting, Spec, default_spec
from dsgcore.experiments.settings import FILE, StopSpec, solver_parameters
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import OF_A_FIT
from dsgcore.solver.plan import SCHEDULE_WORDS
from dsgcore.solver.task import SHUFFLED
from pages.controls.also import ALSO, LINE, with_also
from pages.controls.control import Control, also_offer, key_of, number, shown
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
# Names of the options of choices, on the page and in the link.
SAID: dict[str, Callable[[Any], str]] = {
    "schedule": SCHEDULE_WORDS.__getitem__,
    "average": lambda value: "second half" if value else "none",
    "start": lambda value: "exact solution" if value else "0",
    "sampling": lambda value: "in passes" if value == SHUFFLED else "independent",
}


def steerable(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters that a slider can change during the run."""
    return profile_of(problem).steerable


def heroes(problem: type[Setting]) -> tuple[str, ...]:
    """Return the parameters whose sliders come first."""
    return steerable(problem)[:N_HEROES]


def is_prominent(problem: type[Setting], name: str) -> bool:
    """Return True if a parameter of the problem comes right after the first sliders; the others are under "More"."""
    return name not in profile_of(problem).seldom


def controls_for(
    problem: type[Setting], dataset: str, kernel: str | None = None, *, for_lesson: bool = False
) -> dict[str, Control]:
    """Return the controls of a setting for a data set and a kernel (by default the usual one), by parameter name.

    In a lesson they start with the values that the lesson was made for, on every data set.
    """
    default = default_spec(problem.name)
    sections: dict[str, Sequence[Parameter]] = {
        "problem": _with_defaults(problem.parameters, default.problem),
        "solver": _with_defaults(_of_solver(problem, dataset), default.solver),
        "stop": _with_defaults(StopSpec.parameters, default.stop),
        "data": data_parameters(problem, dataset, default.data),
    }
    suited = suited_values(problem, dataset, for_lesson=for_lesson)
    made = {
        p.name: Control(
            key_of(problem, p.name),
            section,
            replace(p, default=suited.get(p.name, p.default)),
            on_change=_shares_follow(problem, dataset) if p.name in ("convert", "positive") else None,
            say=SAID.get(p.name, shown),
        )
        for section, parameters in sections.items()
        for p in parameters
    }
    also = {ALSO: Control(key_of(problem, ALSO), ALSO, LINE)}
    return made | kernel_controls(problem, dataset, kernel or usual_kernel(problem)) | also


def _of_solver(problem: type[Setting], dataset: str) -> list[Parameter]:
    """Return the solver's parameters that have a control. Only a run on one's own file is that of an estimator's fit."""
    left_out = ("dtype", *(() if dataset == FILE else OF_A_FIT))
    return [p for p in solver_parameters(problem) if p.name not in left_out]


def kernel_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the picker of the kernel, if there is a choice, and the controls of the kernel's parameters."""
    picked = {p.name: Control(key_of(problem, p.name), "kernel", p, say=kernel_title) for p in kernel_choices(problem)}
    return picked | {
        p.name: Control(key_of(problem, OWN_KEYS.get((kernel, p.name), p.name)), "kernel", p)
        for p in kernel_parameters(problem, dataset, kernel)
    }


def kernel_asked(problem: type[Setting]) -> str:
    """Return the kernel that the page uses: the widget's, or the link's before the widget exists."""
    usual, key = usual_kernel(problem), key_of(problem, PICKER)
    titles = {kernel_title(name): name for choice in kernel_choices(problem) for name in choice.options}
    linked = titles.get(st.query_params.get(key, ""), usual)
    asked = st.session_state.get(key, linked)
    return asked if asked in titles.values() else usual


def kernel_widths(offered: Mapping[str, Control]) -> list[str]:
    """Return the names of the controls for the width of the kernel, which depends on the data."""
    return [name for name, c in offered.items() if c.section == "kernel" and isinstance(c.parameter, Real)]


def _shares_follow(problem: type[Setting], dataset: str) -> Callable[[], None] | None:
    """Return a callback that follows a new conversion of the classes: for pairs, it sets the share of positives."""
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


def seed_asked(problem: type[Setting]) -> int:
    """Return the seed that the page uses: the widget's, or the link's before the widget exists."""
    key = key_of(problem, "seed")
    linked = number(st.query_params.get(key, ""), SEED)
    return int(st.session_state.get(key, SEED.default if linked is None else linked))


def to_spec(
    problem: type[Setting], values: Mapping[str, Any], dataset: str, seed: int, own: Mapping[str, Any] | None = None
) -> Spec:
    """Return the spec of the controls' values, without changes; raise `SpecError` if a value does not fit.

    `own` holds the fields for an uploaded file that have no control.
    """
    controls = controls_for(problem, dataset, values.get(PICKER))
    sections: dict[str, dict[str, Any]] = {name: {} for name in ("problem", "kernel", "solver", "stop", "data")}
    for name, control in controls.items():
        if name != ALSO:
            sections[control.section]["name" if name == PICKER else name] = values.get(name, control.parameter.default)
    entry, also = entry_of(problem, dataset), values.get(ALSO) or ""
    if own is not None:
        sections["data"] |= own
        return Spec.from_dict({"setting": problem.name, "seed": seed, **with_also(problem, sections, also)})
    if sections["data"]["n"] == entry.n and entry.option("n").default is None:
        sections["data"]["n"] = None  # None stands for all points
    sections["data"]["name"] = dataset
    sections["data"] |= _read_classes(entry, sections["data"], problem.labels)
    return Spec.from_dict({"setting": problem.name, "seed": seed, **with_also(problem, sections, also)})


def _read_classes(entry: DatasetEntry, data: Mapping[str, Any], labels: str) -> dict[str, Any]:
    """Return the conversion of the set's classes, as fields of the spec."""
    name = data.get("convert") or entry.conversions_for(labels)[0]
    positive = entry.class_names.index(data["positive"]) if name == ONE_REST and "positive" in data else None
    return {"convert": name, "positive": positive}
