"""The value of "auto" below the step's slider, and the value above which the run diverges."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsgcore.experiments.step_limit import step_limit
from pages.session.bench import Bench


def step_limits(bench: Bench, place: DeltaGenerator) -> None:
    """Show both values, as far as they are known."""
    if bench.live is None or bench.preparation is not None:
        return
    run = bench.live.run
    automatic, limit = run.engine.automatic_step, step_limit(run)
    said = [] if automatic is None else [f"auto: {_two_digits(automatic)}"]
    if limit is not None:
        said.append(f"diverges above about {_two_digits(limit)}")
    with place.container(key="step-limits"):
        st.caption(" · ".join(said))


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"
