"""The controls of a setting's page: the sidebar, the spec of its values, and the bar with play, step, reset, speed and seed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator as Room  # a place on the page

from dsgcore.data.datasets import SEED
from dsgcore.experiments import Setting, Spec
from dsgcore.experiments.run import step_limit
from dsgcore.experiments.spec import FILE
from dsgcore.settings import profile_of
from pages.controls import controls
from pages.controls.control import BAD_INPUT, Control, buttons, count, draw, keep, key_of
from pages.controls.pickers import draw_dataset, draw_setting, keep_dataset, say_kernel
from pages.controls.view import SLIDER, SPEED, seed_control, view_control
from pages.session.bench import Bench, begin_again, button
from pages.shell.plain_text import plain
from pages.upload.upload import draw_upload
from pages.workbench.head import draw_lessons


def step_limits(bench: Bench, place: Room) -> None:
    """Show both values, as far as they are known."""
    if bench.live is None or bench.jobs.preparation is not None:
        return
    values = {"auto:": bench.live.run.engine.automatic_step, "diverges above about": step_limit(bench.live.run)}
    said = [f"{what} {float(f'{value:.2g}'):,g}" for what, value in values.items() if value is not None]
    with place.container(key="step-limits"):
        st.caption(" · ".join(said))


# The parts of the box "More", in their order, by the section of the spec.
SECTIONS = {
    "problem": "Method",
    "kernel": "Kernel",
    "data": "Data",
    "solver": "Iterations",
    "stop": "Stopping",
    "": "All other fields",
}


def spec_of_controls(
    problem: type[Setting], bench: Bench, own_file_place: Room
) -> tuple[Spec | None, Room | None, Room | None]:
    """Return the controls' spec (None with an error if it is not valid), and places in the sidebar for elements that need
    the run (None if it is hidden)."""
    if "sidebar" in bench.view.hidden:
        if keep_dataset(problem) != FILE:
            return spec_without_sidebar(problem, bench), None, None
        hidden = bench.view.hidden - {"sidebar"}  # otherwise nobody could choose the file
        bench.view = replace(bench.view, hidden=hidden)
    with st.sidebar:
        return _sidebar(problem, bench, own_file_place)


def spec_without_sidebar(
    problem: type[Setting], bench: Bench, drawn: Collection[str] = (), *, is_locked: bool = False
) -> Spec | None:
    """Return the controls' spec, None with an error if it is not valid. Draw only those named in `drawn`, here."""
    dataset = keep_dataset(problem)
    keep(view_control(problem, SLIDER))
    if dataset == FILE:
        st.error("A lesson does not show a file of your own. Leave the lesson, or open it from the page Lessons.")
        return None

    def take(control: Control) -> Any:
        is_drawn = control.parameter.name in drawn
        return draw(control, is_plain=True, disabled=is_locked) if is_drawn else keep(control)

    offered = controls.controls_for(problem, dataset, controls.kernel_asked(problem))
    return _checked_spec(problem, {name: take(control) for name, control in offered.items()}, dataset)


def _sidebar(problem: type[Setting], bench: Bench, own_file_place: Room) -> tuple[Spec | None, Room | None, Room]:
    """Draw the controls; return the spec (None with an error if it is not valid) and places for elements that need the run."""
    draw_setting(problem)
    dataset = draw_dataset(problem)
    own_data = draw_upload(problem, own_file_place) if dataset == FILE else None
    offered = controls.controls_for(problem, dataset, controls.kernel_asked(problem))
    values, idle = dict[str, Any](), controls.without_effect(problem, offered)

    def take(control: Control) -> Any:
        return (keep if control.parameter.name in idle else draw)(control)

    step_place: Room | None = None
    with st.container(key="part-front"):
        for name in profile_of(problem).front:
            with st.container():
                values[name] = take(offered[name])
                if name == "step_size":
                    step_place = st.empty()
    rest = {name: c for name, c in offered.items() if name not in values}
    with st.expander("More", key="more"):
        suggest_place = st.container()
        buttons(view_control(problem, SLIDER))
        for section, title in SECTIONS.items():
            st.markdown(f"**{title}**")
            if section == "kernel":
                say_kernel(problem)
            values |= {name: take(c) for name, c in rest.items() if c.section == section}
        draw_lessons(problem, bench)
    if dataset == FILE and own_data is None:
        return None, step_place, suggest_place  # the upload has its own message
    return _checked_spec(problem, values, dataset, own_data), step_place, suggest_place


def _checked_spec(
    problem: type[Setting], values: Mapping[str, Any], dataset: str, own_data: Mapping[str, Any] | None = None
) -> Spec | None:
    """Return the spec of these values; draw an error and return None if it is not valid."""
    seed = int(st.session_state.get(key_of(problem, "seed"), SEED.default))
    try:
        return controls.to_spec(problem, values, dataset, seed, own_data)
    except BAD_INPUT as error:
        st.error(plain(str(error)))
        return None


def transport(problem: type[Setting], bench: Bench, *, is_active: bool = True) -> None:
    """Draw the bar with play, step, reset, speed and seed."""
    bench.drawing.number += 1
    if "transport" in bench.view.hidden:
        keep(view_control(problem, SPEED))
        keep(seed_control(problem))
        return
    off: dict[str, Any] = {"disabled": not is_active or bench.jobs.preparation is not None or bench.is_held}
    with st.container(key="part-transport", horizontal=True, vertical_alignment="center", gap="xsmall"):
        is_going = is_active and bench.is_going
        icon = ":material/pause:" if is_going else ":material/play_arrow:"
        label = "Pause" if is_going else "Play"
        button(bench, label, "play", toggle, bench, is_going, icon=icon, shortcut="P", type="primary", **off)
        button(bench, "Step", "step", _step, bench, icon=":material/skip_next:", shortcut="S", help=_STEP_HELP, **off)
        button(bench, "Reset", "reset", _reset, bench, icon=":material/replay:", shortcut="0", help=_RESET_HELP, **off)
        draw(view_control(problem, SPEED), label_visibility="collapsed", width=104)
        # without the buttons that count by one
        count(seed_control(problem), help=SEED.sentence, label_visibility="collapsed", width=88)


_STEP_HELP = "One iteration (key S)"
_RESET_HELP = "Back to the start, with the same seed (key 0)"


def toggle(bench: Bench, was_going: bool) -> None:
    """Pause the run that was going when its button was drawn; let another one go on, or start it again after its end."""
    if not was_going and bench.live is not None and bench.live.is_finished:
        begin_again(bench)
    else:
        bench.is_playing, bench.link.going_to = not was_going, 0


def _step(bench: Bench) -> None:
    bench.is_playing, bench.link.going_to = False, 0
    if bench.live is not None:
        bench.live.advance(1)


def _reset(bench: Bench) -> None:
    begin_again(bench)
    bench.is_playing = False


def roll(problem: type[Setting], bench: Bench) -> None:
    """Set another seed."""
    bench.given[key_of(problem, "seed")] = int(np.random.default_rng().integers(0, 10_000))
