"""The question of a study as widgets: a setting, its data, the sliders that vary, and the number of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Flag, Integer, Parameter, Real, grid
from dsgcore.data.edits import fit_any_seed
from dsgcore.experiments import SETTINGS, Setting, Spec
from dsgcore.studies import Study
from dsgcore.studies.study import MOST_AXES
from pages.controls.control import Control, automatic_of, count, draw, in_link, shown
from pages.studies.beginning import Beginning, can_be_axis, ends_of_axis, number_on_axis, values_of_axis
from pages.studies.links import with_linked_edits

PREFIX = "x_"
MOST_SEEDS, USUAL_SEEDS = 50, 3
USUAL_VALUES = 6
MOST_POINTS, USUAL_POINTS = 400, 60
_KEPT = (
    Integer("seeds", USUAL_SEEDS, low=1, high=MOST_SEEDS).called(
        "Seeds", "DSG Lab runs each point once with each seed."
    ),
    Flag("random", False).called(
        "At random", "Random points between the ends, instead of all combinations. Use it for three axes or more."
    ),
    Integer("points", USUAL_POINTS, low=2, high=MOST_POINTS).called("Points", ""),
    Flag("best_first", False).called(
        "Best first",
        "Successive halving: one seed for each point, three for the best third, and nine for the best third of those. Each "
        "round takes about the same time. The other points keep the seeds that they have.",
    ),
    Real("target", None, low=0.0, high=1.0, optional=True),
)
SEEDS, RANDOM, POINTS, BEST_FIRST, TARGET = (Control(PREFIX + p.name, "", p) for p in _KEPT)
BEGINNING = Beginning(PREFIX, _KEPT, tuple(SETTINGS), ("measure", "view", "best"), MOST_AXES)
# By default a logarithmic axis reaches this factor below and above the usual value.
REACH = 10.0


@dataclass(frozen=True)
class Asked:
    """The question in the widgets: the study's spec, its plain data, and the controls by the names of their axes."""

    spec: Spec
    plain: dict[str, Any]
    labels: dict[str, Parameter]

    def study(self) -> Study:
        """Return the study; raise `StudyError` with a sentence if it is not valid."""
        return Study.from_dict(self.plain)


def draw_question(main: DeltaGenerator, upload: DeltaGenerator) -> Asked | None:
    """Draw the setting, the data and all other values in the sidebar, and the varied sliders at `main`.

    Return None if the reader must still choose a file. Raise `SpecError` if a value does not fit.
    """
    found = BEGINNING.question(main, upload, _variation)
    if found is None:
        return None
    spec, (said, seeds, labels) = found
    with main:
        spec = with_linked_edits(spec)
    of_data = list(range(seeds)) if fit_any_seed(spec.data.edits) else [spec.seed]
    budget = {"best_first": bool(st.session_state[BEST_FIRST.key])}
    return Asked(spec, {"spec": spec.to_dict(), "axes": said, "seeds": of_data, "budget": budget}, labels)


Variation = tuple[list[dict[str, Any]], int, dict[str, Parameter]]


def _variation(problem: type[Setting], offered: Mapping[str, Control]) -> tuple[Variation, set[str]]:
    """Draw the varied sliders, their values, and the number of seeds; return the axes' plain data, that number, and all
    controls that can be axes, and the names of the varied ones."""
    axes = {f"{c.section}.{name}": c for name, c in offered.items() if can_be_axis(c)}
    vary = BEGINNING.varied(problem, axes, _usual_axes(axes))
    BEGINNING.usual(vary)
    first, second, third = st.columns([4, 1, 1.5], gap="small", vertical_alignment="bottom")
    with first:
        chosen = st.multiselect(
            vary.parameter.label,
            list(axes),
            default=vary.usual,
            key=vary.key,
            max_selections=MOST_AXES,
            format_func=vary.say,
            help="Up to four sliders. The others keep their values in the sidebar.",
        )
        in_link(vary, chosen)
    with second:
        seeds = count(SEEDS, help=SEEDS.parameter.sentence)
    with third:
        is_random = draw(RANDOM) and len(chosen) > 1
        draw(BEST_FIRST)
    points = count(POINTS) if is_random else None
    said = []
    for row in (chosen[:2], chosen[2:]):
        for place, name in zip(st.columns(2, gap="medium"), row, strict=False):
            with place:
                said.append(draw_axis(name, axes[name], BEGINNING, points))
    varied = {axes[name].parameter.name for name in chosen}
    return (said, int(seeds), {name: control.parameter for name, control in axes.items()}), varied


def _usual_axes(axes: Mapping[str, Control]) -> tuple[str, ...]:
    """Return the axes that vary by default: the step size and the width of the kernel."""
    widths = [name for name, c in axes.items() if c.section == "kernel" and isinstance(c.parameter, Real)]
    steps = [name for name in axes if name.startswith("solver.")]
    return (*steps[:1], *(widths or steps[1:])[:1])


def draw_axis(
    name: str,
    control: Control,
    beginning: Beginning,
    points: int | None = None,
    *,
    reach: tuple[float, float] = (1 / REACH, REACH),
    usual: int = USUAL_VALUES,
) -> dict[str, Any]:
    """Draw the values of one axis; return the axis as plain data.

    Parameters
    ----------
    name : str
    control : Control
    beginning : Beginning
        The first widgets of the page.
    points : int, optional
        Number of values drawn at random.
    reach : tuple of two float
        Default ends of a logarithmic axis, as factors of the usual value.
    usual : int
        Default number of values.
    """
    p = control.parameter
    if isinstance(p, Choice):
        several = values_of_axis(control)
        beginning.usual(several)
        values = st.multiselect(p.label, p.options, default=p.options, key=several.key, format_func=control.say)
        return {"name": name, "values": list(in_link(several, values) or p.options)}
    assert isinstance(p, Real | Integer)
    ends = ends_of_axis(control, _usual_ends(p, reach))
    beginning.usual(ends)
    stops = _stops(p, ends.key)
    left, right = st.columns([3, 1], gap="small")
    with left:
        low, high = st.select_slider(
            f"{p.label} ({p.symbol})" if p.symbol else p.label,
            stops,
            value=ends.usual,
            key=ends.key,
            format_func=shown,
            help=p.sentence,
        )
        in_link(ends, (low, high))
    if points is not None:
        return {"name": name, "from": low, "to": high, "n": points, "random": True}
    with right:
        n = count(number_on_axis(control, usual), "Values")
    return {"name": name, "from": low, "to": high, "n": int(n)}


def _stops(p: Real | Integer, key: str) -> list[float]:
    """Return the possible ends of an axis: the slider's own stops, and values from a link; a logarithmic axis has no zero."""
    if p.scale != "linear" and 0 in st.session_state.get(key, ()):
        del st.session_state[key]
    values = {stop for stop in (*grid(p), *st.session_state.get(key, ())) if stop is not None}
    return sorted(stop for stop in values if p.scale == "linear" or stop > 0)


def _usual_ends(p: Real | Integer, reach: tuple[float, float]) -> tuple[float, float]:
    """Return the default ends of an axis: a few powers of ten around the usual value, or the whole slider."""
    usual = p.default if p.default is not None else automatic_of(p)
    if p.scale == "linear" or not usual:
        own = [stop for stop in grid(p) if p.scale == "linear" or stop > 0]
        return own[0], own[-1]
    low, high = usual * reach[0], usual * reach[1]
    # Only the slider's own stops, because a link does not hold default values.
    near = [stop for stop in grid(p) if stop > 0 and low <= stop * 1.001 and stop <= high * 1.001]
    return near[0], near[-1]
