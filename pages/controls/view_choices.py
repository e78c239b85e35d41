"""Choices of the view, which change no number of the run."""

from __future__ import annotations

import streamlit as st

from dsgcore.core.parameters import Choice, Flag
from dsgcore.experiments import Setting
from pages.controls.control import key_of, shown

SPEED = Choice("speed", "normal", options=("slow", "normal", "fast", "instant"), label="Speed")
SLIDER = Choice(
    "slider",
    "steer",
    options=("steer", "redo"),
    label="When you move a slider",
    sentence="“keep going” continues with the new value and marks the curves. “start over” begins a new run. At speed “instant” "
    "the run always starts over.",
)
# The options of `SLIDER` on the page and in the link.
_NAMES = {"steer": "keep going", "redo": "start over"}
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


LOG_OBJECTIVE = Flag("log_objective", False, label="log", sentence="Draw the objective on a logarithmic axis.")
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
WIPE = Flag(
    "wipe",
    False,
    label="wipe",
    sentence="Draw what labels only learns on the left of a line, and f on the right. Drag the line.",
)
COLUMNS = Flag(
    "columns",
    False,
    label="Columns and table",
    sentence="Show a summary of each column and the first rows of the set.",
)
ON_THE_MAP = (EDIT, TRUTH, MISTAKES, WIPE)


def name_of(option: object) -> str:
    """Return the name of an option of the view, on the page and in the link."""
    return _NAMES.get(str(option), shown(option))


def map_choice(problem: type[Setting]) -> Choice:
    """Return the choice of the function on the map."""
    return CLASS_MAP if problem.decision == "highest" else MAP


def choices_of(problem: type[Setting]) -> tuple[Choice | Flag, ...]:
    """Return all choices of the view on a setting's page."""
    return (SPEED, SLIDER, *choices_of_view(problem), COLUMNS)


def choices_of_view(problem: type[Setting]) -> tuple[Choice | Flag, ...]:
    """Return the choices above the charts."""
    of_the_map = (CLASS_MAP, GRAPH) if map_choice(problem) is CLASS_MAP else (MAP,)
    return (*of_the_map, *ON_THE_MAP, LOG_OBJECTIVE)


def viewed(problem: type[Setting], choice: Choice) -> str:
    """Return the chosen option of the view; the default if a link leaves it empty."""
    return str(st.session_state.get(key_of(problem, choice.name)) or choice.default)


def draw_choice(problem: type[Setting], choice: Choice, *, has_label: bool = False) -> None:
    """Draw a choice of the view as a row of buttons."""
    st.segmented_control(
        choice.label,
        choice.options,
        default=choice.default,
        required=True,
        key=key_of(problem, choice.name),
        bind="query-params",
        format_func=name_of,
        help=choice.sentence or None,
        label_visibility="visible" if has_label else "collapsed",
    )


def draw_flag(problem: type[Setting], flag: Flag) -> bool:
    """Draw a choice of the view that is on or off, and return its value."""
    key = key_of(problem, flag.name)
    return st.toggle(flag.label, value=flag.default, key=key, bind="query-params", help=flag.sentence or None)


def is_on(problem: type[Setting], flag: Flag) -> bool:
    """Return True if a choice of the view is on; a choice that is not drawn is off."""
    return bool(st.session_state.get(key_of(problem, flag.name), flag.default))
