"""A spec's parameters as widgets, with the ranges and first values that suit the data; and the spec of the widgets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.core.parameters import Choice, Parameter, Real
from dsgcore.data import DATASETS, OPTION_NAMES, DatasetEntry, convert, load
from dsgcore.data.datasets import ONE_REST
from dsgcore.experiments import Setting, Spec, SpecError, default_spec
from dsgcore.experiments.spec import (
    FILE,
    DataSpec,
    StopSpec,
    is_first_set,
    n_labeled_on,
    sections_of,
    usual_width_of,
)
from dsgcore.experiments.theory import words_of
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_scale
from dsgcore.settings import profile_of
from dsgcore.settings.profile import short
from dsgcore.solver.parameters import OF_A_FIT
from dsgcore.solver.task import SCHEDULE_WORDS, SHUFFLED
from pages.controls.control import BAD_INPUT, Control, key_of, read_controls, shown, without_blank
from pages.controls.link import ALSO, LINE, read_also
from pages.controls.own_file import entry_of, own_file, suited_to_own

# The weights of unlabeled points and of the graph depend on the data. These defaults replace unsuitable ones.
SUITED: dict[str, dict[str, float]] = {
    "high_dimensional": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
    "digits": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
    "breast_cancer": {"unlabeled_weight": 1.0},
    "diabetes": {"unlabeled_weight": 1.0},
    "friedman": {"unlabeled_weight": 1.0},
    "ten_digits": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
}
# The largest size that the app offers: a run on it still answers while the reader watches.
MAX_POINTS = 20_000
# By default at most these shares of the training points are labeled or in pairs; beyond them, the share is FEW.
SHARE_LABELED, SHARE_IN_PAIRS, FEW = 0.55, 0.2, 0.2
TEST_SHARE = 0.3
PAIRS = "Number of pairs of points that are known to share a class."
POSITIVE = "The class that counts as positive. All other classes together are negative."


def suited_values(problem: type[Setting], dataset: str, *, for_lesson: bool = False) -> dict[str, Any]:
    """Return the values that suit a data set, by name; for pairs, also the share of positives."""
    if dataset == FILE:
        return {**elsewhere_values(problem, dataset), **suited_to_own(problem)}
    suited = {**elsewhere_values(problem, dataset), **SUITED.get(dataset, {})}
    suited.pop("n_labeled", None)  # it depends on the size of the set
    if not (for_lesson or DATASETS[dataset].is_generated or is_first_set(problem, dataset)):
        entry = entry_of(problem, dataset)
        n_labeled = _few(n_labeled_on(problem, dataset), entry, problem.labels)
        n = round(entry.n * (1 - TEST_SHARE))
        usual = profile_of(problem).usual(n, n_labeled, rarest_share(dataset, problem.labels))
        suited |= {name: short(value) if isinstance(value, float) else value for name, value in usual.items()}
    if problem.labels != "pairs":
        return suited
    share = share_of_positives(dataset, DATASETS[dataset].conversions_for("pairs")[0], 0)
    return {**suited, "prior": share} if share is not None else suited


def elsewhere_values(problem: type[Setting], dataset: str) -> dict[str, Any]:
    """Return the setting's defaults for all data sets except its first, by name; for the first set, return nothing."""
    if is_first_set(problem, dataset):
        return {}
    return {name: v for own in problem.other_sets.values() for name, v in own.items()}


@cache
def rarest_share(dataset: str, labels: str) -> float:
    """Return the share of a set's rarest class, after the default conversion for such labels."""
    entry = DATASETS[dataset]
    made = convert(load(dataset, **entry.usual_options(labels)), entry.conversions_for(labels)[0], 0)
    return float(np.min(np.unique(made.y[made.y >= 0], return_counts=True)[1]) / np.sum(made.y >= 0))


@cache
def share_of_positives(dataset: str, conversion: str, positive: int) -> float | None:
    """Return the share of positives after a conversion, in hundredths, or None for one half, about which pairs say nothing."""
    made = convert(load(dataset, **DATASETS[dataset].usual_options("pairs")), conversion, positive)
    share = round(float(np.mean(made.y == 1)), 2)
    return None if share == 0.5 else share


def data_parameters(problem: type[Setting], dataset: str, default: DataSpec) -> list[Parameter]:
    """Return the data parameters of this set, with its own ranges and defaults: one that it does not have is left out."""
    entry, labels = entry_of(problem, dataset), problem.labels
    own = {option.name: option.default for option in entry.options} | entry.usual_options(labels)
    if default.name == dataset:
        own |= {name: value for name in own if (value := getattr(default, name)) is not None}
    options, conversions, made = {o.name: o for o in entry.options}, entry.conversions_for(labels), list[Parameter]()
    for p in sections_of(problem)["data"]:
        match p.name:
            case "convert":
                if len(conversions) > 1:
                    made.append(replace(p, default=conversions[0], options=conversions, optional=False))  # type: ignore[call-arg]
            case "positive":
                if ONE_REST in conversions:
                    names = entry.class_names
                    made.append(Choice(p.name, names[0], label="Positive class", sentence=POSITIVE, options=names))
            case "n" if "n" in options:
                high = int(min(options["n"].high, MAX_POINTS))
                made.append(replace(options["n"], default=own["n"] or high, usual=(100, high)))
            case name if name in OPTION_NAMES:
                made += [replace(options[name], default=own[name])] if name in options else []
            case "n_labeled":
                usual = n_labeled_on(problem, dataset)
                usual = usual if default.name == dataset else _few(usual, entry, labels)
                own_words = p.called("Similar pairs", PAIRS) if labels == "pairs" else p
                made.append(replace(own_words, default=usual))
            case "name" | "path" | "sha256" | "recipe" | "target":
                pass
            case _:
                made.append(p)
    return made


def _few(usual: int, entry: DatasetEntry, labels: str) -> int:
    """Return the default number of labels or pairs: the setting's, or fewer if the set is small."""
    n_train = entry.n * (1 - TEST_SHARE)
    if usual <= n_train * (SHARE_IN_PAIRS if labels == "pairs" else SHARE_LABELED):
        return usual
    return max(stop for stop in (10, 20, 50, 100, 200) if stop <= max(n_train * FEW, 10))


PICKER = "kernel"
# Parameters with the same name but another meaning in each kernel have separate controls.
OWN_KEYS = {
    ("laplacian", "sigma"): "laplacian_sigma",
    ("dot_product", "sigma"): "dot_product_sigma",
}


def usual_kernel(problem: type[Setting]) -> str:
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
    solver = [p for p in of_run if p.name not in left_out]
    # The parameters of each section, and whose values they have by default; those of the data have their own.
    sections: dict[str, tuple[Sequence[Parameter], object]] = {
        "problem": (problem.parameters, default.problem),
        "solver": (solver, default.solver),
        "stop": (StopSpec.parameters, default.stop),
        "data": (data_parameters(problem, dataset, default.data), None),
    }
    suited, follow = suited_values(problem, dataset, for_lesson=for_lesson), partial(_follow_shares, problem, dataset)
    made = {
        p.name: Control(
            key_of(problem, p.name),
            section,
            replace(p, default=suited.get(p.name, getattr(owner, p.name, p.default))),
            on_change=follow if problem.labels == "pairs" and p.name in ("convert", "positive") else None,
            say=SAID.get(p.name, shown),
        )
        for section, (parameters, owner) in sections.items()
        for p in parameters
    }
    also = {ALSO: Control(key_of(problem, ALSO), "", LINE)}
    return made | kernel_controls(problem, dataset, kernel or usual_kernel(problem)) | also


def lesson_controls(problem: type[Setting], values: Mapping[str, Any]) -> tuple[str, dict[str, Control]]:
    """Return the data set of a lesson's values, and the page's controls in a lesson with them."""
    dataset = values.get("data", dataset_choice(problem).default)
    return dataset, controls_for(problem, dataset, values.get("kernel"), for_lesson=True)


def kernel_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the picker of the kernel, if there is a choice, and the controls of the kernel's own parameters, with defaults
    that suit a data set."""
    made, names = dict[str, Control](), problem.kernels
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
    return asked if asked in problem.kernels else usual_kernel(problem)


def kernel_widths(offered: Mapping[str, Control]) -> list[str]:
    """Return the names of the controls for the width of the kernel, which depends on the data."""
    return [name for name, c in offered.items() if c.section == "kernel" and isinstance(c.parameter, Real)]


def without_effect(
    problem: type[Setting],
    offered: Mapping[str, Control],
    present: Callable[[Control], Any] = lambda control: st.session_state.get(control.key, control.usual),
) -> Collection[str]:
    """Return the names of the controls that change nothing beside the present values of the others."""
    own: Any = {name: without_blank(present(c)) for name, c in offered.items() if c.section == "problem"}
    try:
        return problem(**own).without_effect
    except BAD_INPUT:  # the spec's own error is drawn
        return ()


def _follow_shares(problem: type[Setting], dataset: str) -> None:
    """Set the share of positives that goes with a new conversion of the classes."""
    conversion = st.session_state.get(key_of(problem, "convert"), ONE_REST)
    name = st.session_state.get(key_of(problem, "positive"))
    names = DATASETS[dataset].class_names
    share = share_of_positives(dataset, conversion, names.index(name) if name in names else 0)
    if share is not None:
        st.session_state[key_of(problem, "prior")] = share


def dataset_choice(problem: type[Setting]) -> Choice:
    """Return the parameter that picks one of the data sets that suit the setting."""
    suiting = [entry for entry in DATASETS.values() if entry.suits(problem.labels)]
    # Sets that were made for such labels come first.
    names = tuple(entry.name for entry in sorted(suiting, key=lambda entry: not entry.is_made_for(problem.labels)))
    names = (FILE, *names)
    default = default_spec(problem.name).data.name
    return Choice("data", default, options=names, label="Data", sentence="Data set that the run learns from.")


def data_picker(problem: type[Setting]) -> Control:
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
        if data["n"] == entry.n and not entry.is_generated:
            data["n"] = None  # None stands for all points
        convert = data.get("convert") or entry.conversions_for(problem.labels)[0]
        is_one_rest = convert == ONE_REST and "positive" in data
        positive = entry.class_names.index(data["positive"]) if is_one_rest else None
        data |= {"name": dataset, "convert": convert, "positive": positive}
    for name, own_values in read_also(problem, values.get(ALSO) or "").items():
        sections[name] = sections.get(name, {}) | own_values
    return Spec.from_dict({"setting": problem.name, "seed": seed, **sections})
