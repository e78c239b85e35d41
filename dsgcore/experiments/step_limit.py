"""The step size above which a run diverges, in the units of its spec."""

from __future__ import annotations

from dsgcore.experiments.run import Run


def step_limit(run: Run) -> float | None:
    """Return the largest stable step size (or schedule constant) of a run; None if there is none, or if it is unknown.

    Decreasing steps have no limit: they fall below any limit by themselves.
    """
    engine = run.engine
    largest, first, last = engine.largest_step, engine.step_at(1), engine.step_at(run.n_iter)
    if largest is None or first != last:
        return None
    theta = run.spec.values_at(run.n_iter)["step_size"] or engine.automatic_step or 1.0
    return float(largest * (theta / last))  # quotient first: for a constant step it is exactly 1
