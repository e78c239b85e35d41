"""Specs with one field at an unusual value, and the specs that a page reads from their links."""

import json
import math

from dsgcore.core.parameters import Choice, Flag, Integer, Text
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.settings import DATA_PARAMETERS, FILE, DiagnosticsSpec, StopSpec, solver_parameters
from pages.controls import controls
from pages.controls.control import read_controls
from pages.controls.link import with_changes

TEXTS = ("y", "a b", 'say "so", or=not', "null", "5", "ß\n", "true", "label,")


def values_for(parameter):
    """Values that a parameter allows: its ends, numbers between a slider's stops, every word, and None."""
    p = parameter
    if isinstance(p, Choice):
        found = list(p.options)
    elif isinstance(p, Flag):
        found = [False, True]
    elif isinstance(p, Text):
        found = list(TEXTS)
    elif isinstance(p, Integer):
        low, high = p.usual or (p.low, p.high)
        found = [p.low, p.high, low, high, p.low + 1, (low + high) // 2 + 1, min(high, 37)]
    else:
        low, high = p.usual or (p.low, p.high)
        found = [p.low, p.high, low, high, 0.1 + 0.2, low + (high - low) / 3, math.sqrt(2) / 10, -0.0, 1e-7]
        found = [value for value in found if p.low <= value <= p.high]
    return [*dict.fromkeys(found), *([None] if getattr(p, "optional", False) else [])]


def sections_of(spec):
    """The parameters of each section of a spec."""
    data = [p for p in DATA_PARAMETERS if p.name not in ("name", "path", "sha256", "recipe")]
    return {
        "problem": spec.problem.parameters,
        "kernel": spec.kernel.parameters,
        "data": data,
        "solver": solver_parameters(type(spec.problem)),
        "stop": StopSpec.parameters,
        "diagnostics": DiagnosticsSpec.parameters,
    }


def changed(spec, **sections):
    """A spec with other values of some fields; None where they do not go together."""
    plain = spec.to_dict()
    for section, values in sections.items():
        plain[section] = {**plain[section], **values}
    try:
        return Spec.from_dict(plain)
    except SpecError:
        return None


def each_changed(spec, only=None):
    """Specs that differ from this one in one field each, of one section or all, by section, name and value."""
    for section, parameters in sections_of(spec).items():
        for p in parameters if only in (None, section) else ():
            for value in values_for(p):
                other = changed(spec, **{section: {p.name: value}})
                if other is not None:
                    yield (section, p.name, value), other


def read_link(problem, link):
    """The spec that a setting's page makes of a link that no control of it refuses."""
    dataset = controls.data_picker(problem).read(link["data.name"])
    offered = controls.controls_for(problem, dataset, link.get("kernel.name"))
    assert read_controls(offered.values(), link) == []
    assert set(link) <= {*(c.name for c in offered.values()), "data.name", "data.file", "seed", "changes"}
    values = {name: control.read(link[control.name]) for name, control in offered.items() if control.name in link}
    own = None
    if dataset == FILE:
        said = json.loads(link["data.file"])
        own = {"name": FILE, "path": said["name"], "sha256": said["sha256"], "recipe": said["recipe"] or None}
    spec = controls.to_spec(problem, values, dataset, int(link.get("seed", "0")), own)
    return with_changes(spec, link.get("changes", ""))
