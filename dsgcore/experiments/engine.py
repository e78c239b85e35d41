"""The methods that a run can have, which make an iteration and measure it, and what a run costs before it starts.

The members of all methods have the same names. A run that costs too much is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dsgcore.core.cost import GIGABYTE, OF_MACHINE, Cost, Sizes, memory_of_data
from dsgcore.data import DATASETS, Split
from dsgcore.experiments.spec import FILE, Spec, SpecError
from dsgcore.experiments.stochastic import StochasticEngine
from dsgcore.multiclass.engine import MultiClassEngine
from dsgcore.multiclass.softmax import FreshSoftmaxEngine, SoftmaxEngine
from dsgcore.solver.task import FIXED

# By the name that a problem gives as its `engine_of_run`, or by that and the kind of its features.
ENGINES: dict[str, type[Any]] = {
    "stochastic": StochasticEngine,
    "proximal": MultiClassEngine,
    "softmax": FreshSoftmaxEngine,
    f"softmax, {FIXED}": SoftmaxEngine,
}
# Parameters that a refusal suggests to lower, in this order: the first that is enough alone.
SMALLER = (
    *(("solver", name) for name in ("n_features", "batch_size", "n_iter")),
    *(("data", name) for name in ("n", "n_irrelevant")),
)
LOWEST = {"n": 32}
NOTHING_FITS = "a smaller data set, fewer random features and a smaller batch would fit"


def engine_of(spec: Spec) -> type[Any]:
    """Return the engine of a run."""
    name = spec.problem.engine_of_run
    return ENGINES.get(f"{name}, {spec.solver.features}", ENGINES[name])


def learned_score(spec: Spec, split: Split) -> float:
    """Return the test score of a whole run; NaN if it diverges."""
    with np.errstate(over="ignore", invalid="ignore"):
        learned = engine_of(spec).learned(spec, split)
        return float(cast(Any, spec.problem).score(split.y_test, learned))


@dataclass(frozen=True)
class LongWork:
    """Slow work that a run needs before it can begin. A background job does it while the page shows the progress.

    The job calls ``function(*arguments, report=report)``, which reports the current step and the share done, (str, float).
    After `keep` is called with its result, the run can begin at once.
    """

    function: Callable[..., Any]
    arguments: tuple
    keep: Callable[[Any], None]


def long_work(spec: Spec, split: Split) -> LongWork | None:
    """Return the work that a run needs before it can begin, if a page should not wait for it."""
    found = engine_of(spec).long_work(spec, split)
    return None if found is None else LongWork(*found)


@dataclass(frozen=True)
class Budget:
    """Limits on the cost of a run: bytes of memory, and seconds per iteration."""

    memory: int
    seconds: float = float("inf")


def cost_of(spec: Spec, shape: tuple[int, int] | None = None, *, of_data: bool = False) -> Cost:
    """Estimate the cost of a run, or of its data alone, on this kind of machine. Only a file needs `shape`, (rows, columns)."""
    n, d = shape or DATASETS[spec.data.name].shape(spec.data.n, spec.data.n_irrelevant)
    memory, solver, n_test = memory_of_data(n, d), spec.solver, round(spec.data.test_share * n)
    if of_data:
        return Cost(memory, 0.0)
    sizes = Sizes(
        n_train=n - n_test,
        n_test=n_test,
        d=d,
        n_labeled=min(spec.data.n_labeled, n),
        batch_size=solver.batch_size,
        n_features=max([solver.n_features, *(int(c.value or 0) for c in spec.changes if c.name == "n_features")]),
        n_iter=solver.n_iter,
        n_probes=spec.diagnostics.n_probes,
        itemsize=8 if solver.dtype == "float64" else 4,
    )
    run = engine_of(spec).cost(spec, sizes)
    return replace(run, memory=run.memory + memory)


def check_cost(
    spec: Spec, budget: Budget | None = None, shape: tuple[int, int] | None = None, *, of_data: bool = False
) -> None:
    """Raise `SpecError` if a run, or its data alone, costs more than the budget (default: the machine's memory).

    `shape` is that of `cost_of`.

    The message gives the cost, the limit, and a change that would fit.
    """
    if spec.data.name == FILE and shape is None:
        return  # once the file has been read
    budget, cost = budget or Budget(OF_MACHINE), cost_of(spec, shape, of_data=of_data)
    if cost.memory <= budget.memory and cost.seconds <= budget.seconds:
        return
    said = f"an iteration of this run takes about {cost.seconds:.2g} s, but at most {budget.seconds:.2g} s is allowed"
    if cost.memory > budget.memory:
        needs, limit = (f"{size / GIGABYTE:.3g} GB" for size in (cost.memory, budget.memory))
        said = f"{'these data need' if of_data else 'this run needs'} about {needs} of memory, but at most {limit} is allowed"
    plain = replace(spec, changes=())
    for section, name in SMALLER:
        part: Any = getattr(plain, section)
        now = getattr(part, name)
        value = 0 if now is None else 1 << max(int(now) - 1, 1).bit_length() - 1  # the largest power of two below it
        while value >= LOWEST.get(name, 1):
            smaller = replace(plain, **{section: replace(part, **{name: value})})
            less = cost_of(smaller, shape, of_data=of_data)
            if less.memory <= budget.memory and less.seconds <= budget.seconds:
                raise SpecError(f"{said}; with {name} {value} it would fit")
            value //= 2
    raise SpecError(f"{said}; {NOTHING_FITS}")
