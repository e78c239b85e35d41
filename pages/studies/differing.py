"""Differences between specs as a table, with one row for each setting that differs; and differences of scores as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dsgcore.experiments import Spec
from dsgcore.studies import Difference

# In place of a setting that a spec lacks: another kernel has other parameters.
NOT_THERE = "–"


def differing(specs: Sequence[Spec], names: Sequence[str], leave_out: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a row for each setting that differs, with its value in each spec, under the specs' names."""
    flat = [_flat(spec.to_dict()) for spec in specs]
    settings = dict.fromkeys(setting for one in flat for setting in one)
    rows = [
        (setting, [str(one.get(setting, NOT_THERE)) for one in flat])
        for setting in settings
        if setting not in leave_out
    ]
    return [
        {"setting": setting, **dict(zip(names, values, strict=True))}
        for setting, values in rows
        if len(set(values)) > 1
    ]


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
