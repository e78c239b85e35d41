"""Axes of a study: the parameters of a spec that it varies, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dsgcore.core.parameters import (
    Choice,
    Flag,
    Integer,
    Parameter,
    ParameterError,
    Real,
    Text,
    check_all,
    quoted,
)
from dsgcore.core.plain import Anything, Items
from dsgcore.core.sampling import generator
from dsgcore.experiments import Spec, SpecError
from dsgcore.experiments.settings import DATA_PARAMETERS, solver_parameters
from dsgcore.experiments.spec import SECTIONS

N_VALUES = Integer("n", 5, low=1, high=1000)
# The fields of an axis: either its values, or a range. The axis's own parameter checks the values and the ends.
_FIELDS = (
    Text("name", ""),
    Items("values", None, least=1, most=N_VALUES.high, optional=True),
    Anything("from", None),
    Anything("to", None),
    N_VALUES,
    Choice("scale", None, options=("linear", "log"), optional=True),
    Flag("random", False),
)


class StudyError(SpecError):
    """An invalid study. The message says which field, what was given and what is allowed."""


@dataclass(frozen=True)
class Axis:
    """One parameter of a spec, and its values in the study.

    Attributes
    ----------
    name : str
        Section and parameter, such as ``"solver.step_size"``.
    is_random : bool
        True if the values were drawn. Drawn axes are not crossed with each other: their values belong together, one by
        one.
    said : dict
        The axis as the study's data give it.
    """

    name: str
    values: tuple[Any, ...]
    is_random: bool
    said: Mapping[str, Any]


def axes_of(given: Sequence[Any], spec: Spec) -> tuple[Axis, ...]:
    """Return the axes that plain data describe, for this spec."""
    axes = tuple(_axis(said, spec) for said in given)
    # the values of several drawn axes belong together, and one may occur twice
    if sum(axis.is_random for axis in axes) < 2:
        axes = tuple(replace(axis, values=tuple(dict.fromkeys(axis.values))) for axis in axes)
    names = [axis.name for axis in axes]
    if len(set(names)) < len(names):
        raise StudyError(f"the axes must be of different parameters, got {', '.join(names)}")
    if len({len(axis.values) for axis in axes if axis.is_random}) > 1:
        raise StudyError("axes whose values are drawn go together: they must have the same n")
    return axes


def _axis(said: Mapping[str, Any], spec: Spec) -> Axis:
    given = check_all(_FIELDS, said, "an axis")
    name, is_random = given["name"], given["random"]
    parameter = parameter_of(spec, name)
    if (given["values"] is None) == (given["from"] is given["to"] is None):
        raise StudyError(f"the axis {name} must have either values or from and to, got {quoted(dict(said))}")
    values = _in_range(given, parameter) if given["values"] is None else given["values"]
    try:
        checked = tuple(parameter.check(value) for value in values)
    except ParameterError as error:
        raise StudyError(f"in the axis {name}: {error}") from None
    return Axis(name, checked if is_random else tuple(dict.fromkeys(checked)), is_random, said)


def parameter_of(spec: Spec, name: str) -> Parameter:
    """Return the spec parameter that an axis names by its section and name; raise `StudyError` if there is none."""
    offered = {f"{section}.{p.name}": p for section in SECTIONS for p in _parameters(spec, section)}
    if name not in offered:
        raise StudyError(f"an axis must be one of {', '.join(offered)}, got {quoted(name)}")
    return offered[name]


def _parameters(spec: Spec, section: str) -> Sequence[Parameter]:
    if section == "data":
        return [p for p in DATA_PARAMETERS if p.name not in ("path", "sha256", "recipe")]
    own: Sequence[Parameter] = getattr(spec, section).parameters
    return solver_parameters(type(spec.problem)) if section == "solver" else own


def _in_range(axis: Mapping[str, Any], parameter: Parameter) -> list[Any]:
    """Return the values of a range: evenly spread or drawn, on the given scale or the parameter's own."""
    name, n = axis["name"], axis["n"]
    if not isinstance(parameter, Real | Integer):
        raise StudyError(f"the axis {name} is no number: it must have values")
    low, high = (parameter.check(axis[end]) for end in ("from", "to"))
    scale = axis["scale"] or ("linear" if parameter.scale == "linear" else "log")
    if low is None or high is None or low > high or (scale == "log" and low <= 0):
        raise StudyError(
            f"the axis {name} must go from a number to a larger one, on a linear scale or from above 0 on a log scale, "
            f"got {quoted(dict(axis))}"
        )
    share = generator(0, f"axis/{name}").random(n) if axis["random"] else np.linspace(0.0, 1.0, n)
    ends = np.log([low, high]) if scale == "log" else np.array([low, high], dtype=float)
    values = ends[0] + share * (ends[1] - ends[0])
    values = np.clip(np.exp(values) if scale == "log" else values, low, high)
    # Shortest numbers that a person would write: the run uses exactly the numbers that are shown.
    return [round(v) if isinstance(parameter, Integer) else float(f"{v:.6g}") for v in values.tolist()]
