"""The picker of the kernel in the sidebar, and the parameters of the chosen kernel below it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dsgcore.experiments import Run, Setting, Spec
from dsgcore.experiments.kernel_words import words_of
from dsgcore.experiments.settings import kernel_names
from pages.controls import controls
from pages.controls.control import Control, draw
from pages.controls.kernel_parameters import PICKER, usual_kernel


def draw_kernel(problem: type[Setting], dataset: str) -> dict[str, Any]:
    """Draw the picker, a sentence about the kernel, and its parameters; return their values by name."""
    kernel, values = usual_kernel(problem), {}
    offered = controls.kernel_controls(problem, dataset, kernel)
    if PICKER in offered:
        kernel = draw(replace(offered[PICKER], on_change=partial(_use_defaults, problem, dataset)))
        values[PICKER] = kernel
        sentence = words_of(kernel).sentence
        st.caption(f"{sentence[0].upper()}{sentence[1:]}")
    st.session_state[_drawn_key(problem)] = kernel
    _clean_link(problem, dataset, kernel)
    own = _own_controls(problem, dataset, kernel)
    return values | {control.parameter.name: draw(control) for control in own.values()}


def keep_kernel(problem: type[Setting], dataset: str, take: Callable[[Control], Any]) -> dict[str, Any]:
    """Return the values of the picker and of the parameters by name without drawing them; `take` returns a control's value."""
    offered = controls.kernel_controls(problem, dataset, usual_kernel(problem))
    values = {PICKER: take(offered[PICKER])} if PICKER in offered else {}
    kernel = values.get(PICKER, usual_kernel(problem))
    st.session_state[_drawn_key(problem)] = kernel
    own = _own_controls(problem, dataset, kernel)
    return values | {control.parameter.name: take(control) for control in own.values()}


@st.cache_resource(show_spinner="Compiling this kernel, once on this machine")
def make_ready(kernel: str) -> bool:
    """Compile a kernel's loops, or load them from the cache, with a run of two iterations; once in each process."""
    few = {"name": "two_moons", "n": 40, "n_labeled": 4}
    short = {"n_iter": 2, "n_features": 4, "batch_size": 4}
    spec = {"setting": "auc", "kernel": {"name": kernel}, "data": few, "solver": short}
    return Run(Spec.from_dict(spec)).advance() == 2


def _own_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the controls of a kernel's parameters, by their keys."""
    offered = controls.kernel_controls(problem, dataset, kernel)
    return {control.key: control for name, control in offered.items() if name != PICKER}


def _use_defaults(problem: type[Setting], dataset: str) -> None:
    """Set the parameters of a newly picked kernel to their defaults, except those that the previous kernel also has."""
    kernel = controls.kernel_asked(problem)
    shared = _own_controls(problem, dataset, st.session_state.get(_drawn_key(problem), kernel))
    for key, control in _own_controls(problem, dataset, kernel).items():
        if key not in shared:
            st.session_state[key] = control.parameter.default


def _drawn_key(problem: type[Setting]) -> str:
    return f"_kernel_{problem.name}"


def _clean_link(problem: type[Setting], dataset: str, kernel: str) -> None:
    """Remove other kernels' parameters from the link. Streamlit leaves them there after an interrupted run."""
    keys = {key for other in kernel_names(problem) for key in _own_controls(problem, dataset, other)}
    for key in keys - set(_own_controls(problem, dataset, kernel)):
        if key in st.query_params:
            # the control existed a moment ago, and Streamlit removes its value itself
            with suppress(StreamlitAPIException):
                del st.query_params[key]
