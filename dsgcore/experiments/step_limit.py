"""The step size above which a run diverges, in the units of its spec."""

from __future__ import annotations

from dsgcore.experiments.run import Run


def step_limit(run: Run) -> float | None:
    """Return the largest stable step size (or schedule constant) of a run; None if there is none, or if it is unknown.

    It is that of the present values of all parameters, and of a run that began with them. Decreasing steps have no limit:
    they fall below any limit by themselves.
    """
    engine, largest = run.engine, run.engine.sizes_at(run.n_iter).limit
    first, last = (engine.step_at(t) / _theta(run, t) for t in (1, run.n_iter))
    if largest is None or last < 0.999 * first:
        return None
    theta = _theta(run, run.n_iter)
    return float(largest * (theta / engine.step_at(run.n_iter)))  # quotient first: for a constant step it is exactly 1


def _theta(run: Run, t: int) -> float:
    return float(run.spec.values_at(t)["step_size"] or run.engine.automatic_step or 1.0)


def stable_step(run: Run, t: int) -> float:
    """Return a step size (or schedule constant), smaller than that of iteration `t`, with which the run does not diverge.

    It is the automatic step of the present values, or half of the limit, whichever is smaller. If neither is clearly
    smaller than the present step, it is half of that.
    """
    now, limit = _theta(run, t), step_limit(run)
    usual = min(x for x in (run.engine.sizes_at(run.n_iter).automatic, limit and limit / 2.0, now) if x)
    return usual if usual < 0.75 * now else now / 2.0
