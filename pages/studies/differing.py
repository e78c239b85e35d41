"""Differences between specs as a table, with one row for each parameter that differs; and differences of scores as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from dsgcore.core.metrics import Difference
from dsgcore.data import DATASETS
from dsgcore.experiments import Spec
from dsgcore.experiments.spec import DATA_PARAMETERS, DiagnosticsSpec, StopSpec
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from dsgcore.studies import Results
from pages.controls.control import Control, shown
from pages.controls.controls import PICKER, controls_for
from pages.controls.own_file import entry_of
from pages.shell.plain_text import with_minus

# In place of a parameter that a spec lacks: another kernel has other parameters.
NOT_THERE = "–"
# Names of the entries of a spec that are no parameters.
_ENTRIES = {
    "setting": "Setting",
    "seed": "Seed",
    "changes": "Changes during the run",
    "data.edits": "Edits by hand",
    "version": "Version",
    "kernel.name": "Kernel",
}


def differing(specs: Sequence[Spec], names: Sequence[str], leave_out: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a row for each parameter that differs, named and written as on the page, with its value in each spec."""
    said, rows = [_said(spec) for spec in specs], []
    for key in dict.fromkeys(key for one in said for key in one if key not in leave_out):
        values = [one[key][1] if key in one else NOT_THERE for one in said]
        if len(set(values)) > 1:
            label = next(one[key][0] for one in said if key in one)
            rows.append({"parameter": label, **dict(zip(names, values, strict=True))})
    return rows


def values_of(spec: Spec) -> list[dict[str, str]]:
    """Return a row for each value of a spec that a control of its page sets, named and written as there."""
    said, wanted = _said(spec), {"data.name", *_controls(spec)}
    return [{"parameter": label, "value": value} for key, (label, value) in said.items() if key in wanted]


def _controls(spec: Spec) -> dict[str, Control]:
    """Return the controls of a spec's page by the names of the spec's entries."""
    found = controls_for(type(spec.problem), spec.data.name, spec.kernel.name)
    return {"kernel.name" if name == PICKER else f"{c.section}.{name}": c for name, c in found.items()}


def _said(spec: Spec) -> dict[str, tuple[str, str]]:
    """Return the label and the value, as the page shows them, of each entry of a spec, by the entry's name in the spec."""
    problem, data, offered = type(spec.problem), spec.data, _controls(spec)
    flat: dict[str, Any] = {}
    for name, value in spec.to_dict().items():
        flat |= {f"{name}.{key}": v for key, v in value.items()} if isinstance(value, Mapping) else {name: value}
    recipe = flat.pop("data.recipe", None) or {}  # of a file
    flat |= {f"data.recipe.{name}": value for name, value in recipe.items()}
    sections = {
        "problem": spec.problem.parameters,
        "kernel": spec.kernel.parameters,
        "solver": SOLVER_PARAMETERS,
        "data": DATA_PARAMETERS,
        "stop": StopSpec.parameters,
        "diagnostics": DiagnosticsSpec.parameters,
    }
    labels = {f"{section}.{p.name}": p.label for section, own in sections.items() for p in own} | _ENTRIES
    labels |= {key: control.parameter.label for key, control in offered.items()}  # the page's own come first
    steered = {key.partition(".")[2]: label for key, label in labels.items() if key.startswith(("solver.", "problem."))}
    changes = [f"{steered[change.name]} {shown(change.value)} at step {change.t}" for change in spec.changes]
    labels |= {f"data.recipe.{name}": f"Reading of the file, {name.replace('_', ' ')}" for name in recipe}
    said = {key: _listed(value) for key, value in flat.items()}
    said |= {key: control.say(flat[key]) for key, control in offered.items() if key in flat}
    said |= {"setting": profile_of(problem).short, "data.name": entry_of(problem, data.name).title}
    said["changes"] = ", ".join(changes) or "none"
    if data.edits:
        said["data.edits"] = f"{len(data.edits)} ({sha256(repr(data.edits).encode()).hexdigest()[:6]})"
    if data.n is None and data.name in DATASETS:
        said["data.n"] = shown(DATASETS[data.name].n)  # all points
    if isinstance(data.positive, int) and data.name in DATASETS:
        said["data.positive"] = DATASETS[data.name].class_names[data.positive]
    return {key: (labels.get(key, key), said[key]) for key in flat}


def _listed(value: Any) -> str:
    """Return a value as the page shows it: a list with commas, a mapping as a list of pairs."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else with_minus(shown(value))


def said_mean(results: Results, place: int) -> str:
    """Return the mean of a point over its seeds as text, with its standard error if there are several."""
    error = f" ± {results.error[place]:.2g}" if results.n[place] > 1 else ""
    return with_minus(f"{results.mean[place]:.4g}{error}") if results.n[place] else "–"


def said_difference(difference: Difference) -> str:
    """Return a paired difference as text, with its interval if it has one; in words if all pairs are equal."""
    if difference.n == 0:
        return "–"
    if difference.ties == difference.n and not difference.high > 0.0:
        return "no difference"
    mean, low, high = (
        f"{value:+.2g}" if value else "0" for value in (difference.mean, difference.low, difference.high)
    )
    return with_minus(f"{mean} [{low}, {high}]" if np.isfinite(difference.low) else mean)
