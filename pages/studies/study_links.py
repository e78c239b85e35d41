"""A study as a link of the Explore page: the values of its spec, its axes and its seeds, by the names of the page's widgets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dsgcore.experiments import SETTINGS
from dsgcore.settings import profile_of
from dsgcore.studies import Study
from pages.controls import controls
from pages.controls.control import Control, key_of, shown
from pages.controls.own_file import entry_of
from pages.studies.asking import BEGINNING, PREFIX, SEEDS
from pages.studies.beginning import NUMBER, RANGE, SETTING, VALUES, VARY
from pages.studies.links import said_of
from pages.studies.measures import MEASURE, SCORE, name_in_link

Link = dict[str, str | list[str]]


def link_to_study(study: Study, measure: str = SCORE) -> Link:
    """Return what a link to the Explore page says of a study.

    Parameters
    ----------
    study : Study
        Its seeds from 0 on, its axes with values or between two ends, and on none of a person's own files.
    measure : str
        By which its points are compared at first.
    """
    problem = type(study.spec.problem)
    offered = controls.controls_for(problem, study.spec.data.name, study.spec.kernel.name)
    varied = [offered[axis.name.partition(".")[2]] for axis in study.axes]
    link: Link = {
        PREFIX + SETTING: profile_of(problem).short,
        BEGINNING.data_key(problem): entry_of(problem, study.spec.data.name).title,
        SEEDS: str(len(study.seeds)),
        PREFIX + key_of(problem, VARY): [str(control.parameter.label) for control in varied],
    }
    link |= said_of(study.spec, _key)
    for axis, control in zip(study.axes, varied, strict=True):
        link |= _said_axis(_key(control), control, axis.said)
    return link if measure == SCORE else link | {MEASURE: name_in_link(measure)}


@cache  # a hundredth of a second each, and the same for everybody
def link_to_figure(setting: str, number: int) -> tuple[int, Link]:
    """Return how many runs the study of one of the setting's paper figures has, and what its link says."""
    figure = profile_of(SETTINGS[setting]).figures[number]
    study = Study.from_dict(figure.study(setting))
    return len(study), link_to_study(study, figure.measure)


def _key(control: Control) -> str:
    return PREFIX + control.key


def _said_axis(key: str, control: Control, said: Mapping[str, Any]) -> Link:
    if "values" in said:
        return {key + VALUES: [control.say(value) for value in said["values"]]}
    return {key + RANGE: [shown(said["from"]), shown(said["to"])], key + NUMBER: str(said["n"])}
