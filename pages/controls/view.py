"""Choices of the view, which change no number of the run; and controls that are not drawn, because their part is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dsgcore.core.parameters import Choice, Flag, Text
from dsgcore.data.datasets import SEED
from dsgcore.experiments import Plane, Run, Setting
from dsgcore.experiments.plane import PRINCIPAL_AXES
from pages.controls.control import Control, key_of, refused, shown
from pages.shell.page_link import given

SPEED = Choice("speed", "normal", options=("slow", "normal", "fast", "instant"), label="Speed")
SLIDER = Choice(
    "slider",
    "steer",
    options=("steer", "redo"),
    label="When you move a slider",
    sentence="“keep going” continues with the new value and marks the curves. “start over” begins a new run. At speed “instant” "
    "the run always starts over.",
)
# The options of `SLIDER` and of the maps on the page.
_NAMES = {"steer": "keep going", "redo": "start over", "error": "f − h"}
MAP = Choice(
    "map",
    "f",
    options=("f", "h", "error"),
    label="On the map",
    sentence="The score f, its twin h with the exact kernel, or the error |f − h| of the random features.",
)
CLASS_MAP = Choice(
    "class_map",
    "classes",
    options=("classes", "margin"),
    label="On the map",
    sentence="The class with the highest score, or its lead over the next one.",
)


LOG_OBJECTIVE = Flag(
    "log_objective", False, label="objective on a log axis", sentence="Draw the objective on a logarithmic axis."
)
GRAPH = Flag(
    "graph",
    False,
    label="graph",
    sentence="Draw the links of the graph. It asks that linked points get similar scores.",
)
EDIT = Flag(
    "by_hand",
    False,
    label="edit",  # the toolbar that opens has the sentence
)
TRUTH = Flag(
    "truth", False, label="true classes", sentence="Draw each unlabeled point in the colour of its hidden class."
)
MISTAKES = Flag(
    "mistakes",
    False,
    label="mistakes",
    sentence="Mark the test points in a wrong class. The shape says who is wrong: f, labels only, or both.",
)
NO_DIVIDER, LABELS_ONLY, TWIN = "none", "labels only", "h"
DIVIDER = Choice(
    "divider",
    LABELS_ONLY,
    options=(LABELS_ONLY, TWIN, NO_DIVIDER),
    label="On the left of the divider",
    sentence="On the left of a line that you drag: what the labels alone teach, or the twin h. On its right: f.",
)
COLUMNS = Flag(
    "columns",
    False,
    label="Columns and table",
    sentence="Show a summary of each column and the first rows of the set.",
)
TAB = Choice("tab", "Live", options=("Live", "Limits", "Race", "Theory", "Data", "Code"))  # that is open
FEATURE = "feature"  # the column of which the distribution is drawn


def name_of(option: object) -> str:
    """Return the name of an option of the view on the page."""
    return _NAMES.get(str(option), shown(option))


def map_choice(problem: type[Setting]) -> Choice:
    return CLASS_MAP if problem.decision == "highest" else MAP


def divider_choice(problem: type[Setting]) -> Choice:
    """Return the choice of what is on the left of the map's divider. Several classes have no twin to draw."""
    options = (LABELS_ONLY, NO_DIVIDER) if problem.decision == "highest" else DIVIDER.options
    return replace(DIVIDER, options=options)


def choices_of(problem: type[Setting]) -> tuple[Choice | Flag, ...]:
    """Return all choices of the view on a setting's page."""
    return (SPEED, SLIDER, *choices_of_view(problem), COLUMNS, TAB)


def choices_of_view(problem: type[Setting]) -> tuple[Choice | Flag, ...]:
    """Return the choices above the charts."""
    of_the_map = (CLASS_MAP, GRAPH) if map_choice(problem) is CLASS_MAP else (MAP,)
    return (*of_the_map, divider_choice(problem), EDIT, TRUTH, MISTAKES, LOG_OBJECTIVE)


def viewed(problem: type[Setting], choice: Choice | Flag) -> Any:
    """Return the chosen option of the view; the default if it is not drawn, or if a link leaves it empty."""
    value = st.session_state.get(key_of(problem, choice.name))
    return choice.default if value in (None, "") else value


def view_control(problem: type[Setting], choice: Choice | Flag) -> Control:
    """Return a choice of the view as a control."""
    return Control(key_of(problem, choice.name), "view", choice, say=name_of)


def seed_control(problem: type[Setting]) -> Control:
    return Control(key_of(problem, SEED.name), "", SEED)


AXES = ("map_x", "map_y")
Axes = tuple[int | None, int | None]


def axis_controls(problem: type[Setting], columns: Sequence[str] = ()) -> list[Control]:
    """Return the map's axes as controls. Which columns there are is known with the data; before, they are texts."""
    made, help_ = [], "A column, or a principal axis: a direction in which the scaled points spread most."
    for name, label, usual in zip(AXES, ("Axis across", "Axis up"), PRINCIPAL_AXES, strict=True):
        choice = Choice(name, usual, label=label, sentence=help_, options=(usual, *columns))
        made.append(Control(key_of(problem, name), "view", choice if columns else Text(name, usual)))
    return made


def axes_of(run: Run) -> list[Control]:
    """Return the axes that can be chosen: both, if the data have more than two coordinates."""
    controls = axis_controls(type(run.problem), run.split.feature_names)
    for control in controls:
        if st.session_state.get(control.key, control.usual) not in control.options:
            del st.session_state[control.key]  # a column of other data
    return controls if len(run.split.feature_names) > 2 else []


def refused_axes(run: Run) -> list[str]:
    """Return a sentence for each axis in the link that these data do not have."""
    return [
        f"In the link, {control.name} must be a column of these data or a principal axis, got {refused(asked)}; "
        "the default is used."
        for control in axes_of(run)
        if (asked := given(control.name)) and asked not in control.options
    ]


def axes_asked(run: Run) -> Axes:
    """Return the columns chosen as the map's axes, with None for a principal axis."""
    names = run.split.feature_names
    chosen = [st.session_state.get(key_of(type(run.problem), name)) for name in AXES]
    across, up = (names.index(name) if name in names else None for name in chosen)
    return across, up


def plane_of(run: Run, axes: Axes) -> Plane:
    """Return the plane of the run's points with these axes. Edits by hand do not move it."""
    split = run.split.before or run.split
    return Plane.through(split.X_train, axes, split.feature_names)
