"""The question of a study as widgets: a setting, its data, the sliders that vary, and how many seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.core.parameters import Choice, Integer, Parameter, Real, grid
from dsgcore.experiments import SETTINGS, Setting, Spec
from dsgcore.experiments.settings import FILE
from dsgcore.settings import profile_of
from dsgcore.studies import Study
from dsgcore.studies.study import MOST_AXES
from pages.controls import controls
from pages.controls.control import Control, automatic_of, draw, key_of, number, shown
from pages.controls.from_link import read_controls
from pages.controls.kernel_parameters import PICKER
from pages.controls.own_file import entry_of
from pages.upload.upload import draw_upload

PREFIX = "x_"
SETTING, SEEDS, RANDOM, POINTS = (PREFIX + name for name in ("setting", "seeds", "random", "points"))
MOST_SEEDS, USUAL_SEEDS = 50, 3
MOST_VALUES, USUAL_VALUES = 20, 6
MOST_POINTS, USUAL_POINTS = 400, 60
# To begin with, a logarithmic axis reaches so many times below and above the usual value.
REACH = 10.0


@dataclass(frozen=True)
class Asked:
    """What the widgets ask: the study's spec, its plain data, and the controls by the names of their axes."""

    spec: Spec
    plain: dict[str, Any]
    labels: dict[str, Parameter]

    def study(self) -> Study:
        """Return the study; raise `StudyError` with one sentence where it is not valid."""
        return Study.from_dict(self.plain)


def draw_question(main: DeltaGenerator, upload: DeltaGenerator) -> Asked | None:
    """Draw the setting, the data and all other values at the side and what varies at `main`.

    None is returned where a file is still to be chosen; a value that does not fit raises `SpecError`.
    """
    problem = SETTINGS[_setting()]
    dataset = _dataset(problem)
    own = draw_upload(problem, upload, f"{PREFIX}{key_of(problem, 'file')}") if dataset == FILE else None
    _read_link_once(problem, dataset)
    offered = _offered(problem, dataset)
    axes = {f"{c.section}.{name}": c for name, c in offered.items() if _can_vary(c)}
    with main:
        chosen, said, seeds = _variation(problem, axes)
    values = _others(offered, {axes[name].parameter.name for name in chosen})
    if dataset == FILE and own is None:
        return None
    spec = controls.to_spec(problem, values, dataset, 0, own)
    plain = {"spec": spec.to_dict(), "axes": said, "seeds": list(range(seeds))}
    return Asked(spec, plain, {name: control.parameter for name, control in axes.items()})


def _setting() -> str:
    return st.selectbox(
        "Setting",
        list(SETTINGS),
        key=SETTING,
        index=list(SETTINGS).index("auc"),
        bind="query-params",
        format_func=lambda name: profile_of(SETTINGS[name]).short,
    )


def _dataset(problem: type[Setting]) -> str:
    choice = controls.dataset_choice(problem)
    return st.selectbox(
        choice.label,
        choice.options,
        index=choice.options.index(choice.default),
        key=PREFIX + key_of(problem, "data"),
        bind="query-params",
        format_func=lambda name: entry_of(problem, name).title,
        help=choice.sentence,
        on_change=_forget,
        args=(problem,),
    )


def _forget(problem: type[Setting]) -> None:
    """Forget the values that went with other data."""
    kept = {PREFIX + key_of(problem, "data"), SETTING, SEEDS, RANDOM, POINTS}
    for key in [str(key) for key in st.session_state if str(key).startswith(PREFIX) and key not in kept]:
        del st.session_state[key]


def _offered(problem: type[Setting], dataset: str) -> dict[str, Control]:
    """Return the controls of a setting with its data, under this page's own keys."""
    usual = controls.controls_for(problem, dataset)
    if PICKER in usual:
        key, names = PREFIX + usual[PICKER].key, usual[PICKER].options
        titles = {usual[PICKER].say(name): name for name in names}
        kernel = st.session_state.get(key, titles.get(st.query_params.get(key, "")))
        usual = controls.controls_for(problem, dataset, kernel if kernel in names else None)
    return {name: replace(c, key=PREFIX + c.key, on_change=None) for name, c in usual.items()}


def _read_link_once(problem: type[Setting], dataset: str) -> None:
    """Say what is wrong with the link that the page is opened with, and let sliders stand where it says."""
    noted = f"_explore_read_{problem.name}_{dataset}"
    if noted in st.session_state:
        return
    given = st.query_params.to_dict()
    for notice in read_controls(_offered(problem, dataset), given):
        st.warning(notice, icon=":material/link_off:")
    st.session_state[noted] = True


def _can_vary(control: Control) -> bool:
    """Whether a study can vary what a control says: numbers, and the words of a choice that has nothing to do with data."""
    p = control.parameter
    return isinstance(p, Real | Integer) or (
        isinstance(p, Choice) and not p.optional and control.section in ("solver", "problem")
    )


def _variation(problem: type[Setting], axes: Mapping[str, Control]) -> tuple[list[str], list[dict[str, Any]], int]:
    """Draw what varies, over which values and how many seeds; return the axes' names, their plain data, the number of seeds."""
    usual = _usual_axes(axes)
    first, second, third = st.columns([4, 1, 1.2], gap="small", vertical_alignment="bottom")
    with first:
        chosen = st.multiselect(
            "Vary",
            list(axes),
            default=usual,
            key=PREFIX + key_of(problem, "vary"),
            bind="query-params",
            max_selections=MOST_AXES,
            format_func=lambda name: axes[name].parameter.label or name,
            help="Up to four of the sliders; the others stay as they are at the side.",
        )
    with second:
        seeds = st.number_input(
            "Seeds",
            1,
            MOST_SEEDS,
            USUAL_SEEDS,
            key=SEEDS,
            bind="query-params",
            help="Each point is run once with each.",
        )
    with third:
        is_random = st.toggle(
            "At random",
            key=RANDOM,
            bind="query-params",
            help="Points drawn at random between the ends, in place of all combinations: for three axes and more.",
        )
        is_random = is_random and len(chosen) > 1
    points = None
    if is_random:
        points = st.number_input("Points", 2, MOST_POINTS, USUAL_POINTS, key=POINTS, bind="query-params")
    said = []
    for row in (chosen[:2], chosen[2:]):
        for place, name in zip(st.columns(2, gap="medium"), row, strict=False):
            with place:
                said.append(_axis(name, axes[name], points))
    return chosen, said, int(seeds)


def _usual_axes(axes: Mapping[str, Control]) -> list[str]:
    """Return what varies to begin with: the step, and how wide the kernel is."""
    widths = [name for name, c in axes.items() if c.section == "kernel" and isinstance(c.parameter, Real)]
    steps = [name for name in axes if name.startswith("solver.")]
    return [*steps[:1], *(widths or steps[1:])[:1]]


def _axis(name: str, control: Control, points: int | None) -> dict[str, Any]:
    """Draw the values of one axis; return the axis as plain data."""
    p = control.parameter
    if isinstance(p, Choice):
        values = st.multiselect(
            p.label,
            p.options,
            default=p.options,
            key=f"{control.key}_values",
            bind="query-params",
            format_func=control.say,
        )
        return {"name": name, "values": list(values or p.options)}
    assert isinstance(p, Real | Integer)
    key = f"{control.key}_range"
    stops = _stops(p, key)
    ends, number = st.columns([3, 1], gap="small")
    with ends:
        low, high = st.select_slider(
            f"{p.label} ({p.symbol})" if p.symbol else p.label,
            stops,
            value=_usual_ends(p, stops),
            key=key,
            bind="query-params",
            format_func=shown,
            help=p.sentence,
        )
    if points is not None:
        return {"name": name, "from": low, "to": high, "n": points, "random": True}
    with number:
        n = st.number_input("Values", 1, MOST_VALUES, USUAL_VALUES, key=f"{control.key}_n", bind="query-params")
    return {"name": name, "from": low, "to": high, "n": int(n)}


def _stops(p: Real | Integer, key: str) -> list[float]:
    """Return where the ends of an axis can be: the slider's own stops, and where a link says; a logarithmic axis has no zero."""
    linked = [number(text, p) for text in st.query_params.get_all(key)]
    values = {stop for stop in (*grid(p), *linked, *st.session_state.get(key, ())) if stop is not None}
    return sorted(stop for stop in values if p.scale == "linear" or stop > 0)


def _usual_ends(p: Real | Integer, stops: list[float]) -> tuple[float, float]:
    """Return where an axis begins and ends at first: a few powers of ten about the usual value, or the whole slider."""
    usual = p.default if p.default is not None else automatic_of(p)
    if p.scale == "linear" or not usual:
        return stops[0], stops[-1]
    near = [stop for stop in stops if usual / REACH <= stop * 1.001 and stop <= usual * REACH * 1.001]
    return near[0], near[-1]


def _others(offered: Mapping[str, Control], varied: set[str]) -> dict[str, Any]:
    """Draw all that does not vary; return the values by name, of what varies the usual ones."""
    values = {name: c.parameter.default for name, c in offered.items() if name in varied}
    left = {name: c for name, c in offered.items() if name not in varied}
    for title, sections in (("Everything else", ("problem", "kernel", "solver", "stop")), ("Data options", ("data",))):
        with st.expander(title):
            values |= {name: draw(c) for name, c in left.items() if c.section in sections}
    return values
