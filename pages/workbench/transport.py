"""The bar with play, step, reset, speed and seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from dsgcore.data.datasets import SEED
from dsgcore.experiments import Setting
from pages.controls.control import count, draw, keep, key_of
from pages.controls.view import SPEED, seed_control, view_control
from pages.session.bench import Bench, begin_again, once


def transport(problem: type[Setting], bench: Bench, *, is_active: bool = True) -> None:
    """Draw the bar with play, step, reset, speed and seed."""
    bench.drawn += 1
    if "transport" in bench.hidden:
        keep(view_control(problem, SPEED))
        keep(seed_control(problem))
        return
    off: dict[str, Any] = {"disabled": not is_active or bench.preparation is not None or bench.is_held}
    with st.container(key="part-transport", horizontal=True, vertical_alignment="center", gap="xsmall"):
        is_going = is_active and bench.is_going
        icon = ":material/pause:" if is_going else ":material/play_arrow:"
        label = "Pause" if is_going else "Play"
        _button(bench, label, "play", toggle, bench, is_going, icon=icon, shortcut="P", type="primary", **off)
        _button(bench, "Step", "step", _step, bench, icon=":material/skip_next:", shortcut="S", help=_STEP_HELP, **off)
        _button(bench, "Reset", "reset", _reset, bench, icon=":material/replay:", shortcut="0", help=_RESET_HELP, **off)
        draw(view_control(problem, SPEED), label_visibility="collapsed", width=104)
        # without the buttons that count by one
        count(seed_control(problem), help=SEED.sentence, label_visibility="collapsed", width=88)


_STEP_HELP = "One iteration (key S)"
_RESET_HELP = "Back to the start, with the same seed (key 0)"


def _button(bench: Bench, label: str, key: str, action: Callable[..., None], *arguments: Any, **options: Any) -> None:
    st.button(label, key=key, on_click=once, args=(bench, bench.drawn, action, *arguments), **options)


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
