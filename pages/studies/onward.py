"""Links that carry a run, or a whole study, to Explore, Convergence and the Data page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial

import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.data.datasets import SEED
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS, Spec
from dsgcore.experiments.settings import DATA_PARAMETERS
from dsgcore.settings import profile_of
from dsgcore.studies import Study, StudyError
from dsgcore.studies.study import N_VALUES, Axis
from pages.controls import controls
from pages.controls.control import Control, key_of, shown
from pages.controls.link import OF_THE_FRAME
from pages.shell.sessions import visit
from pages.studies.asking import (
    BEGINNING,
    BEST_FIRST,
    MOST_POINTS,
    MOST_SEEDS,
    MOST_VALUES,
    POINTS,
    RANDOM,
    SEEDS,
    can_be_axis,
)
from pages.studies.asking import PREFIX as EXPLORE
from pages.studies.beginning import NUMBER, RANGE, SETTING, VALUES, VARY
from pages.studies.links import at_its_end, data_in_link, edits_entry, said_of
from pages.studies.measures import MEASURE, SCORE, name_in_link
from pages.studies.trajectory_asking import PREFIX as CONVERGENCE
from pages.studies.trajectory_asking import WITH_A_WAY

Link = dict[str, str]


PREFIXES = {"explore": EXPLORE, "convergence": CONVERGENCE}


def to_question(page: str, spec: Spec) -> Link:
    """Return the query of a link that varies a run's parameters on the page Explore, or checks its convergence."""
    problem, prefix = type(spec.problem), PREFIXES[page]
    said = {prefix + SETTING: profile_of(problem).short}
    said |= data_in_link(spec, prefix + key_of(problem, "data"), prefix + key_of(problem, "file"))
    said |= edits_entry(spec, prefix)
    return said | said_of(at_its_end(spec), lambda control: prefix + control.key)


def open_with(page: str, spec: Spec | None) -> None:
    """Open a page of studies with a run's data and values, once in each visit, unless its link asks for something else."""
    noted = f"_opened_{page}"
    is_new = st.session_state.get(noted) != visit()
    st.session_state[noted] = visit()
    given = st.query_params.to_dict()
    is_asked = any(name.startswith(PREFIXES[page]) for name in given)
    if is_new and not is_asked and spec is not None and _has_page(page, spec):
        frame = {name: text for name, text in given.items() if name in OF_THE_FRAME}
        st.query_params.from_dict(frame | to_question(page, spec))
        st.rerun()  # only a link that is there at the first drawing sets controls


def to_data(spec: Spec) -> Link:
    """Return the query of a link that shows a run's data on the Data page, and compares methods on them."""
    names = {parameter.name for parameter in DATA_PARAMETERS}
    said = said_of(spec, lambda control: f"data_{control.parameter.name}")
    own = {key: text for key, text in said.items() if key.removeprefix("data_") in names}
    seed = {"look_seed": str(spec.seed)} if spec.seed != SEED.default else {}
    start = {"data_setting": profile_of(type(spec.problem)).short}
    return start | data_in_link(spec, "set", "look_file") | own | seed


def draw_links(spec: Spec) -> None:
    """Draw links to Explore and Convergence with a spec's data."""
    for page in PREFIXES:
        if _has_page(page, spec):
            st.page_link(f"pages/{page}.py", label=page.title(), query_params=to_question(page, spec))


def draw_onward(spec: Spec) -> None:
    """Draw the buttons that take a run to Explore, Convergence and the Data page."""
    _button("Vary this run's parameters", "grid_on", "explore", partial(to_question, "explore"), spec)
    if _has_page("convergence", spec):
        _button("Check its convergence", "trending_down", "convergence", partial(to_question, "convergence"), spec)
    why = "This comparison hides labels at random, so it cannot use data that were edited by hand."
    _button("Which method suits these data?", "trophy", "data", to_data, spec, why=why if spec.data.edits else "")


def _has_page(page: str, spec: Spec) -> bool:
    return page != "convergence" or type(spec.problem).name in WITH_A_WAY


def _button(label: str, icon: str, page: str, link: Callable[[Spec], Link], spec: Spec, why: str = "") -> None:
    # The link is made at the click, because it takes too long for each drawing of the page.
    icon = f":material/{icon}:"
    if st.button(label, icon=icon, type="tertiary", key=f"to-{page}", disabled=bool(why), help=why or None):
        st.switch_page(f"pages/{page}.py", query_params=link(spec))


StudyLink = dict[str, str | list[str]]


def link_to_study(study: Study, measure: str = SCORE) -> StudyLink:
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
    varied = [can_vary[axis.name] for axis in study.axes]
    link: StudyLink = {
        EXPLORE + SETTING: profile_of(problem).short,
        **data_in_link(study.spec, BEGINNING.data_key(problem), EXPLORE + key_of(problem, "file")),
        SEEDS: str(len(study.seeds)),
        EXPLORE + key_of(problem, VARY): [str(control.parameter.label) for control in varied],
    }
    link |= edits_entry(study.spec, EXPLORE)
    if study.is_best_first:
        link[BEST_FIRST] = "true"
    if drawn := [axis for axis in study.axes if axis.is_random]:
        link |= {RANDOM: "true", POINTS: str(len(drawn[0].values))}
    link |= said_of(study.spec, _key)
    for axis, control in zip(study.axes, varied, strict=True):
        link |= _said_axis(study.spec, _key(control), control, axis)
    return link if measure == SCORE else link | {MEASURE: name_in_link(measure)}


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
def link_to_figure(setting: str, number: int) -> tuple[int, StudyLink]:
    """Return the number of runs of a paper's figure as a study, and the query of its link."""
    figure = profile_of(SETTINGS[setting]).figures[number]
    study = Study.from_dict(figure.study(setting))
    return len(study), link_to_study(study, figure.measure)


def _key(control: Control) -> str:
    return EXPLORE + control.key


def _said_axis(spec: Spec, key: str, control: Control, axis: Axis) -> StudyLink:
    found = None if _is_choice(control) else _range_of(spec, axis, control)
    if found is None:
        return {key + VALUES: [control.text(value) for value in axis.values]}
    low, high, n = found
    return {key + RANGE: [shown(low), shown(high)], key + NUMBER: str(n)}


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
