"""Links that carry a run, or a whole study, to a method's page, to Explore, to Convergence and to the Data page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.experiments.spec import FILE
from dsgcore.settings import profile_of
from dsgcore.studies import Study, StudyError
from dsgcore.studies.study import N_VALUES, Axis
from pages.controls import controls
from pages.controls.control import Control
from pages.controls.controls import PICKER, data_picker
from pages.controls.hand import EDITS, edits_to_text
from pages.controls.link import ALSO, CHANGES, FILE_ENTRY, changes_to_text, what_differs
from pages.controls.own_file import entry_of, file_in_link
from pages.shell.page_link import link_now
from pages.shell.plain_text import label_about
from pages.studies.asking import BEST_FIRST, MEASURE, MOST_POINTS, MOST_SEEDS, POINTS, RANDOM, SCORE, SEEDS
from pages.studies.question import (
    MOST_VALUES,
    SETTING,
    VARY,
    can_be_axis,
    edits_entry,
    ends_of_axis,
    number_on_axis,
    values_of_axis,
)
from pages.studies.trajectory_asking import WITH_A_WAY

Link = dict[str, str]


def link_to_run(spec: Spec) -> Link:
    """Return the query of a link to a run in the workbench."""
    said = _data(spec) | _values(spec)
    if spec.seed != SEED.default:
        said[SEED.name] = str(spec.seed)
    if spec.changes:
        said[CHANGES] = changes_to_text(spec)
    if spec.data.edits:
        said[EDITS] = edits_to_text(spec.data.edits)
    return said


def to_question(spec: Spec) -> Link:
    """Return the query of a link that varies a run's parameters on the page Explore, or checks its convergence."""
    return {SETTING: spec.problem.name} | _data(spec) | edits_entry(spec) | _values(spec)


def to_data(spec: Spec) -> Link:
    """Return the query of a link that shows a run's data on the Data page, and compares methods on them."""
    own = {name: text for name, text in _values(spec).items() if name.startswith("data.")}
    seed = {SEED.name: str(spec.seed)} if spec.seed != SEED.default else {}
    return {SETTING: spec.problem.name} | _data(spec) | own | seed


def _data(spec: Spec) -> Link:
    data, said = spec.data, {data_picker(type(spec.problem)).name: spec.data.name}
    if data.name == FILE:
        said[FILE_ENTRY] = file_in_link(str(data.path), str(data.sha256), data.recipe)
    return said


def _values(spec: Spec) -> Link:
    """Return the values of a spec, at its end, that differ from the page's defaults, as entries of a link."""
    plain = spec.to_dict() | {"changes": []}
    for name, value in spec.values_at(spec.solver.n_iter + 1).items():
        plain["solver" if name in plain["solver"] else "problem"][name] = value
    spec, problem = Spec.from_dict(plain), type(spec.problem)
    offered = controls.controls_for(problem, spec.data.name, spec.kernel.name)
    is_file, values = spec.data.name == FILE, dict[str, Any]()
    for name, control in offered.items():
        if name in (ALSO, PICKER):
            continue
        value = getattr(getattr(spec, control.section), name)
        if control.section == "data" and not is_file:
            # A spec has None for all points, and for the default positive class; a control has a value.
            if name == "positive" and value is not None:
                value = entry_of(problem, spec.data.name).class_names[value]
            elif name in ("n", "positive") and value is None:
                value = control.parameter.default
        values[name] = value
    if PICKER in offered:
        values[PICKER] = spec.kernel.name
    own = {name: plain["data"][name] for name in ("name", "path", "sha256", "recipe")} if is_file else None
    without = replace(spec, data=replace(spec.data, edits=()))
    values[ALSO] = what_differs(without, controls.to_spec(problem, values, spec.data.name, spec.seed, own))
    return {offered[name].name: offered[name].text(v) for name, v in values.items() if v != offered[name].usual}


def open_with(page: str, spec: Spec | None) -> None:
    """Open a page of studies with a run's data and values, unless its link asks for something else."""
    link = link_now()
    if link.is_plain and spec is not None and _has_page(page, spec):
        link.given |= to_question(spec)


def _has_page(page: str, spec: Spec) -> bool:
    return page != "convergence" or type(spec.problem).name in WITH_A_WAY


def draw_links(spec: Spec) -> None:
    """Draw links to Explore and Convergence with a spec's data."""
    for page in ("explore", "convergence"):
        if _has_page(page, spec):
            label = label_about(page.title(), "with these data")  # the menu has a link of the same name
            st.page_link(f"pages/{page}.py", label=label, query_params=to_question(spec))


def draw_onward(spec: Spec) -> None:
    """Draw the buttons that take a run to Explore, Convergence and the Data page."""
    why = "This comparison hides labels at random, so it cannot use data that were edited by hand."
    ways: tuple[tuple[str, str, str, Callable[[Spec], Link], str], ...] = (
        ("explore", "Vary this run's parameters", "grid_on", to_question, ""),
        ("convergence", "Check its convergence", "trending_down", to_question, ""),
        ("data", "Which method suits these data?", "trophy", to_data, why if spec.data.edits else ""),
    )
    for page, label, sign, link, no in ways:
        icon, key = f":material/{sign}:", f"to-{page}"
        if _has_page(page, spec) and st.button(
            label, icon=icon, type="tertiary", key=key, disabled=bool(no), help=no or None
        ):
            st.switch_page(
                f"pages/{page}.py", query_params=link(spec)
            )  # made at the click: it takes too long for each drawing


def link_to_study(study: Study, measure: str = SCORE) -> Link:
    """Return the query of a link that opens a study on the Explore page, which shows that measure first.

    Raise `StudyError` if the page has no widgets for a part of the study.
    """
    spec = study.spec
    offered = controls.controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    can_vary = {f"{c.section}.{name}": c for name, c in offered.items() if can_be_axis(c)}
    _check(study, can_vary)
    link = to_question(spec) | {SEEDS.name: str(len(study.seeds)), VARY: ",".join(axis.name for axis in study.axes)}
    if study.is_best_first:
        link[BEST_FIRST.name] = "true"
    if drawn := [axis for axis in study.axes if axis.is_random]:
        link |= {RANDOM.name: "true", POINTS.name: str(len(drawn[0].values))}
    for axis in study.axes:
        control = can_vary[axis.name]
        found = None if isinstance(control.parameter, Choice) else _range_of(spec, axis, control)
        if found is None:
            several = values_of_axis(control)
            link[several.name] = several.text(axis.values)
        else:
            ends, number = ends_of_axis(control), number_on_axis(control)
            link |= {ends.name: ends.text(found[:2]), number.name: number.text(found[2])}
    return link if measure == SCORE else link | {MEASURE.name: measure}


def _check(study: Study, can_vary: Mapping[str, Control]) -> None:
    known = [(axis, can_vary[axis.name]) for axis in study.axes if axis.name in can_vary]
    numbers = [(axis, control) for axis, control in known if not isinstance(control.parameter, Choice)]
    n_random, seeds = sum(axis.is_random for axis in study.axes), study.seeds
    own_seeds = tuple(range(len(seeds))) if fit_any_seed(study.spec.data.edits) else (study.spec.seed,)
    reasons = {
        f"its seeds must be 0, 1, .. and at most {MOST_SEEDS}": seeds != own_seeds or len(seeds) > MOST_SEEDS,
        "it must have an axis and no time limit": not study.axes or study.seconds is not None,
        "its axes must be sliders of the page": len(known) < len(study.axes),
        "an axis of numbers must have values that are evenly spread on the scale of its slider": any(
            _range_of(study.spec, axis, control) is None for axis, control in numbers
        ),
        "all axes of numbers are random, or none; one axis alone is not": n_random not in (0, len(numbers))
        or (n_random > 0 and len(study.axes) < 2),
        f"an axis must have at most {MOST_VALUES} values, or 2 to {MOST_POINTS} random ones": any(
            not (2 <= len(axis.values) <= MOST_POINTS if axis.is_random else len(axis.values) <= MOST_VALUES)
            for axis, _ in numbers
        ),
    }
    for reason, is_so in reasons.items():
        if is_so:
            raise StudyError(f"the Explore page cannot show this study: {reason}")


def _range_of(spec: Spec, axis: Axis, control: Control) -> tuple[float, float, int] | None:
    """Return the ends and the number of values of an axis of numbers, or None if no range has its values."""
    said, check = axis.said, control.parameter.check
    if "from" in said:
        is_own = said.get("scale") in (None, "linear" if getattr(control.parameter, "scale", "") == "linear" else "log")
        return (check(said["from"]), check(said["to"]), said.get("n", N_VALUES.default)) if is_own else None
    if None in axis.values:
        return None
    values = tuple(sorted(axis.values))
    ends = {"name": axis.name, "from": values[0], "to": values[-1], "n": len(values)}
    with suppress(StudyError):
        if Study.from_dict({"spec": spec, "axes": [ends]}).axes[0].values == values:
            return values[0], values[-1], len(values)
    return None


@cache  # it takes a hundredth of a second, and is the same for everyone
def link_to_figure(setting: str, number: int) -> tuple[int, Link]:
    """Return the number of runs of a paper's figure as a study, and the query of its link."""
    figure = profile_of(SETTINGS[setting]).figures[number]
    study = Study.from_dict(figure.study(setting))
    return len(study), link_to_study(study, figure.measure)
