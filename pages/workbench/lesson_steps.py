"""Actions of a guided lesson: change the step, show the solution, highlight controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dsgcore.experiments import Setting
from pages.controls.control import key_of
from pages.session.bench import Bench, once
from pages.session.lesson_place import Place, Stage
from pages.workbench.head import given_for


def lesson_button(
    bench: Bench, label: str, key: str, action: Callable[..., None], *arguments: Any, **options: Any
) -> None:
    """Draw a button of a lesson. A late click does nothing after the reader has left the lesson."""
    st.button(
        label, key=key, on_click=once, args=(bench, bench.drawn, _while_there, bench, action, *arguments), **options
    )


def _while_there(bench: Bench, action: Callable[..., None], *arguments: Any) -> None:
    if bench.lesson.place is not None:
        action(*arguments)


def show_solution(problem: type[Setting], bench: Bench) -> None:
    """Set the controls to values that reach the goal."""
    place = bench.lesson.place
    assert place is not None
    assert place.step.goal is not None
    place.shown.add(place.number)
    bench.given = given_for(problem, place.values)
    bench.wants_restart = True


def go_to_step(problem: type[Setting], bench: Bench, steps: int) -> None:
    """Go to another step and set its values."""
    place = bench.lesson.place
    assert place is not None
    place.number += steps
    place.stage = Stage.TEXT if place.stage is not None else None
    bench.given = given_for(problem, place.lesson.values_at(place.number))
    bench.wants_restart = True


def light_up(problem: type[Setting], place: Place) -> None:
    """Highlight the controls of the step and dim the others."""
    keys = [f".st-key-{key_of(problem, name)}" for name in place.step.controls]
    if keys:
        lit, side = ", ".join(keys), ".stSidebar"
        style = f"{lit} {{box-shadow: -4px 0 0 var(--lit), -14px 0 12px -10px var(--lit); padding-left: 0.4rem}} "
        rest = f'{side} .stElementContainer[class*="st-key-"]:not({lit})'
        box = f"{side} .stVerticalBlock > :has(> .stExpander):has({lit})"
        st.html(f"<style>{style}{rest} {{opacity: 0.82}} {box} {{order: -2}}</style>")
