"""The picker of the kernel at a setting page's side, and below it the parameters of the kernel that is chosen."""

from __future__ import annotations

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
    """Draw the picker, what the kernel does in one sentence, and its parameters; return their values by name."""
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


@st.cache_resource(show_spinner="Compiling this kernel, once on this machine")
def make_ready(kernel: str) -> bool:
    """Have a kernel's loops compiled, or loaded from the cache, by a run of two iterations; once a process."""
    few = {"name": "two_moons", "n": 40, "n_labeled": 4}
    short = {"n_iter": 2, "n_features": 4, "batch_size": 4}
    spec = {"setting": "auc", "kernel": {"name": kernel}, "data": few, "solver": short}
    return Run(Spec.from_dict(spec)).advance() == 2


def _own_controls(problem: type[Setting], dataset: str, kernel: str) -> dict[str, Control]:
    """Return the controls of a kernel's parameters, by their keys."""
    offered = controls.kernel_controls(problem, dataset, kernel)
    return {control.key: control for name, control in offered.items() if name != PICKER}


def _use_defaults(problem: type[Setting], dataset: str) -> None:
    """Give a kernel that has been picked its defaults; but what the kernel before has as well stays as it is."""
    kernel = controls.kernel_asked(problem)
    shared = _own_controls(problem, dataset, st.session_state.get(_drawn_key(problem), kernel))
    for key, control in _own_controls(problem, dataset, kernel).items():
        if key not in shared:
            st.session_state[key] = control.parameter.default


def _drawn_key(problem: type[Setting]) -> str:
    return f"_kernel_{problem.name}"


def _clean_link(problem: type[Setting], dataset: str, kernel: str) -> None:
    """Take other kernels' parameters out of the link, where Streamlit has left them after a run that was cut short."""
    keys = {key for other in kernel_names(problem) for key in _own_controls(problem, dataset, other)}
    for key in keys - set(_own_controls(problem, dataset, kernel)):
        if key in st.query_params:
            with suppress(StreamlitAPIException):  # the control was there a moment ago: Streamlit clears it away itself
                del st.query_params[key]
