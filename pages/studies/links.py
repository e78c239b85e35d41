"""Where a run of a study opens in the workbench: its spec as the link of a setting's page says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsgcore.data.options import SEED
from dsgcore.experiments import Setting, Spec
from dsgcore.experiments.settings import FILE
from pages.controls import controls
from pages.controls.control import Control, also_offer, key_of
from pages.controls.from_link import in_link
from pages.controls.kernel_parameters import PICKER
from pages.controls.own_file import entry_of


def link_to_run(spec: Spec) -> dict[str, str]:
    """Return what a link to the workbench says of a run."""
    problem = type(spec.problem)
    said = {key_of(problem, "data"): entry_of(problem, spec.data.name).title}
    if spec.seed != SEED.default:
        said[key_of(problem, "seed")] = str(spec.seed)
    return said | said_of(spec, lambda control: control.key)


def said_of(spec: Spec, key: Callable[[Control], str]) -> dict[str, str]:
    """Return the values of a spec that differ from what a page begins with, as links say them, by the keys of their controls."""
    problem = type(spec.problem)
    offered = controls.controls_for(problem, spec.data.name, spec.kernel.name)
    said = {}
    for name, control in offered.items():
        value = _value(spec, problem, name, control)
        if value != control.parameter.default:
            said[key(control)] = in_link(value) if isinstance(value, bool | int | float) else control.say(value)
            if isinstance(value, int | float) and not isinstance(value, bool):
                also_offer(key(control), value)
    return said


def _value(spec: Spec, problem: type[Setting], name: str, control: Control) -> Any:
    """Return a control's value in a spec."""
    if name == PICKER:
        return spec.kernel.name
    part: Any = getattr(spec, control.section)
    value = getattr(part, name)
    if spec.data.name == FILE or control.section != "data":
        return value
    if name == "n" and value is None:
        return control.parameter.default  # all of it
    if name == "positive" and value is not None:
        return entry_of(problem, spec.data.name).class_names[value]
    return control.parameter.default if value is None else value
