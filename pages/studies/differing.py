"""Differences between specs as a table, with one row for each parameter that differs; and differences of scores as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from dsgcore.core.metrics import Difference
from dsgcore.data import DATASETS
from dsgcore.experiments import Spec
from dsgcore.experiments.settings import DATA_PARAMETERS, DiagnosticsSpec, StopSpec
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from pages.controls.control import shown
from pages.controls.controls import PICKER, controls_for
from pages.controls.own_file import entry_of

# In place of a parameter that a spec lacks: another kernel has other parameters.
NOT_THERE = "–"
# Names of the entries of a spec that are no parameters.
_ENTRIES = {
    "setting": "Setting",
    "seed": "Seed",
    "changes": "Changes during the run",
    "data.edits": "Edits by hand",
    "version": "Version",
}
_KERNEL = "kernel.name"


def differing(specs: Sequence[Spec], names: Sequence[str], leave_out: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a row for each parameter that differs, named and written as on the page, with its value in each spec."""
    said = [_said(spec) for spec in specs]
    keys = dict.fromkeys(key for one in said for key in one if key not in leave_out)
    rows = {key: [one[key][1] if key in one else NOT_THERE for one in said] for key in keys}
    labels = {key: next(one[key][0] for one in said if key in one) for key in keys}
    return [
        {"parameter": labels[key], **dict(zip(names, values, strict=True))}
        for key, values in rows.items()
        if len(set(values)) > 1
    ]


def values_of(spec: Spec) -> list[dict[str, str]]:
    """Return a row for each value of a spec that a control of its page sets, named and written as there."""
    said, wanted = _said(spec), {"data.name", *_controls(spec)}
    return [{"parameter": label, "value": value} for key, (label, value) in said.items() if key in wanted]


def _said(spec: Spec) -> dict[str, tuple[str, str]]:
    """Return the label and the value, as the page shows them, of each entry of a spec, by the entry's name in the spec."""
    labels, say = _labels(spec), _sayings(spec)
    flat = _flat(spec.to_dict())
    return {key: (labels.get(key, key), say[key] if key in say else shown(value)) for key, value in flat.items()}


def _labels(spec: Spec) -> dict[str, str]:
    """Return the labels of a spec's entries; the controls' own labels come before those of the parameters."""
    sections = {
        "problem": spec.problem.parameters,
        "kernel": spec.kernel.parameters,
        "solver": SOLVER_PARAMETERS,
        "data": DATA_PARAMETERS,
        "stop": StopSpec.parameters,
        "diagnostics": DiagnosticsSpec.parameters,
    }
    plain = {f"{section}.{p.name}": p.label for section, own in sections.items() for p in own}
    return plain | _ENTRIES | {_KERNEL: "Kernel"} | {key: c.parameter.label for key, c in _controls(spec).items()}


def _controls(spec: Spec) -> dict[str, Any]:
    """Return the controls of a spec's page by the names of the spec's entries."""
    found = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    return {_KERNEL if name == PICKER else f"{c.section}.{name}": c for name, c in found.items()}


def _sayings(spec: Spec) -> dict[str, str]:
    """Return the values of a spec's entries that the page does not write as plain numbers or words."""
    problem, flat, names = type(spec.problem), _flat(spec.to_dict()), _labels(spec)
    steered = {key.partition(".")[2]: label for key, label in names.items() if key.startswith(("solver.", "problem."))}
    changes = [f"{steered[change.name]} {shown(change.value)} at step {change.t}" for change in spec.changes]
    said = {key: control.say(flat[key]) for key, control in _controls(spec).items() if key in flat}
    said |= {"setting": profile_of(problem).short, "data.name": entry_of(problem, spec.data.name).title}
    said["changes"] = ", ".join(changes) or "none"
    if spec.data.edits:
        said["data.edits"] = f"{len(spec.data.edits)} ({sha256(repr(spec.data.edits).encode()).hexdigest()[:6]})"
    if spec.data.n is None and spec.data.name in DATASETS:
        said["data.n"] = shown(DATASETS[spec.data.name].n)  # all points
    if isinstance(spec.data.positive, int) and spec.data.name in DATASETS:
        said["data.positive"] = DATASETS[spec.data.name].class_names[spec.data.positive]
    return said


def _flat(plain: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        flat |= {f"{name}.{key}": v for key, v in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def said_difference(difference: Difference) -> str:
    """Return a paired difference as text, with its interval if it has one."""
    if difference.n == 0:
        return "–"
    if not np.isfinite(difference.low):
        return f"{difference.mean:+.2g}"
    return f"{difference.mean:+.2g} [{difference.low:+.2g}, {difference.high:+.2g}]"
