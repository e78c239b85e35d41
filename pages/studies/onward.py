"""Links that carry a run, or a whole study, to Explore, Convergence and the Data page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache

import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.settings import profile_of
from dsgcore.studies import Study, StudyError
from dsgcore.studies.study import N_VALUES, Axis
from pages.controls import controls
from pages.controls.control import Control
from pages.shell.page_link import link_now
from pages.studies.asking import BEST_FIRST, MOST_POINTS, MOST_SEEDS, POINTS, RANDOM, SCORE, SEEDS
from pages.studies.links import at_its_end, data_in_link, edits_entry, said_of
from pages.studies.question import (
    MOST_VALUES,
    SETTING,
    VARY,
    can_be_axis,
    ends_of_axis,
    number_on_axis,
    values_of_axis,
)
from pages.studies.trajectory_asking import WITH_A_WAY

Link = dict[str, str]


def to_question(spec: Spec) -> Link:
    """Return the query of a link that varies a run's parameters on the page Explore, or checks its convergence."""
    return {SETTING: spec.problem.name} | data_in_link(spec) | edits_entry(spec) | said_of(at_its_end(spec))


def open_with(page: str, spec: Spec | None) -> None:
    """Open a page of studies with a run's data and values, unless its link asks for something else."""
    link = link_now()
    if link.is_plain and spec is not None and _has_page(page, spec):
        link.given |= to_question(spec)


def to_data(spec: Spec) -> Link:
    """Return the query of a link that shows a run's data on the Data page, and compares methods on them."""
    own = {name: text for name, text in said_of(spec).items() if name.startswith("data.")}
    seed = {SEED.name: str(spec.seed)} if spec.seed != SEED.default else {}
    return {SETTING: spec.problem.name} | data_in_link(spec) | own | seed


def draw_links(spec: Spec) -> None:
    """Draw links to Explore and Convergence with a spec's data."""
    for page in ("explore", "convergence"):
        if _has_page(page, spec):
            st.page_link(f"pages/{page}.py", label=page.title(), query_params=to_question(spec))


def draw_onward(spec: Spec) -> None:
    """Draw the buttons that take a run to Explore, Convergence and the Data page."""
    _button("Vary this run's parameters", "grid_on", "explore", to_question, spec)
    if _has_page("convergence", spec):
        _button("Check its convergence", "trending_down", "convergence", to_question, spec)
    why = "This comparison hides labels at random, so it cannot use data that were edited by hand."
    _button("Which method suits these data?", "trophy", "data", to_data, spec, why=why if spec.data.edits else "")


def _has_page(page: str, spec: Spec) -> bool:
    return page != "convergence" or type(spec.problem).name in WITH_A_WAY


def _button(label: str, icon: str, page: str, link: Callable[[Spec], Link], spec: Spec, why: str = "") -> None:
    # The link is made at the click, because it takes too long for each drawing of the page.
    icon = f":material/{icon}:"
    if st.button(label, icon=icon, type="tertiary", key=f"to-{page}", disabled=bool(why), help=why or None):
        st.switch_page(f"pages/{page}.py", query_params=link(spec))


def link_to_study(study: Study, measure: str = SCORE) -> Link:
    """Return the query of a link that opens a study on the Explore page.

    Parameters
    ----------
    study : Study
    measure : str
        The measure that the page shows first.

    Raises
    ------
    StudyError
        If the page has no widgets for a part of the study.
    """
    problem = type(study.spec.problem)
    offered = controls.controls_for(problem, study.spec.data.name, study.spec.kernel.name)
    can_vary = {f"{c.section}.{name}": c for name, c in offered.items() if can_be_axis(c)}
    _check(study, can_vary)
    link = to_question(study.spec) | {
        SEEDS.name: str(len(study.seeds)),
        VARY: ",".join(axis.name for axis in study.axes),
    }
    if study.is_best_first:
        link[BEST_FIRST.name] = "true"
    if drawn := [axis for axis in study.axes if axis.is_random]:
        link |= {RANDOM.name: "true", POINTS.name: str(len(drawn[0].values))}
    for axis in study.axes:
        link |= _said_axis(study.spec, can_vary[axis.name], axis)
    return link if measure == SCORE else link | {"measure": measure}


def _check(study: Study, can_vary: Mapping[str, Control]) -> None:
    """Raise `StudyError` if the page has no widgets for a part of the study."""
    numbers = [axis for axis in study.axes if axis.name in can_vary and not _is_choice(can_vary[axis.name])]
    n_random = sum(axis.is_random for axis in study.axes)
    reasons = {
        f"its seeds must be 0, 1, .. and at most {MOST_SEEDS}": study.seeds
        != (tuple(range(len(study.seeds))) if fit_any_seed(study.spec.data.edits) else (study.spec.seed,))
        or len(study.seeds) > MOST_SEEDS,
        "it must have an axis and no time limit": not study.axes or study.seconds is not None,
        "its axes must be sliders of the page": any(axis.name not in can_vary for axis in study.axes),
        "an axis of numbers must have values that are evenly spread on the scale of its slider": any(
            _range_of(study.spec, axis, can_vary[axis.name]) is None for axis in numbers
        ),
        "all axes of numbers are random, or none; one axis alone is not": n_random not in (0, len(numbers))
        or (n_random > 0 and len(study.axes) < 2),
        f"an axis must have at most {MOST_VALUES} values, or 2 to {MOST_POINTS} random ones": any(
            not (2 <= len(axis.values) <= MOST_POINTS if axis.is_random else len(axis.values) <= MOST_VALUES)
            for axis in numbers
        ),
    }
    for reason, is_so in reasons.items():
        if is_so:
            raise StudyError(f"the Explore page cannot show this study: {reason}")


def _is_choice(control: Control) -> bool:
    return isinstance(control.parameter, Choice)


@cache  # it takes a hundredth of a second, and is the same for everyone
def link_to_figure(setting: str, number: int) -> tuple[int, Link]:
    """Return the number of runs of a paper's figure as a study, and the query of its link."""
    figure = profile_of(SETTINGS[setting]).figures[number]
    study = Study.from_dict(figure.study(setting))
    return len(study), link_to_study(study, figure.measure)


def _said_axis(spec: Spec, control: Control, axis: Axis) -> Link:
    found = None if _is_choice(control) else _range_of(spec, axis, control)
    if found is None:
        several = values_of_axis(control)
        return {several.name: several.text(axis.values)}
    low, high, n = found
    ends, number = ends_of_axis(control), number_on_axis(control)
    return {ends.name: ends.text((low, high)), number.name: number.text(n)}


def _range_of(spec: Spec, axis: Axis, control: Control) -> tuple[float, float, int] | None:
    """Return the ends and the number of values of an axis of numbers, or None if no range has its values."""
    said, check = axis.said, control.parameter.check
    if "from" in said:
        is_own = said.get("scale") in (None, "linear" if getattr(control.parameter, "scale", "") == "linear" else "log")
        return (check(said["from"]), check(said["to"]), said.get("n", N_VALUES.default)) if is_own else None
    values = tuple(sorted(axis.values))
    ends = {"name": axis.name, "from": values[0], "to": values[-1], "n": len(values)}
    with suppress(StudyError):
        if Study.from_dict({"spec": spec, "axes": [ends]}).axes[0].values == values:
            return values[0], values[-1], len(values)
    return None
