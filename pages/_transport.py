"""The bar with play, step, reset, speed and seed."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.experiments.settings import SEED
from pages import _controls as controls
from pages._bench import Bench, begin_again


def transport(bench: Bench) -> DeltaGenerator:
    """Draw the bar with play, step, reset, speed and seed; return the place for the status beside it."""
    is_finished = bench.live is not None and bench.live.run.is_finished
    with st.container(key="part-transport", horizontal=True, vertical_alignment="bottom", gap="small"):
        is_going = bench.is_playing and not is_finished
        icon = ":material/pause:" if is_going else ":material/play_arrow:"
        label = "Pause" if is_going else "Play"
        st.button(label, icon=icon, key="play", on_click=_toggle, args=(bench,), shortcut="P", type="primary")
        step_help = "One iteration (key S)"
        st.button(
            "Step",
            icon=":material/skip_next:",
            key="step",
            on_click=_step,
            args=(bench,),
            shortcut="S",
            help=step_help,
        )
        reset_help = "Back to the start, same seed (key 0)"
        st.button(
            "Reset",
            icon=":material/replay:",
            key="reset",
            on_click=_reset,
            args=(bench,),
            shortcut="0",
            help=reset_help,
        )
        controls.draw_choice(controls.SPEED)
        seed = SEED
        st.number_input(
            seed.label,
            min_value=seed.low,
            max_value=seed.high,
            value=seed.default,
            key="seed",
            bind="query-params",
            help=seed.sentence,
            label_visibility="collapsed",
            width=130,
        )
        st.button("", icon=":material/casino:", key="dice", on_click=_roll, help="Another seed")
        return st.container(key="status", width="content")


def _toggle(bench: Bench) -> None:
    if bench.live is not None and bench.live.run.is_finished:
        begin_again(bench)
    else:
        bench.is_playing = not bench.is_playing


def _step(bench: Bench) -> None:
    bench.is_playing = False
    if bench.live is not None:
        bench.live.advance(1)


def _reset(bench: Bench) -> None:
    begin_again(bench)
    bench.is_playing = False


def _roll() -> None:
    st.session_state["seed"] = int(np.random.default_rng().integers(0, 10_000))
