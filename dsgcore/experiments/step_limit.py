"""The step size above which a run grows without end, in the units that its spec has."""

from __future__ import annotations

from dsgcore.experiments.run import Run


def step_limit(run: Run) -> float | None:
    """Return the largest step size (or constant of a schedule) that a run bears; None where there is none, or none is known.

    Steps that become smaller come below any limit by themselves: they have none.
    """
    engine = run.engine
    largest, first, last = engine.largest_step, engine.step_at(1), engine.step_at(run.n_iter)
    if largest is None or first != last:
        return None
    theta = run.spec.values_at(run.n_iter)["step_size"] or engine.automatic_step or 1.0
    return float(largest * (theta / last))  # first the quotient: of a constant step it is one, whatever the step
