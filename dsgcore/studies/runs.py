"""The run, or trajectory, that a study makes of a spec, in any process: a text is the input, a store's rows the output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.cost import Cost
from dsgcore.core.errors import DSGError
from dsgcore.data import DATASETS, Split
from dsgcore.diagnostics.convergence import reference_of, trajectory, trajectory_cost
from dsgcore.diagnostics.references import check_possible, is_sampled
from dsgcore.experiments import Run, Spec, SpecError, StopReason, load_split, summary
from dsgcore.experiments.engine import cost_of
from dsgcore.experiments.run import step_limit
from dsgcore.solver.measures import DiagnosticsError, Reference

# Other processes have priority for the cores over those of a study in the background.
NICENESS = 10
TOO_LARGE = "it needs more memory than a run of a study is allowed"
# Share of a run's likely seconds that it takes without its history of scores.
SHARE_UNMEASURED = 0.2

# A run's text, its summary, and recorded columns.
Made = tuple[str, dict[str, Any], dict[str, NDArray]]


def make_run(text: str, folder: str | None = None) -> Made:
    """Make the run of a spec, given as JSON text; return the text, the run's summary and its history's columns.

    The columns are those of a brief run; a run that diverges has all columns of a `Run`.
    `folder` holds the user's own data file, if the spec names the file without a folder. Data that do not fit the spec raise
    `ValueError`, and a run that does not fit into memory `MemoryError`.
    """
    spec = Spec.from_json(text)
    split = split_of(spec, folder)
    run = Run(spec, split, measure="brief")
    run.advance()
    if run.stop_reason is StopReason.DIVERGED:
        run = Run(spec, split)  # this one goes back to the last state that was still good
        run.advance()
    said = summary(run) | {"step_limit": _step_limit(run)}
    return text, said, {name: run.history.column(name) for name in run.history.names}


def make_runs(
    make: Callable[..., Made],
    folder: str | None,
    end: float,
    is_polite: bool,
    texts: Sequence[str],
    *,
    report: Callable[[Made | str], object],
) -> None:
    """Make runs in a job; report each, or the reason why it has no result. None begins after `end` of `time.monotonic`."""
    if is_polite:
        with suppress(AttributeError, OSError):  # not everywhere
            os.nice(NICENESS)
    for text in texts:
        if time.monotonic() >= end:
            return
        try:
            report(make(text, folder=folder))
        except MemoryError:
            report(TOO_LARGE)
        except DSGError as error:
            report(" ".join(str(error).split()))


# Step limits by spec without step: runs that differ in the step alone have the same limit.
_step_limits: dict[str, float | None] = {}
MOST_LIMITS = 1000


def _step_limit(run: Run) -> float | None:
    without = replace(run.spec, solver=replace(run.spec.solver, step_size=1.0)).to_json()
    if without not in _step_limits:
        if len(_step_limits) >= MOST_LIMITS:
            _step_limits.clear()
        _step_limits[without] = step_limit(run)
    return _step_limits[without]


@lru_cache(maxsize=4)
def _split(text: str, folder: str | None) -> Split:
    return load_split(Spec.from_json(text), folder=None if folder is None else Path(folder))


def split_of(spec: Spec, folder: str | None) -> Split:
    """Return a spec's data; specs with the same data share them."""
    if spec.data.path is not None and folder is None:
        return load_split(spec)  # the file may have changed since
    plain = {"setting": spec.problem.name, "data": spec.to_dict()["data"], "seed": spec.seed}
    return _split(Spec.from_dict(plain).to_json(), folder)


def make_trajectory(text: str, folder: str | None = None) -> Made:
    """Measure a trajectory; return its text, a run's summary and the trajectory's columns. Arguments as in `make_run`."""
    plain = json.loads(text)
    spec = Spec.from_dict(plain["spec"])
    on_data = replace(spec, seed=plain["way_on"])
    split = split_of(on_data, folder)
    # If each seed draws its own points from many, it also has its own matrix and optimum.
    seed = spec.seed if is_sampled(len(split.X_train)) else on_data.seed
    own = on_data.to_dict()
    solver = {name: own["solver"][name] for name in ("lam", "dtype")}  # the others change neither matrix nor optimum
    same = json.dumps(own | {"solver": solver, "changes": []}, sort_keys=True)
    columns = trajectory(spec, split, _reference(same, folder, seed))
    t = columns["t"]
    is_whole = len(t) > 0 and t[-1] == spec.solver.n_iter
    summary = {
        "last": {"error_mean": float(columns["error"][-1])} if is_whole else {},
        "seconds": float(columns["seconds"][-1]) if len(t) else 0.0,
        "stop_reason": "finished" if is_whole else "diverged",
        "iterations": int(t[-1]) if len(t) else 0,
    }
    return text, summary, columns


@lru_cache(maxsize=1)  # a kernel matrix each
def _reference(text: str, folder: str | None, seed: int) -> Reference:
    spec = Spec.from_json(text)
    return reference_of(replace(spec, seed=seed), split_of(spec, folder))


def cost_of_trajectory(spec: Spec, shape: tuple[int, int] | None = None) -> Cost:
    """Estimate the cost of one spec's trajectory; raise `SpecError` if it cannot be measured."""
    n, _ = shape or DATASETS[spec.data.name].shape(spec.data.n)
    try:
        check_possible(spec)
    except DiagnosticsError as error:
        raise SpecError(str(error)) from None
    run, more = cost_of(spec, shape), trajectory_cost(spec, n - round(spec.data.test_share * n))
    return Cost(run.memory + more.memory, run.seconds + more.seconds, SHARE_UNMEASURED * run.likely + more.likely)
