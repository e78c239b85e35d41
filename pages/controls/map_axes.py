"""The two axes of the map for data with more than two coordinates: principal axes, or columns that the reader chooses."""

from __future__ import annotations

import streamlit as st

from dsgcore.core.parameters import Choice
from dsgcore.experiments import Plane, Run
from dsgcore.experiments.plane import PRINCIPAL_AXES
from pages.controls.control import key_of
from pages.controls.from_link import refused
from pages.controls.undrawn import keep_choice

AXES = ("map_x", "map_y")
_LABELS = ("Across", "Up")
Axes = tuple[int | None, int | None]


def draw_axes(run: Run) -> None:
    """Draw the choice of the map's axes, if the data have more than two coordinates."""
    axes = _axes(run)
    if not axes:
        return
    with st.popover("Axes", key="axes", width="content"):
        for axis in axes:
            key = key_of(type(run.problem), axis.name)
            st.selectbox(axis.label, axis.options, key=key, bind="query-params", help=_HELP)


def keep_axes(run: Run, texts: dict[str, str]) -> None:
    """Keep the map's axes without drawing the choice; `texts` is as in `keep`."""
    for axis in _axes(run):
        keep_choice(type(run.problem), axis, texts)


def _axes(run: Run) -> list[Choice]:
    """Return the choices of the axes, if the data have more than two coordinates."""
    names, axes = run.split.feature_names, []
    for name, label, usual in zip(AXES, _LABELS, PRINCIPAL_AXES, strict=True):
        axes.append(Choice(name, usual, options=(usual, *names), label=label))
        key = key_of(type(run.problem), name)
        if st.session_state.get(key, usual) not in axes[-1].options:
            del st.session_state[key]  # a column of other data
    return axes if len(names) > 2 else []


_HELP = "A column, or a principal axis: a direction in which the scaled points spread most."


def refused_axes(run: Run) -> list[str]:
    """Return a sentence for each axis in the link that these data do not have. Call this before the choice is first drawn."""
    names, problem = run.split.feature_names, type(run.problem)
    sentences = []
    for name, axis in zip(AXES, PRINCIPAL_AXES, strict=True):
        key = key_of(problem, name)
        given = None if key in st.session_state else st.query_params.get(key)
        if given is not None and len(names) > 2 and given not in (axis, *names):
            allowed = "a column of these data or a principal axis"
            sentences.append(f"In the link, {key} must be {allowed}, got {refused(given)}; the default is used.")
    return sentences


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
