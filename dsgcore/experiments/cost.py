"""Cost of a run, known before it starts, and the refusal of runs that cost too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dsgcore.core.cost import GIGABYTE as GIGABYTE
from dsgcore.core.cost import Cost, Sizes, memory_of_data
from dsgcore.core.cost import of_machine as of_machine
from dsgcore.data import DATASETS
from dsgcore.experiments.engine import ENGINES
from dsgcore.experiments.settings import FILE
from dsgcore.experiments.spec import Spec, SpecError
from dsgcore.jobs.memory import give_back as give_back
from dsgcore.jobs.memory import resident as resident

# Parameters that a refusal suggests to lower, in this order: the first that is enough alone.
SMALLER = (
    *(("solver", name) for name in ("n_features", "batch_size", "n_iter")),
    *(("data", name) for name in ("n", "n_irrelevant")),
)
LOWEST = {"n": 32}
NOTHING_FITS = "a smaller data set, fewer random features and a smaller batch would fit"


@dataclass(frozen=True)
class Budget:
    """Limits on the cost of a run: bytes of memory, and seconds per iteration."""

    memory: int
    seconds: float = float("inf")

    def covers(self, cost: Cost) -> bool:
        """Return True if a run of that cost is within the limits."""
        return cost.memory <= self.memory and cost.seconds <= self.seconds


def machine_budget(memory_limit: float | None = None) -> Budget:
    """Return the budget of so many gigabytes of memory; by default, of this machine's memory."""
    if memory_limit is not None and not 0 < memory_limit < float("inf"):
        raise SpecError(f"memory_limit must be a number of gigabytes above 0, got {memory_limit:g}")
    return Budget(memory=of_machine() if memory_limit is None else round(memory_limit * GIGABYTE))


def cost_of(spec: Spec, shape: tuple[int, int] | None = None) -> Cost:
    """Estimate the cost of a run on this kind of machine. Only a file's data need `shape`, (rows, columns)."""
    n, d = shape_of(spec) if shape is None else shape
    solver, n_test = spec.solver, round(spec.data.test_share * n)
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
    return cost_of_data(spec, (n, d)) + ENGINES[spec.problem.engine_of_run].cost(spec, sizes)


def shape_of(spec: Spec) -> tuple[int, int]:
    """Return the rows and columns of a spec's data, unless they come from a file."""
    return DATASETS[spec.data.name].shape(spec.data.n, spec.data.n_irrelevant)


def cost_of_data(spec: Spec, shape: tuple[int, int] | None = None) -> Cost:
    """Estimate the cost of a run's data alone; arguments as in `cost_of`."""
    return Cost(memory_of_data(*(shape or shape_of(spec))), 0.0)


def check_cost(
    spec: Spec,
    budget: Budget,
    shape: tuple[int, int] | None = None,
    cost_of_one: Callable[..., Cost] = cost_of,
    what_needs: str = "this run needs",
) -> None:
    """Raise `SpecError` if a run, or its data by `cost_of_data`, costs more than the budget; `shape` as in `cost_of`.

    The message gives the cost, the limit, and a change that would fit.
    """
    if spec.data.name == FILE and shape is None:
        return  # once the file has been read
    cost = cost_of_one(spec, shape)
    if budget.covers(cost):
        return
    said = f"an iteration of this run takes about {cost.seconds:.2g} s, but at most {budget.seconds:.2g} s is allowed"
    if cost.memory > budget.memory:
        needs, limit = (f"{size / GIGABYTE:.3g} GB" for size in (cost.memory, budget.memory))
        said = f"{what_needs} about {needs} of memory, but at most {limit} is allowed"
    plain = replace(spec, changes=())
    for section, name in SMALLER:
        part: Any = getattr(plain, section)
        now = getattr(part, name)
        value = 0 if now is None else 1 << max(int(now) - 1, 1).bit_length() - 1  # the largest power of two below it
        while value >= LOWEST.get(name, 1):
            if budget.covers(cost_of_one(replace(plain, **{section: replace(part, **{name: value})}), shape)):
                raise SpecError(f"{said}; with {name} {value} it would fit")
            value //= 2
    raise SpecError(f"{said}; {NOTHING_FITS}")
