"""The marks on the curves at changes during the run, with the name and values of each change."""

from __future__ import annotations

from dsgcore.experiments import Run
from dsgcore.experiments.spec import Spec
from dsgcore.settings.panels import Mark
from dsgcore.solver.parameters import SOLVER_PARAMETERS
from pages.controls.control import AUTOMATIC


def marks_of(run: Run) -> list[Mark]:
    """Return a mark for each iteration so far that started with changed values: "η 0.5 → 1"."""
    times = sorted({change.t for change in run.spec.changes if change.t <= run.t})
    return [Mark(t, _said(run.spec, t)) for t in times]


def _said(spec: Spec, t: int) -> str:
    before, symbols = spec.values_at(t - 1), _symbols(spec)
    changed = [change for change in spec.changes if change.t == t]
    return ", ".join(f"{symbols[c.name]} {_short(before[c.name])} → {_short(c.value)}" for c in changed)


def _short(value: float | None) -> str:
    return AUTOMATIC if value is None else f"{value:g}"


def _symbols(spec: Spec) -> dict[str, str]:
    return {p.name: p.symbol or p.name for p in (*SOLVER_PARAMETERS, *spec.problem.parameters)}
